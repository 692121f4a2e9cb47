#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl stat" in a guest with the driver: groups, events that take turns, all CPUs,
# single CPUs, intervals and repeats. Runs in busybox' sh as root, on two CPUs.
# shellcheck disable=SC2317,SC2013,SC2016 # checks are called by name; $ is for awk and sh

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
know_pmu
TOOL='pmuctl stat'

# holds PROGRAM: awk, on the columns of err, ends with status 0
holds() { awk -F , "$1" err || { echo "not so: $1"; return 1; }; }

# busy ROUNDS: what to run for a while: about 300 instructions a round
busy() { echo "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done"; }

# until_lines NUMBER PATTERN FILE: what to run until the tool has written so many
until_lines() { echo "until [ \"\$(cat $3 2>/dev/null | grep -c -e '$2')\" -ge $1 ]; do usleep 10000; done"; }

# at_last COMMAND...: it must succeed, but not each time: the host may make it wait in the
# midst of a turn, which is an unequal share of the time then
at_last()
{
	for _ in 1 2 3 4 5 6 7 8 9; do
		! "$@" >try.log 2>&1 || return 0
	done
	"$@"
}

# ---- groups

members_are_counted_at_once()
{
	run 0 -x , -e '{instructions:u,r00c0:u,branches:u},{r00c0:u,instructions:u}' true &&
		lines err 5 &&
		holds '{ n[NR] = $1; t[NR] = $4 } END { exit !(n[1] > 1000 && n[1] == n[2] &&
			n[4] == n[5] && n[3] < n[1] && t[1] == t[2] && t[2] == t[3]) }'
}
modifiers_of_a_group()
{
	run 0 -e '{cycles,instructions:k}:u,branches:k' true &&
		says ' cycles:u ' ' instructions:ku ' ' branches:k '
}
ratio_in_a_group() { run 0 -e '{cycles,instructions}:u' true && says 'instructions:u .*# +[01]\.[0-9]+  insn per cycle'; }
groups_of_a_process()
{
	sh -c 'while :; do : >go; done' &
	victim=$!
	run 0 -x , -e '{instructions:u,r00c0:u}' -p $victim sh -c 'rm -f go; until [ -e go ]; do usleep 10000; done'
	result=$?
	kill $victim
	wait $victim 2>/dev/null
	[ $result -eq 0 ] && holds '{ n[NR] = $1 } END { exit !(n[1] > 1000 && n[1] == n[2]) }'
}
group_without_its_leader()
{
	run 0 -x , -e "{$missing,instructions,branches}:u" true &&
		says "^<not supported>,,$missing:u," '^[1-9][0-9]*,,instructions:u,' '^[1-9][0-9]*,,branches:u,'
}
group_without_a_member()
{
	run 0 -x , -e "{instructions,$missing,r00c0}:u" true &&
		says "^<not supported>,,$missing:u," &&
		[ "$(grep -v $missing err | grep -v cannot | cut -d , -f 1 | sort -u | wc -l)" -eq 1 ]
}
group_that_never_fits() { run 1 -e '{r1:u,r2:u,r4:u,r5:u,r6:u,r7:u,r8:u,r9:u,ra:u}' touch ran && says "cannot open 'r[0-9a]:u': .*counters.*\(group_fd\)" && [ ! -e ran ]; }
brace_that_is_missing() { run 2 -e '{cycles,branches' true && says 'at character 1: the brace that ends this group is missing' '^  \^$'; }
groups_over_several_options() { run 0 -x , -e '{cycles,instructions}' -e branches true && lines err 3; }

# ---- more events than counters

