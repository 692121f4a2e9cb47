#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl trace" beside "perf trace": the same calls of the same programs, in the same order, and
# as many in the summary; whom it follows, what it leaves out, and what it says when something is
# missing. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
any_rate
SAYS=calls

# calls_of FILE: each line but for when it was, how long it took and by whom, and without padding
calls_of()
{
	sed -E 's/^.{10} \([^)]*\): [^ ]*\/[0-9]+ +//; s/ +=/ =/; s/ *$//' "$1"
}

# names_of FILE: what both print alike of each: names, and results but for addresses and ids
names_of()
{
	calls_of "$1" | sed -E 's/\(.*\) = /() = /; s/ = 0x.*| = [1-9][0-9]*$/ = N/
		s/^(.*pid\(\)|set_tid.*) =.*/\1/'
}

# same COMMAND...: both tell the same of it, line by line
same()
{
	perf trace -o theirs "$@" >theirs.out 2>perf.err || { cat perf.err; return 1; }
	run 0 trace -o calls "$@" || return 1
	names_of theirs >a
	names_of calls >b
	echo "$(wc -l <a) calls of perf, $(wc -l <b) of ours"
	[ "$(wc -l <a)" -gt 5 ] && { diff a b | head -8; cmp a b; } && cmp theirs.out out
}

# Of one task each: of two the order is chance.
calls_are_those_of_perf()
{
	same cat /etc/passwd && same ls / && same sh -c 'read x </etc/passwd; exec cat /dev/null' &&
		same sh -c ': >file; exec rm file' &&
		says '^ +[0-9]+\.[0-9]{3} \( ?[0-9]+\.[0-9]{3} ms\): rm/[0-9]+ unlink(at)?\(.*\) += 0$'
}

# words_of FILE: those calls of which perf names flags and the like as we do, without addresses
words_of()
{
	calls_of "$1" | grep -E '^(mmap|mprotect|arch_prctl|prlimit64|getrandom|rt_sig[a-z]*|lseek)\(' |
		sed -E 's/0x[0-9a-f]{5,}/ADDRESS/g; s/fd: [0-9]+(<[^>]*>)?/fd: N/'
}

# Memory, limits, signals, a place in a file: what they ask for is told in perf's words.
arguments_have_perfs_words()
{
	for command in 'sh -c "trap : USR1; (exit 3)"' 'dd if=/etc/passwd of=/dev/null bs=8 skip=2' \
		'ping -c 1 -W 10 127.0.0.1' 'capsh --print'; do
		perf trace -o theirs sh -c "exec $command" >/dev/null 2>&1
		pmuctl trace -o calls sh -c "exec $command" >/dev/null 2>&1
		words_of theirs >a
		words_of calls >b
		echo "$command: $(wc -l <a) and $(wc -l <b) lines"
		[ "$(wc -l <a)" -gt 5 ] && { diff a b | head -8; cmp a b; } || return 1
	done
	says 'mmap\(.*prot: READ\|WRITE, flags: PRIVATE\|ANONYMOUS' && run 0 trace -e openat,access -o calls cat /etc/passwd &&
		says 'openat\(dfd: CWD, filename: 0x[0-9a-f]+(, flags: RDONLY(\|CLOEXEC)?)\) +='
}

# chains FILE: of each call the functions that led to it, in one line
chains()
{
	awk '$2 ~ /^[(]\// { line = line " " $1; next } line { print line; line = "" } END { if (line) print line }' "$1"
}

# One after the other reads in work(), which step() called, which called itself.
who_made_a_call_is_told()
{
	callers=/pmuctl/tests/prog/no-frames
	run 0 trace --call-graph dwarf -e read -o calls $callers read && ! says LOST >/dev/null && chains calls | sort | uniq -c >made &&
		cat made && lines made 1 && grep -Eq '^ *400 +[a-z_]*read work( step){4,5} main ' made &&
		says '^ {39}work \(/pmuctl/tests/prog/no-frames\)$' || return 1
	# By copies of stacks, if it is not said how
	run 0 trace --max-stack 2 -e read -o calls $callers read && chains calls | sort | uniq -c >made && cat made &&
		lines made 1 && grep -Eq '^ *400 +[a-z_]*read work$' made || return 1
	run 0 trace -F min --no-syscalls --max-stack 3 -o calls $callers && chains calls | tee made | tail -3 &&
		! grep ' .* .* .* ' made && grep -Eq '^ [^ ]+ [^ ]+ [^ ]+$' made || return 1
	run 0 trace --call-graph fp -e read -o calls $callers read && [ "$(chains calls | grep -c '^ [a-z_]*read')" -eq 400 ] &&
		run 0 trace -s --call-graph dwarf -e read -o calls $callers read && [ "$(chains calls | wc -l)" -eq 0 ] &&
		run 2 trace --call-graph lbr true && grep 'these are the kernel.s: there are fp and dwarf' err &&
		run 2 trace --max-stack 0 true && grep "'0' is not a number for --max-stack" err
}

