#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What those type who are used to perf, which need not be looked up here: options, words and
# modifiers of perf's, beside perf itself. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

HOT=/pmuctl/tests/prog/hot-warm-cold
ONE_UNAME=/pmuctl/tests/prog/one-uname

# events FILE: the events of a recording as perf has them, one a line, with their attr
events() { perf evlist -v -i "$1" 2>/dev/null; }

# ---- commands

a_slip_of_the_finger_is_found()
{
	run 2 recrod true && says "^pmuctl: unknown command 'recrod': did you mean 'record'[?]" &&
		run 2 foo && says "unknown command 'foo'$" && run 2 anotate && says "did you mean 'annotate'[?]" &&
		run 2 foobar && says "^pmuctl: unknown command 'foobar'$" &&
		run 2 x && says "^pmuctl: unknown command 'x'$" &&
		run 2 "$(printf '%08000d' 0)"
}

where_perfs_commands_are_is_told()
{
	run 2 sched latency && says "'pmuctl run perf sched' runs perf's" &&
		run 2 inject && says "'perf inject' reads recordings of pmuctl"
}

# ---- events

as_precise_as_there_is_is_not_refused()
{
	run 0 record -q -e cycles:P,instructions:uP -o file true && run 0 report -i file &&
		run 0 stat -e cycles:P true && run 2 stat -e cycles:PP true && says 'the modifier P is given twice'
}

guests_and_idle_cpus_are_left_out_as_perf_does()
{
	run 0 record -q -e instructions:uH,instructions:uG,cycles:uI -o file true && events file >ours &&
		perf record -q -e instructions:uH,instructions:uG,cycles:uI -o theirs.data true 2>perf.err &&
		events theirs.data >theirs || return 1
	for word in uH:exclude_guest uG:exclude_host uI:exclude_idle; do
		grep -q "${word%:*}.*${word#*:}: 1" ours && grep -q "${word%:*}.*${word#*:}: 1" theirs || {
			echo "$word"
			cat ours theirs
			return 1
		}
	done
	! grep 'exclude_guest.*exclude_host' ours
}

several_patterns_are_listed()
{
	run 0 list cycles cache-misses 'sched:sched_switch' && grep -q '^  cycles or' out && grep -q '^  cache-misses' out &&
		grep -qx sched:sched_switch out && run 1 list nonesuch noneother && says "matches 'nonesuch', nor what is behind it"
}

# What is recorded goes on for ever.
a_recording_ends_when_it_is_large_enough()
{
	run 0 record --max-size 300K -c 10000 -g -o large sh -c 'while :; do :; done' && says 'as --max-size has been written' &&
		size=$(stat -c %s large) && [ "$size" -gt 300000 ] && [ "$size" -lt 3000000 ] &&
		run 0 report -i large --stdio && grep -q '%' out && rm large &&
		run 2 record --max-size 3T true && says "'3T' is not a number for --max-size"
}

# only HEADING: what is listed is of that
only() { [ "$(grep '^[^ ]' out)" = "$1:" ] && grep -q '^  ' out; }

classes_are_called_as_by_perf()
{
	run 0 list hw && only 'Generic events' && run 0 list software && only 'Software events' &&
		run 0 list cache L1-dcache && only 'Cache events' && [ "$(grep -c '^  ' out)" -ge 2 ] &&
		run 0 list pmu && grep -q '^Events of this CPU' out && ! grep -Eq '^(Generic|Software|Cache)' out &&
		run 1 list sw cache-misses && says "no event matches 'cache-misses'"
}

names_are_listed_with_and_without_what_they_mean()
{
	run 0 list sw && cp out usual && for how in -d --desc -v --long-desc '--no-desc -d'; do
		# shellcheck disable=SC2086 # two options
		run 0 list $how sw && cmp out usual || return 1
	done
	run 0 list --no-desc sw && only 'Software events' && grep -qx '  cpu-clock' out && ! grep -q 'ns for' out || return 1
	run 0 list -j --no-desc cpu-clock && grep -q '"description": "' out
}

