#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record" and "pmuctl script --trace" of Processor Trace, in a guest whose CPU has
# it: what is decoded is what the PMU counts, by perf's decoder and by libipt; pauses,
# snapshots, what was cut off, refusals; "pmuctl annotate" of it. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TRACED=/pmuctl/tests/prog/traced
ONE_UNAME=/pmuctl/tests/prog/one-uname
LOOPS=/pmuctl/tests/prog/hot-warm-cold
RESUME=raw_syscalls:sys_enter/id=63,aux-action=resume/
PAUSE=raw_syscalls:sys_exit/id=63,aux-action=pause/

# counted COMMAND...: its instructions in user space, by the PMU
counted()
{
	pmuctl stat -x, -o stat.csv -e instructions:u -- "$@" &&
		awk -F, '$3 == "instructions:u" { print $1 }' stat.csv
}

# by_perf FILE: how many instructions perf decodes; an error is a failure
by_perf()
{
	perf script -i "$1" --itrace=i1ie -F event,ip >"$1.perf" 2>"$1.err" || return 1
	! grep -i error "$1.err" >&2 && ! grep -F error "$1.perf" >&2 || return 1
	# A fixed word: a pattern would take longer here than to decode.
	grep -cF instructions: "$1.perf"
}

# by_us FILE: how many instructions we decode, without an error
by_us()
{
	pmuctl script -i "$1" --trace=functions >"$1.rows" 2>"$1.said" || return 1
	! grep 'error:' "$1.rows" >&2 || return 1
	awk 'NR > 1 { sum += $1 } END { print sum + 0 }' "$1.rows"
}

is_same()
{
	echo "$1, expected $2"
	[ -n "$2" ] && [ "$1" = "$2" ]
}

each_instruction_is_decoded_by_perf_and_by_us()
{
	want=$(counted "$TRACED" 1 2 3) &&
		run 0 record -q -i -e intel_pt//u -o u.data "$TRACED" 1 2 3 &&
		is_same "$(by_perf u.data)" "$want" && is_same "$(by_us u.data)" "$want"
}

calls_are_those_that_perf_finds()
{
	run 0 record -q -i -e intel_pt//u -o c.data "$TRACED" 1 &&
		perf script -i c.data --itrace=be -F ip,addr,flags >perf.calls &&
		pmuctl script -i c.data --trace=calls >our.calls || return 1
	awk '$1 == "call" { print $2, $4 }' perf.calls >perf.pairs
	awk '$4 == "call" { print $5, $9 }' our.calls >our.pairs
	[ "$(wc -l <our.pairs)" -gt 10 ] && cmp perf.pairs our.pairs
}

# begun FILE: how often each of the program's functions begins in a timeline
begun()
{
	grep -F '"ph":"B"' "$1" | grep -F '"cat":"traced"' | sed 's/.*"name":"\([^"]*\)".*/\1/' |
		sort | uniq -c | awk '{ print $2, $1 }'
}

a_timeline_has_each_call()
{
	run 0 record -q -i -e intel_pt//u -o l.data "$TRACED" 1 2 3 &&
		pmuctl script -i l.data --trace=functions >rows && run 0 script -i l.data --trace=timeline &&
		mv out l.json || return 1
	# The signal's handler and what starts the program are not called.
	awk '$2 > 0 && /traced/ { print $3, $2 }' rows | sort >want
	begun l.json | awk 'NR == FNR { want[$1]; next } $1 in want' want - | sort >got
	cat want
	[ "$(wc -l <want)" -ge 3 ] && diff want got && [ "$(grep -c '"ph":"B"' l.json)" -eq \
		"$(grep -c '"ph":"E"' l.json)" ] && begun l.json | grep -q '^handler 3$'
}

a_timeline_of_one_function_has_what_that_calls()
{
	run 0 record -q -i -e intel_pt//u -o l.data "$TRACED" 1 2 3 &&
		run 0 script -i l.data --trace=timeline -S parent && grep -q '"name":"parent"' out &&
		! grep '"name":"_start"' out && run 0 script -i l.data --trace=timeline -S nonesuch &&
		says 'no call of nonesuch was traced'
}