# Of three groups one at a time has a turn: one fits beside the pinned event, two do not.
# How alike their turns are on a busy host is not the tool's to answer.
turns_are_shown_and_scaled() { at_last turns_of_three_groups; }
turns_of_three_groups()
{
	size=3
	[ "$counters" -lt 6 ] || size=5
	group=r$branches
	while [ ${#group} -lt $((4 * size - 1)) ]; do group=$group,r$branches; done
	run 0 -x , -e "r$branches:uD" -e "{$group}:u" -e "{$group}:u" -e "{$group}:u" \
		sh -c "$(busy 30000)" && lines err $((3 * size + 1)) &&
		holds '{ n[NR] = $1; share[NR] = $5; sum += $5 }
			END { if (share[1] != 100) exit 1
			for (i = 2; i <= NR; i++)
				if (n[i] < n[1] / 4 || n[i] > n[1] * 4 || share[i] > 95) exit 1
			exit !(sum > 100 + (NR - 1) / 3 * 95 && sum < 100 + (NR - 1) / 3 * 101) }'
}
turns_are_a_percentage_in_text()
{
	run 0 -e cycles:uD,r1:u,r2:u,r4:u,r5:u,r6:u,r7:u,r8:u,r9:u,ra:u sh -c "$(busy 30000)" &&
		! grep -q 'cycles:uD.*%' err && [ "$(grep -c 'r[1-9a]:u .* ([0-9.]*%)' err)" -eq 9 ]
}
# Each of them has counted a part of what the first one has; of estimates some are more than that.
turns_are_not_estimated_where_that_is_not_wanted()
{
	turns=r$branches:u,r$branches:u,r$branches:u,r$branches:u,r$branches:u,r$branches:u,r$branches:u,r$branches:u,r$branches:u
	run 0 --no-scale -x , -e "r$branches:uD,$turns" sh -c "$(busy 30000)" && lines err 10 &&
		holds '{ n[NR] = $1; share[NR] = $5 }
			END { if (share[1] != 100) exit 1
			for (i = 2; i <= NR; i++)
				if (n[i] > n[1] || share[i] > 95) exit 1
			exit !(n[1] > 0) }'
}

# ---- all CPUs, single CPUs

all_cpus() { run 0 -a -e cycles,instructions usleep 100000 && says "stats for 'system wide'" ' [0-9,]+ +cycles' ' [0-9,]+ +instructions'; }
all_cpus_run_in_parallel()
{
	run 0 -x , -a -e cycles usleep 300000 && lines err 1 &&
		holds '{ exit !($4 >= 600000000) }'
}
all_cpus_have_one_descriptor_an_event()
{
	pmuctl stat -a -e cycles,instructions,branches sh -c 'touch go; exec sleep 100000' 2>err &
	counting=$!
	appears go
	found=0
	for link in "/proc/$counting/fd"/*; do
		case $(readlink "$link") in
		*pmuctl*event*|*'[pmuctl'*) found=$((found + 1)) ;;
		esac
	done
	kill $counting
	wait $counting
	[ "$found" -eq 3 ] || { echo "$found descriptors"; return 1; }
}
per_cpu()
{
	run 0 -x , -a --per-cpu -e '{instructions:u,r00c0:u}' taskset 2 sh -c "$(busy 3000)" &&
		lines err 4 &&
		holds '{ n[$1, NR > 2] = $2 } END { exit !(n["CPU1", 0] > 300000 &&
			n["CPU1", 0] == n["CPU1", 1] && n["CPU0", 0] == n["CPU0", 1] &&
			n["CPU0", 0] < n["CPU1", 0]) }'
}
per_cpu_text() { run 0 -a -A -e cycles usleep 50000 && says '^CPU0  .* cycles' '^CPU1  .* cycles'; }
per_cpu_of_a_list() { run 0 -x , -C 1 --no-aggr -e cycles,branches usleep 50000 && lines err 2 && says '^CPU1,[0-9]+,,cycles' '^CPU1,[0-9]+,,branches' && run 0 -x , -C 0-1 -A -e cycles usleep 50000 && lines err 2; }
cpu_that_is_offline_has_no_row()
{
	echo 0 >/sys/devices/system/cpu/cpu1/online
	run 0 -x , -a -A -e cycles usleep 50000
	result=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online
	[ $result -eq 0 ] && lines err 1 && says '^CPU0,'
}
cpu_that_goes_keeps_its_row()
{
	run 0 -x , -a -A -e instructions sh -c 'usleep 100000
		echo 0 >/sys/devices/system/cpu/cpu1/online
		usleep 100000'
	result=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online
	[ $result -eq 0 ] && lines err 2 && says '^CPU0,[1-9]' '^CPU1,[1-9]'
}
cpu_that_comes_gets_a_row()
{
	echo 0 >/sys/devices/system/cpu/cpu1/online
	run 0 -x , -a -A -e instructions sh -c 'usleep 100000
		echo 1 >/sys/devices/system/cpu/cpu1/online
		usleep 200000'
	result=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online
	[ $result -eq 0 ] && lines err 2 && says '^CPU0,[1-9]' '^CPU1,[1-9]'
}
users_may_not_count_all_cpus() { ! su user -c 'pmuctl stat -a true' 2>err && says "cannot open 'cpu-clock': .*CAP_PERFMON"; }

# ---- intervals

interval_text()
{
	run 0 -I 100 -e instructions:u sh -c "$(until_lines 2 instructions:u err)" &&
		[ "$(head -n 1 err)" = '#           time             counts      events' ] &&
		! grep -Evq '^#|^ +[0-9]+\.[0-9]{9} +([0-9,]+|<not counted>)      instructions:u' err &&
		[ "$(grep -c instructions:u err)" -ge 2 ] && ! grep -q elapsed err
}
intervals_add_up()
{
	run 0 -x , -I 10 -e instructions:u sh -c "$(busy 50000)" && [ "$(wc -l <err)" -ge 2 ] &&
		mv err intervals && run 0 -x , -e instructions:u sh -c "$(busy 50000)" &&
		awk -F , 'FILENAME == "intervals" { if ($1 <= last) exit 2; last = $1; sum += $2; next }
			END { exit !(sum > $1 * 0.99 && sum < $1 * 1.01) }' intervals err
}
interval_of_all_cpus()
{
	run 0 -x , -I 100 -a -A -e cycles,instructions sh -c "$(until_lines 2 ,CPU1,.*,instructions, err)" &&
		[ "$(grep -c ',CPU1,.*,cycles,' err)" -ge 2 ] && [ "$(grep -c ',CPU0,.*,instructions,' err)" -ge 2 ]
}
interval_heading_comes_again()
{
	run 0 -I 10 -e cycles -C 0 sh -c "$(until_lines 2 '^#' err)" && [ "$(grep -c ' cycles' err)" -ge 20 ]
}
interval_until_a_signal()
{
	pmuctl stat -I 50 -a -e cycles 2>err &
	counting=$!
	listens $counting && appears ' cycles' err && kill -INT $counting
	wait $counting
	[ $? -eq 130 ] && [ "$(grep -c ' cycles' err)" -ge 2 ]
}
interval_to_a_file() { run 0 -I 50 -o file -e cycles -C 0 sh -c "$(until_lines 2 ' cycles' file)" && lines err 0 && [ "$(grep -c '^# started' file)" -eq 1 ] && [ "$(grep -c ' cycles' file)" -ge 2 ]; }
interval_to_a_full_disk() { run 1 -I 50 -o /dev/full -e cycles:u usleep 300000 && says 'No space left' && [ "$(grep -c . err)" -le 2 ]; }

# ---- repeats

repeats_run_the_command()
{
	run 0 -r 4 -e instructions:u sh -c 'echo again' && lines out 4 &&
		says '\(4 runs\):' ' [0-9,]+ +instructions:u .*\( \+- +[0-9.]+% \)' \
			'[0-9.]+ \+- [0-9.]+ seconds time elapsed  \( \+- +[0-9.]+% \)' &&
		! grep -q 'seconds user' err
}
repeats_in_csv() { run 0 -r 3 -x , -e '{instructions,cycles}:u' true && lines err 2 && ! grep -Evq '^[0-9]+,,[a-z:]+,[0-9]+\.[0-9]{2}%,[0-9]+,100\.00,([0-9.]+)?,(insn per cycle)?$' err; }
repeats_have_the_mean()
{
	# 1000, 2000 and 3000 rounds against 2000 thrice
	echo 0 >n
	run 0 -x , -r 3 -e branches:u sh -c 'read n <n; n=$((n + 1000)); echo $n >n
		i=0; while [ $i -lt $n ]; do i=$((i + 1)); done' && mv err uneven &&
		run 0 -x , -r 3 -e branches:u sh -c 'read n <n; n=2000; echo $n >n
		i=0; while [ $i -lt $n ]; do i=$((i + 1)); done' &&
		awk -F , '{ n[NR] = $1; off[NR] = $4 + 0 } END { exit !(n[1] > n[2] * 0.97 &&
			n[1] < n[2] * 1.03 && off[1] > 10 && off[1] < 30 && off[2] < 3) }' uneven err
}
repeats_of_all_cpus() { run 0 -r 2 -x , -a -A -e cycles true && lines err 2 && says '^CPU0,[0-9]+,,cycles,[0-9.]+%,' '^CPU1,'; }
status_of_the_last_repeat() { echo 0 >n && run 3 -r 3 -e cycles:u sh -c 'read n <n; echo $((n + 1)) >n; exit $((n + 1))'; }
repeats_end_with_a_signal()
{
	: >ran
	pmuctl stat -r 100000 -e cycles:u sh -c 'echo >>ran; sleep 0.2' 2>err &
	counting=$!
	listens $counting && until [ "$(wc -l <ran)" -ge 3 ]; do usleep 20000; done
	kill -TERM $counting
	told=$(wc -l <ran)
	wait $counting
	[ $? -eq 143 ] && [ "$(wc -l <ran)" -le $((told + 2)) ] && says '\([0-9]+ runs\)'
}
a_signal_between_two_repeats_ends_them()
{
	run 143 -r 5 -e cycles:u sh -c 'trap "" TERM; echo >>ended; kill -TERM $PPID' &&
		lines ended 1 && run 0 -e cycles:u sh -c 'trap "" TERM; kill -TERM $PPID'
}
command_not_found_is_not_repeated() { run 127 -r 5 no-such-command && lines err 1; }
one_repeat_is_none() { run 0 -r 1 -e cycles:u true && ! grep -q 'runs\|+-' err && says 'seconds user'; }

# ---- usage

per_cpu_needs_cpus() { run 2 --per-cpu true && says 'needs -a or -C' && run 2 -A -p 1 true && says 'needs -a or -C'; }
targets_of_two_kinds() { run 2 -p 1 -C 0 true && says 'only one of' && run 2 -a -t 1 -p 1 true && says 'only one of'; }
repeat_needs_a_command() { run 2 -r 3 -C 0 && says '-r needs a command'; }
repeat_and_interval() { run 2 -r 3 -I 100 true && says 'exclude each other'; }
numbers_that_are_none()
{
	for word in 0 -1 x 1x 1.5 99999999999999999999 ''; do
		run 2 -I "$word" true && says "'$word' is not a number for -I: it is from 1 to 86400000" &&
			run 2 --repeat "$word" true && says "'$word' is not a number for -r" || return 1
	done
}

run_checks holds busy until_lines at_last turns_of_three_groups
