#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What tracepoints tell, recorded and printed, beside perf: each reads the other's files. Runs in
# busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
any_rate

EVENTS=sched:sched_switch,sched:sched_process_exec,sched:sched_process_fork,raw_syscalls:sys_enter,raw_syscalls:sys_exit,rcu:rcu_utilization,kmem:mm_page_alloc,timer:hrtimer_start,irq:softirq_entry,syscalls:sys_enter_openat,syscalls:sys_exit_openat,syscalls:sys_enter_mmap

# told FILE: what both print of its samples is the same, but for the order of what happens at one
# instant, and not nothing
told()
{
	perf script -i "$1" -F event,trace 2>perf.err | sed 's/^ *//; s/: */: /' | sort >theirs
	run 0 script -i "$1" -F event,trace || return 1
	sed 's/^ *//; s/: */: /' out | sort >ours
	echo "$(wc -l <theirs) lines of perf, $(wc -l <ours) of ours"
	[ -s theirs ] && ! grep -v ': .' theirs && { diff theirs ours | head -5; cmp theirs ours; }
}

everything_is_told_as_perf_tells_it()
{
	run 0 record -q -a -e $EVENTS -o file sh -c 'usleep 10000; ls / | wc -l' && told file &&
		[ "$(cut -d : -f 2 ours | sort -u | wc -l)" -ge 8 ]
}

# Build ids, which no line of these has, would take it longest.
recordings_of_perf_are_told_too()
{
	perf record -q -B -a -e $EVENTS -o theirs.data sh -c 'usleep 10000; ls / | wc -l' >out 2>err &&
		told theirs.data
}

# By default it is in the place of the symbol; of other events nothing changes.
a_line_tells_who_when_and_what()
{
	run 0 record -q -c 1 -e sched:sched_process_exec,page-faults -o file true && run 0 script -i file &&
		grep -Eq '^true +[0-9]+ \[[0-9]{3}\] .* sched:sched_process_exec: filename=.*/true pid=[0-9]+ old_pid=[0-9]+$' out &&
		grep -Eq 'page-faults: .*\(/' out
}

numbers_are_numbers_in_json()
{
	run 0 record -q -e sched:sched_process_exec,raw_syscalls:sys_enter -o file true &&
		run 0 script -j -i file &&
		grep -Eq '"fields":\{"filename":"[^"]*/true","pid":[0-9]+,"old_pid":[0-9]+\}' out &&
		grep -Eq '"fields":\{"id":[0-9]+,"args":\[[0-9"a-fx]+(,[0-9"a-fx]+){5}\]\}' out
}

# Whatever the event is called, and whoever else is recorded.
names_of_ones_own_and_filters_change_nothing()
{
	run 0 record -q -e raw_syscalls:sys_enter/id=39,name=mine/ -e raw_syscalls:sys_enter/id=231/ \
		-o file true && told file && grep -q '^raw_syscalls: sys_enter.*: NR 231 (' ours
}

# Also by what only the kernel's record has, whatever is asked for besides
filters_know_each_field()
{
	some='for program in true false true; do /bin/$program; done'
	run 0 stat -x, -e sched:sched_process_exec --filter 'filename ~ "*/true" && old_pid > 1' sh -c "$some" &&
		[ "$(cut -d , -f 1 err)" = 2 ] &&
		run 0 record -q -e sched:sched_process_exec --filter '!(filename == "/bin/true")' -o file sh -c "$some" &&
		run 0 script -i file && [ "$(grep -c filename=/bin/ out)" -eq 1 ] && grep -q filename=/bin/false out &&
		run 0 stat -x, -e raw_syscalls:sys_enter --filter 'id == 231 && comm == "false"' sh -c "$some" &&
		[ "$(cut -d , -f 1 err)" = 1 ] &&
		run 1 stat -e sched:sched_process_exec --filter 'filename == 1' true && says 'character 13: a string in quotes' &&
		run 1 stat -e sched:sched_process_exec --filter 'nonesuch == 1' true && says 'character 1: .* nothing of this name'
}

