#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where a program of known shares spends its instructions, branches and cycles, found in three
# ways: "pmuctl report" of a file of "pmuctl record", perf's report of the same file, and
# perf's report of what perf recorded itself. And perf annotates the hot instruction in our
# file, which takes objdump. Runs under icount, in busybox' sh as root.
# shellcheck disable=SC2317,SC2016 # the checks are called by name; $ is for awk
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
any_rate

# shares WHOSE: of the lines "SHARE% ... SYMBOL" on stdin: within 1 % of what the program does
shares()
{
	awk -v whose="$1" '
		/^ *[0-9.]+%/ { share[$NF] += $1 }
		function is(name, percent) {
			print whose, name, share[name] "%, expected", percent
			if (share[name] <= percent - 1 || share[name] >= percent + 1)
				wrong = 1
		}
		END { is("hot", 70); is("warm", 20); is("cold", 10); exit wrong }'
}

# three_ways EVENT PERIOD
three_ways()
{
	run 3 record -q -e "$1" -c "$2" -o ours "$PROGRAM" &&
		pmuctl report -i ours -g none -s symbol 2>err >report &&
		shares "our report" <report || return 1
	perf report -i ours --stdio --percent-limit 0 -g none -F overhead,sym 2>err >report &&
		shares "perf's reading" <report || return 1
	perf record -q -N -e "$1" -c "$2" -o theirs "$PROGRAM" >out 2>err
	[ $? -eq 3 ] && perf report -i theirs --stdio --percent-limit 0 -g none -F overhead,sym 2>err >report &&
		shares "perf's recording" <report
}
instructions() { three_ways instructions:u 5077; }
branches() { three_ways branches:u 2503; }
cycles() { three_ways cycles:u 5077; }
chains() { run 3 record -q -g -e instructions:u -c 9973 -o ours "$PROGRAM" && pmuctl report -i ours -g none -s symbol 2>err | shares "our report" && perf report -i ours --stdio --no-children --percent-limit 0 -g none -F overhead,sym 2>err | shares "perf's reading"; }

# The same share of samples in each of two equal children as in the program itself
family()
{
	run 3 record -q -e instructions:u -c 5077 -o ours sh -c "$PROGRAM; $PROGRAM" &&
		pmuctl report -i ours -g none -s symbol 2>err >report &&
		shares "our report" <report &&
		perf report -i ours --stdio --percent-limit 0 -g none -F overhead,sym 2>err | shares "perf's reading"
}

# The two instructions of the loop have all of hot's samples.
hot_instruction_is_annotated()
{
	run 3 record -q -e instructions:u -c 5077 -o ours "$PROGRAM" &&
		perf annotate -i ours --stdio -s hot >annotated 2>err || return 1
	cat annotated
	awk '/ (dec|jne) / { loop += $1; lines++ }
		END { print loop "% in", lines + 0, "instructions"; exit !(lines == 2 && loop > 99) }' annotated
}

run_checks shares three_ways