tracepoints_are_listed_by_their_pattern()
{
	run 0 list 'sched:sched_*' && grep -qx 'sched:sched_switch' out && [ "$(wc -l <out)" -gt 10 ] &&
		run 0 list -j sched:sched_switch && grep -q '"kind": "tracepoint"' out &&
		run 1 list 'nothing:*' && says "no event matches 'nothing:[*]'"
}

# ---- pmuctl stat

all_user_and_all_kernel_are_counted()
{
	for level in user kernel; do
		run 0 stat -x , -e "{instructions,instructions:u,instructions:k}" --all-$level true &&
			awk -F , '{ n[NR] = $1 } END { exit n[1] != n[2] || n[1] != n[3] || !n[1] }' err || return 1
	done
	run 0 stat -x , -e task-clock,sched:sched_process_exec --all-user true && says '^1,,sched:' &&
		run 2 stat --all-user --all-kernel true && says '--all-user and --all-kernel exclude each other'
}

something_is_run_before_and_after()
{
	run 0 stat -x , -e instructions:u -r 2 --pre 'echo before' --post 'echo after; echo $PPID >parent' echo run &&
		printf 'before\nrun\nafter\nbefore\nrun\nafter\n' | cmp - out && [ -s parent ] &&
		run 1 stat --pre 'exit 3' echo run && says "^pmuctl: --pre 'exit 3' ended with status 3" && [ ! -s out ] &&
		run 1 stat --post 'kill $$' echo run && says "--post 'kill [$][$]' was ended by signal 15" 'instructions'
}

what_was_counted_is_told_though_something_fails()
{
	run 1 stat -x , -e instructions:u -r 5 --post '[ -e again ] && exit 1; touch again' echo run &&
		lines out 2 && says '^[1-9][0-9]*,,instructions:u,[0-9.]+%'
}

# It ends, and the command is not run.
a_signal_ends_what_is_run_before()
{
	pmuctl stat --pre 'touch begun; exec sleep 1000' touch run 2>err &
	appears begun && kill $!
	status=0
	wait $! || status=$?
	[ $status -eq 143 ] && [ ! -e run ] || { echo "status $status"; return 1; }
}

nobody_waits_for_ever_for_who_does_not_read()
{
	mkfifo pipe
	exec 7<>pipe
	dd if=/dev/zero of=pipe bs=4096 count=16 2>/dev/null
	pmuctl stat -x , -e instructions:u --log-fd 7 touch run 2>err &
	appears run && usleep 200000 && kill $!
	status=0
	wait $! || status=$?
	exec 7<&-
	[ $status -eq 143 ] || { echo "status $status"; return 1; }
}

# Nothing of it is counted.
what_is_run_before_has_no_counts()
{
	run 0 stat -x , -e instructions:u true && alone=$(cut -d , -f 1 err) &&
		run 0 stat -x , -e instructions:u --pre 'for i in 1 2 3; do ls / >/dev/null; done' --post 'ls /' true &&
		echo "$alone alone" && [ "$(cut -d , -f 1 err)" -lt $((alone * 3 / 2)) ]
}

disks_are_written_to_before() { run 0 stat -S -e cs true && run 0 stat --sync -r 2 -e cs true; }

# That the command ends by it is as it was asked for.
stop_is_no_failure()
{
	for how in 'stat -e cs' 'record -q -e cs -o stop.data'; do
		rm -f commands
		mkfifo commands
		# shellcheck disable=SC2086 # words
		pmuctl $how --control fifo:commands sleep 1000 2>err &
		measuring=$!
		listens $measuring && printf 'ping\nstop\n' >commands && wait $measuring || { echo "$how: $?"; return 1; }
	done
	run 1 stat -e cs --control fifo:/etc/passwd true && says "'/etc/passwd' of --control is no FIFO"
}

