#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Who called, in a guest, where programs have no frame pointers: "pmuctl record --call-graph
# dwarf", what perf finds in its files, and what "pmuctl script" finds in perf's. Runs in
# busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/no-frames
any_rate

record()
{
	wanted=$1
	shift
	run "$wanted" record -q "$@"
}

# aliases: the functions of the kernel that have two names or more of equal right, a line for
# each name: it, and the one that stands for all of them
aliases()
{
	awk '$2 !~ /^[tTwW]$/ { next }
		$1 != at { at = $1; first = $3; told = 0; next }
		!told { told = 1; if (!(first in of)) { of[first] = first; print first, first } }
		!($3 in of) { of[$3] = of[first]; print $3, of[first] }'
}
ALIASES=$(mktemp)
aliases </proc/kallsyms >"$ALIASES"

# frames: of what "perf script" or "pmuctl script" prints on its input, a line for each sample:
# its functions, the innermost first, with where in them. What both print for an offset of 0, and
# for what they do not know, differs: these are left out.
frames()
{
	awk 'NR == FNR { name[$1] = $2; next }
		/^[^ \t]/ { if (line) print line; line = "" }
		/^[ \t]/ && $1 !~ /^ffffffff[a-f]/ && $2 !~ /^\[unknown\]/ {
			split($2, at, "+")
			offset = substr($2, length(at[1]) + 1)
			if (offset ~ /^\+(0x)?0$/)
				offset = ""
			line = line " " (at[1] in name ? name[at[1]] : at[1]) offset
		}
		END { print line }' "$ALIASES" -
}

# What the C compiler adds to a program's begin and end has no unwind information: from there perf
# finds fewer callers than we do, if any. Nor have stubs for functions that are chosen at the begin,
# which perf takes for a part of _init(), and we for nothing.
STARTUP=' (de)?register_tm_clones| frame_dummy| __do_global_dtors_aux| _init\+'

# same FILE: both find the same callers, in every sample, and there are enough of them
same()
{
	perf script --no-inline -i "$1" -F comm,ip,sym,symoff 2>perf.err | frames |
		grep -vE "^($STARTUP)" >perf.frames
	run 0 script --no-inline -i "$1" -F comm,ip,sym,symoff || return 1
	frames <out | grep -vE "^($STARTUP)" >our.frames
	[ "$(wc -l <our.frames)" -gt "$2" ] || { wc -l our.frames; return 1; }
	diff perf.frames our.frames
}

# chains FILE PATTERN N [OPTION]: more than N samples of FILE have frames like that
chains()
{
	run 0 script "${4:---no-inline}" -i "$1" -F comm,ip,sym || return 1
	frames <out >chains
	found=$(grep -cE "$2" chains) || :
	echo "$found of $(wc -l <chains)"
	[ "$found" -gt "$3" ]
}

callers_without_frame_pointers()
{
	record 0 -e instructions:u -c 500009 --call-graph dwarf -o user.data "$PROGRAM" &&
		chains user.data '^ work( step){4,5} main ' 60 &&
		same user.data 60
}

inlined_functions()
{
	record 0 -e instructions:u -c 500009 --call-graph dwarf -o user.data "$PROGRAM" &&
		chains user.data '^ twist work( step){4,5} main ' 60 --inline &&
		run 0 script -i user.data && grep -q ' twist (inlined)$' out &&
		run 0 report -i user.data --folded && grep -q ';work;twist (inlined) [0-9]*$' out
}

# ticks PID: of the processor that it has used
ticks() { cut -d ' ' -f 14 "/proc/$1/stat"; }

# Where its files are mapped must be told: no record of the kernel does.
callers_in_a_process_that_was_there()
{
	"$PROGRAM" forever &
	there=$!
	record 0 -e instructions:u -c 500009 --call-graph dwarf -p $there -o there.data sh -c "
		until [ \$(cut -d ' ' -f 14 /proc/$there/stat) -gt $(($(ticks $there) + 20)) ]; do
			usleep 20000
		done"
	recorded=$?
	kill $there
	[ $recorded -eq 0 ] && chains there.data '^ work( step){4,5} main ' 0 && same there.data 0
}

