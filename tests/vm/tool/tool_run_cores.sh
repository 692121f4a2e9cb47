#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's events of one type of core, by "pmuctl run". Runs in busybox' sh as root, on a processor
# whose cores differ.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

LOOPS=/pmuctl/tests/prog/hot-warm-cold
LEAST=80000000	# instructions of LOOPS in user mode

core=$(cat /sys/bus/event_source/devices/cpu_core/cpus)
atom=$(cat /sys/bus/event_source/devices/cpu_atom/cpus)

# counted FILE CPU EVENT: on a CPU, 0 if there is none
counted() { awk -F ';' -v cpu="CPU$2" -v event="$3" '$1 == cpu && index($4, event) { n = $2 } END { print n + 0 }' "$1"; }

# on CPU: the loops run there, and are counted there, by names and by numbers of events
on()
{
	run 3 run perf stat -a -A -x ';' -o counts -e instructions:u -e cpu_core/event=0xc0/u -e cpu_atom/event=0xc0/u \
		/usr/bin/taskset -c "$1" $LOOPS 1 && cat counts &&
		[ "$(counted counts "$1" instructions)" -gt $LEAST ] && [ "$(counted counts "$1" event=0xc0)" -gt $LEAST ] &&
		[ "$(counted counts "$2" instructions)" -lt $LEAST ] && [ "$(counted counts "$2" event=0xc0)" -lt $LEAST ]
}

performance_cores_are_counted() { on "$core" "$atom"; }
efficiency_cores_are_counted() { on "$atom" "$core"; }

events_of_tasks_are_refused()
{
	pmuctl run --explain perf stat -x ';' -o counts -e cpu_core/instructions/u -e cpu_atom/instructions/u true 2>err
	says "'cpu_core' counts on one type of core only" "'cpu_atom' counts on one type of core only" &&
		SAYS=counts says 'not supported.*cpu_core' 'not supported.*cpu_atom'
}

run_checks counted on