# What scripts send, and who does not listen any more, does not end a recording.
signals_and_pipes_do_not_end_it()
{
	# shellcheck disable=SC2016 # the command's
	run 0 record -q -e cs -o usr2.data sh -c 'kill -USR2 $PPID; sleep 0.1' && run 0 report -i usr2.data --stats &&
		run 140 record -q -e cs -o usr2.data sh -c 'kill -USR2 $$' &&
		run 0 record --no-overwrite --tail-synthesize -q -e cs -o usr2.data true || return 1
	for how in 'stat -e cs' 'record -q -e cs -o pipe.data'; do
		rm -f commands answers
		mkfifo commands answers
		true <answers &
		# shellcheck disable=SC2086 # words
		pmuctl $how -C 0 --control fd:8,9 8<>commands 9>answers 2>err &
		measuring=$!
		listens $measuring && printf 'ping\nping\nsnapshot\nstop\n' >commands && wait $measuring ||
			{ echo "$how: $?"; return 1; }
	done
	says "'snapshot' is for -S"
}

# Of three phases of a command the second is recorded, sample for sample: "enable" is answered when
# it counts, "disable" when it does not any more.
another_program_says_when_to_record()
{
	mkfifo commands answers
	# shellcheck disable=SC2016 # the command's
	pmuctl record -q -o control.data -e instructions:u -c 100003 -D -1 --control fifo:commands,answers \
		sh -c 'for i in 1 2 3; do until [ -e go$i ]; do usleep 10000; done
			/pmuctl/tests/prog/hot-warm-cold; : >done$i; done' 2>record.err &
	recording=$!
	listens $recording || return 1
	exec 8<>answers
	for i in 1 2 3; do
		[ $i != 2 ] || tell enable || return 1
		: >go$i
		until [ -e done$i ]; do usleep 10000; done
		[ $i != 2 ] || tell disable || return 1
	done
	exec 8>&-
	wait $recording || { cat record.err; return 1; }
	run 3 record -q -o once.data -e instructions:u -c 100003 /pmuctl/tests/prog/hot-warm-cold
	for file in control once; do
		pmuctl report -i $file.data -n -s sym -g none 2>/dev/null |
			awk '$NF ~ /^(hot|warm|cold)$/ { print $2, $NF }' | sort >$file.rows
	done
	grep -q ' hot$' once.rows && awk 'FNR == NR { a[$2] = $1; next } { n = a[$2] - $1 }
		n < -1 || n > 1 { bad = 1 } END { exit bad || !NR }' once.rows control.rows || return 1
	run 0 record -q -o never.data -D -1 --control fd:9 usleep 500000 9</dev/null &&
		says "ended before it said 'enable': nothing is recorded" &&
		run 127 stat record true && says 'write as text' &&
		run 2 record -D -1 true && says '-D -1 needs --control' &&
		run 1 record --control fd:77 touch ran && says 'no such descriptor' && [ ! -e ran ]
}

# tell COMMAND: the answer must come
tell() { echo "$1" >commands && read -r answer <&8 && [ "$answer" = ack ]; }

stop_from_another_program()
{
	mkfifo commands
	pmuctl record -q -a -e cs -o control.data --control fifo:commands 2>record.err &
	recording=$!
	listens $recording && echo stop >commands && wait $recording && [ ! -s record.err ] &&
		run 0 report -i control.data --stdio
}

intervals_have_a_sum()
{
	run 0 stat -x, -I 50 --interval-count 3 --summary -a -e page-faults,duration_time || return 1
	# What the last line says is what the others have counted.
	awk -F, '$4 == "page-faults" { n++; sum[$1 ~ /summary/] += $2 } END { exit !(n == 4 && sum[0] == sum[1]) }' err || return 1
	awk -F, '$4 == "duration_time" && $1 !~ /summary/ { all += $2 }
		$4 == "duration_time" && $1 ~ /summary/ { good = $2 >= all - 10 && $2 <= all + 10 } END { exit !good }' err || return 1
	run 0 stat -I 50 --interval-count 2 --summary -a -e cs && says '^ +[0-9]+\.[0-9]+ +[0-9,]+ +cs' "^ Performance counter stats for 'system wide':" &&
		run 2 stat --summary -e cs true && says '--summary is of the intervals of -I'
}

