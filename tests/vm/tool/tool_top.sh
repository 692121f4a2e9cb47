#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl top" in a guest with the driver: what programs do that are known is what it shows; how
# it ends, and what it refuses. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

# 70 % of its instructions are in hot(), 20 % in warm() and 10 % in cold(); it ends with 3.
PROGRAM=/pmuctl/tests/prog/hot-warm-cold
# How many samples a second there are depends on how busy the host is.
any_rate

SAYS=out

# Periods must not keep step with the 200,000 instructions of a phase of the program.

# shares: "SHARE SYMBOL" a line in the file shares, of the last refresh
shares()
{
	awk '/^pmuctl top:/ { n = 0 } /^ *[0-9.]+%/ { line[n++] = $1 " " $NF }
		END { for (i = 0; i < n; i++) print line[i] }' out | tr -d % >shares
}

# is_share SYMBOL PERCENT: within 1 % of the whole
is_share()
{
	awk -v symbol="$1" -v truth="$2" '
		$2 == symbol { share = $1 }
		END {
			print symbol, share "%, expected", truth
			exit !(share > truth - 1 && share < truth + 1)
		}' shares
}

# busy: a program that runs until rest(), as process $busy
busy()
{
	# shellcheck disable=SC2046 # each argument makes it longer
	$PROGRAM $(yes | head -n 5000) &
	busy=$!
}
rest() { kill "$busy"; wait "$busy"; [ $? -eq 143 ]; }

# A day is enough: what is there at the end of the command is shown once. 80 million
# instructions, and the few of its start, are 2553 samples.
the_functions_of_a_command()
{
	run 3 top -d 86400 -e instructions:u -c 31337 $PROGRAM 2 || return 1
	says "^pmuctl top: [0-9]+ samples/s, kernel: 0.0%, lost: 0 \('$PROGRAM'\)$" \
		"^# Samples: 255[2-4] of event 'instructions:u', period 31337, Event count \(approx.\): [0-9]+$" \
		'^# Overhead  Shared object  Symbol$' '% +hot-warm-cold +\[\.\] hot$' || return 1
	shares
	[ "$(head -n 1 shares | cut -d ' ' -f 2)" = hot ] && is_share hot 70 &&
		is_share warm 20 && is_share cold 10
}

# Of 2553 samples, 31,337 instructions each, hot() has 1787 and warm() 511.
rows_that_have_counted_more()
{
	run 3 top -d 86400 -f 30000000 --tui -e instructions:u -c 31337 $PROGRAM 2 && says '% .* hot$' &&
		! grep '% .* warm$' out
}

