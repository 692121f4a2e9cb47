#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own commands, unchanged, by "pmuctl run": what they do is what they do on the kernel's perf
# in the same guest. Nothing is passed on meanwhile. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

# 70 % of its instructions are in hot(), which phase() calls, and that _start(); it ends with 3.
LOOPS=/pmuctl/tests/prog/hot-warm-cold
ONE_CALL=/pmuctl/tests/prog/one-uname

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
any_rate

by_theirs() { perf "$@"; }
by_ours() { pmuctl run --strict perf "$@"; }

# both WORDS...: perf's command, of the kernel and of ours: the same status. What it said is in
# theirs.out and ours.out, what it wrote into a file data in theirs and ours.
both()
{
	for whose in theirs ours; do
		code=0
		"by_$whose" "$@" >$whose.out 2>&1 </dev/null || code=$?
		echo $code >$whose.code
		[ ! -e data ] || mv data $whose
	done
	cmp theirs.code ours.code || { cat theirs.out ours.out; return 1; }
}

# same COMMAND FILE...: both say the same of their file
same()
{
	"$@" theirs >a && "$@" ours >b && cat b && [ -s a ] && diff a b
}

# ---- perf stat ----

# What runs in the kernel is not counted alike; and which events share a counter is chance.
events_of() { cut -d ';' -f 3 "$1" | grep -v '^#'; }
perf_stat_has_the_same_events() { both stat -x ';' -d -r 3 -o data $LOOPS 1 && same events_of && [ "$(wc -l <a)" -ge 12 ]; }

# Pinned, so that it is never off
instructions_of() { sed -n '/instructions/s/;.*//p' "$1"; }
perf_stat_counts_as_many_in_each_run()
{
	both stat -x ';' -d -r 3 -e instructions:uD -o data $LOOPS 1 && same instructions_of && [ "$(cat a)" -gt 40000000 ]
}

# ---- Samples ----

# chains_of FILE: of each CPU how many samples the program has, and the chain that most have
chains_of()
{
	perf script -i "$1" --comm hot-warm-cold -F cpu,ip,sym 2>/dev/null | awk '
		/\[[0-9]+\]/ { cpu = $1; chain = ""; next }
		NF { chain = chain " " $2; next }
		{ n[cpu]++; if (++of[cpu chain] > of[cpu most[cpu]]) most[cpu] = chain }
		END { for (cpu in n) print cpu, n[cpu], most[cpu] }' | sort
}

# By default cycles, as precisely as may be. On each CPU the program needs a third of a second at least,
# which is more than a hundred samples; perf's kernel takes fewer when they take long.
perf_record_samples_all_cpus()
{
	both record -B -q -g -a -F 499 -o data sh -c "taskset -c 0 $LOOPS 1 2 3 4 & taskset -c 1 $LOOPS 1 2 3 4; wait" || return 1
	for whose in theirs ours; do
		chains_of $whose >chains
		cat chains
		[ "$(grep -c ' hot phase _start$' chains)" -eq 2 ] && awk '$2 < 10 { exit 1 }' chains || return 1
	done
}

# top WHOSE COMMAND...: it shows itself three times, and then hot() first; a signal ends it
top()
{
	shown=$1
	shift
	"$@" top --stdio -F 199 -e cycles:u -d 1 <&7 >"$shown" 2>&1 &
	perf_top=$!
	hundredths
	deadline=$((now + 6000))
	until [ "$(grep -c PerfTop: "$shown")" -ge 3 ] && [ "$(hottest "$shown")" = hot ] || [ "$now" -gt "$deadline" ]; do
		usleep 200000
		hundredths
	done
	kill -INT $perf_top
	code=0
	wait $perf_top || code=$?
	echo "status $code, hottest: $(hottest "$shown")"
	[ "$code" -eq 0 ] && [ "$(hottest "$shown")" = hot ]
}
hottest() { awk '/PerfTop:/ { first = 1 } first && /%.*\[[.k]\]/ { name = $NF; first = 0 } END { print name }' "$1"; }