runs_are_told_one_by_one()
{
	run 0 stat -r 4 --table -e cs true && says '# Table of individual measurements:' '# Final result:' &&
		[ "$(grep -Ec '^ +[0-9]+\.[0-9]+ \([+-][0-9]+\.[0-9]+\) #+$' err)" -eq 4 ] || return 1
	run 2 stat --table -e cs true && says '--table is of the runs of -r' &&
		run 2 stat --table -r 2 -x, -e cs true && says '--table is for people'
}

# Nine raw events are more than there are counters for them.
times_weak_groups_and_fixed_counters_are_called_as_with_perf()
{
	many=r00c4,r01c4,r02c4,r04c4,r08c4,r10c4,r20c4,r40c4,r80c4
	run 0 stat -x, -e "{$many}:uW,{cycles:u,instructions:u}" -- true || return 1
	[ "$(grep -c ':u,' err)" -eq 11 ] || return 1
	run 1 stat -e "{$many}:u" -- true && says 'can never be on the PMU at once' || return 1
	run 0 stat -x, -e duration_time,user_time,system_time -- true &&
		says '^[0-9]+,ns,duration_time,' '^[0-9]+,ns,user_time,' '^[0-9]+,ns,system_time,' || return 1
	run 0 stat -x, -a -A -e duration_time,user_time,cs -- true &&
		says '^CPU0,[0-9]+,ns,duration_time,' '^CPU0,<not counted>,ns,user_time,' &&
		! grep -q '^CPU1,.*_time' err || return 1
	run 2 record -e duration_time -- true && says "'duration_time' is a time, which nothing samples" || return 1
	! grep -q GenuineIntel /proc/cpuinfo || {
		run 0 stat -x, -e inst_retired.any:u,instructions:u,CPU_CLK_UNHALTED.THREAD:u,cycles:u -- true &&
			[ "$(grep -Eic '^[0-9]+,,(inst_retired.any|cpu_clk_unhalted.thread):u,' err)" -eq 2 ] &&
			[ "$(sed -n 1p err | cut -d, -f1)" = "$(sed -n 2p err | cut -d, -f1)" ]
	} || return 1
	run 0 stat -M IPC,CPI -- true && says '# +[0-9.]+ +insn_per_cycle' '# +[0-9.]+ +cycles_per_insn'
}

numbers_are_big_by_themselves() { run 0 stat -B -e instructions:u true && says '^ +[0-9]+,[0-9,]+ +instructions:u'; }

counts_go_to_a_descriptor()
{
	status=0
	pmuctl stat -x , -e instructions:u --log-fd 5 true >out 2>err 5>five || status=$?
	[ $status -eq 0 ] && grep -q 'instructions:u' five && [ ! -s err ] &&
		pmuctl stat -e cs --log-fd 3 true 3>/dev/full 2>err || says 'cannot write the counts to the descriptor of --log-fd: No space' &&
		run 1 stat --log-fd 77 true && says "cannot write to the descriptor 77 of --log-fd: Bad file descriptor" &&
		run 2 stat --log-fd 5 -o file true && says '--log-fd and -o exclude each other' &&
		run 0 stat -e cs --append --log-fd 1 true && grep -q ' cs ' out &&
		run 2 stat --log-fd x true && says "'x' is not a number for --log-fd"
}

# ---- pmuctl record

all_user_and_all_kernel_are_recorded()
{
	run 0 record -q --all-user -e instructions -c 10000 -o file ls / &&
		events file | grep 'exclude_kernel: 1' && run 0 script -i file -F ip &&
		[ -s out ] && ! grep -E '^ *ffff' out && run 0 record -q --all-kernel -e instructions -c 10000 -o file ls / &&
		events file | grep 'exclude_user: 1' && run 0 script -i file -F ip || return 1
	# An overflow in the instruction that leaves the kernel is seen behind it, in user code.
	awk '/^ *ffff/ { kernel++; next } { user++ } END { exit !(kernel > 3 * user) }' out
}

