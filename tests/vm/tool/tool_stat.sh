#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl stat" in a guest with the driver: exit statuses, targets, output forms,
# refusals, what the command inherits. Runs in busybox' sh as root.
# shellcheck disable=SC2317,SC2013 # the checks are called by name, in order

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
know_pmu

# ---- the command's exit status

status_is_the_commands() { run 0 stat true && run 7 stat sh -c 'exit 7'; }
status_of_a_signal() { run 137 stat sh -c 'kill -9 $$' && run 143 stat sh -c 'kill -15 $$'; }
command_not_found() { run 127 stat no-such-command && says "cannot execute 'no-such-command'"; }
command_not_executable() { run 126 stat /etc/passwd && says "cannot execute '/etc/passwd'"; }

# ---- what is counted

defaults() { run 0 stat true && says ' msec task-clock .* CPUs utilized' ' context-switches ' ' cpu-migrations ' ' page-faults ' ' cycles .* GHz' ' instructions .*insn per cycle' ' branches ' ' branch-misses .*% of all branches' 'seconds time elapsed' 'seconds user' 'seconds sys'; }
headline() { run 0 stat -e cycles:u echo a b && says "counter stats for 'echo a b'" && [ "$(cat out)" = "a b" ]; }
all_kinds_of_names() { run 0 stat -x ';' -e instructions:u -e "$cache:u,r00c0:u,cpu/event=0x$branches,umask=0/u" true && lines err 4; }
cpu_names()
{
	if [ -z "$own" ]; then
		run 2 stat -e INST_RETIRED:ANY_P:u true && says "unknown event 'INST_RETIRED:ANY_P'"
		return
	fi
	run 0 stat -x , -e $own:u true && says "^[1-9][0-9]*,,$own:u,"
}
same_event_by_name_and_number()
{
	run 0 stat -x ';' -e branches:u -e "event=0x$branches,umask=0:u" true &&
		[ "$(cut -d ';' -f 1 err | sort -u | wc -l)" -eq 1 ]
}
user_and_kernel_add_up()
{
	run 0 stat -x , -e instructions:u,instructions:k,instructions true &&
		awk -F , '{ n[NR] = $1 } END { exit !(n[1] > 0 && n[2] > 0 && n[1] + n[2] == n[3]) }' err
}

# ---- targets

a_process()
{
	sh -c 'while :; do : >works; done' &
	victim=$!
	run 0 stat -x , -e instructions:u -p $victim sh -c 'rm -f works; until [ -e works ]; do usleep 10000; done'
	result=$?
	kill $victim
	wait $victim 2>/dev/null
	[ $result -eq 0 ] && [ "$(cut -d , -f 1 err)" -gt 1000 ]
}
until_the_process_ends()
{
	sh -c 'until [ -e go ]; do usleep 10000; done' &
	pmuctl stat -x , -e instructions:u -p $! 2>err &
	counting=$!
	measures $counting && usleep 100000 && touch go && wait $counting &&
		[ "$(cut -d , -f 1 err)" -gt 1000 ]
}
until_sigint()
{
	sleep 100000 &
	victim=$!
	pmuctl stat -e cycles:u -t $victim 2>err &
	counting=$!
	listens $counting && kill -INT $counting
	wait $counting
	status=$?
	kill $victim
	[ $status -eq 130 ] && says "thread id '$victim'" '<not counted>'
}
sigterm_goes_to_the_command()
{
	pmuctl stat -e cycles:u sleep 100000 2>err &
	counting=$!
	listens $counting && kill -TERM $counting
	wait $counting
	[ $? -eq 143 ] && says ' cycles:u '
}
a_cpu() { run 0 stat -e instructions -C 0 sleep 0.1 && says "CPU\(s\) '0'" ' [0-9,]+ +instructions'; }
two_cpus()
{
	[ "$(nproc)" -ge 2 ] || return 0
	run 0 stat -x , -e cycles -C 0-1 usleep 300000 &&
		[ "$(cut -d , -f 4 err)" -ge 600000000 ]
}
status_of_the_timing_command() { run 3 stat -e cycles -C 0 sh -c 'exit 3'; }
no_such_process() { run 1 stat -p 99999 true && says "cannot open 'task-clock': .*99999.*\(pid\)" && run 1 stat -i -p 99999 true && says 'there is no process 99999'; }
no_such_thread() { run 1 stat -t 99999 true && says "cannot open 'task-clock': .*99999.*\(pid\)"; }
no_such_cpu() { run 1 stat -C 99 true && says "cannot open 'cpu-clock': .*99.*\(cpu\)"; }

# ---- details, and rows of their own