# The numbers of calls and of errors of each kind
the_summary_counts_as_perf_does()
{
	perf trace -s -o theirs cat /etc/passwd nothing >/dev/null 2>&1 ||  [ $? -eq 1 ] || return 1
	run 1 trace -s -o calls cat /etc/passwd nothing || return 1
	for file in theirs calls; do
		awk '$2 ~ /^[0-9]+$/ && $NF ~ /%$/ && NF >= 8 { print $1, $2, $3 }' $file | sort >$file.sums
	done
	[ "$(wc -l <calls.sums)" -gt 8 ] && { diff theirs.sums calls.sums; cmp theirs.sums calls.sums; } &&
		grep -q '^open.* [1-9]* 1$' calls.sums && says '^ cat \([0-9]+\), [0-9]+ events, 100\.0%$'
}

# The summary counts the lines.
a_summary_behind_the_calls()
{
	run 0 trace -S -e openat,brk -o calls cat /etc/passwd /etc/group &&
		says 'cat/[0-9]+ brk\(\) += 0x' "^   openat +$(grep -c ' openat(' calls) +0 " \
			"^   brk +$(grep -c ' brk(' calls) +0 "
}

only_those_that_were_chosen()
{
	run 0 trace -e 'open*,close' -o calls cat /etc/passwd &&
		says 'openat\(dfd: CWD, filename: 0x[0-9a-f]+.*\) += 3' 'close\(fd: 3\)' &&
		! grep -vE 'cat/[0-9]+ (open|openat|close)\(' calls &&
		run 0 trace -e '!get*,brk,read,mmap' -o calls cat /etc/passwd && says ' openat\(' &&
		! grep -E ' (brk|read|mmap|get[a-z]*)\(' calls
}

long_ones_and_failures()
{
	run 0 trace --duration 30 -o calls usleep 30000 && says 'usleep/[0-9]+ .*nanosleep\(' &&
		awk -F '[(]|ms' '$2 + 0 < 30 { print "too short: " $0; bad = 1 } END { exit bad }' calls &&
		run 1 trace --failure -o calls cat nothing && says 'ENOENT' && ! grep -v ' = -1 ' calls
}

# Whoever is started, each by its own name; who waits has two lines.
children_are_followed()
{
	run 3 trace -o calls sh -c 'usleep 20000; (exit 3)' &&
		says 'usleep/[0-9]+ .*nanosleep\(.*\) += 0' 'sh/[0-9]+ .*exit_group\(error_code: 3\) += \?$' \
			'sh/[0-9]+ .*wait4\(.*\) +\.\.\.$' 'sh/[0-9]+ +\.\.\. \[continued\]: wait4\(\) += [0-9]+' \
			'^ +\? \( +\): sh/[0-9]+ +\.\.\. \[continued\]: (clone3?|v?fork)\(\) += 0' || return 1
	[ "$(sed -E 's/^.{10} \([^)]*\): [^ ]*\/([0-9]+) .*/\1/' calls | sort -u | wc -l)" -ge 2 ] || return 1
	run 3 trace -i -o calls sh -c 'usleep 20000; (exit 3)' && ! grep usleep/ calls &&
		says 'sh/[0-9]+ .*exit_group\(error_code: 3\) += \?$'
}

# busy: a program that calls and calls until rest(), as process $busy
busy()
{
	: >beats
	sh -c 'while [ ! -e rest ]; do kill -0 $$; echo >>beats; usleep 1000; done' &
	busy=$!
}
beats() { wc -l <beats; }
rest() { : >rest; wait "$busy"; }

others_are_traced_until_they_end()
{
	busy
	pmuctl trace -p "$busy" -o calls &
	tracer=$!
	appears ' kill(' calls
	rest
	wait $tracer && says "sh/$busy kill\(pid: $busy\) += 0" "sh/$busy .*exit_group\(.*\) += \?"
}

# All CPUs, but not who looks; Ctrl-C ends it.
all_cpus_until_ctrl_c()
{
	busy
	# The shell lets SIGINT be ignored by what it starts in the background.
	pmuctl trace -a -o calls &
	tracer=$!
	appears "/$busy kill(" calls
	kill -TERM $tracer
	wait $tracer
	rest
	says "sh/$busy kill\(pid: $busy\) += 0" 'usleep/[0-9]+ .*nanosleep\(' && ! grep -q "/$tracer " calls
}