as_often_as_may_be()
{
	run 0 record -q -F max -o file true && events file |
		grep -F "{ sample_period, sample_freq }: $(cat /sys/module/pmuctl/parameters/max_sample_rate)," ||
		return 1
	run 2 record -F most true && says "'most' is not a number for -F" &&
		run 2 record -F max -c 100 true && says '-F and -c exclude each other'
}

# perf takes these, and has by them what is always there.
what_is_always_there_may_be_asked_for()
{
	run 0 record -q -T -P -R -N --timestamp --period --raw-samples --no-buildid-cache \
		--sample-identifier --timestamp-boundary --strict-freq -o file true &&
		events file | grep 'sample_type: IP|TID|TIME|PERIOD|IDENTIFIER,'
}

the_cpu_and_the_address_are_recorded()
{
	run 0 record -q -d --sample-cpu -c 1 -e page-faults:u -o file true && events file >ours && grep 'ADDR|CPU' ours &&
		grep 'mmap_data: 1' ours &&
		perf script -i file -F cpu,addr,event >theirs 2>perf.err && [ -s theirs ] &&
		! grep -v '^ *[[]00[01]] *page-faults:u: *[0-9a-f]* *$' theirs && ! grep -q ' 0 *$' theirs &&
		run 0 report -C 0,1 -i file && run 0 script -i file -F cpu,ip && [ -s out ]
}

# A sleep that is over before the task has begun it is none: on a busy machine one may be.
switches_are_told()
{
	run 0 record -q --switch-events -o file sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do usleep 20000; done' &&
		perf script --show-switch-events -i file 2>perf.err | grep -q PERF_RECORD_SWITCH &&
		run 0 report -i file && run 0 script -i file
}

# who: of what is printed of switches on the input, a line for each: which way, and the other task
who()
{
	sed -nE 's/.*(out|in)( preempt)? *(next|prev) pid\/tid: *(-?[0-9]+)\/(-?[0-9]+) *$/\1\2 \3 \4 \5/p' |
		awk '{ $1 = $1; print }'
}

switches_of_cpus_tell_the_other_task()
{
	run 0 record -q -a -C 0 --switch-events -e instructions:u -c 1000000 -o file usleep 100000 &&
		perf script --show-switch-events -i file 2>perf.err | sed 's/OUT/out/; s/IN/in/' | who >theirs &&
		[ -s theirs ] && run 0 script -i file --show-switch-events && who <out >ours && diff theirs ours &&
		run 0 script -i file --show-switch-events --json && grep -q '"out":true,"preempted":' out &&
		grep -q '"other_tid":' out
}

tasks_alone()
{
	run 0 record -q --per-thread -e instructions:u -c 10000 -o file sh -c 'ls / | wc -l' &&
		! events file | grep 'inherit: 1' && run 0 report -i file
}

rings_have_a_size()
{
	run 0 record -q -m 64K -o file true && run 0 record -q -m 1M,256K -o file true &&
		run 0 record -m 24K -o file true && says '-m 24K becomes 8 pages, a power of two' &&
		run 2 record -m K true && says "is not a number for -m" &&
		run 2 record -m 4000000000G true && says '-m 4000000000G is more than 1073741824 pages'
}

# perf's own of each sample, with all registers and with some
registers_are_those_that_perf_prints()
{
	for regs in -I -Iax,IP,r15 --user-regs=ip,sp "-I --user-regs=bx"; do
		# shellcheck disable=SC2086 # two options
		run 0 record -q $regs -e instructions:u -c 20000 -o file ls / || return 1
		for field in iregs uregs; do
			perf script -i file -F $field 2>/dev/null | tr -s ' ' '\n' | sed '/^$/d' >theirs
			pmuctl script -i file -F $field 2>err | tr -s ' ' '\n' | sed '/^$/d' >ours
			cmp ours theirs || return 1
			[ ! -s ours ] || echo "$regs $field: $(wc -l <ours)" | tee -a seen
		done
	done
	[ "$(wc -l <seen)" -eq 5 ] && run 0 script -j -i file -F iregs,uregs &&
		grep -q '"intr_regs":{"AX":"0x[0-9a-f]*".*"user_regs":{"BX":"0x' out &&
		run 0 record '-I?' && grep -q 'AX BX .* R15' out && run 2 record -Iax,zz true && says "'zz' is no register"
}

