#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The command with cgroups: options and output are those of perf's tools, and so are the counts.
# Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

LOOPS=/pmuctl/tests/prog/hot-warm-cold
CGROUPS=/sys/fs/cgroup
# Its status is 3, as the last one's of the loops is.
IN_A="echo \$\$ >$CGROUPS/a/cgroup.procs; exec $LOOPS 1"

mount -t cgroup2 none $CGROUPS
remove_cgroups()
{
	rmdir $CGROUPS/a/below $CGROUPS/a $CGROUPS/b
	umount $CGROUPS
}
at_exit=remove_cgroups
# Until a controller is there for the first time, which another suite may have done, perf's is not.
mkdir $CGROUPS/a
first=$(pmuctl stat -a --for-each-cgroup a true 2>&1)
rmdir $CGROUPS/a
echo +cpu >$CGROUPS/cgroup.subtree_control
mkdir $CGROUPS/a $CGROUPS/b

a_cgroup_is_counted_on_all_cpus()
{
	run 3 stat -x ';' -a -e instructions:u,branches:u -G a sh -c "$IN_A" &&
		says '^[1-9][0-9]{5,};;instructions:u;a;' '^[1-9][0-9]{4,};;branches:u;a;'
}

# Of what runs in the other one nothing is counted, not even the time.
only_what_runs_in_it()
{
	run 3 stat -x ';' -a -e instructions:u,instructions:u -G a,b sh -c "$IN_A" &&
		says '^[1-9][0-9]{5,};;instructions:u;a;' '^<not counted>;;instructions:u;b;0;'
}

# With one of all tasks beside it, which is an empty name
an_empty_name_is_none()
{
	run 3 stat -x ';' -a -e instructions:u,instructions:u -G ,a sh -c "$IN_A" &&
		says '^[1-9][0-9]{5,};;instructions:u;;' '^[1-9][0-9]{5,};;instructions:u;a;'
}

one_name_is_for_the_events_before_it()
{
	run 3 stat -x ';' -a -e instructions:u -G a -e branches:u sh -c "$IN_A" &&
		says '^[1-9][0-9]{5,};;instructions:u;a;' '^[1-9][0-9]{4,};;branches:u;;'
}

each_event_for_each_cgroup()
{
	run 3 stat -x ';' -a -e '{instructions:u,branches:u}' --for-each-cgroup a,b sh -c "$IN_A" &&
		lines err 4 && says '^[1-9][0-9]{5,};;instructions:u;a;' '^[1-9][0-9]{4,};;branches:u;a;' \
			'^<not counted>;;instructions:u;b;' '^<not counted>;;branches:u;b;'
}

without_events_too() { run 3 stat -x ';' -a --for-each-cgroup a,b sh -c "$IN_A" && says ';context-switches;a;' ';context-switches;b;'; }

# A metric is of the counts of its own cgroup.
metrics_are_of_each_cgroup()
{
	run 3 stat -x ';' -a -M Summary --for-each-cgroup a,b sh -c "$IN_A" && lines err 4 &&
		says '^[1-9][0-9]{5,};;instructions;a;.*;1\.00;insn_per_cycle$' '^<not counted>;;instructions;b;0;.*;;$' &&
		[ "$(grep -c insn_per_cycle err)" -eq 1 ]
}

the_text_has_a_column()
{
	run 3 stat -a -e instructions:u -G a sh -c "$IN_A" && says '^ +[0-9,]+ +instructions:u +a'
}

json_has_a_key()
{
	run 3 stat -j -C 0,1 -e instructions:u -G a sh -c "$IN_A" && says '"event": "instructions:u", "cgroup": "a"'
}

openmetrics_have_a_label()
{
	run 3 stat --openmetrics -a -e instructions:u --for-each-cgroup a sh -c "$IN_A" &&
		says '^pmuctl_events_total[{]event="instructions:u",cgroup="a"'
}

