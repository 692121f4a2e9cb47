#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What debugfs says of CPUs and contexts while events of a known kind are open.
DIR=/sys/kernel/debug/pmuctl
passed=0 failed=0

check()
{
	what=$1
	shift
	if "$@" >/tmp/debugfs.out 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $what"
		sed 's/^/    /' /tmp/debugfs.out "$text"
	fi
}

says()
{
	grep -Eq -- "$1" "$text"
}

says_not()
{
	! grep -Eq -- "$1" "$text"
}

text=/tmp/debugfs.text

# Its counters, of CPU 0 if CPUs differ, and its event for branches
counters=$(sed -n 's/.* \([0-9]*\) general and \([0-9]*\) fixed counters$/\1 \2/p' $DIR/cpus | head -n 1)
[ -n "$counters" ] || counters=$(pmuctl doctor | sed -n 's/.*: \([0-9]*\) counters of .* bits, \([0-9]*\) fixed .*/\1 \2/p')
general=${counters% *} fixed=${counters#* }
branches=c4
! grep -q AuthenticAMD /proc/cpuinfo || branches=c2

# It is kept for a moment after the last event, unless this is set.
claim=/sys/module/pmuctl/parameters/claim
echo "$(cat $claim)" >$claim
cat $DIR/cpus >$text
check 'idle: the PMU is not ours' says '^cpu 0: the PMU is not ours$'
check 'idle: no group' says_not 'flexible|pinned'
check 'idle: every CPU' says '^cpu 1:'

pmuctl stat -C 0 -e instructions,branches:u -o /dev/null -- cat $DIR/cpus >$text
check 'a CPU: the PMU is ours' says '^cpu 0: the PMU is ours$'
check 'a CPU: the branches event is on a general counter' \
	says "general +[0-9]+: 0x[0-9a-f]{12} evtsel 0x005100$branches event [0-9]+$"
if [ "$fixed" = 0 ]; then
	check 'a CPU: instructions are on another' \
		says 'general +[0-9]+: 0x[0-9a-f]{12} evtsel 0x005300c0 event [0-9]+$'
	check 'a CPU: the registers agree' says 'global control 0x(30|c),'
else
	check 'a CPU: instructions are on a fixed counter' \
		says 'fixed +0: 0x[0-9a-f]{12} control 0xb +event [0-9]+$'
	check 'a CPU: the register agrees' says 'global control 0x1000000(0[1248]|[1248]0),'
fi
check 'a CPU: two groups run' [ "$(grep -c 'flexible running: [0-9]*@' $text)" = 2 ]

events=branches
for _ in $(seq "$general"); do
	events=$events,branches
done
pmuctl stat -e "$events" -o /dev/null -- taskset 1 cat $DIR/contexts >$text
check 'a task: its name and CPU' says '^task [0-9]+ \(cat\): on cpu [01]$'
check 'a task: as many groups run as there are counters' \
	[ "$(grep -c 'flexible running' $text)" = "$general" ]
check 'a task: one waits' [ "$(grep -c 'flexible waiting' $text)" = 1 ]

# Overflows show in the totals.
before=$(awk '/overflows/ { gsub(",", ""); n += $2 } END { print n }' $DIR/cpus)
echo 10000 >/sys/module/pmuctl/parameters/counter_headroom
pmuctl stat -e instructions:u -o /dev/null -- sha256sum /bin/busybox >/dev/null
echo 0 >/sys/module/pmuctl/parameters/counter_headroom
cat $DIR/cpus >$text
after=$(awk '/overflows/ { gsub(",", ""); n += $2 } END { print n }' $text)
check 'overflows are counted' [ $((after - before)) -gt 1000 ]
check 'none was stuck' says_not 'stuck [1-9]'

text=/tmp/debugfs.text
pmuctl stat -e dummy -o /dev/null -- cat $DIR/hooks >$text
check 'hooks: of the scheduler' says '^scheduler: set [1-9][0-9]* times, events [1-9][0-9]*$'
check 'hooks: of mappings' says '^mappings: set [0-9]+ times, events 0'
check 'hooks: what is missed' says '^minor-faults and major-faults: set .*, missed [0-9]+$'
check 'hooks: of tracepoints' says '^tracepoints: set [0-9]+ times$'

for file in cpus contexts hooks; do
	text=$DIR/$file
	check "$file: not for everybody" \
		[ "$(stat -c %a $DIR/$file)" = 400 ]
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
