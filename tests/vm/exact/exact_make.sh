#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A build of a small C project by "make -j4" and a compiler, and a script of pipes and jobs
# in the background, under "pmuctl stat" and under "perf stat" in turns: user instructions of
# all processes are equal, up to what they differ from run to run. Needs make and tcc. Runs
# in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

REPEATS=4

# Without this no program takes as many instructions twice.
echo 0 >/proc/sys/kernel/randomize_va_space

# count TOOL COMMAND...: what TOOL counts; both give the command the same environment
count()
{
	tool=$1
	shift
	"$tool" stat -x , -e instructions:u -o counts -- /pmuctl/tests/prog/clean-env "$@" \
		>log 2>&1 || { echo "$tool: status $?"; cat log; } >&2
	sed -n 's/^\([0-9]*\),.*instructions:u.*/\1/p' counts
}

# alike COMMAND...: our counts and perf's, in turns. The means may differ by as much as the
# counts of either differ among themselves, and these by no more than one in a hundred. Under
# icount a tool's own timing may repeat, and all its counts then: one in ten thousand more,
# which is less than the shortest process.
alike()
{
	"$@" >log 2>&1 || { cat log; return 1; }
	: >all
	for _ in $(seq $REPEATS); do
		echo "$(count pmuctl "$@") $(count perf "$@")" >>all
	done
	cat all
	awk -v repeats=$REPEATS '
		NF == 2 && $1 > 1000000 { rows++ }
		{
			for (i = 1; i <= 2; i++) {
				sum[i] += $i
				if (NR == 1 || $i < low[i]) low[i] = $i
				if (NR == 1 || $i > high[i]) high[i] = $i
			}
		}
		END {
			spread = high[1] - low[1]
			if (high[2] - low[2] > spread) spread = high[2] - low[2]
			apart = (sum[1] - sum[2]) / repeats
			if (apart < 0) apart = -apart
			print "apart", apart, "spread", spread
			mean = sum[1] / repeats
			exit !(rows == repeats && apart <= spread + mean / 10000 && spread < mean / 100)
		}' all
}

project()
{
	for i in 1 2 3 4 5 6; do
		awk -v i=$i 'BEGIN {
			printf "int part%d(int n)\n{\n\tint sum = 0;\n\n", i
			for (k = 1; k < 60; k++)
				printf "\tfor (int i = 0; i < n; i++)\n\t\tsum += (i ^ %d) * %d;\n", k * i, k
			print "\treturn sum;\n}"
		}' >part$i.c
	done
	cat >main.c <<-'END'
		int part1(int n), part2(int n), part3(int n), part4(int n), part5(int n), part6(int n);

		void _start(void)
		{
			long status = part1(1) == part1(1) && part6(2) == part6(2) ? 5 : 6;

			__asm__ volatile("syscall" : : "a" (60L), "D" (status));
		}
	END
	cat >Makefile <<-'END'
		.RECIPEPREFIX := >
		objects := main.o part1.o part2.o part3.o part4.o part5.o part6.o
		all: program
		program: $(objects)
		> tcc -nostdlib -static -o $@ $(objects)
		%.o: %.c
		> tcc -c -o $@ $<
		again:
		> rm -f program $(objects)
		> @$(MAKE) --no-print-directory program
		.PHONY: all again
	END
}
make_with_four_jobs()
{
	project && alike /usr/bin/make -j4 again || return 1
	status=0
	./program || status=$?
	[ $status -eq 5 ]
}

shell_with_jobs()
{
	cat >script <<-'END'
		for i in 1 2 3; do
			seq 2000 | sed 's/1/one/' | sort | tail -n 3 &
			for k in 1 2 3 4; do echo $i $k | awk '{ print $1 * $2 }'; done
			wait
		done
	END
	alike /bin/sh script
}

run_checks count alike project