# The kernel follows its own callers; the copy begins where user space was left.
# How often a clock finds the program at work, depends on how fast the machine is. Of all samples of a
# jiffy together no more than 256 KiB of stacks are told: large copies would be left out by chance.
callers_of_the_kernel()
{
	for often in 2000 10000 25000; do
		record 0 -e cpu-clock -F $often --call-graph dwarf,1024 -o kernel.data "$PROGRAM" read || return 1
		! chains kernel.data '^ .* do_syscall_64 .*read work( step){4,5} main ' 0 ||
			[ "$(wc -l <chains)" -le 40 ] || break
	done
	chains kernel.data '^ .* do_syscall_64 .*read work( step){4,5} main ' 0 && same kernel.data 20
}

callers_in_recordings_of_perf()
{
	for often in 4000 10000 25000; do
		perf record -q -N -e cpu-clock -F $often --call-graph dwarf,4096 -o perf.data "$PROGRAM" read \
			>record.log 2>&1 || { cat record.log; return 1; }
		! chains perf.data ' work( step){4,5} main ' 20 || break
	done
	chains perf.data ' work( step){4,5} main ' 20 && same perf.data 20
}

stacks_have_the_size_that_was_asked_for()
{
	record 0 -e instructions:u -c 5000009 --call-graph dwarf,250 -o small.data "$PROGRAM" &&
		perf evlist -v -i small.data >out &&
		grep -q 'sample_stack_user: 256' out && grep -q 'exclude_callchain_user: 1' out &&
		grep -q 'sample_regs_user: 0xff0fff' out || return 1
	# Of more than that nobody knows the callers.
	run 0 script --no-inline -i small.data -F comm,ip,sym && frames <out >chains &&
		grep -q '^ work step' chains && ! grep -q 'main' chains
}

callers_by_frame_pointers()
{
	record 3 -e instructions:u -c 500009 --call-graph fp -o fp.data \
		/pmuctl/tests/prog/hot-warm-cold &&
		chains fp.data '^ (hot|warm|cold)( phase)? _start' 60
}

chains_of_one_kind()
{
	record 0 -e page-faults -c 1 -g --kernel-callchains -o kernel.data "$PROGRAM" && perf evlist -v -i kernel.data >out &&
		grep -q 'exclude_callchain_user: 1' out && ! grep -q 'exclude_callchain_kernel' out || return 1
	record 0 -e page-faults -c 1 -g --user-callchains -o user.data "$PROGRAM" && perf evlist -v -i user.data >out &&
		grep -q 'exclude_callchain_kernel: 1' out && ! grep -q 'exclude_callchain_user' out
}

# Whoever generates code tells its times by this clock.
times_of_another_clock()
{
	record 0 -e instructions:u -c 5000009 -k mono -o clock.data "$PROGRAM" &&
		perf evlist -v -i clock.data >out && grep -q 'use_clockid: 1, .*clockid: 1' out &&
		run 0 script -i clock.data -F time || return 1
	# It is within the life of this machine; the first sample is not its start.
	awk -v now="$(cut -d ' ' -f 1 /proc/uptime)" '
		{ sub(":", ""); if ($1 <= 1 || $1 > now + 1) exit 1 }
		END { exit !NR }' out
}

what_is_not_there_is_refused()
{
	record 1 --call-graph lbr -o lbr.data true && says 'no branches can be sampled here' &&
		record 2 --call-graph dwarf,x true && says "'x' is no size of a copied stack" &&
		record 2 --call-graph dwarf, true && says "'' is no size of a copied stack" &&
		record 2 --call-graph dwarf,0 true && says 'up to 65528' &&
		record 2 --call-graph dwarf,65529 true && says 'up to 65528' &&
		record 2 -k sun true && says "'sun' is no clock" &&
		record 2 --call-graph dwarfs true && says 'frame pointers'
}

run_checks record frames same chains ticks
