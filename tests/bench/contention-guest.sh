# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's part of tests/bench/contention. Who finds a spinlock taken calls one function of
# the kernel, which gets a probe; mutexes and the like have a tracepoint. perf records the
# call chain of each, for which it needs no counter. A chain belongs to the innermost
# of perf, pmuctl and others that is on it.
#
# usage: sh contention-guest.sh MODULE
cd /tmp || exit 1
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
echo 'p:slow native_queued_spin_lock_slowpath' >/sys/kernel/tracing/kprobe_events || exit 1
SPIN=1 # contention_begin's flags of a spinlock alone: the probe has those

# measure KIND
measure()
{
	perf record -q -a -g -m 4096 -o data -e kprobes:slow \
		-e lock:contention_begin --filter "flags != $SPIN" \
		/add/bench "$1" many >/tmp/forks 2>/tmp/errors || { cat /tmp/errors; exit 1; }
	perf script -i data -F event,ip,sym,dso 2>/dev/null >chains
	awk -v kind="$1" -v forks="$(cut -d ' ' -f 2 forks)" '
		function tell() { if (whose) n[whose]++; whose = "" }
		/^[^ \t]*(kprobes|lock):/ || /^ *(kprobes:|lock:)/ { tell(); whose = "other"; next }
		NF == 0 { tell(); next }
		whose != "other" { next }
		/pmuctl/ { whose = "pmuctl" }
		/ (perf_|inherit_|_perf_|__perf_|sync_child|list_(add|del)_event)/ { whose = "perf" }
		END {
			tell()
			printf "%s event, %d forks: %d in perf, %d in pmuctl, %d elsewhere\n", \
				kind, forks, n["perf"], n["pmuctl"], n["other"]
		}' chains
}

measure none
measure perf
insmod "$1" || exit 1
measure pmuctl
