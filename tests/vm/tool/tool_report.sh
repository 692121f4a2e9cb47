#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl report" and "pmuctl script" in a guest, on recordings of the kernel's perf and
# of "pmuctl record": they must find what perf finds in the same file. Runs in busybox' sh
# as root.
# shellcheck disable=SC2317,SC2016 # the checks are called by name; $ is for awk and sh
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
FILES=$(mktemp -d)
remove_files() { rm -rf "$FILES"; }
at_exit=remove_files
export HOME="$FILES"
CACHE=

# recording NAME OPTIONS...: the file that "perf record OPTIONS" makes, made once. The
# programs end with status 3, or 1, and so does what records them. With -N, no copies of programs
# are kept in ~/.debug, as by "pmuctl record".
recording()
{
	file=$FILES/$1
	shift
	[ ! -e "$file" ] || return 0
	perf record -q ${CACHE:--N} -o "$file" "$@" >record.log 2>&1 </dev/null
	case $? in
	0|1|3) ;;
	*) cat record.log; return 1 ;;
	esac
}

# Of a hybrid processor perf records an event for each type of CPU, with names of their own:
# the one of performance cores is looked at, and all runs there.
CORES=/sys/bus/event_source/devices/cpu_core
[ ! -e $CORES ] || taskset -p $((1 << $(cut -d - -f 1 $CORES/cpus))) $$ >/dev/null

# event NAME: what it is called in $file: perf's, or our own
event()
{
	if [ -e $CORES ] && [ "$file" != own ]; then echo "cpu_core/$1/"; else echo "$1"; fi
}

# A program of which all is known
program() { recording program -g -e instructions:u -c 9973 "$PROGRAM" 2; }

# All CPUs: short programs, the kernel, a module of it, two events
system()
{
	recording system -a -g -e instructions -c 20000 -e cycles -c 50000 sh -c '
		for i in 1 2 3 4 5 6; do
			pmuctl stat -e instructions true
			find /usr | wc -l
			cat /proc/self/maps
		done'
}

# perf_rows FILE KEYS EVENT: "SHARE|KEY|KEY" a line, as perf reports it; a row for each
# address without a name is left out
perf_rows()
{
	perf report -i "$1" --stdio --no-children -g none --percent-limit 0 -t '|' -s "$2" 2>/dev/null |
		awk -v event="$(event "$3")" -F '|' '
			/^# Samples/ { on = index($0, "\047" event "\047") }
			on && /%/ && !/^#/ {
				gsub(/ *\| */, "|"); sub(/^ */, ""); sub(/ *$/, "")
				if (!/\[.\] 0x|\[unknown\]$/) print
			}' | sort
}

# our_rows FILE KEYS EVENT: likewise, as we report it
our_rows()
{
	pmuctl report -i "$1" --no-children -g none -s "$2" -e "$(event "$3")" 2>>err |
		awk '/%/ && !/^#/ { sub(/^ */, ""); gsub(/   */, "|"); if (!/\[unknown\]$/) print }' | sort
}

# are_shares: what our_rows() has in the file "ours" is what the program does: 70, 20 and
# 10 %. Periods are prime numbers, so that samples do not keep step with the program's loops.
are_shares()
{
	awk -F '[|%]' '
		{ share[$NF] = $1 }
		function is(name, percent) { return share[name] > percent - 0.3 && share[name] < percent + 0.3 }
		END { exit !(is("[.] hot", 70) && is("[.] warm", 20) && is("[.] cold", 10)) }' ours || { cat ours; return 1; }
}

# same FILE KEYS EVENT: the same rows with the same shares
same()
{
	perf_rows "$1" "$2" "$3" >theirs
	# It writes CPUs with three digits.
	our_rows "$1" "$2" "$3" | sed 's/|\([0-9]\)$/|00\1/' >ours
	[ "$(wc -l <theirs)" -ge "${4:-1}" ] || { echo "perf has too few rows"; cat theirs; return 1; }
	cmp -s theirs ours || diff theirs ours
}

# ---- report

known_shares() { program && our_rows "$file" symbol instructions:u >ours && are_shares; }
same_rows_as_perf() { program && same "$file" comm,dso,sym instructions:u 3; }
same_rows_of_all_cpus() { system && same "$file" comm instructions 8 && same "$file" comm cycles 8; }
same_rows_of_threads() { system && same "$file" comm,cpu cycles 8; }

# perf takes some of what is in a module for the kernel's.
same_objects_of_all_cpus()
{
	system && perf_rows "$file" comm,dso instructions >theirs && our_rows "$file" comm,dso instructions >ours &&
		awk -F '|' '{
				if ($3 ~ /^\[[a-z_]*\]$/) $3 = "[kernel.kallsyms]"
				sum[$2 "|" $3] += (FILENAME == "theirs" ? 1 : -1) * $1
				seen[FILENAME]++
			}
			END {
				for (row in sum)
					if (sum[row] > 0.03 || sum[row] < -0.03) { print row, sum[row]; wrong = 1 }
				exit wrong || seen["ours"] < 8
			}' theirs ours
}

