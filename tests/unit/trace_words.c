// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "pmuctl trace" calls the values of arguments: words of one list, bits, both in one value,
 * what has no name, and arguments that the kernel does not look at. Values are written as the
 * kernel's ABI has them for x86-64, not by the headers' names, which the code takes.
 */
/* sources: tools/syscalls/arguments.c tools/syscalls/words.c */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../tools/syscalls/syscalls.h"

static const struct {
	const char *call;
	unsigned int arg;
	uint64_t value;
	const char *words;
} known[] = {
	/* One of a list */
	{ "lseek", 2, 0, "SET" },
	{ "lseek", 2, 4, "HOLE" },
	{ "lseek", 2, 9, "" },
	{ "madvise", 2, 4, "MADV_DONTNEED" },
	{ "madvise", 2, 103, "MADV_GUARD_REMOVE" },
	{ "fcntl", 1, 1030, "DUPFD_CLOEXEC" },
	{ "prctl", 0, 15, "SET_NAME" },
	{ "arch_prctl", 0, 0x1002, "SET_FS" },
	{ "prlimit64", 1, 7, "NOFILE" },
	{ "clock_gettime", 0, 7, "BOOTTIME" },
	{ "getrusage", 0, 0xffffffff, "CHILDREN" },
	{ "ioctl", 1, 0x5413, "TIOCGWINSZ" },
	{ "ioctl", 1, 0x80081272, "" },
	{ "waitid", 0, 3, "PIDFD" },
	/* Bits */
	{ "mprotect", 2, 5, "READ|EXEC" },
	{ "mprotect", 2, 0, "" },
	{ "mprotect", 2, 0x101, "READ|0x100" },
	{ "mprotect", 2, 0x100, "" },
	{ "pipe2", 1, 04000 | 02000000, "CLOEXEC|NONBLOCK" },
	{ "eventfd2", 1, 0x80801, "SEMAPHORE|CLOEXEC|NONBLOCK" },
	{ "statx", 2, 0x4000, "STATX_DONT_SYNC" },
	{ "unshare", 0, 0x4020080, "NEWNS|NEWUTS|NEWTIME" },
	{ "wait4", 2, 0xc0000001, "NOHANG|ALL|CLONE" },
	/* None of them has a name of its own */
	{ "access", 1, 0, "F" },
	{ "access", 1, 6, "R|W" },
	{ "access", 1, 8, "" },
	/* One of a list, and bits */
	{ "openat", 2, 0, "RDONLY" },
	{ "openat", 2, 02000101, "WRONLY|CREAT|CLOEXEC" },
	{ "openat", 2, 3, "" },
	{ "openat", 2, 3 | 0x80000, "CLOEXEC|0x3" },
	{ "openat", 2, 0x40000000, "RDONLY|0x40000000" },
	{ "mmap", 3, 0x22, "PRIVATE|ANONYMOUS" },
	{ "mmap", 3, 3, "SHARED_VALIDATE" },
	{ "socket", 1, 0x80801, "STREAM|CLOEXEC|NONBLOCK" },
	{ "futex", 1, 0, "WAIT" },
	{ "futex", 1, 0x189, "WAIT_BITSET|PRIVATE_FLAG|CLOCK_REALTIME" },
	{ "sched_setscheduler", 1, 0x40000001, "FIFO|RESET_ON_FORK" },
	/* Words of several bits contain others */
	{ "open", 1, 010000, "RDONLY|DSYNC" },
	{ "open", 1, 04010000, "RDONLY|SYNC" },
	{ "open", 1, 020200000 | 2, "RDWR|TMPFILE" },
	{ "open", 1, 0200000, "RDONLY|DIRECTORY" },
	/* As mount(8) has it, for kernels of long ago */
	{ "mount", 3, 0xc0ed000e, "NOSUID|NODEV|NOEXEC" },
	{ "mount", 3, 0x0000000e, "NOSUID|NODEV|NOEXEC" },
	/* Signals */
	{ "kill", 1, 10, "USR1" },
	{ "kill", 1, 0, "" },
	{ "kill", 1, 36, "" },
	{ "kill", 1, 0x100000009, "" },
	{ "clone", 0, 0x1200011, "CHILD_CLEARTID|CHILD_SETTID|CHLD" },
	{ "clone", 0, 0x3d0f00, "VM|FS|FILES|SIGHAND|THREAD|SYSVSEM|SETTLS|PARENT_SETTID|CHILD_CLEARTID" },
	{ "clone", 0, 0x124, "VM|0x24" },
};

Test(trace_words, what_values_mean)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct syscall_words *words = syscall_words_of(known[i].call, known[i].arg);
		size_t size = 0;
		char *text = NULL;
		FILE *out = open_memstream(&text, &size);
		int length;

		cr_assert_not_null(words, "%s, %u", known[i].call, known[i].arg);
		length = syscall_words_print(words, known[i].value, out);
		fclose(out);
		cr_expect_str_eq(text, known[i].words, "%s, %u: %#lx is '%s'", known[i].call, known[i].arg,
				 known[i].value, text);
		cr_expect_eq(length, (int)strlen(known[i].words));
		free(text);
	}
}

Test(trace_words, what_are_just_numbers)
{
	cr_expect_null(syscall_words_of("read", 0));
	cr_expect_null(syscall_words_of("openat", 3));
	cr_expect_null(syscall_words_of("syscall_1000", 0));
	cr_expect_not(syscall_words_tell_zero(NULL));
}

/* 0 is told where it has a name. */
Test(trace_words, zero)
{
	cr_expect(syscall_words_tell_zero(syscall_words_of("lseek", 2)));
	cr_expect(syscall_words_tell_zero(syscall_words_of("access", 1)));
	cr_expect(syscall_words_tell_zero(syscall_words_of("futex", 1)));
	cr_expect_not(syscall_words_tell_zero(syscall_words_of("mprotect", 2)));
	cr_expect_not(syscall_words_tell_zero(syscall_words_of("kill", 1)));
	cr_expect_not(syscall_words_tell_zero(syscall_words_of("mmap", 3)));
}

static void unused(const char *call, unsigned int arg, uint64_t value, const char *expected)
{
	uint64_t args[SYSCALL_ARGS] = { 0 };
	char seen[SYSCALL_ARGS + 1] = "";

	args[arg] = value;
	for (unsigned int i = 0; i < SYSCALL_ARGS; i++)
		seen[i] = syscall_arg_is_unused(call, args, i) ? '-' : '0' + (char)i;
	cr_expect_str_eq(seen, expected, "%s with %#lx: %s", call, value, seen);
}

Test(trace_words, arguments_that_nobody_looks_at)
{
	unused("open", 1, 0, "01-345");
	unused("open", 1, 0100, "012345");
	unused("openat", 2, 0200000, "012-45");
	unused("openat", 2, 020200000, "012345");
	unused("mmap", 3, 0x2, "012345");
	unused("mmap", 3, 0x22, "0123--");
	unused("mremap", 3, 1, "0123-5");
	unused("mremap", 3, 3, "012345");
	unused("fcntl", 1, 1, "01-345");
	unused("fcntl", 1, 2, "012345");
	unused("futex", 1, 0x81, "012---");
	unused("futex", 1, 9, "0123-5");
	unused("prctl", 0, 15, "01---5");
	unused("read", 0, 1, "012345");
}