details()
{
	run 0 stat -x ';' -d true && lines err 12 && says ';LLC-load-misses;' &&
		run 0 stat -x ';' -dd -e cs true && lines err 11 && says ';iTLB-load-misses;' &&
		! grep -q 'cannot open' err
}
nothing_but_the_time() { run 3 stat -n sh -c 'exit 3' && says 'seconds time elapsed' && ! grep -q cycles err; }
# The sum of the cores is that of their CPUs, and each CPU is in one.
cores_and_sockets()
{
	run 0 stat -a -x ';' --per-core -e cs true && says '^S0-D0-C0;[1-9];[0-9]+;;cs;' &&
		[ "$(awk -F ';' '{ n += $2 } END { print n }' err)" -eq "$(nproc)" ] &&
		run 0 stat -a -x ';' --per-socket -e cs true && lines err 1 &&
		says "^S0;$(nproc);[0-9]+;;cs;" &&
		run 0 stat -C 0 -j --per-node -e cs true && says '"node": "N0", "aggregate-number": 1'
}
threads()
{
	sleep 1000 &
	run 0 stat -x ';' --per-thread -p $!,$$ -e cs sleep 0.1
	result=$?
	kill $!
	wait $! 2>/dev/null
	[ $result -eq 0 ] && lines err 2 && says "^[a-z]+-$!;" "^[a-z]+-$$;"
}

# ---- when measuring begins and ends

# As with perf, that is no failure of the command.
timeout_ends_the_command()
{
	run 0 stat -e cs --timeout 100 sleep 10000 && says ' cs ' &&
		run 3 stat -e cs --timeout 100 sh -c 'trap "exit 3" TERM; while :; do usleep 1000; done' &&
		run 0 stat -e cs -I 50 --interval-count 2 sleep 10000
}
timeout_ends_counting() { run 0 stat -a -e cs --timeout 100 && says ' cs '; }
count_of_intervals() { run 0 stat -a -x ';' -e cs -I 50 --interval-count 3 && lines err 3; }
# What the command does before that is not counted: it has already ended then.
delay_comes_before_counting() { run 0 stat -x ';' -e instructions:u -D 86400000 true && says '^<not counted>;;instructions:u'; }
another_program_says_when()
{
	mkfifo commands answers
	# shellcheck disable=SC2094 # it is not the same
	pmuctl stat -x ';' -e instructions:u -D -1 --control fifo:commands,answers \
		sh -c 'until [ -e go ]; do :; done' 2>err &
	counting=$!
	listens $counting || return 1
	exec 8<>answers
	for command in ping enable disable; do
		echo $command >commands
		read -r answer <&8 && [ "$answer" = ack ] || return 1
	done
	touch go
	exec 8>&-
	wait $counting && lines err 1 && says '^[0-9<]'
}
stop_from_another_program()
{
	mkfifo commands
	pmuctl stat -a -e cs --control fifo:commands 2>err &
	counting=$!
	listens $counting && echo stop >commands && wait $counting && says ' cs '
}

# ---- output

csv_columns() { run 0 stat -x , -e cycles:u,instructions:u true && lines err 2 && ! grep -Evq '^[0-9]+,,[a-z:]+,[0-9]+,100\.00,([0-9.]+)?,(insn per cycle)?$' err; }
csv_other_separator() { run 0 stat -x '\t' -e cycles:u true && [ "$(awk -F '\t' '{ print NF }' err)" -eq 7 ]; }
json_lines() { run 0 stat --json -e cycles:u,instructions:u true && lines err 2 && grep -Fq '"event": "cycles:u"' err; }
to_a_file()
{
	run 0 stat -o file -e cycles:u true && lines err 0 && grep -q '^# started on' file &&
		grep -q ' cycles:u' file && run 0 stat -o file --append -e branches:u true &&
		grep -q ' cycles:u' file && grep -q ' branches:u' file
}
to_a_file_that_cannot_be() { run 1 stat -o /no/such/dir -e cycles:u touch ran && says "cannot write to '/no/such/dir': No such file" && [ ! -e ran ]; }
full_disk() { run 1 stat -o /dev/full -e cycles:u true && says 'No space left'; }

# ---- refusals: a sentence, never a number, and the command does not run

unknown_event() { run 2 stat -e cycles,nonesuch touch ran && says "at character 8: unknown event 'nonesuch'" '^         \^$' && [ ! -e ran ]; }
unknown_modifier() { run 2 stat -e cycles:x true && says "at character 8: unknown modifier 'x'"; }
precise() { run 1 stat -e cycles:p touch ran && says "cannot open 'cycles:p': .*\(attr.precise_ip\)" && [ ! -e ran ]; }
counts_nothing() { run 1 stat -e cycles:h true && says "cannot open 'cycles:h': "; }
a_group_too_many() { run 1 stat -e '{r1,r2,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd}' touch ran && says "cannot open 'r[0-9a-f]+': .*counter" && [ ! -e ran ]; }
not_on_this_cpu() { run 0 stat -e $missing,cycles true && says "cannot open '$missing': " "<not supported> +$missing"; }
only_what_this_cpu_lacks() { run 1 stat -e $missing touch ran && [ ! -e ran ]; }
no_bare_errno() { run 1 stat -e cycles:p true && ! grep -Eq 'errno|error [0-9]|Invalid argument' err; }

# ---- usage

