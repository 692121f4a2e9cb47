# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's part of "make scale": perf first, then ours with the module loaded, whose limits
# do not matter here.
#
# usage: sh guest.sh MODULE
/add/bench perf scale >/tmp/perf || exit 1
insmod "$1" max_events_per_context=65536 || exit 1
/add/bench pmuctl scale >/tmp/pmuctl || exit 1
sed 's/^/perf /' /tmp/perf
sed 's/^/pmuctl /' /tmp/pmuctl