CALLS=mmap,read,write,openat,close,newfstatat,pread64,pwrite64,munmap,mprotect,brk,lseek,access,pipe,select,dup,dup2,nanosleep,getpid,sendfile,socket

# As long as those that perf makes, and for all but itself
perf_has_its_filters()
{
	some='for program in true false true; do /bin/$program; done'
	run 0 run $CAUGHT perf record -q -e sched:sched_process_exec --filter 'filename ~ "*/true"' -o file sh -c "$some" &&
		[ "$(perf script -i file 2>perf.err | grep -c filename=/bin/true)" -eq 2 ] &&
		run 0 run $CAUGHT perf trace -s -a sleep 0.1 && cat out err | grep -q 'sleep (' &&
		run 0 run $CAUGHT perf trace -e "$CALLS" cat /dev/null && grep -q 'mmap(' err
}

perf_sched_reads_our_file()
{
	run 0 record -q -a -e sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task \
		-o file sh -c 'for i in 1 2 3; do usleep 1000; done' &&
		perf sched latency -i file >latency 2>&1 && grep -Eq '^ *usleep:' latency
}

# As many events as perf has of that pattern, each with its own name
patterns_stand_for_all_their_names()
{
	perf stat -x ';' -e 'sched:sched_[ps]*' true 2>perf.err >/dev/null
	grep -o 'sched:[a-z_]*' perf.err | sort >theirs
	run 0 stat -x ';' -e 'sched:sched_[ps]*' true || return 1
	grep -o 'sched:[a-z_]*' err | sort >ours
	[ "$(wc -l <ours)" -gt 5 ] && cmp theirs ours && says '^1;;sched:sched_process_exec' || return 1
	run 0 record -q -e 'raw_syscalls:sys_e*/id=231/,dummy' -o file true && told file &&
		run 0 script -i file -F event && [ "$(sort -u out | wc -l)" -eq 1 ] &&
		grep -q '^raw_syscalls:sys_enter' out
}

# One system call, beside the kernel's perf
calls_are_counted_one_by_one()
{
	perf stat -x ';' -e 'syscalls:sys_e*_openat,syscalls:sys_exit_close' cat /dev/null /dev/null 2>theirs >/dev/null
	run 0 stat -x ';' -e 'syscalls:sys_e*_openat,syscalls:sys_exit_close' cat /dev/null /dev/null &&
		cut -d ';' -f 1,3 err | sort >ours && cut -d ';' -f 1,3 theirs | sort >perfs && cat ours perfs && cmp ours perfs &&
		says '^[1-9][0-9]*;;syscalls:sys_enter_openat' '^[1-9][0-9]*;;syscalls:sys_exit_openat' &&
		run 0 stat -x ';' -e syscalls:sys_enter_close/fd=77/ sh -c 'exec 7</; exec 7<&-' &&
		says '^0;;syscalls:sys_enter_close'
}

# What the kernel's tracing makes by itself is refused with what there is instead.
what_is_no_tracepoint_is_refused()
{
	run 2 stat -e 'sched:nothing*' true && says "no tracepoint has a name like 'sched:nothing\*'" &&
		run 2 stat -e ftrace:function true && says "'perf record' has it" &&
		run 2 stat -e kprobes:nothing true && says 'kprobes:nothing' || return 1
	# Linux 5.10 has none.
	on_5_10 && return
	echo 'e:eprobes/mine sched.sched_switch' >/sys/kernel/tracing/dynamic_events &&
		run 2 stat -e 'eprobes:*' true && says "'perf record' has them" || return 1
	: >/sys/kernel/tracing/dynamic_events
}

