#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that others have made for perf_event_open(2), by "pmuctl run": PAPI's, which read
# counters by the mapped page; rr, for which each conditional branch counts, and which wants to be
# stopped after a number of them; gprofng, which a signal tells of each sample; and stress-ng, which
# opens all that it knows. Runs in busybox' sh as root; the kernel argument rr_rounds=N makes more
# rounds of rr.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

export HOME=/tmp _RR_TRACE_DIR=/tmp/rr
ROUNDS=$(sed -n 's/.*rr_rounds=\([0-9]*\).*/\1/p' /proc/cmdline)
# rr asks perf's own level, before it opens anything.
echo 1 >/proc/sys/kernel/perf_event_paranoid

# counted: the values in the output of papi_command_line
counted() { awk '/^PAPI_/ && $2 == ":" { print $1, $3 }' "$1"; }

# near FILE FILE: the same names, and each value of the one within a hundredth of the other's: PAPI's
# program measures some of the C library, too, which maps what it uses, and a sample more is a few
# thousandths of a profile.
near()
{
	awk 'NR == FNR { value[$1] = $2; n++; next }
	     { d = $2 - value[$1]; if (d < 0) d = -d; if (!($1 in value) || d * 100 > value[$1]) bad = 1; n-- }
	     END { exit bad || n != 0 || FNR == 0 }' "$1" "$2"
}

papi_finds_the_same_events()
{
	papi_avail -a >theirs 2>&1 && run 0 run papi_avail -a && grep -q 'Fast counter read (rdpmc): yes' out &&
		grep -q PAPI_TOT_INS out && cmp theirs out
}

# In groups and alone, by the page and, where it has none, by read(2)
papi_counts_the_same()
{
	for events in 'PAPI_TOT_INS PAPI_BR_INS' PAPI_TOT_CYC 'PAPI_TOT_INS PAPI_BR_INS PAPI_TOT_CYC PAPI_BR_MSP'; do
		# shellcheck disable=SC2086 # words
		give_back && papi_command_line $events >theirs.out 2>&1 && run 0 run papi_command_line $events || return 1
		counted theirs.out >theirs && counted out >ours && cat theirs ours && near theirs ours || return 1
	done
}

# Debian 12's rr cannot read the vdso's data of newer kernels, on perf as well.
cannot_run_rr()
{
	case $(uname -r) in
	[0-6].*)	return 1 ;;
	esac
	rm -rf -- /tmp/rr
	give_back && ! rr record /pmuctl/tests/prog/racing-threads >out 2>&1 && grep -q read_bytes_helper out
}

# A program whose threads race: each run ends with another number, its replay with the same, on perf
# as well.
rr_replays_what_it_has_recorded()
{
	cannot_run_rr && return
	: >numbers
	for _ in $(seq "${ROUNDS:-2}"); do
		rm -rf -- /tmp/rr
		run 0 run rr record /pmuctl/tests/prog/racing-threads || return 1
		cp out number
		cat number >>numbers
		run 0 run rr replay -a && cmp out number || return 1
	done
	[ "$(sort -u numbers | wc -l)" -eq "$(wc -l <numbers)" ] || return 1
	give_back && rr replay -a >out && cmp out number
}

# profiled FILE [RUN...]: the functions of a program, and how many instructions each took
profiled()
{
	profile=$1
	shift
	rm -rf -- /tmp/profile.er
	"$@" gprofng collect app -p off -h insts,500009 -O /tmp/profile.er /usr/bin/perf bench mem memcpy -s 1MB -l 400 \
		-f x86-64-unrolled >out 2>&1 || return 1
	gprofng display text -functions /tmp/profile.er >functions 2>&1 && cat functions &&
		awk '$1 ~ /^[0-9]+$/ && $1 > 10000000 { print $3 $4 $5, $1 }' functions >"$profile"
}

# It has a sample each 500009 instructions, and much work with each: with a fifth of that it gets no
# further, on perf as well. It counts on when the signal of the last sample has come: where the host stops
# this CPU while one is sent, its user has paid for that time and waits for the next. That takes samples
# and adds none, so one of some profiles must have them all.
gprofng_profiles_the_same()
{
	give_back && profiled theirs && awk '{ print $1 }' theirs >names && grep -q perf names || return 1
	for _ in 1 2 3 4 5 6 7 8; do
		profiled ours pmuctl run || return 1
		awk '{ print $1 }' ours >others
		! cmp names others || ! near theirs ours || return 0
	done
	return 1
}

# told: the events of which stress-ng tells
told() { sed -n 's/^stress-ng: info: *\[[0-9]*\] *[0-9][0-9]* \([A-Z].*[A-Za-z]\)  .*/\1/p' "$1"; }

# Some ninety events at once, of a process that is started for it
stress_ng_counts_the_same_events()
{
	give_back && stress-ng --perf --cpu 1 --cpu-method fibonacci --cpu-ops 20 >theirs.out 2>&1 &&
		run 0 run stress-ng --perf --cpu 1 --cpu-method fibonacci --cpu-ops 20 || return 1
	cat err >>out
	told theirs.out >theirs && told out >ours && cmp theirs ours && [ "$(wc -l <ours)" -gt 40 ] &&
		grep -q 'Instructions' ours && ! grep -q ' 0 \(Instructions\|CPU Cycles\|Task Clock\|System Call\) ' out
}

# All of it was counted by us, but for what rr only asks whether the kernel has it.
nothing_is_passed_on()
{
	run 0 run --strict papi_command_line PAPI_TOT_INS || return 1
	cannot_run_rr && return
	rm -rf -- /tmp/rr
	run 0 run --strict rr record /pmuctl/tests/prog/racing-threads
}

run_checks cannot_run_rr counted near profiled told