nothing_to_count() { run 2 stat && says 'nothing to count' && run 2 stat -e cycles && says 'nothing to count'; }
unknown_option() { run 2 stat --no-such true && says "unknown option '--no-such'" && run 2 stat -Z true && says "unknown option '-Z'"; }
option_without_argument() { run 2 stat -e && says "'-e' needs an argument" && run 2 stat --event && says "'--event' needs an argument"; }
targets_exclude_each_other() { run 2 stat -p 1 -C 0 true && says 'only one of'; }
forms_exclude_each_other() { run 2 stat -j -x , true && says 'exclude each other'; }
rows_exclude_each_other() { run 2 stat -a -A --per-core true && says 'only one of'; }
rows_need_their_targets() { run 2 stat --per-core true && says 'needs -a or -C' && run 2 stat -a --per-thread true && says 'needs -p or -t'; }
times_that_do_not_fit()
{
	run 2 stat -D -1 true && says 'needs --control' && run 2 stat --interval-count 3 true && says 'needs -I' &&
		run 2 stat -D x true && says "'x' is not a number for -D" &&
		run 2 stat --timeout 0 true && says 'is not a number for --timeout' &&
		run 2 stat -n -e cs true && says '-n is without events' && run 2 stat -n -a && says '-n needs a command'
}
no_such_control() { run 1 stat --control fd:77 touch ran && says 'no such descriptor' && [ ! -e ran ]; }
plain_numbers() { run 0 stat --no-big-num -e instructions true && says '^ +[0-9]{5,} +instructions'; }
quiet()
{
	run 3 stat --quiet -e instructions sh -c 'echo word; exit 3' && [ "$(cat out)" = word ] && [ ! -s err ] &&
		run 1 stat --quiet -p 999999 && [ -s err ] && run 2 stat --quiet -o file true && says 'without -o and --log-fd'
}
options_that_only_perf_has()
{
	run 2 stat -T true && says "--transaction of 'perf stat' is not here" &&
		run 2 record -W true && says "--weight of 'perf record' is not here: samples have no weights" &&
		run 2 record --no-samples true && says "'pmuctl stat' counts without samples"
}
append_needs_a_file() { run 2 stat --append true && says 'needs -o'; }
bad_list() { run 2 stat -C 0-x true && says "'0-x' is not a list of numbers"; }
help_everywhere() { run 0 stat --help && grep -q usage out && run 0 help stat && grep -q usage out && run 0 list -h && run 0 doctor -h && run 0 help && run 0 --version && run 2 no-such && run 2; }

# ioctls_of EVENTS: print how many ioctls "stat -a" makes to count them
ioctls_of()
{
	run 0 stat -x , -e raw_syscalls:sys_enter --filter 'id == 16' \
		pmuctl stat -a -x , -o inner -e "$1" true && cut -d , -f 1 err
}
# Two are for what comes after it has enabled them: to disable, and to read
ten_events_take_as_many_calls_as_one()
{
	one=$(ioctls_of cs) && ten=$(ioctls_of cs,faults,cs,faults,cs,faults,cs,faults,cs,faults) &&
		[ "$(grep -c '^[0-9]' inner)" -eq 10 ] && echo "$one, $ten" && [ "$one" -ge 4 ] && [ "$ten" -eq "$one" ] && [ "$ten" -le 7 ]
}

# 40 processes of 4 events each, with a limit of 64 descriptors
many_targets_need_many_descriptors()
{
	pids=
	for _ in $(seq 40); do
		sleep 1000 &
		pids=$pids${pids:+,}$!
	done
	# shellcheck disable=SC3045 # busybox has it
	(ulimit -S -n 64; exec pmuctl stat -x ';' -e cs,faults,cs,faults -t "$pids" true) >out 2>err
	status=$?
	# shellcheck disable=SC2046 # numbers
	kill $(echo "$pids" | tr , ' ')
	[ $status -eq 0 ] && lines err 4
}

# ---- users and capabilities

user_counts_user_space()
{
	su user -c 'pmuctl stat -x , true' 2>err && grep -q '^[1-9][0-9]*,,instructions:u,' err &&
		! grep -q 'instructions,' err
}
user_may_not_count_the_kernel()
{
	! su user -c 'pmuctl stat -e cycles:k true' 2>err && says "cannot open 'cycles:k': .*CAP_PERFMON"
}
capability_is_not_handed_on()
{
	cp "$(command -v pmuctl)" capable && chmod 755 . capable &&
		setcap cap_perfmon+ep capable &&
		su user -c "$WORK/capable stat -e cycles:k grep Cap /proc/self/status" >out 2>err &&
		says ' cycles:k' && ! grep -E 'Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' out
}
signals_are_the_commands_own()
{
	grep SigBlk /proc/self/status >plain && run 0 stat -e cycles:u grep SigBlk /proc/self/status &&
		cmp plain out
}
no_descriptor_is_handed_on()
{
	# the headline, 0, 1, 2, and the directory that ls itself has open
	run 0 stat -e cycles:u ls -l /proc/self/fd && lines out 5
}

run_checks ioctls_of
