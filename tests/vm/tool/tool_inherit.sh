#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a command starts is measured with it: "pmuctl stat", "timec" and "record" of commands,
# processes and threads that start others, and without these if -i says so. Runs in
# busybox' sh as root.
# shellcheck disable=SC2317,SC2016,SC2094 # checks are called by name; $ is for awk; -i reads
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
# Its instructions for each argument, its name included
INSTRUCTIONS=40000000
any_rate

# Two of them at once; and what the shell does is little.
FAMILY="$PROGRAM & $PROGRAM; wait"

# counted EVENT: its value in the CSV of err
counted() { awk -F , -v event="$1" '$3 == event { print $1; exit }' err; }

# is_times N EVENT: what was counted is N times the program's, but for a shell's
is_times()
{
	value=$(counted "$2")
	echo "$2: $value, expected $1 times $INSTRUCTIONS"
	[ "$value" -ge $(($1 * INSTRUCTIONS)) ] && [ "$value" -lt $(($1 * INSTRUCTIONS + 4000000)) ]
}

# ---- stat

children_are_counted() { run 0 stat -x , -e instructions:u sh -c "$FAMILY" && is_times 2 instructions:u; }
children_are_left_out()
{
	run 0 stat -x , --no-inherit -e instructions:u sh -c "$FAMILY" && is_times 0 instructions:u
}
groups_are_whole()
{
	run 0 stat -x , -e '{instructions:u,r00c0:u,branches:u}' sh -c "$FAMILY" &&
		is_times 2 instructions:u && [ "$(counted instructions:u)" -eq "$(counted r00c0:u)" ] &&
		[ $(($(counted branches:u) * 2)) -ge $((2 * INSTRUCTIONS)) ]
}
intervals_add_up()
{
	run 0 stat -x , -I 20 -e instructions:u sh -c "$FAMILY" &&
		awk -F , '{ n += $2 } END { print n }' err >sum && lines sum 1 &&
		[ "$(cat sum)" -ge $((2 * INSTRUCTIONS)) ] && [ "$(cat sum)" -lt $((5 * INSTRUCTIONS / 2)) ]
}
through_other_programs() { run 0 stat -x , -e instructions:u sh -c "exec env sh -c '$FAMILY; :'" && is_times 2 instructions:u; }

# begin_shell: process $shell, which starts the family when there is a file "go"
begin_shell()
{
	sh -c "until [ -e go ]; do usleep 10000; done; $FAMILY; touch done; until [ -e end ]; do usleep 10000; done" &
	shell=$!
}
# end_shell: and it ends
end_shell()
{
	touch end
	wait "$shell"
}
of_a_process_that_runs()
{
	begin_shell
	run 0 stat -x , -e instructions:u -p $shell sh -c 'touch go; until [ -e done ]; do usleep 10000; done'
	result=$?
	end_shell
	[ $result -eq 0 ] && [ "$(counted instructions:u)" -ge $((2 * INSTRUCTIONS)) ]
}
of_a_thread_that_runs()
{
	begin_shell
	run 0 stat -x , -i -e instructions:u -e branches:u -t $shell sh -c 'touch go; until [ -e done ]; do usleep 10000; done'
	result=$?
	end_shell
	[ $result -eq 0 ] && [ "$(counted instructions:u)" -lt $INSTRUCTIONS ] || return 1
	rm -f go 'done' end
	begin_shell
	run 0 stat -x , -e instructions:u -t $shell sh -c 'touch go; until [ -e done ]; do usleep 10000; done'
	result=$?
	end_shell
	[ $result -eq 0 ] && [ "$(counted instructions:u)" -ge $((2 * INSTRUCTIONS)) ]
}

# ---- timec

events_by_number()
{
	run 0 timec -e 1 -e 3 -e 5 true && says ' instructions' ' cache-misses' ' branch-misses' &&
		run 0 timec -x , -e 1:u,4:u,'{0,1}:u' sh -c "$FAMILY" &&
		cut -d , -f 3 err >names && [ "$(tr '\n' ' ' <names)" = 'instructions:u branches:u cycles:u instructions:u ' ] &&
		is_times 2 instructions:u
}
events_by_name() { run 0 timec -x , -e cycles:u true && says '^[1-9][0-9]*,,cycles:u,'; }
timec_has_defaults() { run 0 timec true && says ' cycles ' ' instructions ' ' branches '; }
timec_has_the_statuses()
{
	run 7 timec -e 1 sh -c 'exit 7' && run 137 timec -e 1 sh -c 'kill -9 $$' &&
		run 127 timec -e 1 no-such-command && run 126 timec -e 1 /etc/passwd && run 2 timec &&
		says 'pmuctl timec --help' && run 2 timec -e 99 true && says "unknown event '99'" &&
		run 2 timec --nonsense true && says 'pmuctl timec --help'
}
timec_has_help() { run 0 timec --help && grep -q '^usage: pmuctl timec' out && run 0 help timec && grep -q branch-misses out && run 0 help && grep -q '^  timec ' out; }