each_thread_tells_what_it_has_counted()
{
	run 0 record -q -s -e instructions:u,cs -c 10000 -o file sh -c 'ls / | wc -l' && run 0 report -T -i file &&
		grep -E '^# +PID +TID +instructions:u +cs$' out && grep -E '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$' out | tr -s ' ' >ours &&
		perf report -T --stdio -i file 2>/dev/null | grep -E '^ +[0-9]+ +[0-9]+ ' | tr -s ' ' >theirs && cat ours theirs &&
		[ "$(wc -l <theirs)" -ge 2 ] && cmp ours theirs &&
		run 0 record -q -o file true && run 0 report -T -i file && says 'record with -s' && run 2 report -T --json -i file &&
		perf record -q -s -e cpu-clock -o alone true && run 0 report -T -i alone && says 'no thread has told'
}

# Its exec is the kernel's work for a task that has no name of its own yet.
the_command_has_a_name_from_the_first_sample_on()
{
	run 0 record -q -e instructions:k -c 200 -o file true && run 0 script -i file -F comm &&
		sort out | uniq -c && grep pmuctl-exec out && ! grep : out
}

clocks_have_their_long_names()
{
	run 0 record -q -k CLOCK_MONOTONIC_RAW -o file true && events file | grep -q 'clockid: 4' &&
		run 0 record -q -k monotonic -o file true && events file | grep -q 'clockid: 1'
}

# ---- pmuctl script

what_was_not_recorded_is_no_empty_line()
{
	run 0 record -q -e instructions:u -c 20000 -o file ls / || return 1
	for field in addr:-d weight:-W phys_addr:phys-data cpu:--sample-cpu trace:tracepoint brstack:-b iregs:-I uregs:--user-regs; do
		run 1 script -i file -F "comm,${field%:*}" && says "the samples of 'file' have no '${field%:*}': .*${field#*:}" &&
			[ ! -s out ] && run 1 script -j -i file -F "+${field%:*}" || return 1
	done
	run 0 script -i file -F comm,time,period,event,ip,id
}

# seconds PATTERN FILE: the times in a script's lines
seconds() { sed -n 's/^ *\([0-9]*[.][0-9]*\): *$/\1/p' "$1"; }

times_are_since_the_first_or_the_last()
{
	run 0 record -q -e instructions:u -c 2000 -o file ls / || return 1
	for how in --reltime --deltatime; do
		run 0 script -i file $how -F time && seconds out >ours &&
			perf script -i file $how -F time --ns 2>/dev/null >theirs.out && seconds theirs.out >theirs &&
			[ "$(wc -l <ours)" -gt 10 ] && cmp ours theirs || { head -n 3 ours theirs.out; return 1; }
	done
	run 2 script -i file --reltime --deltatime && says 'exclude each other'
}

# As many as perf has with the same options
samples_are_chosen_as_perf_does()
{
	run 0 record -q -a -e instructions:u -c 20000 -o file sh -c 'ls / | wc -l; usleep 100' &&
		pid=$(perf script -i file -F comm,pid 2>/dev/null | awk '$1 == "ls" { print $2 }' | head -n 1) &&
		[ -n "$pid" ] || return 1
	for choice in "-C 0 --ns" "--pid $pid" "--tid $pid" "-c wc,ls" "--time 10%-60%"; do
		# shellcheck disable=SC2086 # an option and its argument
		run 0 script -i file -F comm,tid,ip $choice &&
			perf script -i file -F comm,tid,ip $choice >theirs 2>perf.err || return 1
		echo "$choice: $(wc -l <out), perf: $(wc -l <theirs)"
		[ "$(wc -l <out)" -eq "$(wc -l <theirs)" ] || return 1
	done
	run 0 script -i file -S nothing && [ ! -s out ] && run 2 script -C x && says "'x'"
}

