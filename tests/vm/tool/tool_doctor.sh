#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl doctor" and "pmuctl list" in a guest: a healthy one, the NMI watchdog on,
# perf counting, users, no device, no module. Runs in busybox' sh as root.
# shellcheck disable=SC2317,SC2013 # the checks are called by name, in order

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
SAYS=out
WATCHDOG=/proc/sys/kernel/nmi_watchdog
before=$(cat $WATCHDOG)
restore_watchdog() { echo "$before" >$WATCHDOG; }
at_exit=restore_watchdog
echo 0 >$WATCHDOG

healthy()
{
	give_back
	run 0 doctor && says '^ok +Driver: ' '^ok +Versions: ' '^ok +Device' '^ok +Secure Boot: .*, module\.sig_enforce is off$' '^ok +PMU: (Intel|AMD).* [0-9]+ counters' \
		"^ok +PMU's owner: nobody" '^ok +Taking the PMU: ' '^ok +Virtual machines: ' '^note +CPU model: .*: not yet proven' "run 'pmuctl selftest'" '^ok +Counting test: a loop of 1000000' '^This machine can count\.$' &&
		! grep -Eq '^(problem|unknown)' out
}

watchdog_is_found()
{
	give_back
	echo 1 >$WATCHDOG
	run 1 doctor
	result=$?
	echo 0 >$WATCHDOG
	[ $result -eq 0 ] && says "^problem +PMU's owner: the kernel's NMI watchdog" 'sysctl kernel.nmi_watchdog=0' \
		'^problem +Counting test: instructions:u was refused' '^This machine cannot count now\.$' &&
		run 0 doctor
}

perf_is_found()
{
	# it waits for its command, whatever signal it gets
	perf stat -e instructions -a sh -c 'touch started; until [ -e stop ]; do usleep 50000; done' >/dev/null 2>&1 &
	holder=$!
	appears started
	run 1 doctor
	result=$?
	touch stop
	wait $holder
	[ $result -eq 0 ] && says "^problem +PMU's owner: perf" && run 0 doctor
}

our_own_events_are_told()
{
	pmuctl stat -e instructions:u sh -c 'touch started; exec sleep 100000' 2>/dev/null &
	holder=$!
	appears started
	run 0 doctor
	result=$?
	kill -TERM $holder
	wait $holder
	[ $result -eq 0 ] && says "^ok +PMU's owner: pmuctl, with 1 open hardware event$"
}

user_is_told_who_may_take_it()
{
	give_back
	echo privileged >$claim
	su user -c 'pmuctl doctor' >out
	result=$?
	pmuctl stat -e instructions:u sh -c 'touch started; exec sleep 100000' 2>/dev/null &
	holder=$!
	appears started
	su user -c 'pmuctl doctor' >beside
	beside=$?
	kill -TERM $holder
	wait $holder
	echo anyone >$claim
	[ $result -eq 1 ] && says '^problem +Taking the PMU: this user may not' 'options pmuctl claim=anyone' \
		'^problem +Counting test: instructions:u was refused: .*CAP_PERFMON' &&
		[ $beside -eq 0 ] && grep -Eq '^note +Taking the PMU: .*counts while' beside &&
		grep -Eq "^ok +PMU's owner: pmuctl, with 1 open" beside
}

user_is_told_what_is_allowed()
{
	give_back
	su user -c 'pmuctl doctor' >out && says '^ok +Permission level: .*user space only' 'SETCAP=1' \
		"^unknown +PMU's owner: .*CAP_PERFMON" '^This machine can count\.$'
}

a_stricter_level_of_the_kernel_is_told()
{
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo 4 >/proc/sys/kernel/perf_event_paranoid
	run 0 doctor
	stricter=$(grep -A1 '^note.*Permission level: the level is 2, .*higher' out)
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	run 0 doctor
	echo "$level" >/proc/sys/kernel/perf_event_paranoid
	case $stricter in *'echo 3 > /sys/module/pmuctl/parameters/paranoid'*) ;; *) echo "$stricter"; return 1 ;; esac
	says '^ok +Permission level: the level is 2; with CAP_PERFMON'
}

who_may_read_counters()
{
	rdpmc=/sys/devices/cpu/rdpmc
	[ -e $rdpmc ] || rdpmc=/sys/devices/cpu_core/rdpmc
	run 0 doctor && says '^ok +Reading counters: programs may read their own' || return 1
	echo 0 >$rdpmc
	run 0 doctor
	none=$(grep -A1 '^note.*Reading counters: .*SIGSEGV' out)
	echo 2 >$rdpmc
	run 0 doctor
	all=$(grep -A1 '^note.*Reading counters: .*every program' out)
	echo 1 >$rdpmc
	echo "$none$all"
	[ "$(echo "$none$all" | grep -c "echo 1 > $rdpmc")" -eq 2 ]
}

device_that_may_not_be_opened()
{
	chmod 600 /dev/pmuctl
	su user -c 'pmuctl doctor' >out
	result=$?
	su user -c 'pmuctl stat true' 2>err
	chmod 666 /dev/pmuctl
	[ $result -eq 1 ] && says '^problem +Device permissions: /dev/pmuctl may not be opened' 'chmod 0666' &&
		grep -q 'may not be opened by this user' err
}

device_that_is_gone()
{
	mv /dev/pmuctl /dev/pmuctl.away
	run 1 doctor
	result=$?
	mv /dev/pmuctl.away /dev/pmuctl
	[ $result -eq 0 ] && says '^problem +Device permissions: .*is not there although the module is loaded'
}

list_marks_what_this_cpu_lacks()
{
	run 0 list && says '^Generic events:' '^Cache events:' \
		'^  (stalled-cycles-backend|bus-cycles) .*cannot count it' &&
		! grep -Eq '^  instructions .*cannot' out
}

# Core Duo and Alder Lake: libpfm4 of Debian has no tables of theirs
list_has_this_cpus_events()
{
	run 0 list || return 1
	case $(awk '$1 == "model" && $2 == ":" { print $3; exit }' /proc/cpuinfo) in
	14 | 151) says "^libpfm4 has no table of this CPU's own events" ;;
	*)	says '^Events of this CPU \((Intel Skylake|AMD64 .*)\):' \
			'^  (INST_RETIRED:ANY_P|RETIRED_INSTRUCTIONS) ' ;;
	esac
}

list_patterns()
{
	run 0 list l1-DCACHE-load && [ "$(grep -c '^  ' out)" -eq 2 ] &&
		run 0 list 'cycle?' && [ "$(grep -c '^  ' out)" -eq 1 ] &&
		run 1 list nonesuch && grep -q "no event matches 'nonesuch'" err &&
		run 1 list nonesuch noneother && run 0 list cycles instructions
}

# who_uses_the_module: what keeps it from being unloaded
who_uses_the_module()
{
	echo "references $(cat /sys/module/pmuctl/refcnt), modules $(ls /sys/module/pmuctl/holders)"
	for file in /proc/[0-9]*/fd/*; do
		case $(readlink "$file") in *pmuctl*) echo "$file" ;; esac
	done
	grep -l pmuctl /proc/[0-9]*/maps 2>/dev/null
	ps
	return 1
}

without_the_module()
{
	rmmod pmuctl || who_uses_the_module || return 1
	run 1 doctor
	result=$?
	pmuctl stat true 2>err
	status=$?
	insmod /pmuctl/pmuctl.ko || return 1
	[ $result -eq 0 ] && [ $status -eq 1 ] && says '^problem +Driver: the pmuctl module is not loaded' &&
		grep -q "modprobe pmuctl" err && run 0 doctor
}

run_checks restore_watchdog who_uses_the_module
