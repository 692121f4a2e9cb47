#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl stat -M" and "--topdown", and the list of metrics. The emulated CPUs count a cycle for
# each instruction, and nothing that only one model has: on a Skylake, whose slots are those of
# its cycles, all are left to the back end.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

skylake=
! grep -q '^model[[:space:]]*: 94$' /proc/cpuinfo || skylake=yes
icelake=
! grep -q '^model[[:space:]]*: 106$' /proc/cpuinfo || icelake=yes
core=$skylake$icelake

list_of_metrics()
{
	run 0 list metrics && SAYS=out says 'insn_per_cycle \[Summary\] .*instructions of each cycle'
}
list_has_those_of_the_core()
{
	if [ -n "$core" ]; then
		run 0 list metric tma_retiring && lines out 2 && SAYS=out says '^Metrics of .* Lake|^Metrics of Skylake'
	else
		run 1 list metrics TopdownL1 && says "no metric matches 'TopdownL1'"
	fi
}
list_as_json()
{
	run 0 list -j metrics branch_miss_rate && SAYS=out says '"kind": "metric"' '"formula": "100 \* branch-misses / branches"'
}
list_of_tracepoints_is_as_before() { run 0 list tracepoints sched_switch && SAYS=out says '^sched:sched_switch$'; }

# A ratio is that of the counts beside it.
ratio_of_the_counts()
{
	run 0 stat -x , -M branch_miss_rate true && lines err 2 &&
		awk -F , '{ n[$3] = $1 } $7 == "%  branch_miss_rate" { r = $6 }
			END { x = 100 * n["branch-misses"] / n["branches"] - r; exit !(x * x < 0.0001) }' err
}
beside_their_events()
{
	run 0 stat -M insn_per_cycle -e branches true &&
		says ' branches +$' ' instructions .* # .* 1\.00  insn_per_cycle$' ' cycles +$'
}
they_are_one_group()
{
	run 0 stat -M insn_per_cycle,branch_misses_per_1000 true &&
		says ' # .* insn_per_cycle$' ' # .* branch_misses_per_1000$'
}
several_times() { run 0 stat -x , -M insn_per_cycle -M Summary true && lines err 2 && says ',cycles,.*,cycles_per_insn$'; }
of_each_cpu()
{
	run 0 stat -x , -a -A -M insn_per_cycle sleep 0.1 && lines err "$(($(nproc) * 2))" &&
		says '^CPU0,.*,instructions,.*,[0-9.]+,insn_per_cycle$'
}
of_intervals() { run 0 stat -x , -a -I 100 --interval-count 2 -M Summary && lines err 4 && [ "$(grep -c insn_per_cycle err)" -eq 2 ]; }
of_runs() { run 0 stat -r 3 -M Summary true && says 'insn_per_cycle +\( \+- .*% \)'; }
as_openmetrics() { run 0 stat --openmetrics -M Summary true && says '^pmuctl_metric\{metric="insn_per_cycle",unit="insn per cycle"\} 1\.00'; }
without_counts()
{
	run 0 stat --metric-only -x , -M Summary true && lines err 2 && says '^insn_per_cycle,' '^1\.00,' &&
		run 0 stat --metric-only -a -A -M insn_per_cycle sleep 0.1 && [ "$(grep -cE '^CPU[0-9]+ +1\.00$' err)" -eq "$(nproc)" ] &&
		run 0 stat --metric-only -x , -a -I 100 --interval-count 2 -M insn_per_cycle && lines err 3 &&
		says '^time,insn_per_cycle$' && run 2 stat --metric-only -j true && says 'excludes -j'
}
of_an_ordinary_user()
{
	su user -c 'pmuctl stat -x , -M Summary true' 2>err && says ',instructions:u,.*,1\.00,insn_per_cycle$'
}

topdown()
{
	if [ -z "$core" ]; then
		run 2 stat --topdown true && says "there is no metric 'TopdownL1' on this CPU: 'pmuctl list metrics'"
		return
	fi
	run 0 stat -x , --topdown true || return 1
	# Without slots there are no shares of them.
	[ -z "$icelake" ] || { lines err 4 && says '^0,,TOPDOWN\.SLOTS_P,.*,,$' && ! grep tma_ err; return; }
	says ',0\.00,%  tma_frontend_bound$' ',0\.00,%  tma_bad_speculation$' \
			',0\.00,%  tma_retiring$' ',100\.00,%  tma_backend_bound$'
}
topdown_events()
{
	[ -n "$skylake" ] || return 0
	run 0 stat --topdown true &&
		says ' IDQ_UOPS_NOT_DELIVERED\.CORE ' ' UOPS_ISSUED\.ANY ' ' UOPS_RETIRED\.RETIRE_SLOTS ' ' INT_MISC\.RECOVERY_CYCLES '
}
unknown_names()
{
	run 2 stat -M insn_per_cycle,no_such true && says "there is no metric 'no_such'" &&
		run 2 stat -M '' true && says "there is no metric ''" &&
		run 2 stat -n -M Summary true && says '-n is without events: it excludes -e, -d and -M'
}
# What the CPU cannot count has no metric, and does not keep the others from being counted.
missing_events()
{
	run 0 stat -x , -M Stalls,Summary true && says '^<not supported>,.*stalled-cycles' ',insn_per_cycle$' &&
		! grep -q cycles_idle err
}

run_checks