# Where several names have one address, each tool has its own taste.
same_functions_of_the_kernel()
{
	system && for event in instructions cycles; do
		perf_rows "$file" sym $event >theirs
		our_rows "$file" sym $event >ours
		awk -F '|' '{ sum[$2] += (FILENAME == "theirs" ? 1 : -1) * $1; all += $1 }
			END {
				for (row in sum) {
					off += sum[row] < 0 ? -sum[row] : sum[row]
					if (sum[row] > 0.02 || sum[row] < -0.02) print row, sum[row]
				}
				print "differ by", off, "of", all / 2
				exit !(all / 2 > 20 && off < all / 2 * 0.05)
			}' theirs ours || return 1
	done
}
# The module is asked for an event that perf has taken; that goes on until a sample hits it.
# Without global registers perf counts on in its own handler, and would sample that alone.
functions_of_a_module()
{
	period=997
	case $(pmuctl doctor) in
	*'PMU version 1:'* | *'core counters:'* | *'legacy counters:'*) period=9973 ;;
	esac
	for try in $(seq 100); do
		recording "module$try" -e instructions:k -c $period pmuctl stat -e instructions true
		our_rows "$file" dso,sym instructions:k >ours
		! grep -E '\|\[pmuctl\]\|\[k\] [a-z0-9_.]+$' ours || return 0
	done
	return 1
}
callers()
{
	program && run 0 report -i "$file" --no-children -s symbol -e "$(event instructions:u)" && awk '
		/\[\.\] / { row = $3; n = 0; next }
		row && NF { path[row] = path[row] " " $NF }
		END { exit !(path["hot"] == " phase _start" && path["warm"] == path["hot"] && path["cold"] == path["hot"]) }' out
}
# A sample of phase()'s first instruction, which has no frame yet, lacks who called it.
callers_have_what_they_called()
{
	program && run 0 report -i "$file" --children -g none -s symbol -e "$(event instructions:u)" && awk '
		/%/ { all[$4] = $1; own[$4] = $2 }
		END { exit !(all["phase"] + 0 >= 99.9 && own["phase"] + 0 < 0.1 && all["_start"] + 0 >= 99.9 && all["hot"] == own["hot"]) }' out
}
folded_stacks_add_up()
{
	program && run 0 report -i "$file" --folded && awk '
		{ sum += $NF; own[$(NF - 1)] += $NF }
		END { exit !(own["hot-warm-cold;_start;phase;hot"] >= 0.69 * sum && sum == '"$(total "$file")"') }' out
}
total() { pmuctl script -i "$1" -F period | awk '{ n += $1 } END { printf "%d", n }'; }
flame_graph_is_well_formed()
{
	system && run 0 report -i "$file" -e "$(event cycles)" --svg flames.svg && lines out 0 &&
		[ "$(grep -c '^<g class="f"' flames.svg)" -eq "$(grep -c '</text></g>$' flames.svg)" ] &&
		grep -q '^</svg>$' flames.svg && grep -q '<title>find (' flames.svg &&
		! sed '/<script/,$d' flames.svg | sed 's/&\(amp\|lt\|gt\|quot\);//g' | grep '&'
}

# ---- annotate

# Most of it is in the loops' bodies; no instruction of the program is unknown.
instructions_of_a_program()
{
	program && run 0 annotate -i "$file" -e "$(event instructions:u)" --no-source hot && awk '
		$2 == ":" { sum += $1; n++ }
		END { exit !(n >= 3 && sum > 99.9 && sum < 100.1) }' out
}
# Root may look into the kernel that runs: the code of what was hit is there.
instructions_of_the_kernel()
{
	system && run 0 annotate -i "$file" -e "$(event cycles)" -d '[kernel.kallsyms]' && awk '
		$2 == ":" && $3 ~ /^ffffffff/ { sum += $1; n++ }
		END { exit !(n >= 10 && sum > 99) }' out
}

# ---- script

# perf_lines, our_lines FIELDS: of $file, white space made equal
perf_lines() { perf script -i "$file" -G --ns -F "$1" 2>/dev/null | awk '{ $1 = $1; print }'; }
our_lines() { pmuctl script -i "$file" -G -F "$1" 2>>err | awk '{ $1 = $1; print }'; }
# is_in_order FILE: by the times in it
is_in_order()
{
	awk '{ for (i = 1; i <= NF; i++)
			if ($i ~ /^[0-9]+\.[0-9]+:$/) {
				if ($i + 0 < last) late = 1
				last = $i + 0; seen = 1 } }
		END { exit late || !seen }' "$1"
}
# What is written late, perf shows late; we do not.
same_lines()
{
	perf_lines "$1" >theirs
	our_lines "$1" >ours
	[ "$(wc -l <theirs)" -ge 1000 ] && cmp -s theirs ours && return
	sort theirs >sorted
	[ "$(wc -l <theirs)" -ge 1000 ] && is_in_order ours && sort ours | cmp -s sorted - && return
	wc -l theirs ours
	diff theirs ours | head -n 20
	return 1
}
same_samples_in_the_same_order() { system && same_lines comm,tid,cpu,time,period,event && program && same_lines comm,tid,time,period,event; }
same_places() { program && same_lines ip,sym; }
same_chains()
{
	program && perf script -i "$file" -F ip,sym 2>/dev/null | awk 'NF { print $2 } !NF { print "" }' >theirs &&
		pmuctl script -i "$file" -F sym | awk 'NF { print $1 } !NF { print "" }' | sed '1{/^$/d;}' >ours &&
		grep -v '^$' theirs >t && grep -v '^$' ours >o && [ "$(wc -l <t)" -ge 3000 ] && cmp t o
}
all_records()
{
	system && run 0 script -i "$file" --records -F comm,pid && mv out records && SAYS=records &&
		says 'comm exec: ' 'comm: find:' 'mmap2 .*/busybox$' 'mmap .*_text$' 'fork\(' 'exit\('
	result=$?
	SAYS=err
	return $result
}