# Whoever else works meanwhile: of the program's functions hot() comes first.
all_cpus_are_sampled_and_the_most_frequent_comes_first()
{
	busy
	run 0 top -d 1 --iterations 2 -e instructions:u -c 31337 -s comm,sym || return 1
	rest || return 1
	[ "$(grep -c '^pmuctl top:' out)" -eq 2 ] || return 1
	says '\(all, 2 CPUs\)$' '^# Overhead  Command +Symbol$' || return 1
	[ "$(awk '/^pmuctl top:/ { first = "" } / hot-warm-cold / && !first { first = $NF }
		END { print first }' out)" = hot ]
}

a_process_that_runs()
{
	busy
	run 0 top -p $busy -d 1 --iterations 1 -n -E 2 -e instructions:u -c 31337 -s sym || return 1
	rest || return 1
	says "\(pid $busy\)$" '^# Overhead   Samples  Symbol$' '^ +[0-9.]+% +[0-9]+  \[\.\] hot$' ||
		return 1
	[ "$(grep -c '% .*\[\.\]' out)" -eq 2 ]
}

# It is over when the process is.
a_process_that_ends()
{
	$PROGRAM 2 3 4 5 6 7 8 &
	run 0 top -p $! -d 86400 -e instructions:u -c 31337 || return 1
	says '% .* hot$'
}

# Names of another kernel: there is one function for all of it.
symbols_of_the_kernel_are_taken_from_a_file()
{
	printf '%s T %s\n' ffffffff80000000 all_of_it ffffffffc0000000 end >kallsyms
	run 0 top -U -d 86400 -e instructions -c 31337 --kallsyms kallsyms ls / && says '\[k\] all_of_it$'
}

the_kernel_alone_and_user_space_alone()
{
	busy
	run 0 top -U -d 1 --iterations 1 -e instructions -c 31337 || return 1
	says '\[k\] ' || return 1
	! grep -F '[.]' out || return 1
	run 0 top -K -d 1 --iterations 1 -e instructions -c 31337 || return 1
	rest || return 1
	says '\[\.\] hot' || return 1
	! grep -F '[k]' out
}

# Without a decay a second table would have all of the first.
what_is_zeroed_begins_anew()
{
	busy
	run 0 top -z -d 1 --iterations 3 -e instructions:u -c 31337 -p $busy || return 1
	rest || return 1
	awk '/^# Samples:/ { if ($3 * 31337 != $NF) exit 1; sum += $3 } END { exit !sum }' out
}

several_events()
{
	run 3 top -d 86400 -e instructions:u -e branches:u -c 31337 $PROGRAM || return 1
	says "of event 'instructions:u'" "of event 'branches:u'" || return 1
	[ "$(grep -c 'hot$' out)" -eq 2 ]
}

# _start() calls phase(), and that the others. With each refresh shares stay as they are.
callers_have_rows_and_stand_below_them()
{
	run 3 top -g -d 86400 -e instructions:u -c 31337 $PROGRAM 2 || return 1
	says '^# Children +Self  Shared object  Symbol$' \
		'^ +(100.00|99.9[0-9])% +0.[0-9]+%  hot-warm-cold  \[\.\] phase$' \
		'^ +(70.[0-9]+|69.[5-9][0-9])% +(70.[0-9]+|69.[5-9][0-9])%  hot-warm-cold  \[\.\] hot$' '^ +100.00%  _start$' || return 1
	run 3 top -g --no-children -d 1 -e instructions:u -c 31337 $PROGRAM 2 3 4 5 6 7 8 || return 1
	says '^# Overhead  Shared object  Symbol$' '^ +[0-9.]+%  phase$' '^ +_start$' || return 1
	shares
	[ "$(head -n 1 shares | cut -d ' ' -f 2)" = hot ] || return 1
	run 3 top --call-graph dwarf -d 86400 -e instructions:u -c 313373 -s sym $PROGRAM 2 || return 1
	says '^# Children +Self  Symbol$' '\[\.\] hot$'
}

# begun: as process $pid; it has shown something
begun()
{
	pmuctl top "$@" >out 2>err </dev/null &
	pid=$!
	appears '^pmuctl top:' out
}

ctrl_c_ends_it()
{
	begun -d 1 -e instructions:u -c 999983 || return 1
	kill -INT $pid
	wait $pid
}

# Its command gets what is sent to it, and its status is the command's.
a_signal_ends_the_command()
{
	begun -d 1 -e task-clock sleep 1000 || return 1
	kill -TERM $pid
	wait $pid
	[ $? -eq 143 ]
}

wrong_options()
{
	SAYS=err
	run 2 top -d 0 && says "'0' is not a number for -d: it is from 1 to 86400" &&
		run 2 top -s comm,weight &&
		says "'weight' is no key: there are comm, pid, tid, cpu, dso and symbol" &&
		run 2 top -s comm,comm && says "'comm' is there twice" &&
		run 2 top -K -U && says '-K and -U together leave nothing to show' &&
		run 2 top -F 1 -c 1 && says '-F and -c exclude each other' &&
		run 2 top -m x && says "'x' is not a number for -m" &&
		run 2 top -p 1 -C 0 && says 'only one of -p, -t and -C can be given' &&
		run 2 top -b && says "--branch-any of 'perf top' is not here: 'pmuctl record -b' and" &&
		run 2 top -f 0 && says "'0' is not a number for -f: it is from 1 to" &&
		run 2 top --percent-limit x && says "'x' is no percentage" &&
		run 2 top --children && says '--children is for -g and --call-graph' &&
		run 2 top --call-graph frames && says 'frame pointers' &&
		run 127 top /no/command && says "cannot run '/no/command': No such file" &&
		run 1 top -e instructions:u -C 1000 && says "cannot open 'instructions:u': cpu 1000 does not exist"
}

# The module says why.
an_ordinary_user_may_not_look_at_all()
{
	SAYS=err
	status=0
	su user -c 'pmuctl top --iterations 1' >out 2>err || status=$?
	[ $status -eq 1 ] && says "cannot open 'cycles': .*CAP_PERFMON" || return 1
	su user -c "pmuctl top -d 86400 -c 31337 $PROGRAM 2" >out 2>err || status=$?
	SAYS=out
	[ $status -eq 3 ] && says "of event 'cycles:u'" 'hot$'
}

run_checks shares is_share busy rest begun