fields_are_added_and_left_out()
{
	run 0 record -q -c 10000 -e instructions:u -o file ls / && run 0 script -i file -F comm,ip && cp out fields &&
		run 0 script -i file -F -tid,-cpu,-time,-period,-event,-addr,-sym,-dso,-trace && cmp out fields &&
		run 0 script -i file -F +pid && grep -Eq '^ls +[0-9]+/[0-9]+' out &&
		run 0 script -i file -F -tid,-cpu,-time,-period -F -event,-addr,-sym,-dso,-trace && cmp out fields &&
		run 2 script -i file -F +nothing && says "'nothing' is no field" &&
		run 2 script -i file -F ip -F -ip && says '-F leaves no field'
}

# As many as perf prints of each kind, beside the samples
kinds_of_records_are_shown()
{
	run 0 record -q --switch-events -e instructions:u -c 100000 -o file sh -c 'ls / | wc -l' &&
		run 0 script -i file -v -F comm,ip && samples=$(wc -l <out) || return 1
	for kind in task mmap switch lost namespace; do
		run 0 script -i file -F comm,ip --show-$kind-events &&
			perf script -i file -F comm,ip --show-$kind-events >theirs 2>perf.err || return 1
		ours=$(($(wc -l <out) - samples)) theirs=$(grep -c PERF_RECORD_ theirs)
		echo "$kind: $ours, perf: $theirs"
		[ "$ours" -eq "$theirs" ] || return 1
	done
	run 0 script -i file -F comm,ip --show-task-events --show-mmap-events && both=$(wc -l <out) &&
		run 0 script -i file -F comm,ip --show-task-events && tasks=$(wc -l <out) &&
		run 0 script -i file -F comm,ip --show-mmap-events && maps=$(wc -l <out) &&
		[ $((both + samples)) -eq $((tasks + maps)) ] && [ "$tasks" -gt "$samples" ]
}

# longest FILE: how many lines of call chains are together at most, behind the line of a sample
longest() { awk '/^[^ \t]/ { n = -1 } NF { n++ } !NF { n = 0 } n > most { most = n } END { print most + 0 }' "$1"; }

call_chains_are_cut()
{
	run 0 record -q -g -e instructions:k -c 100000 -o file ls / && run 0 script -i file -F comm,ip,sym &&
		[ "$(longest out)" -gt 3 ] && run 0 script -i file -F comm,ip,sym --max-stack 3 &&
		[ "$(longest out)" -eq 3 ] && run 0 report -i file --stdio --max-stack 1 --no-children -v &&
		run 2 report --max-stack 0 && says "'0' is not a number of callers for --max-stack" &&
		run 2 script --max-stack x && says "'x' is not a number of callers"
}

headers_are_printed()
{
	run 0 record -q -o file true && run 0 script -i file --header-only && grep -q '^# cmdline : ' out &&
		! grep -v '^#' out && mv out header && run 0 script -i file --header &&
		head -n "$(wc -l <header)" out | cmp - header && grep -qv '^#' out &&
		run 0 script -i file --header-only --records && cmp out header &&
		run 2 script -i file --header -j && says '--header is text: it excludes -j'
}

traces_have_no_choice_of_samples()
{
	run 0 record -q -o file true && run 2 script -i file --trace -C 0 && says '^pmuctl: -C is of samples' &&
		run 2 script flamegraph && says "'pmuctl report --svg FILE'"
}

# In the guest's "sh" a pipeline ends with the status of its last command.
pipes_need_no_names()
{
	run 0 record -q -e cs -c 1 -o perf.data true || return 1
	pmuctl record -q -e instructions:u -c 1000 $HOT 2>err | pmuctl report --stdio -s comm >out 2>>err || return 1
	cat out err
	grep -Eq "100.00% +hot-warm-cold" out &&
		pmuctl record -q -e instructions:u -c 1000 $HOT 2>err | pmuctl script -F comm >out 2>>err &&
		grep -q "hot-warm-cold" out
}

