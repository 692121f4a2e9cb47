#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record --overwrite": of a program that does the same each time the newest samples, exactly,
# with what it takes to understand them; several files, each of which has what the others have not;
# users, groups, CPUs; what is refused. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

any_rate
PROGRAM=/pmuctl/tests/prog/hot-warm-cold

# places FILE [OPTIONS]: where its samples are, one a line; options of perf script
places()
{
	file=$1
	shift
	perf script -i "$file" "$@" -F event,ip,sym,symoff 2>script.err | sed 's/^ *//' >"$file.places"
	! grep -q unknown "$file.places" && [ -s "$file.places" ]
}

# times_of FILE: of its samples
times_of()
{
	perf script --ns -i "$1" -F time 2>script.err | tr -d ' :'
}

# newest FILE WHOLE: what the one has is the end of what the other has, and not all of it
newest()
{
	places "$1" && places "$2" || return 1
	kept=$(wc -l <"$1.places")
	echo "$kept of $(wc -l <"$2.places")"
	[ "$kept" -lt "$(wc -l <"$2.places")" ] && tail -n "$kept" "$2.places" | cmp - "$1.places"
}

# files PREFIX: how many there are
files()
{
	set -- "$1".*
	[ -e "$1" ] && echo $# || echo 0
}

the_newest_samples_are_kept()
{
	run 3 record -q -m 1024 -e instructions:u -c 20011 -o whole "$PROGRAM" 1 2 3 &&
		run 3 record -q --overwrite -m 4 -e instructions:u -c 20011 -o end "$PROGRAM" 1 2 3 &&
		[ ! -s err ] && newest end whole || return 1
	# As many as there is room for: 48 bytes each, and half a record may be left.
	[ "$kept" -eq $((4 * 4096 / 48)) ] || return 1
	pmuctl report -i end --stdio >report && grep -q hot report && ! grep -q unknown report
}

all_are_kept_if_there_is_room()
{
	run 3 record -q -m 1024 -e instructions:u -c 20011 -o whole "$PROGRAM" 1 2 3 &&
		run 3 record -q --overwrite -m 512 -e instructions:u -c 20011 -o all "$PROGRAM" 1 2 3 &&
		places all && places whole && cmp all.places whole.places
}

# What the programs of a tree have mapped is known, however long ago that was; the shell has no symbols.
old_programs_are_known()
{
	run 0 record --overwrite -m 1 -e instructions:u -c 20011 -o tree sh -c "
		for n in 1 2 3 4 5 6 7 8 9 10; do $PROGRAM 1; done; true" &&
		says '^pmuctl: wrote [1-9][0-9]* samples to tree' && places tree --comms hot-warm-cold &&
		grep -q hot tree.places
}

groups_and_compression_go_with_it()
{
	run 3 record -q -z --overwrite -m 4 -e '{instructions:u,branches:u}:S' -c 20011 -o group \
		"$PROGRAM" 1 2 3 &&
		perf script -i group -F event 2>script.err | sort | uniq -c >events &&
		grep -q instructions:u events && grep -q branches:u events
}

cpus_keep_theirs()
{
	run 0 record -q -a --overwrite -m 4 -e cpu-clock -c 1000000 -o cpus sh -c "$PROGRAM; true" &&
		perf script -i cpus -F cpu,ip 2>script.err | awk '{ print $1 }' | sort -u >cpus.txt &&
		[ -s cpus.txt ]
}

# In none of the files is what another one has, and each can be read alone.
each_file_has_what_is_new()
{
	# shellcheck disable=SC2016 # of the command's shell
	run 0 record --overwrite --switch-output -m 512 -c 31337 -e instructions:u -o turn sh -c '
		for file in 1 2 3; do
			'$PROGRAM'
			before=$(ls turn.*)
			kill -USR2 $PPID
			while [ "$(ls turn.*)" = "$before" ]; do :; done
		done
		'$PROGRAM'; true' || return 1
	[ "$(grep -c 'samples to turn[.]' err)" -eq 4 ] && [ "$(files turn)" -eq 4 ] || return 1
	for file in turn.*; do
		perf script -i "$file" -F ip,sym 2>script.err | grep -q hot && times_of "$file" || return 1
	done >stamps
	sort -n stamps >sorted
	# From old to new, each once
	cmp sorted stamps && [ -z "$(uniq -d sorted)" ]
}

# Of what ran in an earlier one, too
programs_of_all_files_are_copied()
{
	export HOME="$PWD/home"
	mkdir home && cp $PROGRAM early || return 1
	# shellcheck disable=SC2016 # of the command's shell
	run 0 record -q --switch-output -e instructions:u -c 100003 -o copied sh -c '
		./early
		kill -USR2 $PPID
		while [ "$(ls copied.* | wc -l)" -lt 2 ]; do :; done' &&
		cmp early "$(find "home/.debug$PWD/early" -name elf)"
}

# Often there is nothing new.
nothing_new_is_nothing()
{
	# shellcheck disable=SC2016 # of the command's shell
	run 0 record --overwrite --switch-output -e instructions:u -c 1000000000000 -o idle sh -c '
		before=$(ls idle.*)
		kill -USR2 $PPID
		while [ "$(ls idle.*)" = "$before" ]; do :; done' &&
		says '^pmuctl: wrote 0 samples' && [ "$(files idle)" -eq 2 ]
}