# While nobody reads the ring, it runs over.
what_is_lost_is_said()
{
	busy
	pmuctl trace -m 1 -p "$busy" -o calls 2>err &
	tracer=$!
	appears ' kill(' calls
	kill -STOP $tracer
	before=$(beats)
	until [ "$(beats)" -gt $((before + 50)) ]; do
		usleep 20000
	done
	kill -CONT $tracer
	appears '^LOST [0-9]* events!$' calls
	rest
	wait $tracer && says '^LOST [1-9][0-9]* events!$' &&
		grep -Eq 'pmuctl: [1-9][0-9]* beginnings or ends of calls were lost' err
}

# A program faults for each page that it touches first; how many they are is not quite the same each time.
page_faults()
{
	pmuctl --version >/dev/null # so that it is in memory
	perf trace -F all --no-syscalls -o theirs pmuctl --version >/dev/null 2>&1
	run 0 trace -F all --no-syscalls -o calls pmuctl --version || return 1
	theirs=$(grep -c 'fault \[' theirs) ours=$(grep -c 'fault \[' calls)
	echo "$theirs faults of perf, $ours of ours"
	[ "$ours" -gt 100 ] && [ $((ours - theirs)) -lt $((theirs / 10)) ] &&
		[ $((theirs - ours)) -lt $((theirs / 10)) ] || return 1
	says 'pmuctl/[0-9]+ minfault \[0x[0-9a-f]+\] => /.*libc\.so[.0-9]*@0x[0-9a-f]+ \(d\.\)$' \
		'minfault \[[a-z_]+\+0x[0-9a-f]+\] => ' ' => \[stack\]@0x' &&
		! grep -v 'fault \[' calls || return 1
	run 0 trace -F min -s -o calls pmuctl --version &&
		says '^ pmuctl \([0-9]+\), [0-9]+ events, 100\.0%, [0-9]+ minfaults$' &&
		run 0 trace -F maj -e openat -o calls pmuctl --version && says 'openat\(' &&
		! grep -q minfault calls && SAYS=err && run 2 trace --no-syscalls true && says 'without -F' &&
		run 2 trace -F some true && says "not 'some'"
}

times_of_the_machine()
{
	run 0 trace -T -o calls true && awk '$1 != "?" && $1 < 1000 { exit 1 }' calls
}

so_many_calls_and_no_more()
{
	run 0 trace --max-events 3 -o calls sh -c 'while :; do usleep 10; done' && lines calls 3 &&
		run 0 trace --max-events 2 -e read -o calls sh -c 'read -r a </etc/passwd' && lines calls 2 &&
		[ "$(grep -c 'read(' calls)" -eq 2 ] && run 0 trace --max-events 100000 -o calls true &&
		run 2 trace --max-events x true
}

# Not those of a shell, but of what it starts
threads_that_are_left_out()
{
	sh -c 'until [ -e go ]; do cat /etc/passwd >/dev/null; usleep 20000; done' &
	shell=$!
	pmuctl trace --filter-pids "999999,$shell" -p $shell -o calls &
	tracer=$!
	appears 'cat/[0-9]* open' calls
	touch go
	wait $tracer && wait $shell && ! grep "/$shell " calls && run 2 trace --filter-pids x true && SAYS=err &&
		says "'x' is no list of threads" && run 2 trace -D 5 true && says "--delay of 'perf trace' is not here"
}

what_makes_no_sense_is_refused()
{
	SAYS=err
	run 2 trace -e nothing true && says "'nothing' is no system call" &&
		run 2 trace -e read -e '!write' true && says 'but not both' &&
		run 2 trace --duration x true && says "'x' is not a number of milliseconds" &&
		run 2 trace --nothing true && says 'nothing' &&
		run 127 trace no-such-program && run 1 trace -o /no/such/file true &&
		says "cannot write to '/no/such/file'" || return 1
	run 1 trace -p 999999
}

# Calls of tasks of his own may be seen by everybody who may count in the kernel.
without_rights_of_his_own()
{
	SAYS=calls
	level=$(cat /sys/module/pmuctl/parameters/paranoid)
	status=0 refused=0
	echo 1 >/sys/module/pmuctl/parameters/paranoid
	capsh --drop=cap_perfmon,cap_sys_admin -- -c 'pmuctl trace -e openat -o calls cat /etc/passwd' \
		>out 2>err || status=$?
	echo 2 >/sys/module/pmuctl/parameters/paranoid
	capsh --drop=cap_perfmon,cap_sys_admin -- -c 'pmuctl trace true' >out 2>refusal || refused=$?
	echo "$level" >/sys/module/pmuctl/parameters/paranoid
	[ $status -eq 0 ] && says 'openat\(dfd: CWD.*\) += 3' && [ $refused -eq 1 ] &&
		SAYS=refusal && says 'CAP_PERFMON'
}

run_checks calls_of names_of same words_of busy beats rest chains
