#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that were made for perf_event_open(2), by "pmuctl run": what they say is what they
# say on the kernel's perf. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/perf-calls
# Not busybox' own, which have fewer options
SETPRIV=/usr/bin/setpriv
UNSHARE=/usr/bin/unshare

# same WORDS...: the command says the same on perf and on pmuctl, and ends with the same status
same()
{
	give_back
	perfs_status=0 status=0
	"$@" >perfs 2>perfs.err </dev/null || perfs_status=$?
	pmuctl run --explain -- "$@" >out 2>err </dev/null || status=$?
	cat out
	[ -s out ] && diff perfs out && [ $status -eq $perfs_status ]
}

# as_user WORDS...: the same, the command being run by an ordinary user without capabilities
as_user() { same $SETPRIV --reuid 1000 --regid 1000 --clear-groups "$@"; }

events_are_pmuctls() { run 0 run $PROGRAM whose && [ "$(cat out)" = 'anon_inode:[pmuctl_event]' ]; }
a_static_program_counts_to_the_instruction() { same $PROGRAM count && grep -x 'count: 200003' out; }
groups_and_output_are_kept() { same $PROGRAM group; }
descriptors_are_as_perfs() { same $PROGRAM descriptors; }
threads_and_other_processes_are_counted() { same $PROGRAM tasks; }

refusals_are_perfs() { same $PROGRAM refusals; }

each_refusal_has_a_sentence()
{
	run 0 run --explain $PROGRAM refusals && says \
		'^pmuctl: perf-calls\[[0-9]+\]: type 0 config 0x1: file descriptor 1000 is no event \(group_fd\)$' \
		'^pmuctl: perf-calls\[[0-9]+\]: type 0 config 0x1: with pid -1 it must be the number of a CPU'
}

nothing_is_said_without_explain() { run 0 run $PROGRAM refusals && [ ! -s err ]; }

perf_stat_counts_as_many()
{
	same perf stat -x ';' -o stat -e instructions:u $PROGRAM count
	pmuctl run perf stat -x ';' -o ours -e instructions:u /pmuctl/tests/prog/hot-warm-cold 1
	give_back
	command perf stat -x ';' -o perfs -e instructions:u /pmuctl/tests/prog/hot-warm-cold 1
	ours=$(grep instructions ours | cut -d ';' -f 1) perfs=$(grep instructions perfs | cut -d ';' -f 1)
	echo "$ours, perf: $perfs"
	[ "$ours" -gt 1000 ] && [ "$ours" -eq "$perfs" ]
}

# ---- Rights ----

root_may_what_root_may() { same $PROGRAM kernel && same $PROGRAM init && grep -x opened out; }
a_user_may_what_a_user_may() { as_user $PROGRAM count && as_user $PROGRAM kernel && grep -x 'refused: EACCES' out; }
a_user_may_not_look_at_init() { as_user $PROGRAM init && grep -x 'refused: EACCES' out; }

a_user_runs_it()
{
	give_back
	su user -c "$PROGRAM count kernel" >perfs
	su user -c "pmuctl run $PROGRAM count kernel" >out
	diff perfs out && grep -x 'refused: EACCES' out
}

a_capability_is_kept()
{
	with="$SETPRIV --reuid 1000 --regid 1000 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon"
	# shellcheck disable=SC2086 # these are words
	same $with $PROGRAM kernel && grep -x opened out
}

root_without_capabilities_is_as_a_user() { same $SETPRIV --bounding-set -all $PROGRAM kernel && grep -x 'refused: EACCES' out; }

a_user_namespace_gives_no_right()
{
	same $UNSHARE -U -r $PROGRAM kernel && grep -x 'refused: EACCES' out &&
		as_user $UNSHARE -U -r $PROGRAM kernel && grep -x 'refused: EACCES' out &&
		as_user $UNSHARE -U -r $PROGRAM count && grep -x 'count: 200003' out
}

a_pid_namespace_has_its_own_numbers()
{
	same $UNSHARE -p -f $PROGRAM init tasks && grep -x opened out &&
		as_user $UNSHARE -U -r -p -f $PROGRAM init tasks && grep -x opened out
}

# ---- How it ends ----

the_status_is_the_commands()
{
	run 7 run sh -c 'exit 7' && run 143 run sh -c 'kill -TERM $$' && run 127 run not-there && run 126 run /etc &&
		run 2 run && run 2 run --nonsense && says "unknown option '--nonsense'"
}

a_signal_is_handed_on()
{
	pmuctl run sh -c 'trap "exit 9" TERM; touch started; while :; do usleep 10000; done' &
	appears started
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ $status -eq 9 ]
}

what_the_command_leaves_is_served()
{
	run 0 run sh -c "(until [ -e go ]; do usleep 10000; done; $PROGRAM whose count >later; touch ended) >/dev/null 2>&1 &"
	touch go
	appears ended
	[ "$(head -n 1 later)" = 'anon_inode:[pmuctl_event]' ] && grep -x 'count: 200003' later
}

a_run_in_a_run_is_told() { run 1 run pmuctl run true && says 'answers for calls of this process already'; }

set_user_id_programs_are_told()
{
	cp $PROGRAM . && chmod u+s perf-calls && chmod 777 .
	su user -c "pmuctl run ./perf-calls kernel" >out 2>err
	says "'./perf-calls' is set-user-id" && SAYS=out says 'refused: EACCES'
}

run_checks same as_user