users_keep_theirs()
{
	chown user . && chmod 755 . || return 1
	status=0
	su user -c "pmuctl record -q --overwrite -m 4 -c 20011 -o user.data $PROGRAM" >out 2>err ||
		status=$?
	[ $status -eq 3 ] && [ ! -s err ] || return 1
	chown root user.data
	perf evlist -i user.data >events
	grep -q '^cycles:u$' events && grep -q '^dummy' events && places user.data
}

# A flight recorder's last file but one is what somebody asked for.
only_the_last_files_are_kept()
{
	# shellcheck disable=SC2016 # of the command's shell
	run 0 record --overwrite --switch-output --switch-max-files 1 -c 31337 -e instructions:u -o few sh -c '
		'$PROGRAM'
		for file in 1 2; do
			before=$(ls few.*)
			kill -USR2 $PPID
			until [ "$(ls few.* | wc -l)" -eq 2 ] && [ "$(ls few.*)" != "$before" ]; do :; done
		done
		ls few.* >names
		'$PROGRAM'; true' &&
		lines names 2 && [ "$(files few)" -eq 1 ] && last=$(tail -n 1 names) && [ -e "$last" ] &&
		perf script -i "$last" -F ip,sym 2>script.err | grep -q hot
}

# tell COMMAND: have it done, and wait for the answer
tell() { echo "$1" >commands && read -r answer <&8 && [ "$answer" = ack ]; }

# What is executed while nothing is sampled is known when that goes on.
programs_that_come_while_it_is_off_are_known()
{
	mkfifo commands answers
	cp /bin/busybox busybox-late
	# shellcheck disable=SC2016 # of the command's shell
	pmuctl record -q --overwrite -o off -e instructions:u -c 100003 --control fifo:commands,answers sh -c '
		until [ -e off.now ]; do usleep 10000; done
		exec ./busybox-late sh -c ": >late.here; until [ -e on.now ]; do /bin/busybox usleep 10000; done
			i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done"' 2>record.err &
	recording=$!
	listens $recording || return 1
	exec 8<>answers
	tell disable && : >off.now && appears late.here && tell enable && : >on.now
	exec 8>&-
	wait $recording || { cat record.err; return 1; }
	pmuctl report -i off -s dso --stdio 2>/dev/null >report && grep -q ' busybox-late' report &&
		! grep -q unknown report
}

# "snapshot" is for it what SIGUSR2 is, and is answered when the file is there.
another_program_asks_for_the_next_file()
{
	mkfifo commands answers
	pmuctl record -q --overwrite --switch-output -o asked -e instructions:u -c 100003 \
		--control fifo:commands,answers sh -c "$PROGRAM; : >over; sleep 1000" 2>record.err &
	recording=$!
	listens $recording && exec 8<>answers && appears over && tell snapshot && tell ping &&
		[ "$(files asked)" -eq 2 ] && set -- asked.* && perf script -i "$1" -F ip,sym 2>script.err | grep -q hot && echo stop >commands
	status=$?
	exec 8>&-
	wait $recording && [ $status -eq 0 ] || { cat record.err; return 1; }
}

# A later one cannot be made: the command goes on, and what was recorded before stays.
a_file_that_cannot_be_made_ends_it()
{
	mkdir gone
	# shellcheck disable=SC2016 # of the command's shell
	run 1 record --overwrite --switch-output -c 31337 -e instructions:u -o gone/f sh -c '
		'$PROGRAM'
		mv gone kept
		kill -USR2 $PPID
		sleep 2.5
		kill -USR2 $PPID
		sleep 0.5; : >ended' &&
		says 'gone/f' && [ -e ended ] && [ "$(files kept/f)" -eq 1 ] && perf script -i kept/f.* -F ip,sym 2>script.err | grep -q hot
}

# ... and if there is no room for the samples themselves, it says so, and what there is can be read.
a_full_disk_is_told()
{
	mkdir -p small && mount -t tmpfs -o size=256k tmpfs small || return 1
	# shellcheck disable=SC2016 # of the command's shell
	run 1 record --overwrite --switch-output -m 512 -c 5003 -e instructions:u -o small/f sh -c '
		'$PROGRAM' 1 2 3
		kill -USR2 $PPID
		sleep 1.5' && says 'No space left'
	status=$?
	pmuctl evlist -i small/f.* >events 2>evlist.err
	umount small
	[ $status -eq 0 ] && grep -q '^instructions' events && [ ! -s evlist.err ] || { cat evlist.err; return 1; }
}

what_does_not_go_with_it_is_refused()
{
	run 2 record --overwrite --max-size 1M true && says '-m says how many' &&
		run 2 record --overwrite -s true && says 'would be overwritten' || return 1
	run 2 record --overwrite --switch-output=10M true && says 'only when the next one is begun' &&
		run 2 record --overwrite -S true && says 'no event traces' || return 1
	[ ! -e /sys/class/misc/pmuctl/intel_pt ] ||
		{ run 2 record --overwrite -e intel_pt//u true && says 'of a trace, --snapshot'; }
}

run_checks places times_of newest files tell