what_cannot_be_printed_is_told()
{
	for words in "list hw" list "list -j hw" version help "help stat" "stat --help" doctor; do
		# shellcheck disable=SC2086 # words
		! pmuctl $words >/dev/full 2>err && grep 'cannot write' err || {
			echo "$words"
			return 1
		}
	done
}

targets_are_given_as_to_perf()
{
	run 0 stat -x, -a -C 0 -e cs sleep 0.1 && run 0 stat -x, -C 0 -a -e cs sleep 0.1 &&
		run 0 stat -x, -C 0 -C 1 -A -e cs sleep 0.1 && says '^CPU0,' && says '^CPU1,' &&
		run 0 stat -x, -p 1 -p $$ -e cs sleep 0.1 && run 0 stat -x, -a -p $$ -e cs sleep 0.1 &&
		run 2 stat -p 1 -p x true && says "'1,x' is not a list of numbers: wrong at character 3"
}

# As to perf: of the tracepoints of the last -e before it
each_event_has_its_filter()
{
	run 0 stat -x, -e raw_syscalls:sys_enter --filter 'id == 63' -e raw_syscalls:sys_enter --filter 'id == 999' \
		-e raw_syscalls:sys_exit "$ONE_UNAME" && cat err &&
		[ "$(cut -d , -f 1 err | head -n 2 | tr '\n' ' ')" = "1 0 " ] && [ "$(sed -n 3p err | cut -d , -f 1)" -gt 1 ]
}

# What a script starts with "&" ignores SIGINT, and so does what that starts.
an_interrupt_ends_what_does_not_hear_it()
{
	pmuctl record -q -e cs -o file sleep 1000 &
	recorder=$!
	while ! [ -e file ]; do sleep 0.1; done
	kill -INT $recorder
	wait $recorder
	! pgrep -f 'sleep 1000' && run 0 script -i file
}

another_root_has_no_other_kernel()
{
	run 0 record -q -e instructions:k -c 100000 -o file ls / && run 0 report -i file --stdio -s sym &&
		grep '%' out >before && run 0 report -i file --stdio -s sym --symfs / && grep '%' out | cmp - before
}

# The recording has its name, or none yet: "ls" must not stumble over one that goes away.
nothing_is_seen_that_goes_away()
{
	mkdir sub && run 0 record -q -e cs -o sub/file ls -a sub && ! grep -F file. out && [ -s sub/file ]
}

# What a BPF program does has its name, also when it has gone. With the first one that is loaded older
# kernels look through all types they know, which takes longer than it runs.
programs_of_bpf_have_their_names()
{
	echo 1 >/proc/sys/net/core/bpf_jit_enable
	/pmuctl/tests/prog/run-bpf 1 || return 1
	run 0 record -q -e instructions:k -c 10007 -o file /pmuctl/tests/prog/run-bpf 20000 &&
		run 0 report -i file --stdio -g none -s dso,sym &&
		grep -E '  (bpf_prog_[0-9a-f]+_a_loop) +\[k\] \1$' out >line && { is_debug_kernel || grep -q ' [4-9][0-9][.]' line; } &&
		run 0 script -i file --show-bpf-events && grep -o 'addr .* name bpf_prog_.*' out >ours && [ -s ours ] &&
		perf script -i file --show-bpf-events 2>/dev/null | grep -o 'addr .* name bpf_prog_.*' | cmp - ours &&
		run 0 record -q --no-bpf-event -e instructions:k -c 10007 -o file /pmuctl/tests/prog/run-bpf 20 &&
		run 0 script -i file --show-bpf-events && ! grep -q ksymbol out
}

containers_are_told_of()
{
	run 0 record -q --namespaces --all-cgroups -e task-clock -o file sh -c "ls; ls" && run 0 report -i file --stats &&
		grep -q ' NAMESPACES events: ' out && events file >attrs && grep -q ' namespaces: 1' attrs && grep -q ' cgroup: 1' attrs &&
		run 0 script -i file --show-namespace-events && grep -q ': namespaces' out
}

run_checks events longest only seconds tell who
