#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl exporter" in a guest with the driver: what it tells by HTTP is what stat prints, counted
# since it was started. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

ifconfig lo up
address=

# begin ARGS...: an exporter on a port that is free; sets $exporter and $address
begin()
{
	: >exporter.err
	pmuctl exporter --listen 0 "$@" 2>>exporter.err &
	exporter=$!
	until address=$(sed -n 's|^pmuctl: metrics are at \(http://[^/]*\)/metrics$|\1|p' exporter.err) && [ "$address" ]; do
		kill -0 "$exporter" 2>/dev/null || { cat exporter.err; return 1; }
		sleep 0.1
	done
}

# end: the exporter ends when it is told to, without a word
end()
{
	kill "${1:--TERM}" "$exporter" && wait "$exporter" && [ "$(wc -l <exporter.err)" -eq 1 ]
}

ask() { wget -q -O "$2" "$address$1"; }

# count FILE EVENT: its value
count() { sed -n "s/^pmuctl_events_total{event=\"$2\",[^}]*} //p" "$1"; }

# What a program did between two answers is in the second one.
what_is_told_goes_on()
{
	begin -a -e instructions:u,context-switches || return 1
	ask /metrics before && [ "$(tail -n 1 before)" = '# EOF' ] || return 1
	run 0 stat -e instructions:u -x, -- sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done' || return 1
	work=$(sed -n 's/^\([0-9]*\),,instructions:u.*/\1/p' err)
	ask /metrics after || return 1
	[ "$(($(count after instructions:u) - $(count before instructions:u)))" -ge "$work" ] &&
		[ "$(count after context-switches)" -gt "$(count before context-switches)" ] && end
}

it_is_open_metrics()
{
	begin -a -e page-faults -M cycles_per_insn || return 1
	wget -S -O answer "$address/metrics" 2>headers || return 1
	grep -q 'Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8' headers &&
		grep -q '^# TYPE pmuctl_events counter$' answer &&
		grep -q '^pmuctl_metric{metric="cycles_per_insn",' answer &&
		ask / page && grep -q 'href="/metrics"' page &&
		! wget -q -O - "$address/else" && end -INT
}

# As with stat: events, targets and what is added up
options_are_those_of_stat()
{
	begin -A -e page-faults,cpu-clock || return 1
	ask /metrics answer && end || return 1
	grep -Eq '^pmuctl_events_total\{event="page-faults",cpu="1",unit=""\} [0-9]+$' answer || return 1
	sleep 1000 &
	sleeper=$!
	begin -p $sleeper -e task-clock || return 1
	# It sleeps, and what was not counted has no value.
	ask /metrics answer && [ -z "$(count answer task-clock)" ] || return 1
	kill $sleeper
	wait $sleeper
	ask /metrics answer && [ "$(count answer task-clock)" -gt 0 ] && end
}

# Who connects and asks nothing, or sends what is no question, keeps nobody from an answer.
others_do_not_wait()
{
	begin -a -e page-faults || return 1
	port=${address##*:}
	sleep 1000 | nc 127.0.0.1 "$port" >silent &
	silent=$!
	echo 'what is this' | nc 127.0.0.1 "$port" >answer &
	for i in 1 2 3; do
		ask /metrics "answer$i" && [ "$(tail -n 1 "answer$i")" = '# EOF' ] || return 1
	done
	printf 'POST /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n' | nc 127.0.0.1 "$port" >post
	kill $silent
	! grep -q '200 OK' post && end
}

# Who asks may go before the answer: that is no SIGPIPE. Nor can he ask with megabytes.
who_asks_can_do_no_harm()
{
	begin -a -e page-faults || return 1
	port=${address##*:}
	ignored=$(sed -n 's/^SigIgn:.*\(....\)$/\1/p' "/proc/$exporter/status")
	[ $((0x$ignored & 0x1000)) -ne 0 ] || return 1
	printf 'HEAD /metrics HTTP/1.0\r\n\r\n' | nc 127.0.0.1 "$port" >heading
	grep -q '200 OK' heading && grep -Eq '^Content-Length: [0-9]+' heading && ! grep -q EOF heading || return 1
	printf 'GET /metrics HTTP/1.0\r\nContent-Length: 9999999\r\n\r\n' | nc 127.0.0.1 "$port" >body
	grep -q ' 413 ' body && ! grep -q EOF body && ask /metrics answer && end
}

# Of more events than there are counters each count is an estimate, of all of it together: it goes on.
counts_do_not_fall()
{
	begin -a -e instructions:u,r00c4:u,r01c4:u,r02c4:u,r04c4:u,r08c4:u,r10c4:u,r20c4:u,r40c4:u || return 1
	last=0
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ $((i % 3)) -ne 0 ] || sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'
		ask /metrics answer && now=$(count answer instructions:u) || return 1
		[ "${now:-0}" -ge "$last" ] || { echo "$now after $last"; return 1; }
		last=${now:-0}
	done
	[ "$last" -gt 0 ] && ! grep -q scaled answer && end
}

# Without descriptors it waits until there are some, and says so once.
descriptors_come_back()
{
	pmuctl exporter --help >/dev/null
	# shellcheck disable=SC3045 # busybox has it
	(ulimit -n 32 && exec pmuctl exporter --listen 127.0.0.1:18064 -a -e page-faults) 2>exporter.err &
	exporter=$!
	address=http://127.0.0.1:18064
	until ask / page 2>/dev/null; do sleep 0.1; done
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32; do
		sleep 1000 | nc 127.0.0.1 18064 >/dev/null 2>&1 &
	done
	until grep -q 'cannot accept' exporter.err; do sleep 0.1; done
	sleep 0.5
	killall sleep nc
	until ask /metrics answer 2>/dev/null; do sleep 0.1; done
	kill $exporter && wait $exporter && [ "$(wc -l <exporter.err)" -eq 2 ]
}

refusals_say_why()
{
	run 2 exporter true && says 'it starts no command' &&
		run 2 exporter -I 100 && says 'it counts all the time' &&
		run 2 exporter -j && says 'always that of --openmetrics' &&
		run 2 exporter -o file && says 'told who asks' &&
		run 2 exporter --control fd:3 && says 'it only counts' &&
		run 2 exporter --listen && says "'--listen' needs an argument" &&
		run 2 exporter -e cs,user_time && says "'user_time' is of a command that has ended" &&
		run 2 exporter -e cycles/name=x/,instructions/name=x/ && says "have the name 'x'|unknown" &&
		run 2 exporter --listen here -e page-faults && says "'here' is no port to listen at" &&
		run 2 exporter --listen 127.0.0.1:70000 -e page-faults && says 'is no port' &&
		run 1 exporter --listen 192.0.2.1:7 -e page-faults && says "cannot listen at '192.0.2.1:7'" &&
		run 2 exporter -e no-such-event && says "unknown event 'no-such-event'"
}

run_checks begin end ask count