# ---- record

# samples: "PID SYMBOL SAMPLES" a line, of the file "data", as perf finds them
samples()
{
	perf script -i data -F pid,ip,sym >script 2>script.err || return 1
	awk '{ n[$1 " " $3]++ } END { for (k in n) print k, n[k] }' script | sort -n
}

children_are_sampled()
{
	run 0 record -e instructions:u -c 10007 -o data sh -c "$FAMILY" || return 1
	samples >found
	cat found
	# Each of the two, with its symbols; a sample at each period
	awk '$2 == "hot" { hot += $3; pids++ } $2 == "warm" { warm += $3 } $2 == "cold" { cold += $3 }
		function is(n, all) { return n > all - 12 && n < all + 12 }
		END { exit !(pids == 2 && is(hot, 2 * 2798) && is(warm, 2 * 799.5) && is(cold, 2 * 399.7)) }' found &&
		perf evlist -v -i data | grep -q 'inherit: 1' || return 1
	# The same in our own report
	pmuctl report -i data -g none -s comm,symbol 2>err >out && awk '
		$2 == "hot-warm-cold" && $4 == "hot" { hot = $1 + 0 }
		END { print hot; exit !(hot > 69 && hot < 71) }' out
}
their_beginnings_and_ends_are_told()
{
	run 0 record -e instructions:u -c 100003 -o data sh -c "$FAMILY" || return 1
	perf script -i data --show-task-events --show-mmap-events -F comm,pid,time,event,ip 2>/dev/null >script
	for kind in COMM MMAP2 EXIT; do
		grep "hot-warm-cold .* PERF_RECORD_$kind" script | awk '{ print $2 }' | sort -u >pids
		lines pids 2 || { grep PERF_RECORD script; return 1; }
	done
	awk '/PERF_RECORD_FORK/' script >forks
	[ "$(wc -l <forks)" -ge 2 ]
}
children_are_not_sampled()
{
	run 0 record -i -e instructions:u -c 10007 -o data sh -c "$FAMILY" && samples >found &&
		! grep -q hot found && ! perf evlist -v -i data | grep -q 'inherit: 1'
}
groups_are_sampled()
{
	run 0 record -e '{instructions:u,branches:u}' -c 100003 -o data sh -c "$FAMILY" &&
		perf script -i data -F event 2>/dev/null | sort | uniq -c >found && cat found &&
		awk '$2 == "instructions:u:" { i = $1 } $2 == "branches:u:" { b = $1 }
			END { exit !(i >= 790 && i < 840 && b >= 390 && b < 440) }' found
}
children_of_a_process_are_sampled()
{
	begin_shell
	run 0 record -q -e instructions:u -c 100003 -o data -p $shell sh -c 'touch go; until [ -e done ]; do usleep 10000; done'
	result=$?
	end_shell
	[ $result -eq 0 ] && samples >found && [ "$(grep -c ' hot ' found)" -eq 2 ]
}

# They began before the sampling did, and are there when they are described, which takes a kernel
# that checks itself as long as 100 million instructions.
children_are_known_after_a_delay()
{
	run 0 record -q -D 1 -e instructions:u -c 100003 -o data sh -c "
		touch go; $PROGRAM 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; :" && samples >found &&
		! awk '$2 != "hot" && $2 != "warm" && $2 != "cold" { n += $3 } END { exit !(n > 60) }' found &&
		awk '$2 == "hot" { n += $3 } END { exit !n }' found
}
# Who starts them ends first; another target keeps the recording alive.
orphans_are_sampled()
{
	begin_shell
	first=$shell
	sh -c "until [ -e go ]; do usleep 10000; done; { usleep 200000; $PROGRAM; touch orphan; } &" &
	second=$!
	pmuctl record -q -e instructions:u -c 100003 -o data -t "$first,$second" 2>err &
	recording=$!
	listens $recording && appears busybox data && touch go && appears orphan
	shell=$first end_shell
	wait $recording && samples >found && cat found && [ "$(grep -c ' hot ' found)" -eq 3 ]
}

run_checks counted is_times begin_shell end_shell samples
