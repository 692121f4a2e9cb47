#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record" in a guest with the driver: perf opens its files and finds in them what
# the recorded programs did; targets, exit statuses, what is lost, what is refused. Runs
# in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
# Its instructions for each argument, its name included
INSTRUCTIONS=40000000
# How many samples a second there are depends on how busy the host is.
any_rate

# record STATUS ARGS...: pmuctl record ARGS must end with STATUS
record()
{
	wanted=$1
	shift
	run "$wanted" record "$@"
}

# samples FILE: how many samples perf finds; what it does not understand is a failure
samples()
{
	perf script -i "$1" -F event,ip >script 2>script.err || return 1
	# It says there how many lines of code it could not find: that is fine.
	! grep -vE '^$|addr2line|overlapping maps' script.err >&2 || return 1
	wc -l <script
}

# shares FILE: "SHARE SYMBOL" a line in FILE.shares, in percent, as perf reports it
shares()
{
	perf report -i "$1" --stdio --percent-limit 0 -F overhead,sym 2>report.err >report ||
		return 1
	awk '/^ *[0-9.]+%/ { sub("%", "", $1); print $1, $3 }' report >"$1.shares"
}

# is_share FILE SYMBOL PERCENT [MARGIN]: within 1 % of the whole, or MARGIN
is_share()
{
	[ -e "$1.shares" ] || shares "$1" || return 1
	awk -v symbol="$2" -v truth="$3" -v margin="${4:-1}" '
		$2 == symbol { share = $1 }
		END {
			print symbol, share "%, expected", truth
			exit !(share > truth - margin && share < truth + margin)
		}' "$1.shares"
}

# begin COMMAND...: in the background, as process $pid
begin()
{
	"$@" >out 2>err </dev/null &
	pid=$!
}