only_the_one_call_is_in_the_trace()
{
	run 0 record -q -i --kcore -e intel_pt/aux-action=start-paused/k -e "$RESUME" -e "$PAUSE" \
		-o k.data "$ONE_UNAME" || return 1
	theirs=$(by_perf k.data) && [ "$theirs" -gt 50 ] && is_same "$(by_us k.data)" "$theirs" &&
		grep -q newuname k.data.rows && ! grep getppid k.data.rows
}

a_snapshot_has_the_end()
{
	run 0 record -q -i -S -m ,2 -e intel_pt//u -o s.data "$TRACED" 1 2 3 4 5 6 7 8 9 10 11 12 &&
		[ "$(by_us s.data)" -gt 100 ] && [ "$(by_perf s.data)" -gt 100 ]
}

# Tasks that take turns on a CPU share its buffer: each part is looked up in the task that it is of.
a_snapshot_has_parts_of_several_tasks()
{
	for how in '' -S; do
		# shellcheck disable=SC2086 # an option or none
		run 0 record -q $how -e intel_pt//u -o "t$how.data" \
			sh -c 'i=0; while [ $i -lt 8 ]; do usleep 20000; i=$((i + 1)); done' || return 1
	done
	all=$(by_us t.data) && [ "$all" -gt 100000 ] &&
		kept=$(by_us t-S.data) && [ "$kept" -gt $((all * 9 / 10)) ] && grep -q ' 0 errors$' t-S.data.said
}

# waiting FIFO COMMAND...: a shell, as process $shell, that waits for a line, then becomes it
waiting()
{
	mkfifo "$1"
	sh -c 'read -r line <"$0"; exec "$@"' "$@" &
	shell=$!
}

# gone PID: it has ended, though its parent may not know yet
gone()
{
	while [ -e "/proc/$1/exe" ]; do usleep 20000; done
}

# written FILE PID: wait until pmuctl, that process, has written something there
written()
{
	until [ -s "$1" ]; do
		[ -e "/proc/$2/exe" ] || { echo "$1 was not written"; return 1; }
		usleep 20000
	done
}

# pieces FILE: how many pieces of trace it has
pieces()
{
	perf script -i "$1" -D 2>/dev/null | grep -c 'PERF_RECORD_AUXTRACE size'
}

a_snapshot_is_taken_at_a_signal()
{
	sh -c 'while :; do :; done' &
	shell=$!
	pmuctl record -q -i -S -m ,16 -e intel_pt//u -o p.data -p "$shell" >out 2>err &
	pid=$!
	written p.data "$pid" || { kill "$shell"; return 1; }
	# Nothing else would be written before the end.
	until [ "$(stat -c %s p.data)" -gt 40000 ]; do
		kill -USR2 "$pid"
		usleep 100000
	done
	kill "$shell"
	wait "$pid"
	[ "$(pieces p.data)" -gt 1 ] && [ "$(by_us p.data)" -gt 1000 ]
}

a_snapshot_is_in_the_file_when_it_is_answered()
{
	mkfifo commands answers
	sh -c 'while :; do :; done' &
	shell=$!
	pmuctl record -q -i -S -m ,16 -e intel_pt//u -o a.data --control fifo:commands,answers -p "$shell" \
		>out 2>err &
	pid=$!
	appears busybox a.data
	exec 8<>answers
	for round in 1 2 3 4 5; do
		usleep 50000
		size=$(stat -c %s a.data)
		echo snapshot >commands
		read -r answer <&8
		[ "$answer" = ack ] && [ "$(stat -c %s a.data)" -gt "$size" ] || break
	done
	exec 8>&-
	kill "$shell"
	wait "$pid"
	echo "$round times" && [ "$round" -eq 5 ] && [ "$(pieces a.data)" -ge 5 ]
}

what_is_cut_off_is_told()
{
	waiting go "$TRACED" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
	pmuctl record -q -i -m ,2 -e intel_pt//u -o t.data -p "$shell" >out 2>err &
	pid=$!
	# It is described once it is traced. Then nobody reads.
	appears busybox t.data
	kill -STOP "$pid"
	echo >go
	gone "$shell"
	kill -CONT "$pid"
	wait "$pid"
	says 'the trace was cut off [0-9]+ times, as its buffer was full' || return 1
	pmuctl script -i t.data --trace=functions >/dev/null 2>err
	says 'times the trace was cut off, as its buffer was full'
}