# ---- of pmuctl record

our_own_recording()
{
	pmuctl record -q -N -o own -g -e instructions:u -c 30011 "$PROGRAM" 2 2>err
	[ $? -eq 3 ] && file=own && our_rows own symbol instructions:u >ours && are_shares &&
		same own comm,dso,sym instructions:u 3 && run 0 report -i own --folded &&
		grep -q '^hot-warm-cold;_start;phase;hot [1-9]' out
}

# ---- symbols

binary_that_has_changed()
{
	cp "$PROGRAM" changing && recording changed -e instructions:u -c 30011 ./changing &&
		our_rows "$file" symbol instructions:u | grep -q hot && cp /usr/bin/gzip changing &&
		run 0 report -i "$file" && says 'no symbols of .*/changing: .*build ids differ' && ! grep -q hot out
}
binary_at_another_place()
{
	cp "$PROGRAM" moving && recording moved -e instructions:u -c 30011 ./moving &&
		mkdir -p "root$PWD" && mv moving "root$PWD" && run 0 report -i "$file" && ! grep -q hot out &&
		says 'no symbols of .*/moving: there is no such file' && run 0 report -i "$file" --symfs root && grep -q hot out
}
copy_in_perfs_cache()
{
	cp "$PROGRAM" gone && CACHE=-q && recording gone -e instructions:u -c 30011 ./gone
	result=$?
	CACHE=
	rm gone
	[ $result -eq 0 ] && run 0 report -i "$file" && grep -q hot out && rm -r "$HOME/.debug" &&
		run 0 report -i "$file" && ! grep -q hot out
}
kernel_hides_its_addresses() { system && chmod 644 "$file" && chmod 755 "$FILES" && su user -c "pmuctl report -i $file" >out 2>err && says 'no symbols of .kernel.kallsyms.: .*root'; }

# ---- what is no recording

truncated()
{
	program && size=$(wc -c <"$file") && for part in 1 15 16 100 104 150 200 $((size / 2)) $((size - 1)); do
		head -c "$part" "$file" >part
		run 1 report -i part && says "^pmuctl: cannot read 'part': " && run 1 script -i part && lines err 1 || return 1
	done
}
others_files()
{
	: >empty && echo text >text && run 1 report -i empty && says 'is empty' && run 1 report -i text && says 'too short|not a perf.data' &&
		run 1 script -i /bin/busybox && says 'not a perf.data' && run 1 report -i / && says 'directory' && run 1 report && says 'No such file' &&
		perf stat record -o counts -e cpu-clock true 2>/dev/null && run 1 report -i counts && says "perf stat report"
}
still_being_written()
{
	perf record -q -o part -a -e cpu-clock sleep 100 &
	recording=$!
	until [ -s part ]; do usleep 20000; done
	# Its header may be there already, or not
	pmuctl report -i part >out 2>err || [ $? -eq 1 ]
	result=$?
	kill $recording
	wait $recording
	[ $result -eq 0 ] && says 'still recording|empty|too short'
}

# The pipe is full before the file is read to its end.
file_that_shrinks()
{
	program && cp "$file" shrinking && { pmuctl script -i shrinking 2>err; echo $? >status; } |
		{ head -c 1000 >begin; : >shrinking; cat >/dev/null; }
	[ -s begin ] && [ "$(cat status)" -eq 1 ] && says '^pmuctl: the recording.*became shorter'
}

# without LIBRARY COMMAND...: while that file of the guest's is empty
without()
{
	library=$(find /usr/lib -name "$1.so.*" | head -n 1) && echo "$library"
	shift
	[ -n "$library" ] && mount -o bind /dev/null "$library" && {
		"$@"
		set -- $?
		umount "$library"
		return "$1"
	}
}

# Those that are loaded when they are called for
libraries_may_be_missing()
{
	program && without libcapstone run 1 annotate -i "$file" -e "$(event instructions:u)" hot &&
		says 'code cannot be taken apart: .*libcapstone' &&
		without libpfm run 2 stat -e INST_RETIRED:ANY_P true && says 'libpfm' &&
		without libstdc++ run 0 report -i "$file" --stdio
}

run_checks remove_files without recording event is_in_order program system perf_rows our_rows same total perf_lines our_lines same_lines are_shares
