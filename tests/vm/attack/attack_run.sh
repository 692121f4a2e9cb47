#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that try to gain something from who answers their calls of perf_event_open(2),
# "pmuctl run", or to keep others waiting. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

ATTACK=/pmuctl/tests/prog/perf-attack
PROGRAM=/pmuctl/tests/prog/perf-calls
AS_USER="/usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups"

# attack WORDS...: by an ordinary user below root's pmuctl run, and by one who runs it
attack()
{
	chmod 777 .
	# shellcheck disable=SC2086 # these are words
	run 0 run --explain $AS_USER $ATTACK "$@" && held &&
		su user -c "pmuctl run --explain $ATTACK $*" >out 2>err && held
}

as_root() { run 0 run --explain $ATTACK "$@" && held; }
held() { cat out; grep -q ': held$' out && ! grep LOST out; }

# Nobody is left who answers, and no event is open.
nothing_is_left()
{
	until ! pidof pmuctl >pids; do usleep 20000; done
	give_back
	pmuctl doctor | grep -q "PMU's owner: nobody"
}

a_changing_attr_is_looked_at_once() { attack changed && nothing_is_left; }
callers_may_be_killed() { attack killed && nothing_is_left; }
signals_make_no_call_twice() { attack signalled && nothing_is_left; }
descriptors_run_out_as_ever() { attack many && nothing_is_left; }
threads_are_served_at_once() { attack threads && nothing_is_left; }
what_is_no_event_is_no_group() { attack forged; }
a_thread_has_its_own_rights() { as_root thread-rights; }
a_stuck_caller_keeps_nobody_waiting() { as_root stuck && nothing_is_left; }
who_answers_gives_nothing_away()
{
	# shellcheck disable=SC2086 # these are words
	run 0 run $AS_USER $ATTACK take && held && nothing_is_left &&
		su user -c "pmuctl run $ATTACK take-parents" >out && held
}

an_undumpable_caller_is_told()
{
	chmod 777 .
	su user -c "pmuctl run --explain $ATTACK undumpable" >out 2>err
	held && grep -x 'undumpable: refused' out && says 'what the caller may do cannot be told' &&
		as_root undumpable && grep -x 'undumpable: opened' out
}

another_root_directory_changes_nothing()
{
	mkdir -p root && cp $PROGRAM root/ && run 0 run chroot root /perf-calls count group && SAYS=out says 'count: 200003' 'output: 1'
}

a_filter_of_its_own_holds()
{
	# a run in a run is refused, and the outer one goes on
	run 0 run sh -c "pmuctl run true; $PROGRAM whose" && SAYS=out says 'anon_inode:.pmuctl_event.'
}

run_checks attack as_root held nothing_is_left
