# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# For the scripts that test the tool, which source this: every function of such a script
# is a check, but for those that it names as helpers when it runs them all. They work in a
# directory of their own, empty for each; what the tool said is in the files out and err.
# shellcheck disable=SC2034 # what is set here is for them

# on_5_10: whether the kernel is the oldest of those that the module is for
on_5_10() { case $(uname -r) in 5.10.*) ;; *) return 1 ;; esac; }

# How "pmuctl run" has to be told to run a program: that one cannot have its calls caught.
CAUGHT=
on_5_10 && CAUGHT=--preload
export PMUCTL_RUN_LIBRARY=/pmuctl/tests/common/libpmuctl-perf.so

passed=0 failed=0
TOOL=pmuctl	# what run() runs
SAYS=err	# what says() looks at
WORK=$(mktemp -d)
cd "$WORK" || exit 1
at_exit=:
trap '$at_exit; cd /; rm -rf "$WORK"' EXIT

# any_rate: no event of the script is throttled, however long its samples take on a busy host
rate=/sys/module/pmuctl/parameters/max_sample_rate
share=/sys/module/pmuctl/parameters/cpu_time_max_percent
restore_rate()
{
	echo "$rate_before" >$rate
	echo "$share_before" >$share
}
any_rate()
{
	rate_before=$(cat $rate)
	share_before=$(cat $share)
	at_exit=restore_rate
	echo 100000000 >$rate
	echo 0 >$share
}

# give_back: the PMU, which is kept for a moment after the last event; as whenever this is set
claim=/sys/module/pmuctl/parameters/claim
give_back() { [ ! -e $claim ] || echo "$(cat $claim)" >$claim; }

# perf ARGS...: the kernel's own, which may need the PMU
perf()
{
	give_back
	command perf "$@"
}

# hundredths: of a second, by the guest's clock, as $now
hundredths()
{
	read -r now _ </proc/uptime
	now=${now%.*}${now#*.}
}

# check WORDS COMMAND...: COMMAND must succeed. The log tells how long it took.
check()
{
	name=$1
	shift
	hundredths
	begun=$now
	if "$@" >check.log 2>&1; then
		passed=$((passed + 1))
		hundredths
		echo "ok $name $(((now - begun) / 100)).$(((now - begun) / 10 % 10)) s"
	else
		failed=$((failed + 1))
		echo "FAIL $name"
		sed 's/^/     | /' check.log out err 2>/dev/null
	fi
}

# run_checks [HELPER]...: all checks of the script, in order, and what came of them
run_checks()
{
	helpers=" $* "
	# shellcheck disable=SC2013 # names are words
	for function in $(sed -n 's/^\([a-z_]*\)()\( {.*\)\{0,1\}$/\1/p' "$0"); do
		case $helpers in
		*" $function "*) continue ;;
		esac
		rm -rf ./*
		check "$function" "$function"
	done
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}

# run STATUS ARGS...: the tool with ARGS must end with STATUS
run()
{
	expected=$1 status=0
	shift
	$TOOL "$@" >out 2>err </dev/null || status=$?
	[ "$status" -eq "$expected" ] || {
		echo "$TOOL $*: status $status, expected $expected"
		return 1
	}
}

# says PATTERN...: there is a line for each of these extended patterns
says()
{
	for pattern in "$@"; do
		grep -Eq -e "$pattern" "$SAYS" || { echo "$SAYS lacks: $pattern"; return 1; }
	done
}

# know_pmu: general counters of a CPU ($counters), the raw number of branches ($branches), a
# generic event that the PMU lacks ($missing), a cache event that it has ($cache) or
# else a generic one, and an event of this CPU alone ($own), empty if libpfm4 has no table of it
know_pmu()
{
	counters=$(pmuctl doctor | sed -n 's/.* PMU: .*: \([0-9]*\) counters of .*/\1/p')
	branches=c4 own=INST_RETIRED:ANY_P missing='stalled-cycles-backend' cache='L1-dcache-loads'
	! grep -q AuthenticAMD /proc/cpuinfo || branches=c2 own=RETIRED_INSTRUCTIONS
	pmuctl list $own >/dev/null 2>&1 || own=
	pmuctl list $missing | grep -q 'cannot count' || missing='bus-cycles'
	pmuctl stat -e $cache true >/dev/null 2>&1 || cache='cache-references'
}

# One in which each access to memory is looked at
is_debug_kernel() { [ -e /sys/kernel/debug/kmemleak ]; }

lines() { [ "$(wc -l <"$1")" -eq "$2" ] || { echo "$1 has not $2 lines"; return 1; }; }

# listens PID: wait until that pmuctl takes its signals
listens()
{
	# shellcheck disable=SC2010 # where the links lead is what matters
	until ls -l "/proc/$1/fd" | grep -q signalfd; do
		[ -e "/proc/$1/exe" ] || return 1
		usleep 20000
	done
}

# measures PID: wait until that pmuctl has events, and sleeps while they count
measures()
{
	# shellcheck disable=SC2010 # where the links lead is what matters
	until ls -l "/proc/$1/fd" | grep -q pmuctl_event && grep -q '^State:.S' "/proc/$1/status"; do
		[ -e "/proc/$1/exe" ] || return 1
		usleep 20000
	done
}

# appears FILE, appears TEXT FILE: wait until it is there
appears()
{
	until if [ $# -eq 1 ]; then [ -e "$1" ]; else grep -q -e "$1" "$2"; fi; do
		usleep 20000
	done
}