those_below_count_too()
{
	mkdir -p $CGROUPS/a/below
	run 3 stat -x ';' -a -e instructions:u,instructions:u -G a,a/below sh -c "echo \$\$ >$CGROUPS/a/below/cgroup.procs; exec $LOOPS 1" &&
		says '^[1-9][0-9]{5,};;instructions:u;a;' '^[1-9][0-9]{5,};;instructions:u;a/below;'
}

# count FILE: the sum of its counts
count() { awk -F ';' '/instructions/ { n += $1 } END { print n }' "$1"; }

# The loader executes some instructions more or less, by where things are.
as_many_as_perf()
{
	run 3 stat -x ';' -a -o ours -e instructions:u -G a sh -c "$IN_A"
	perf stat -x ';' -a -o perfs -e instructions:u -G a sh -c "$IN_A"
	give_back
	ours=$(count ours) perfs=$(count perfs)
	echo "$ours, perf: $perfs"
	[ "$ours" -gt 100000 ] && [ $((ours - perfs)) -lt 5000 ] && [ $((perfs - ours)) -lt 5000 ]
}

perf_stat_counts_cgroups_by_pmuctl()
{
	run 3 run $CAUGHT --strict perf stat -x ';' -a -o ours -e instructions:u -G a sh -c "$IN_A" &&
		grep 'instructions:u;a;' ours && [ "$(count ours)" -gt 100000 ]
}

samples_are_of_it()
{
	run 3 record -q -a -e instructions:u -c 10007 -G a sh -c "$IN_A" &&
		run 0 script -F comm && [ "$(sort -u out | grep -c .)" -le 2 ] && SAYS=out says 'hot-warm-cold'
}

wrong_options_are_told()
{
	run 2 stat -e instructions:u -G a true && says 'need -a or -C' &&
		run 2 stat -a -G a -e instructions:u true && says 'give these first, with -e' &&
		run 2 stat -a -e instructions:u -G a,b true && says 'there are 2 cgroups for 1 events' &&
		run 2 stat -a -e instructions:u -G a --for-each-cgroup b true && says 'not with -G' &&
		run 2 stat -a -e instructions:u --for-each-cgroup a,,b true && says 'is empty' &&
		run 1 stat -a -e instructions:u -G missing true &&
		says "cannot open the cgroup 'missing', the directory $CGROUPS/missing: No such file"
}

# Its 80 million instructions, and the few of the shell that it was, are 80 samples; what runs
# beside it for longer has none.
top_shows_what_runs_in_it()
{
	# shellcheck disable=SC2046 # each argument makes it longer
	$LOOPS $(yes | head -n 5000) &
	run 3 top -d 86400 -a -v -n --show-total-period -e instructions:u -c 1000003 -G a -s comm sh -c "$IN_A"
	kill $!
	wait $!
	SAYS=out says "^# Samples: (79|8[0-2]) of event 'instructions:u'" '^# Overhead +Samples +Period +Command$' \
		'^ +[0-9.]+% +(79|8[0-2]) +(79|8[0-2])[0-9]{6} +hot-warm-cold$' &&
		run 2 top -G a && says '-G is about the events before it' &&
		run 2 top -e instructions:u -G a true && says '-G and --for-each-cgroup need -a or -C'
}

# Events that nobody has named may be missing, but not because of the cgroup: that is told.
what_counts_no_cgroup_is_told()
{
	echo "$first" | tee first
	grep -q -e "cannot open '.*cgroup\.subtree_control" -e 'not counted' first
}

# Those that were there before are told of, too: a number alone says nothing.
samples_have_the_path_of_their_cgroup()
{
	run 3 record -q --all-cgroups -e task-clock:u -o file sh -c "$IN_A" &&
		run 0 report -i file --stdio -s cgroup && grep -qE '^ +[0-9.]+%  /a$' out && ! grep -E '%  ([[]|N/A)' out &&
		perf report -i file --stdio -s cgroup 2>/dev/null >theirs && grep -qE '%  /a *$' theirs
}

run_checks remove_cgroups count
