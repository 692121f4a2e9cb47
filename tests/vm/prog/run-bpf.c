// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BPF program with a loop, run as often as is asked for: nearly all that it does in the kernel
 * is that. It has gone when this ends.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PACKET	64

int main(int argc, char **argv)
{
	static const struct bpf_insn loop[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_JLT | BPF_K, .dst_reg = 0, .imm = 100, .off = -2 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static uint8_t packet[PACKET];
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)loop,
		.insn_cnt = sizeof(loop) / sizeof(*loop),
		.license = (uintptr_t)"GPL",
		.prog_name = "a_loop",
	};
	union bpf_attr run = { .test = { .data_in = (uintptr_t)packet, .data_size_in = PACKET } };

	/* Until Linux 5.11 a program counts as locked memory. */
	setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
	run.test.prog_fd = (uint32_t)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	if ((int32_t)run.test.prog_fd < 0) {
		perror("BPF_PROG_LOAD");
		return 1;
	}
	run.test.repeat = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &run, sizeof(run))) {
		perror("BPF_PROG_TEST_RUN");
		return 1;
	}
	return 0;
}
