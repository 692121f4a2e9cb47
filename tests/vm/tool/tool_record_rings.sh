#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What "pmuctl record" samples and loses at its beginning, when it describes all tasks, and while it
# does not get to read: it is not in its own samples, and the rings have room. Runs in busybox' sh
# as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
any_rate

# many N: so many processes to describe, which sleep
many()
{
	sleepers=
	for _ in $(seq "$1"); do
		sleep 1000 &
		sleepers="$sleepers $!"
	done
}

# busy N: so many programs that go on until rest()
busy()
{
	workers=
	for _ in $(seq "$1"); do
		# shellcheck disable=SC2046 # each argument makes it longer
		$PROGRAM $(yes | head -n 5000) &
		workers="$workers $!"
	done
}

# rest: all of these end
rest()
{
	# shellcheck disable=SC2086 # some each
	kill $sleepers $workers
	sleepers='' workers=''
}

# hardly_itself FILE: there are samples, less than 50 of them of the recorder
hardly_itself()
{
	perf script -i "$1" -F comm >script 2>script.err || return 1
	own=$(grep -c '^ *pmuctl *$' script)
	echo "$own of $(wc -l <script)"
	[ -s script ] && [ "$own" -lt 50 ]
}

# To describe a process takes more instructions than there are between two samples: 100 of them would
# be 100 samples and more. What is left is that it begins, waits and writes.
what_describes_tasks_is_not_sampled()
{
	many 100
	run 0 record -q -a -e instructions -c 100003 -o idle.data sleep 1 && hardly_itself idle.data &&
		run 0 record -q -a -D 1 -e instructions -c 100003 -o late.data sleep 3 && hardly_itself late.data
	result=$?
	rest
	return $result
}

# While tasks are described two CPUs would fill the ring more than once. The reader has half of it,
# 680 samples, to get a CPU: half a second.
nothing_is_lost_at_the_beginning()
{
	many 300
	busy 2
	run 0 record -a -m 16 -e instructions:u -c 100003 -o load.data sleep 1
	result=$?
	rest
	[ $result -eq 0 ] && lines err 1 && says '^pmuctl: wrote [1-9]'
}

# Programs come and go all the time: each is described, or told of.
no_task_is_between_what_is_described_and_what_is_told()
{
	many 100
	: >going
	while [ -e going ]; do $PROGRAM; done &
	loop=$!
	for delay in '' '-D 1'; do
		# shellcheck disable=SC2086 # one or two words
		run 0 record -q -a $delay -e instructions:u -c 100003 -o all.data sleep 2 &&
			run 0 report -i all.data -s comm,dso --stdio && SAYS=out says ' hot-warm-cold +hot-warm-cold$' &&
			! grep -E 'unknown| :[0-9]+ ' out
		result=$?
		[ $result -eq 0 ] || break
	done
	rm going
	wait $loop
	rest
	return $result
}

# While nobody reads, programs on two CPUs make more records than 128 pages have room for, 10,922 of 48
# bytes, and less than twice as many. With one CPU there is one program.
there_is_room_for_each_cpu()
{
	both="$PROGRAM & $PROGRAM"
	[ "$(nproc)" -gt 1 ] || both=$PROGRAM
	# shellcheck disable=SC2016 # of the command's shell
	run 0 record -e instructions:u -c 5077 -o room.data sh -c 'kill -STOP $PPID
		'"$both"' & wait
		kill -CONT $PPID' || return 1
	lines err 1 && says '^pmuctl: wrote (7[89]|15[78])[0-9]{2} samples to room.data'
}

# It is what somebody without further rights may lock; what is locked already makes it smaller.
# shellcheck disable=SC3045 # busybox has it
users_have_that_room()
{
	chown user . && chmod 755 . || return 1
	(ulimit -l 0 && su user -c "pmuctl record -q -c 100003 -o user.data $PROGRAM") >out 2>err
	[ $? -eq 3 ] && lines err 0 && [ -s user.data ] || return 1
	(ulimit -l 520 && su user -c "pmuctl record -q -c 100003 -o outer.data \
		pmuctl record -q -c 100003 -o inner.data $PROGRAM") >out 2>err
	[ $? -eq 3 ] && lines err 0 && [ -s outer.data ] && [ -s inner.data ]
}

run_checks many busy rest hardly_itself
