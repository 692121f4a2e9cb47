# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's part of the benchmark: perf first, then ours with the module loaded.
# Prints what tests/bench/bench prints, each line with the kind of events before it.
#
# usage: sh guest.sh MODULE all|trace
measure()
{
	/add/bench "$1" >/tmp/rows || exit 1
	sed "s/^/$1 /" /tmp/rows >>/tmp/all
}

# measure_caught KIND COMMAND...: a program made for perf, started by COMMAND, has events of KIND
measure_caught()
{
	kind=$1
	shift
	"$@" /add/bench perf caught >/tmp/rows || exit 1
	sed "s/^/$kind /" /tmp/rows >>/tmp/all
}

# One sample after the other: nobody is to be stopped for that. The kernel takes a rate only
# while it limits the time that samples take, which would make it lower the rate again.
rate=10000000
cd /proc/sys/kernel || exit 1
limit=$(cat perf_cpu_time_max_percent)
echo 25 >perf_cpu_time_max_percent || exit 1
echo $rate >perf_event_max_sample_rate || exit 1
echo "$limit" >perf_cpu_time_max_percent || exit 1
cd /

if [ "$2" = trace ]; then
	insmod "$1" || exit 1
	/add/bench pmuctl trace >/tmp/rows || exit 1
	sed 's/^/pmuctl /' /tmp/rows
	exit
fi
measure none
measure perf
measure_caught perf env
insmod "$1" max_sample_rate=$rate || exit 1
measure pmuctl
measure_caught pmuctl pmuctl run
cat /tmp/all