# Programs that start and end, one by exec of another, and all that else runs there. For each that
# starts perf prints some 100,000 instructions of the dynamic linker.
all_that_runs_is_decoded()
{
	run 0 record -q -i -a -m 64,4096 -e intel_pt//u -o w.data \
		sh -c "$TRACED 2 & sh -c 'exec $TRACED 1'; wait" &&
		ours=$(by_us w.data) && [ "$ours" -gt 10000 ] && is_same "$ours" "$(by_perf w.data)" &&
		grep -q fibonacci w.data.rows
}

a_program_that_becomes_another_is_decoded()
{
	run 0 record -q -i -e intel_pt//u -o x.data sh -c "exec $TRACED 1 2" &&
		is_same "$(by_us x.data)" "$(by_perf x.data)" && grep -q fibonacci x.data.rows
}

# With all that it starts, on both CPUs, programs that were there before, and threads
all_that_a_command_starts_is_decoded()
{
	run 0 record -e intel_pt//u -o f.data \
		sh -c "$TRACED 1; $TRACED 1 2 & sh -c 'exec $TRACED 3'; wait" &&
		! grep -q 'is not traced' err || return 1
	ours=$(by_us f.data) && is_same "$ours" "$(by_perf f.data)" || return 1
	# Each program calls it in the same way, alone or not.
	run 0 record -q -i -e intel_pt//u -o g.data "$TRACED" 1 2 3 && by_us g.data >&2 || return 1
	awk '/fibonacci/ { print $1 }' f.data.rows g.data.rows >calls
	cat calls
	[ "$(sed -n 1p calls)" -gt "$(sed -n 2p calls)" ]
}

# process_is_traced OPTIONS: and what it starts, when it is told to
process_is_traced()
{
	waiting start sh -c "$TRACED 1 & $TRACED 2; wait"
	pmuctl record -q -e intel_pt//u "$@" -o h.data -p "$shell" >out 2>err &
	pid=$!
	written h.data "$pid" || { kill "$shell"; return 1; }
	echo >start
	gone "$shell"
	wait "$pid" || return 1
	ours=$(by_us h.data) && is_same "$ours" "$(by_perf h.data)" && grep fibonacci h.data.rows
}

# refused ARGS: nothing is recorded, and the reason is told
refused()
{
	run 1 record -q -e intel_pt//u --filter "filter 0x1000/0x1000@$TRACED" -o none.data "$@" &&
		says 'no probe be set on perf_event_mmap .*give filters addresses without a file' && [ ! -e none.data ]
}

a_process_is_traced_with_all_its_threads() { process_is_traced; }
a_process_is_traced_with_a_filter_by_address() { process_is_traced --filter 'filter 0x401000/0x1000'; }

# Where that is refused the process goes on.
a_process_is_traced_with_a_filter_by_file()
{
	if on_5_10; then
		waiting start "$TRACED" 1
		refused -p "$shell" || { kill "$shell"; return 1; }
		echo >start
		wait "$shell"
		return
	fi
	process_is_traced --filter "filter 0x1000/0x1000@$TRACED"
}

# Recordings that perf makes, with the kernel's driver
those_of_perf_are_decoded()
{
	want=$(counted "$TRACED" 1 2 3) &&
		perf record -q -e intel_pt//u -o a.data "$TRACED" 1 2 3 >out 2>err &&
		is_same "$(by_us a.data)" "$want" || return 1
	perf record -q --per-thread -e intel_pt//u -o b.data "$TRACED" 1 2 3 >out 2>err &&
		is_same "$(by_us b.data)" "$want" || return 1
	perf record -q -e intel_pt//u -o c.data sh -c "$TRACED 1; $TRACED 1 2 & $TRACED 3; wait" \
		>out 2>err &&
		is_same "$(by_us c.data)" "$(by_perf c.data)" || return 1
	perf record -q -a -e intel_pt//u -o d.data sh -c "$TRACED 1; $TRACED 1 2 & $TRACED 3; wait" \
		>out 2>err &&
		is_same "$(by_us d.data)" "$(by_perf d.data)"
}

# find_function: where fibonacci() is, from its $first instruction on, its $size
find_function()
{
	run 0 record -q -i -e intel_pt//u -o all.data "$TRACED" 1 2 3 &&
		perf script -i all.data --itrace=i1ie -F ip,sym >script 2>/dev/null || return 1
	awk '$2 == "fibonacci" { print $1 }' script | sort -u >places
	first=0x$(head -n 1 places) last=0x$(tail -n 1 places)
	size=$((last - first + 1))
	echo "$size bytes from $first"
}