# Its input is there, and silent.
perf_top_shows_the_same_function_first()
{
	mkfifo silent
	exec 7<>silent
	# shellcheck disable=SC2046 # each argument makes it longer
	$LOOPS $(yes | head -n 5000) &
	busy=$!
	give_back
	top theirs command perf && top ours pmuctl run perf
	shown=$?
	exec 7>&-
	kill $busy
	wait $busy
	return $shown
}

# ---- Tracepoints ----

# switches_of FILE: what of the scheduler is no chance: who started, slept and ended. A shell need not
# wait for a task that has ended on another CPU.
switches_of()
{
	perf script -i "$1" 2>/dev/null | sed -nE 's/.* (sched:sched_process_fork): comm=([^ ]*) .*/\1 \2/p
		s/.* (sched:sched_switch): prev_comm=([^ ]*) .* prev_state=([SZX]).*/\1 \2 \3/p' |
		grep -E ' (sh|one-uname|usleep)( |$)' | grep -v ' sh S' | sed 's/X$/Z/' | sort | uniq -c
}

# tasks_of FILE: of the table the tasks of the command, and for whom there are fewer switches than tasks
tasks_of()
{
	perf sched -i "$1" latency 2>/dev/null | awk '
		$1 ~ /^(one-uname|usleep):\(/ { n = $1; gsub(/[^0-9]/, "", n); print $1, ($6 < n ? "too few: " $6 : "") }' | sort
}

perf_sched_tells_of_the_same_switches()
{
	both sched record -q -B -o data sh -c "for i in 1 2 3 4 5; do $ONE_CALL; usleep 20000; done" && same switches_of &&
		grep -x ' *5 sched:sched_switch usleep S' a && same tasks_of && grep -x 'usleep:(5) ' a
}

# calls_of FILE: each task, how many events it had, and of each call how many, and how many failed
calls_of()
{
	awk '/, [0-9]+ events,/ { task = $1; print task, $3 }
		/^   [a-z]/ && $2 ~ /^[0-9]+$/ { print task, $1, $2, $3 }' "$1.out" | sort
}

# perf misses a few calls of a thousand, of its own events as well: of a short program hardly ever
# one. Then both are run again, twelve times at most.
perf_trace_counts_the_same_calls()
{
	for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
		both trace -s cat /etc/passwd && same calls_of && grep -x 'cat execve 1 0' a && return 0
		echo "attempt $attempt"
	done
	return 1
}

# locks: two tasks read the kernel's log by one descriptor, whose lock the first has while it waits
locks()
{
	cat >locks.sh <<-'END'
		dd bs=8192 count=1 <&5 >/dev/null 2>&1 &
		first=$!
		until grep -q devkmsg_read "/proc/$first/wchan"; do usleep 10000; done
		dd bs=8192 count=1 <&5 >/dev/null 2>&1 &
		until grep -q devkmsg_read "/proc/$!/wchan"; do usleep 10000; done
		echo one >/dev/kmsg
		wait $first
		echo two >/dev/kmsg
		wait
	END
}

# waits_of FILE: of those two what they waited for, and whence, from where the lock is taken
waits_of()
{
	perf script -i "$1" --comm dd -F event,ip,sym 2>/dev/null | awk '
		/lock:/ { if (chain ~ /devkmsg_read/) print chain; chain = $1; next }
		NF { chain = chain " " $2 }
		END { if (chain ~ /devkmsg_read/) print chain }'
}

perf_lock_tells_of_the_same_waits()
{
	locks
	exec 5</dev/kmsg
	timeout 1 cat <&5 >/dev/null 2>&1
	both lock record -q -B -o data sh locks.sh
	told=$?
	exec 5<&-
	[ $told -eq 0 ] && same waits_of && grep lock:contention_end a
}

# ---- What neither has ----

# There is no precise sampling, and so no address of what was loaded.
memory_is_refused_alike()
{
	both mem record -o data $LOOPS 1 && cmp theirs.out ours.out && grep 'not supported' ours.out &&
		both c2c record -o data $LOOPS 1 && cmp theirs.out ours.out && grep 'not supported' ours.out &&
		both record -o data -e instructions:upp $LOOPS 1 && cmp theirs.out ours.out && cat ours.out
}

run_checks by_theirs by_ours both same events_of instructions_of chains_of top hottest switches_of tasks_of calls_of locks waits_of
