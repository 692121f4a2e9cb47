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
	grep -Eq '^pmuctl_events_total\{event="page-faults",cpu="1",unit="",scaled="false"\} [0-9]+$' answer || return 1
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

refusals_say_why()
{
	run 2 exporter true && says 'it starts no command' &&
		run 2 exporter -I 100 && says 'it counts all the time' &&
		run 2 exporter -j && says 'always that of --openmetrics' &&
		run 2 exporter -o file && says 'told who asks' &&
		run 2 exporter --control fd:3 && says 'it only counts' &&
		run 2 exporter --listen here -e page-faults && says "'here' is no port to listen at" &&
		run 2 exporter --listen 127.0.0.1:70000 -e page-faults && says 'is no port' &&
		run 1 exporter --listen 192.0.2.1:7 -e page-faults && says "cannot listen at '192.0.2.1:7'" &&
		run 2 exporter -e no-such-event && says "unknown event 'no-such-event'"
}

run_checks begin end ask count