# Events that somebody has made, as perf probe does; afterwards they can be taken away.
probes_are_counted_and_told_as_by_perf()
{
	dir=/sys/kernel/tracing
	echo 'p:mine/open do_sys_openat2 how=%di:s32' >$dir/kprobe_events &&
		echo 'r:mine/opened do_sys_openat2 fd=$retval:s32' >>$dir/kprobe_events || return 1
	perf stat -x ';' -e 'mine:open,mine:opened' cat /dev/null 2>theirs &&
		run 0 stat -x ';' -e 'mine:*' cat /dev/null &&
		cut -d ';' -f 1,3 err | sort >ours && cut -d ';' -f 1,3 theirs | sort >perfs && cat ours perfs && cmp ours perfs &&
		run 0 record -q -e mine:open,mine:opened -o file cat /dev/null && told file && grep '^mine: opened.*fd=[0-9]' ours &&
		perf record -q -B -e mine:open,mine:opened -o theirs.data cat /dev/null && told theirs.data || return 1
	run 0 run $CAUGHT perf stat -x ';' -o stat -e mine:open cat /dev/null && grep '^[1-9][0-9]*;;mine:open;' stat &&
		echo '-:mine/open' >>$dir/kprobe_events && echo '-:mine/opened' >>$dir/kprobe_events &&
		run 2 stat -e 'mine:*' true
}

without_tracefs_what_to_do_is_told()
{
	status=0
	unshare -m sh -c 'umount -l /sys/kernel/tracing; umount -l /sys/kernel/debug
		pmuctl trace true; [ $? -eq 2 ] && pmuctl stat -e "sched:*" true' >out 2>err || status=$?
	[ $status -eq 2 ] && says "'raw_syscalls:sys_enter' is .*'mount -t tracefs none /sys/kernel/tracing'" \
		"'sched:\*' is .*'mount -t tracefs none /sys/kernel/tracing'"
}

# Who may count but not see has samples all the same, and a word about it; system calls he may see.
what_may_not_be_seen_is_left_out()
{
	level=$(cat /sys/module/pmuctl/parameters/paranoid)
	echo 1 >/sys/module/pmuctl/parameters/paranoid
	status=0
	capsh --drop=cap_perfmon,cap_sys_admin -- -c \
		'pmuctl record -q -e "sched:sched_process_[ef]*" -o exec true &&
		 pmuctl record -q -e raw_syscalls:sys_enter -o calls true' >out 2>err || status=$?
	echo "$level" >/sys/module/pmuctl/parameters/paranoid
	[ $status -eq 0 ] && says '^pmuctl: samples will not have what tracepoints tell: .*CAP_PERFMON' &&
		[ "$(grep -c 'will not have' err)" -eq 1 ] && told calls &&
		run 0 script -i exec && grep 'sched_process_exec: .*(' out
}

# Who reads less ends the printing, and that is no error.
nobody_has_to_read_it_all()
{
	run 0 record -q -a -e sched:sched_switch -o many -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do usleep 1000; done' || return 1
	for _ in 1 2 3 4 5; do
		pmuctl script -i many 2>err | head -n 1 >out
		[ -s out ] && ! [ -s err ] || return 1
	done
}

# own FILE: how much of a recording of a usleep is of us, but not of what has become the usleep
own()
{
	pmuctl script -i "$1" -F comm,pid 2>err | awk '{ comm[NR] = $1; pid[NR] = $2 } $1 == "usleep" { is_child[$2] = 1 }
		END { for (i in comm) n += comm[i] == "pmuctl" && !(pid[i] in is_child); print n + 0 }'
}

# Who records all CPUs makes system calls, too: at least it waits.
its_own_work_is_left_out()
{
	run 0 record -q -a -e raw_syscalls:sys_enter -o all.data usleep 100000 && [ "$(own all.data)" -gt 0 ] &&
		run 0 record -q -a -e raw_syscalls:sys_enter --exclude-perf -o others.data usleep 100000 &&
		[ "$(own others.data)" -eq 0 ] && pmuctl script -i others.data -F comm | grep -q usleep || return 1
	# 35 is nanosleep(), 230 clock_nanosleep().
	run 0 record -q -a -e raw_syscalls:sys_enter --exclude-perf --filter 'id == 35 || id == 230' -o slept.data \
		usleep 100000 && [ "$(own slept.data)" -eq 0 ] && pmuctl script -i slept.data -F comm | grep -q usleep &&
		pmuctl script -i slept.data -F event,trace | grep raw_syscalls >calls && ! grep -Ev 'NR (35|230) ' calls &&
		run 2 record --exclude-perf -e cs true && says '--exclude-perf is of tracepoints, and no event is one'
}

run_checks told own
