#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl selftest" in a guest: a machine on which all is well, and each fault that the emulated
# PMU can be given. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
SAYS=out

is_hybrid() { grep -Eq '^model\s+: 151$' /proc/cpuinfo; }

# selftest_once: what one run of all checks says, without the driver of the registers, for those
# that look at another part of it each
selftest_once()
{
	if [ ! -s .once ]; then
		[ ! -e /dev/cpu/0/msr ] || rmmod msr
		run 0 selftest && cp out .once || return 1
	fi
	cp .once out
}

all_is_well()
{
	selftest_once && says '^cpu +vendor (GenuineIntel|AuthenticAMD), family [0-9]+, model [0-9]+, stepping [0-9]+, name ' \
		'^microcode +0x' '^hypervisor ' '^kernel +[0-9]' "^module +$(pmuctl version | cut -d' ' -f2)$" \
		'^pmu +(Intel|AMD)' '^ok +Counters: [0-9]+ general' '^ok +Events: [0-9]+ events' \
		'^ok +Overflow: every 10007 of' '^ok +Periods: instructions, every 1 to every [0-9]{5,}' \
		'^ok +All counters at once: all counters of 2 CPUs, and by perf' '^ok +Idle and busy: ' '^skipped +Hotplug: only with' \
		'^ok +NMIs: 0 foreign ones .*; 0 that nobody claimed' \
		'^[0-9]+ ok, 0 failed' &&
		! grep -q FAULT out
}

# Each event that is exact, on every counter, by both: the loop has 400004 instructions, 100001 branches.
every_counter_counts()
{
	know_pmu
	# On a hybrid processor the numbers of doctor are what all CPUs have.
	! is_hybrid || return 0
	selftest_once || return 1
	for by in pmuctl perf; do
		for event in instructions:400004 branches:100001; do
			line=$(grep -E "event ${event%:*}, by $by, " out)
			for i in $(seq 0 $((counters - 1))); do
				case $line in
				*"general $i ${event#*:}"*) ;;
				*)	echo "$by: ${event%:*}, not on general $i: $line"; return 1 ;;
				esac
			done
		done
	done
}

# 2000004 instructions are 199 periods and a bit; the emulated PMU has no skid.
each_overflow_comes()
{
	selftest_once && for by in pmuctl perf; do
		says "event instructions, by $by, period 10007, counted 2000004, samples 199, lost 0, .*skid_max 0$" \
			"event branches, by $by, period 10007, counted 500001, samples 49, lost 0, .*skid_max 0$" || return 1
	done
}

# Without the driver they are not read; it is loaded at last, for all other checks are to be without.
registers_are_as_they_were()
{
	selftest_once && says '^skipped +Registers: .*modprobe msr' '^[0-9]+ ok, 0 failed, [1-9][0-9]* skipped' || return 1
	insmod /lib/modules/msr.ko
	run 0 selftest && says '^ok +Registers: [0-9]+ registers, before and after pmuctl' \
		'^ +cpu 0, msr (186|C0010000|C0010200)H, before 0x[0-9a-f]+, after 0x'
}

a_cpu_goes_and_comes_back()
{
	run 0 selftest --hotplug 1 && says '^ok +Hotplug: CPU 1 offline and back' 'while back, new_event 400004, old_event [0-9]{6,}$' &&
		[ "$(cat /sys/devices/system/cpu/cpu1/online)" = 1 ] &&
		run 1 selftest --hotplug 9 && says '^FAILED +Hotplug: ' 'FAULT: CPU 9 cannot go offline' &&
		run 2 selftest --hotplug x && grep -q "'x' is not the number of a CPU" err
}

# Whoever wants to end it waits until the CPU is there again.
a_cpu_that_went_comes_back_if_it_is_ended()
{
	cpu=/sys/devices/system/cpu/cpu1/online
	status=0
	while [ $status -eq 0 ]; do
		pmuctl selftest --hotplug 1 >out 2>err </dev/null &
		pid=$!
		while read -r online <$cpu && [ "$online" = 1 ] && [ -e /proc/$pid/exe ]; do :; done
		kill $pid 2>/dev/null || true
		wait $pid || status=$?
	done
	[ $status -eq 143 ] && [ "$(cat $cpu)" = 1 ] && return 0
	echo "status $status, online $(cat $cpu)"
	echo 1 >$cpu
	return 1
}

the_loop_is_decoded()
{
	selftest_once || return 1
	if grep -qw intel_pt /proc/cpuinfo; then
		says '^ok +Processor Trace: ' '^ +instructions 400004, expected 400004, outside 0, lost 0, errors 0, bytes [0-9]{4,}$'
	else
		says '^skipped +Processor Trace: this CPU has no'
	fi
}

# Who has the PMU keeps it; one fault says so, and nothing else is tried.
the_watchdog_has_the_pmu()
{
	give_back
	echo 1 >/proc/sys/kernel/nmi_watchdog
	run 1 selftest
	result=$?
	echo 0 >/proc/sys/kernel/nmi_watchdog
	[ $result -eq 0 ] && says '^nmi_watchdog +1$' '^FAILED +Events: there is no PMU to be had' '^skipped +Overflow: there is no PMU' &&
		[ "$(grep -c FAULT out)" -eq 1 ] && says 'FAULT: .*nmi_watchdog'
}

without_the_module()
{
	rmmod pmuctl || return 1
	pmuctl selftest 2>err
	result=$?
	insmod /pmuctl/pmuctl.ko cpu_time_max_percent=0
	[ $result -eq 1 ] && grep -q 'modprobe pmuctl' err
}

# on_general BY LAST CPUS: on so many CPUs that one uses the general counters up to that one
on_general()
{
	[ "$(grep -Ec "cpu [01], by $1, counters \(general 0, .*general $2, fixed 0, fixed 1, fixed 2\)" out)" -eq "$3" ] ||
		{ echo "$1: not general 0 to $2 on $3 CPUs"; return 1; }
}

# Performance cores have eight general counters, efficiency cores six. Before 5.13 perf uses on all CPUs what
# CPUID has on the first: six.
both_types_of_cpus_count()
{
	is_hybrid || return 0
	selftest_once && says 'events on CPU 0, and all on CPU 1, of another type' || return 1
	on_general pmuctl 5 1 && on_general pmuctl 7 1 || return 1
	if on_5_10; then
		on_general perf 5 2
	else
		on_general perf 5 1 && on_general perf 7 1
	fi
}

it_needs_root()
{
	su user -c 'pmuctl selftest' 2>err
	[ $? -eq 1 ] && grep -q 'must be run as root' err && run 2 selftest x
}

run_checks is_hybrid selftest_once on_general