# Of a program only the function that is asked for: its first to its last instruction
a_filter_chooses_addresses()
{
	find_function && run 0 record -q -i -e intel_pt//u --filter "filter $first/$size" \
		-o some.data "$TRACED" 1 2 3 || return 1
	pmuctl script -i some.data --trace=functions >rows 2>err
	cat rows
	[ "$(awk 'NR > 1 && $1 > 0' rows | wc -l)" -eq 1 ] && grep -q fibonacci rows
}

# The same bytes of the file, which begins at 0x400000, in each program that the command starts.
# Where that is refused the command is not run.
a_filter_by_file_is_for_all_that_a_command_starts()
{
	if on_5_10; then
		refused touch begun && [ ! -e begun ]
		return
	fi
	find_function && filter="filter $((first - 0x400000))/$size@$TRACED" || return 1
	run 0 record -q -i -e intel_pt//u --filter "$filter" -o one.data "$TRACED" 1 2 3 &&
		run 0 record -q -e intel_pt//u --filter "$filter" -o three.data \
			sh -c "$TRACED 1 2 3; $TRACED 1 2 3 & $TRACED 1 2 3; wait" &&
		one=$(by_us one.data) && three=$(by_us three.data) || return 1
	[ "$one" -gt 100 ] && is_same "$three" $((3 * one)) && is_same "$(by_perf three.data)" "$three"
}

# What the PMU counts is in the program's functions, each instruction as often as it was executed.
annotated_instructions_are_those_that_are_counted()
{
	want=$(counted "$TRACED" 1 2 3) && run 0 record -q -i -e intel_pt//u -o u.data "$TRACED" 1 2 3 &&
		run 0 annotate -i u.data --no-source --percent-limit 0 || return 1
	is_same "$(awk '$2 == ":" && $4 == ":" { sum += $3 } END { printf "%d", sum }' out)" "$want"
}

# cold() is called 200 times, and goes round its loop of two instructions 10000 times each.
annotated_loops_have_their_turns()
{
	run 3 record -q -e instructions:u -c 100003 -o samples.data "$LOOPS" &&
		run 0 annotate -i samples.data --no-source cold || return 1
	tr -d : <out | awk '$2 ~ /^4[0-9a-f]+$/ { print "0x" $2 }' >places
	first=$(head -n 1 places) last=$(tail -n 1 places)
	run 3 record -q -i -m ,512 -e intel_pt//u --filter "filter $first/$((last - first + 1))" -o cold.data "$LOOPS" &&
		run 0 annotate -i cold.data --no-source || return 1
	cat out
	is_same "$(awk '$2 == ":" && $4 == ":" { printf "%s ", $3 }' out)" '200 200 200 2000000 2000000 200 200 '
}

what_cannot_be_traced_is_refused()
{
	run 2 record -S true && says 'no event traces' &&
		run 1 record -q -e intel_pt//u -e intel_pt//k true && says 'both trace' &&
		run 2 record -e instructions/aux-action=pause/ true && says 'no trace is there' &&
		run 2 record -e intel_pt/aux-action=pause/ true && says 'which has start-paused' &&
		run 2 record -e intel_pt/period=3/ true && says 'has no period' &&
		run 2 record -e intel_pt/nonesuch=1/ true && says "has no 'nonesuch'" &&
		run 2 record -e intel_pt/tsc=2/ true && says 'too large: the most is 1' &&
		run 0 record -m ,3 -o m.data -e intel_pt//u true && says '-m 3 becomes 4 pages' &&
		run 0 record -q -e cpu-clock -o n.data true &&
		run 1 script -i n.data --trace && says 'has no trace' &&
		run 1 annotate -i n.data --trace && says 'has no trace' &&
		run 1 script -i n.data --call-ret-trace && says 'has no trace' &&
		run 2 script -i n.data --insn-trace -j && says 'of a trace' &&
		run 2 script --trace=lines && says 'calls, branches, instructions, functions or a timeline' &&
		run 2 script --trace=calls -S parent && says '-S is of samples'
}

run_checks counted by_perf by_us is_same begun waiting gone written pieces find_function process_is_traced refused