# grows FILE BYTES: wait until there are more
grows()
{
	until [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; do
		usleep 20000
	done
}

# begun FILE: wait until CPUs are being sampled: right after that all tasks are described
begun()
{
	appears busybox "$1"
}

# ends STATUS: the process $pid
ends()
{
	status=0
	wait "$pid" || status=$?
	[ "$status" -eq "$1" ] || { echo "status $status, expected $1"; return 1; }
}

# ------------------------------------------------------------------ what is found

shares_are_those_of_the_program()
{
	record 3 -q -e instructions:u -c 5077 -o shares.data "$PROGRAM" &&
		[ ! -s err ] &&
		is_share shares.data hot 70 && is_share shares.data warm 20 &&
		is_share shares.data cold 10 || return 1
	found=$(samples shares.data) || return 1
	# A sample at each period, up to what the start and the calls are
	expected=$((INSTRUCTIONS / 5077))
	echo "$found samples, expected $expected"
	[ "$found" -ge $((expected - 1)) ] && [ "$found" -le $((expected + 40)) ]
}

callers_are_found()
{
	record 3 -q -g -e instructions:u -c 20011 -o chain.data "$PROGRAM" || return 1
	# The one who was called when the frame was not made yet may lack its caller.
	perf script -i chain.data -F ip,sym >script || return 1
	awk -v RS= '/hot[^a-z].*phase[^a-z].*_start/ { whole++ }
		END { print whole, "whole chains of", NR; exit !(whole > NR * 0.69) }' \
		FS='\n' script
}

several_events_are_told_apart()
{
	record 3 -q -e instructions:u -e branches:u -c 10177 -o events.data "$PROGRAM" ||
		return 1
	samples events.data >/dev/null || return 1
	# Every other instruction of the program is a branch.
	awk '$1 ~ /^instructions:u/ { i++ } $1 ~ /^branches:u/ { b++ }
		END { print i, b; exit !(i > 3925 && i < 3960 && b > 1960 && b < 1980) }' \
		script
}

groups_are_described()
{
	record 3 -q -e '{instructions:u,branches:u}' -c 100003 -o group.data "$PROGRAM" &&
		perf evlist -g -i group.data >out &&
		grep -q 'instructions:u,branches:u' out
}

frequency_is_followed()
{
	record 3 -F 500 -e instructions:u -o freq.data "$PROGRAM" &&
		says '^pmuctl: wrote [0-9]+ samples to freq.data, .* MB; woken up [0-9]+ times$' &&
		[ "$(samples freq.data)" -gt 1 ]
}

# A period that ends with the kernel's last instruction before it returns is told in the program: how
# often, depends on how the length of the period goes into that of the loop, which nothing here knows.
kernel_has_symbols()
{
	record 0 -q -e instructions:k -c 10007 -o kernel.data \
		dd if=/dev/zero of=/dev/null bs=64 count=8000 || return 1
	perf script -i kernel.data -F ip,sym,dso >script || return 1
	awk '$1 !~ /^ffff/ { user++; next } /\[kernel.kallsyms\]/ { kernel++ } /\[unknown\]/ { unknown++ }
		END { n = NR - user; print kernel, "kernel,", unknown + 0, "unknown of", n, "and", user + 0
			exit !(n > NR / 2 && kernel > n * 0.98 && unknown < n * 0.02) }' script &&
		grep -q ' ksys_read' script
}

# As depmod has it after the module was installed
modules_have_symbols()
{
	folder=/lib/modules/$(uname -r)
	mkdir -p "$folder/updates" && cp /pmuctl/pmuctl.ko "$folder/updates/" &&
		: >"$folder/modules.order" && : >"$folder/modules.builtin" &&
		depmod 2>/dev/null || return 1
	record 0 -q -e instructions:k -c 10007 -o module.data \
		pmuctl stat -r 30 -o /dev/null -e instructions,branches true || return 1
	# perf shows all kernel code as one where it can read /proc/kcore.
	perf script -i module.data -F ip,sym >script || return 1
	grep -Eq ' (pmuctl|hwpmu)_[a-z_]+' script
}

header_tells_of_the_run()
{
	record 3 -q -c 1000003 -o header.data "$PROGRAM" &&
		perf report --header-only -i header.data >out || return 1
	for pattern in 'hostname : guest' "os release : $(uname -r)" 'arch : x86_64' \
		"nrcpus online : $(nproc)" 'cpudesc : .*' 'cpuid : .*,.*,.*' \
		'total memory : [0-9]* kB' 'perf version : pmuctl .*' \
		"cmdline : pmuctl record -q -c 1000003 -o header.data $PROGRAM" \
		'event : name = cycles, .*' 'time of first sample : [0-9.]*'; do
		grep -q "^# $pattern *$" out || { echo "lacks: $pattern"; return 1; }
	done
	perf buildid-list -i header.data >out &&
		grep -Eq "^[0-9a-f]{40} \[kernel.kallsyms\]$" out &&
		grep -Eq "^[0-9a-f]{40} $PROGRAM$" out || return 1
	record 3 -q -B -c 1000003 -o header.data "$PROGRAM" &&
		perf report --header-only -i header.data | grep -q 'missing features:.* BUILD_ID '
}

# id_of FILE PATH: the build id that the recording has for it
id_of()
{
	perf buildid-list -i "$1" | awk -v path="$2" '$2 == path { print $1 }'
}

# A path means busybox in there, which runs already, and the program out here.
containers_have_their_own_files()
{
	same=$PWD/busybox-same
	cp "$PROGRAM" "$same" && mkfifo hold || return 1
	unshare -m sh -c "mount --bind /bin/busybox $same && exec $same cat" <hold &
	inside=$!
	exec 8>hold
	appears busybox-same "/proc/$inside/comm" || return 1
	record 3 -q -a -c 1000003 -o both.data "$same" || return 1
	exec 8>&-
	wait "$inside" || return 1
	record 3 -q -c 1000003 -o program.data "$PROGRAM" || return 1
	program=$(id_of program.data "$PROGRAM") id=$(id_of both.data "$same")
	[ ${#id} -eq 40 ] && [ "$id" != "$program" ] || { echo "of $same: $id"; return 1; }
	run 0 report -i both.data && SAYS=out says 'busybox-same .*hot'
}

# kept PROGRAM: how many files have a copy of it in $HOME/.debug
kept() { find "$HOME/.debug$1" -name elf 2>/dev/null | wc -l; }

# What has gone is found by its build id; perf takes the copy for one of its own.
programs_are_copied()
{
	export HOME="$PWD/home"
	mkdir home && cp "$PROGRAM" gone || return 1
	record 3 -q -N -c 1000003 -o none.data ./gone && [ ! -e home/.debug ] || return 1
	record 3 -q -e instructions:u -c 31337 -o gone.data ./gone && record 3 -q -c 1000003 -o again.data ./gone &&
		cmp gone "home/.debug$PWD/gone/$(id_of gone.data "$PWD/gone")/elf" || return 1
	[ "$(kept "$PWD/gone")" -eq 1 ] && perf buildid-cache -l >out &&
		grep -q "$(id_of gone.data "$PWD/gone") $PWD/gone" out || { cat out; find home; return 1; }
	rm gone
	run 0 report -i gone.data && SAYS=out says 'gone .*hot' && is_share gone.data hot 70
}

# Of whole CPUs, those alone that are not to be found by their paths
programs_of_containers_are_copied()
{
	export HOME="$PWD/home"
	mkdir home && cp "$PROGRAM" inner && cp "$PROGRAM" outer && cp /bin/busybox same || return 1
	# shellcheck disable=SC2046 # arguments, however many
	unshare -m sh -c 'mount --bind inner same && exec ./same "$@"' sh $(seq 500) &
	inside=$!
	appears '^same$' "/proc/$inside/comm"
	kill -STOP "$inside"
	# shellcheck disable=SC2046 # likewise
	begin pmuctl record -q -a -e instructions:u -c 1000003 -o all.data ./outer $(seq 30)
	appears outer all.data
	kill -CONT "$inside"
	ends 3
	kill "$inside"
	[ "$(kept "$PWD/same")" -eq 1 ] && [ "$(kept '')" -eq 1 ] || { find home; return 1; }
	run 0 report -i all.data && SAYS=out says ' same .*hot' || return 1
	record 3 -q -a --buildid-all -c 1000003 -o more.data ./outer && [ "$(kept '')" -gt 2 ]
}

# What has taken its place is a pipe, which nobody opens but us in the end.
what_took_a_programs_place_is_not_opened()
{
	export HOME="$PWD/home"
	mkdir home && cp "$PROGRAM" moved || return 1
	record 3 -q -c 1000003 -o file.data sh -c './moved; s=$?; rm moved; mkfifo moved; (echo >moved; touch opened) & exit $s' &&
		[ "$(kept "$PWD/moved")" -eq 0 ] && [ ! -e opened ] && timeout 10 cat moved && appears opened
}

# A home of somebody else is left alone, and what cannot be written is told.
copies_that_cannot_be_made()
{
	export HOME="$PWD/home"
	mkdir home && cp "$PROGRAM" own && chown 1000 home || return 1
	record 3 -q -c 1000003 -o file.data ./own && lines err 0 && [ ! -e home/.debug ] || return 1
	chown 0 home && touch home/.debug && record 3 -q -c 1000003 -o file.data ./own &&
		says 'could not be copied to ~/.debug.*Not a directory; -N' && rm home/.debug || return 1
	odd=$(printf 'own\033[2K')
	cp own "$odd" && mkdir -p "home/.debug$PWD" && touch "home/.debug$PWD/$odd" || return 1
	record 3 -q -c 1000003 -o file.data "./$odd" && says 'own\?\[2K could not be copied' && rm -r home/.debug || return 1
	mkdir home/.debug && mount -t tmpfs -o size=4k,mode=755 none home/.debug || return 1
	record 3 -q -c 1000003 -o file.data ./own
	result=$?
	left=$(find home/.debug -name 'elf*')
	umount home/.debug
	[ $result -eq 0 ] && [ -z "$left" ] && says 'could not be copied.*No space left' && run 0 report -i file.data
}

shares_are_those_of_perf()
{
	record 3 -q -e instructions:u -c 5077 -o ours.data "$PROGRAM" || return 1
	perf record -q -e instructions:u -c 5077 -o theirs.data "$PROGRAM" >out 2>err
	shares theirs.data || return 1
	while read -r share symbol; do
		is_share ours.data "$symbol" "$share" 0.1 || return 1
	done <theirs.data.shares
	# It was there, and all of it was there.
	is_share theirs.data hot 70 && is_share theirs.data cold 10
}

# ------------------------------------------------------------------------ targets

# begin_other ARGS...: PROGRAM as process $other, stopped in the midst of it
begin_other()
{
	"$PROGRAM" "$@" &
	other=$!
	appears hot-warm-cold "/proc/$other/comm"
	kill -STOP "$other"
}

# record_other OPTIONS...: let process $other go on when it is about to be recorded
record_other()
{
	rm -f other.data
	begin pmuctl record -e instructions:u -c 31337 -o other.data "$@"
	# Its maps are written when it is about to be sampled.
	appears hot-warm-cold other.data
	kill -CONT "$other"
	ends 0
}

cpus_are_recorded()
{
	# shellcheck disable=SC2046 # arguments, however many
	begin_other $(seq 500) || return 1
	kill -CONT "$other"
	record 3 -q -a -e instructions:u -c 31337 -o all.data "$PROGRAM" 2 3
	result=$?
	kill "$other"
	[ $result -eq 0 ] || return 1
	# What was there before has its name and symbols, all have their CPU.
	perf script -i all.data -F comm,pid,cpu,ip,sym >script || return 1
	awk -v other="$other" '$1 == "hot-warm-cold" && $3 ~ /^\[[0-9]+\]$/ && $5 == "hot" {
			if ($2 == other) there++
			else started++
		}
		END { print there + 0, started + 0; exit !(there && started > 2600) }' script
}

cpus_of_a_list_are_recorded()
{
	record 3 -q -C 0 -e instructions:u -c 10007 -o cpu.data taskset 1 "$PROGRAM" ||
		return 1
	perf script -i cpu.data -F comm,cpu,ip,sym >script || return 1
	! grep -v '\[000\]' script &&
		[ "$(grep -Ec 'hot-warm-cold +\[000\] +[0-9a-f]+ hot' script)" -gt 2700 ]
}

processes_are_recorded_until_they_end()
{
	begin_other 2 3 4 5 && record_other -p "$other" &&
		is_share other.data hot 70 && is_share other.data warm 20
}

threads_are_recorded()
{
	begin_other 2 3 4 5 && record_other -t "$other" && is_share other.data hot 70
}

users_have_processes()
{
	su user -c "exec $PROGRAM 2 3 4 5" &
	other=$!
	appears hot-warm-cold "/proc/$other/comm"
	kill -STOP "$other"
	record_other -u user && is_share other.data hot 70 &&
		run 2 record -u nobody-at-all && says '^pmuctl: -u nobody-at-all: there is no such user$' &&
		run 1 record -u 54321 && says '^pmuctl: -u 54321: no process of this user runs$'
}

dry_runs_write_nothing()
{
	run 0 record --dry-run -e cycles -o dry.data "$PROGRAM" && [ ! -e dry.data ] && lines err 0 &&
		run 2 record --dry-run -F 0 "$PROGRAM"
}

delay_is_waited_for()
{
	# One that is longer than the command
	record 3 -D 3600000 -e instructions:u -c 10007 -o delay.data "$PROGRAM" &&
		says '^pmuctl: wrote 0 samples' || return 1
	# shellcheck disable=SC2046 # arguments, however many
	begin_other $(seq 500) || return 1
	kill -CONT "$other"
	begin pmuctl record -D 20 -m 64 -e instructions:u -c 10177 -p "$other" -o delay.data
	grows delay.data 100000
	kill "$other"
	ends 0 && is_share delay.data hot 70
}

# --------------------------------------------------------------------------- ends

interrupt_gives_a_complete_file()
{
	begin pmuctl record -a -e instructions:u -c 31337 -o int.data
	begun int.data
	"$PROGRAM" 2 3
	kill -INT "$pid"
	ends 130 && [ "$(samples int.data)" -gt 1000 ] &&
		perf report -i int.data --stdio 2>/dev/null | grep -q 'hot-warm-cold'
}

# Nobody can tell a recorder that it is about to be killed.
what_a_killed_recorder_wrote_is_read()
{
	begin pmuctl record -m 256 -C 0 -e instructions:u -c 100003 -o killed.data
	begun killed.data
	taskset 1 "$PROGRAM"
	# Less than half a ring, which wakes nobody up, is written all the same, in order.
	ln -s "$(readlink /proc/$$/exe)" marker
	taskset 1 ./marker
	appears marker killed.data
	kill -KILL "$pid"
	ends 137 || return 1
	pmuctl report -i killed.data -s comm,sym >out 2>err || return 1
	says "'killed.data' was not finished" || return 1
	grep -Eq 'hot-warm-cold +\[\.\] hot' out
}

statuses_are_those_of_the_command()
{
	# shellcheck disable=SC2016 # the shell that is started expands it
	record 3 -q -o status.data "$PROGRAM" &&
		record 137 -q -o status.data sh -c 'kill -9 $$' &&
		record 127 -q -o none.data /nonexistent/command && says 'cannot run' &&
		record 126 -q -o none.data /etc/passwd && says 'cannot run'
}

old_file_is_kept()
{
	rm -f perf.data perf.data.old
	record 3 -e instructions:u -c 100003 "$PROGRAM" && [ ! -e perf.data.old ] &&
		first=$(md5sum <perf.data) &&
		record 3 -e instructions:u -c 200003 "$PROGRAM" &&
		[ "$first" = "$(md5sum <perf.data.old)" ] &&
		[ "$first" != "$(md5sum <perf.data)" ] &&
		[ "$(stat -c %a perf.data)" = 600 ]
}

# A slip of the finger costs nothing: neither the recording nor the one before it.
old_file_is_kept_if_nothing_is_recorded()
{
	for status in 1 2; do
		record 3 -q -e instructions:u -c ${status}00003 "$PROGRAM" || return 1
	done
	md5sum perf.data perf.data.old >sums
	record 127 /nonexistent/command && record 126 /etc/passwd &&
		record 1 -e instructions:u -F 2000000000 true && record 1 -p 999999 &&
		record 2 -e nonsense true && record 1 -m 1048576 -a true &&
		record 1 -o . true && says "'.': it is a directory" || return 1
	md5sum -c sums >out && [ "$(echo *)" = 'check.log err out perf.data perf.data.old sums' ]
}

# A reader that stands still loses records, and says so, and perf knows too.
lost_records_are_told()
{
	begin pmuctl record -m 4 -C 0 -e instructions:u -c 5077 -o lost.data
	begun lost.data
	kill -STOP "$pid"
	taskset 1 "$PROGRAM"
	kill -CONT "$pid"
	taskset 1 "$PROGRAM"
	kill -INT "$pid"
	ends 130 && says '^pmuctl: [0-9]+ records were lost: .* -m' || return 1
	# Of the 7,800 samples of the first run nearly all
	lost=$(sed -n 's/^pmuctl: \([0-9]*\) records were lost.*/\1/p' err)
	[ "$lost" -gt 7000 ] || return 1
	# What the rings told, and what was lost after the last of these records
	{
		perf script -i lost.data -D 2>/dev/null |
			sed -n 's/.*PERF_RECORD_LOST: id:[0-9]*: lost:\([0-9]*\).*/\1/p'
		perf report -i lost.data --stdio 2>/dev/null |
			sed -n 's/^# Total Lost Samples: //p'
	} | awk '{ sum += $1 } END { print sum + 0 }' >sum
	echo "told $lost, in the file $(cat sum)"
	[ "$(cat sum)" -eq "$lost" ]
}

# ----------------------------------------------------------------------- refusals

no_room_for_the_file_is_told()
{
	mkdir -p small && mount -t tmpfs -o size=1m tmpfs small || return 1
	record 1 -a -e instructions:u -c 1009 -o small/perf.data sh -c "$PROGRAM; true"
	result=$?
	cp small/perf.data full.data
	umount small
	[ $result -eq 0 ] && says "cannot write to 'small/perf.data': No space left" || return 1
	# What had been written by then can be read, with all names: only features lack.
	perf script -i full.data -F event,ip >script 2>/dev/null || return 1
	[ "$(wc -l <script)" -gt 1000 ] || return 1
	pmuctl report -i full.data -s comm,sym >out 2>err || return 1
	grep -Eq 'hot-warm-cold +\[\.\] hot' out
}

# As "perf record -o -": perf reads it while it comes, and what the command prints is not in it.
pipes_are_written_to()
{
	record 3 -q -e instructions:u -c 100003 -o file.data "$PROGRAM" || return 1
	expected=$(samples file.data) || return 1
	pmuctl record -q -e instructions:u -c 100003 -o - sh -c "echo printed; exec $PROGRAM" \
		2>err >pipe.data.seekable
	# That is a file, which is written as one.
	says '^printed$' && pmuctl report -i pipe.data.seekable >out || return 1
	pmuctl record -q -e instructions:u -c 100003 -o - "$PROGRAM" 2>err |
		perf script -i - -F event,ip,sym >script 2>script.err
	[ ! -s err ] && [ ! -s script.err ] && [ "$(wc -l <script)" -eq "$expected" ] &&
		grep -q '^ *instructions:u: .* hot' script || return 1
	mkfifo fifo
	perf report -i - --stdio <fifo >report 2>&1 &
	record 3 -q -e instructions:u -c 5077 -o fifo "$PROGRAM" && wait $! &&
		grep -Eq '^ *(69|70)[.0-9]*% .* hot *$' report && [ -p fifo ] || return 1
	record 3 -q -o /dev/null "$PROGRAM" && [ -c /dev/null ]
}

tracepoints_go_through_pipes()
{
	pmuctl record -q -e sched:sched_process_exec -o - "$PROGRAM" 2>err |
		perf script -i - -F event >script 2>script.err
	grep -q '^sched:sched_process_exec: *$' script
}

# Who reads no further ends the recording, not in silence.
a_pipe_that_breaks_is_told()
{
	pmuctl record -q -a -e instructions:u -c 1009 -o - sh -c "$PROGRAM; $PROGRAM" 2>err |
		head -c 100 >/dev/null
	says "cannot write to '-': Broken pipe"
}

what_is_no_file_is_refused()
{
	record 1 -o - --kcore true && says 'it is a directory' || return 1
	record 1 -o /nonexistent/perf.data true && says "cannot write to '/nonexistent/perf.data'"
}

# files PREFIX: how many there are
files()
{
	set -- "$1".*
	[ -e "$1" ] && echo $# || echo 0
}

# Each of them can be read alone, and none of the samples is missing: the ring has room for all. The
# last may have few, or none; there is one only if the program has ended before the size was seen.
nothing_is_lost_between_two_files()
{
	record 3 -q -e instructions:u -c 31337 -o whole "$PROGRAM" 1 2 3 4 5 6 7 || return 1
	for round in 1 2 3 4 5 6 7 8 9 10; do
		record 3 -e instructions:u -c 31337 --switch-output=100K -o "part$round" "$PROGRAM" 1 2 3 4 5 6 7 &&
			[ "$(grep -c "samples to part${round}[.]" err)" -eq "$(files "part$round")" ] || return 1
		sum=0
		for file in "part$round".*; do
			sum=$((sum + $(samples "$file")))
			perf script -i "$file" -F sym >symbols && ! grep -F unknown symbols || return 1
		done
		[ "$sum" -eq "$(samples whole)" ] || return 1
		[ "$(files "part$round")" -eq 1 ] || return 0
	done
	return 1
}

a_signal_begins_another_file()
{
	# shellcheck disable=SC2016 # of the command's shell
	record 0 --switch-output --switch-max-files 2 -c 31337 -e instructions:u -o turn sh -c '
		for file in 1 2 3; do
			before=$(ls turn.* | tail -n 1)
			kill -USR2 $PPID
			# Of those before one goes, at a time of its own
			while [ "$(ls turn.* | tail -n 1)" = "$before" ]; do :; done
		done
		# What is in the last one
		while [ $((n += 1)) -lt 10000 ]; do :; done' || return 1
	[ "$(grep -c 'samples to turn[.]' err)" -eq 4 ] && [ "$(files turn)" -eq 2 ] || return 1
	for file in turn.*; do
		perf script -i "$file" -F comm | grep -q '^ *sh' || return 1
	done
	record 0 -q --timestamp-filename -o stamp true && [ "$(files stamp)" -eq 1 ] && [ ! -e stamp ] &&
		record 0 -q --switch-output=1d -o day true && [ "$(files day)" -eq 1 ]
}

wrong_options_are_refused()
{
	record 2 && says 'nothing to record' &&
		record 2 -F 100 -c 100 true && says 'exclude each other' &&
		record 2 -c 0 true && says "'0' is not a number for -c" &&
		record 2 -C 0 -p 1 && says 'only one of' &&
		record 2 --call-graph frames true && says 'frame pointers' &&
		record 2 -e nonsense true && says 'at character 1' &&
		record 2 -o '' true && says 'is empty' &&
		record 2 --switch-output=3x true && says 'a size such as 100M, or a time such as 30s' &&
		record 2 --switch-output=0s true && says "'0' is not a number for --switch-output" &&
		record 2 --switch-output= true && says "'' is not for --switch-output" &&
		record 2 --switch-max-files 3 true && says 'is for --switch-output' &&
		record 2 --switch-output -o - true && says "'-' has none" &&
		record 2 --timestamp-filename -o - true && says "'-' has none" &&
		record 2 --switch-output -S true && says '--snapshot exclude' &&
		record 2 --switch-output --kcore true && says '--kcore exclude' &&
		record 1 -p 999999 && says "cannot open 'cycles': .*999999" &&
		record 1 -t 999999 && says "cannot open 'cycles'" &&
		record 1 -C 4000 && says "cannot open 'cycles'" &&
		record 1 -F 2000000000 true && says 'max_sample_rate'
}

users_record_themselves()
{
	chown user . && chmod 755 . || return 1
	status=0
	su user -c "pmuctl record -c 31337 -o user.data $PROGRAM" >out 2>err || status=$?
	chown root user.data
	[ $status -eq 3 ] && perf evlist -i user.data | grep -q '^cycles:u$' &&
		is_share user.data hot 70 || return 1
	status=0
	su user -c "pmuctl record -m 65536 -o big.data $PROGRAM" >out 2>err || status=$?
	[ $status -eq 1 ] && says 'ulimit -l'
}

run_checks id_of kept record samples shares is_share files begin grows begun ends begin_other record_other
