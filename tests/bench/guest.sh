# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's part of the benchmark: perf first, then ours with the module loaded.
# Prints what tests/bench/bench prints, each line with the kind of events before it.
#
# usage: sh guest.sh MODULE
measure()
{
	/add/bench "$1" >/tmp/rows || exit 1
	sed "s/^/$1 /" /tmp/rows >>/tmp/all
}

# One sample after the other: nobody is to be stopped for that.
rate=10000000
echo $rate >/proc/sys/kernel/perf_event_max_sample_rate || exit 1

measure none
measure perf
insmod "$1" max_sample_rate=$rate || exit 1
measure pmuctl
cat /tmp/all
