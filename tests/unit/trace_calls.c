// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl trace" without a kernel: the lines that it prints, byte for byte, which calls are chosen,
 * and what its summary says.
 */
/* sources: tools/syscalls/calls.c tools/syscalls/choice.c tools/syscalls/print.c */
/* sources: tools/syscalls/summary.c tools/syscalls/table.c tools/syscalls/arguments.c tools/syscalls/words.c */
/* libs: -lm */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <criterion/criterion.h>

#include "../../tools/syscalls/syscalls.h"

#define MS	1000000ull

/* As the kernel writes them: fields that all have, a number, and the arguments */
static const char *const formats[][2] = {
	{ "events/syscalls/sys_enter_read/format",
	  "name: sys_enter_read\nID: 700\nformat:\n"
	  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	  "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:char * buf;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:size_t count;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"fd: 0x%08lx, buf: 0x%08lx, count: 0x%08lx\", REC->fd\n"
	  "\tfield:int nothing;\n" },
	{ "events/syscalls/sys_enter_openat/format",
	  "\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n"
	  "\tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n" },
	{ "events/syscalls/sys_enter_newfstat/format",
	  "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:struct stat * statbuf;\toffset:24;\tsize:8;\tsigned:0;\n" },
	{ "events/syscalls/sys_enter_lseek/format",
	  "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:off_t offset;\toffset:24;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned int whence;\toffset:32;\tsize:8;\tsigned:0;\n" },
	{ "events/syscalls/sys_enter_brk/format",
	  "\tfield:unsigned long brk;\toffset:16;\tsize:8;\tsigned:0;\n" },
	{ "events/syscalls/sys_enter_exit_group/format",
	  "\tfield:int error_code;\toffset:16;\tsize:8;\tsigned:0;\n" },
	{ "events/syscalls/sys_enter_getpid/format", "\tfield:int __syscall_nr;\toffset:8;\n" },
};

static FILE *open_format(const char *path)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(path, formats[i][0]))
			return fmemopen((char *)formats[i][1], strlen(formats[i][1]), "r");
	return NULL;
}

static struct calls calls;
static char *text;
static size_t size;

static void begin(void)
{
	calls = (struct calls){ .lines = true, .table.open_format = open_format };
	calls.out = open_memstream(&text, &size);
}

static void end(void)
{
	fclose(calls.out);
	free(text);
	calls_free(&calls);
}

TestSuite(trace_calls, .init = begin, .fini = end);

static struct call_event of(int32_t tid, uint64_t time, uint64_t number)
{
	return (struct call_event){
		.tid = tid, .comm = tid == 7 ? "cat" : "another", .time = time, .number = number,
	};
}

static void enter(int32_t tid, uint64_t time, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	struct call_event event = of(tid, time, number);

	event.args[0] = a;
	event.args[1] = b;
	event.args[2] = c;
	event.args[3] = number == SYS_openat ? 0644 : 0x99;
	cr_assert_eq(calls_enter(&calls, &event), 0);
}

static void leave(int32_t tid, uint64_t time, uint64_t number, int64_t result)
{
	struct call_event event = of(tid, time, number);

	event.result = result;
	cr_assert_eq(calls_exit(&calls, &event), 0);
}

static void printed(const char *expected)
{
	fflush(calls.out);
	cr_assert_str_eq(text, expected, "printed:\n%s\nexpected:\n%s", text, expected);
}

Test(trace_calls, a_line_for_each)
{
	enter(7, 5 * MS, SYS_read, 3, 0x7ffe1000, 4096);
	leave(7, 5 * MS + 12345, SYS_read, 512);
	enter(7, 6 * MS, SYS_openat, (uint64_t)-100, 0x1234, 0x80000);
	leave(7, 7 * MS, SYS_openat, -ENOENT);
	enter(7, 1805 * MS, SYS_lseek, 3, (uint64_t)-8, 1);
	leave(7, 1805 * MS + 500, SYS_lseek, 4088);
	enter(7, 1806 * MS, SYS_brk, 0, 0, 0);
	leave(7, 1807 * MS, SYS_brk, 0x55550000);
	enter(7, 1808 * MS, SYS_getpid, 1, 2, 3);
	leave(7, 1809 * MS, SYS_getpid, 7);
	enter(7, 1810 * MS, SYS_exit_group, 3, 2, 3);
	printed("     0.000 ( 0.012 ms): cat/7 read(fd: 3, buf: 0x7ffe1000, count: 4096)                             = 512\n"
		"     1.000 ( 1.000 ms): cat/7 openat(dfd: CWD, filename: 0x1234, flags: RDONLY|CLOEXEC)             = -1 ENOENT (No such file or directory)\n"
		"  1800.000 ( 0.001 ms): cat/7 lseek(fd: 3, offset: -8, whence: CUR)                                 = 4088\n"
		"  1801.000 ( 1.000 ms): cat/7 brk()                                                                 = 0x55550000\n"
		"  1803.000 ( 1.000 ms): cat/7 getpid()                                                              = 7\n"
		"  1805.000 (         ): cat/7 exit_group(error_code: 3)                                             = ?\n");
}

/* perf: kernel's names where they differ, and numbers where there is no name, or no format. */
Test(trace_calls, what_is_not_known_is_told_by_numbers)
{
	enter(7, 1 * MS, SYS_fstat, 3, 0x10, 0);
	leave(7, 2 * MS, SYS_fstat, 0);
	enter(7, 3 * MS, SYS_mmap, 0, 0x1000, 3);
	leave(7, 4 * MS, SYS_mmap, -ENOMEM);
	enter(7, 5 * MS, 1000, 1, 0, 0);
	leave(7, 6 * MS, 1000, -ENOSYS);
	leave(7, 7 * MS, 1000, -4000);
	/* None of these is a call. */
	enter(7, 8 * MS, SYSCALLS_MAX, 1, 0, 0);
	enter(7, 8 * MS, (uint64_t)-1, 1, 0, 0);
	leave(7, 9 * MS, (uint64_t)-1, 0);
	printed("     0.000 ( 1.000 ms): cat/7 fstat(fd: 3, statbuf: 0x10)                                           = 0\n"
		"     2.000 ( 1.000 ms): cat/7 mmap(arg1: 0x1000, arg2: READ|WRITE, arg3: FIXED|0x89)                = -1 ENOMEM (Cannot allocate memory)\n"
		"     4.000 ( 1.000 ms): cat/7 syscall_1000(arg0: 0x1, arg3: 0x99)                                   = -1 ENOSYS (Function not implemented)\n"
		"         ? (         ): cat/7  ... [continued]: syscall_1000()                                      = -1 (error 4000)\n");
}

Test(trace_calls, two_tasks_at_a_time)
{
	enter(7, 1 * MS, SYS_read, 3, 0, 1);
	enter(8, 2 * MS, SYS_read, 4, 0, 1);
	leave(8, 3 * MS, SYS_read, 1);
	leave(7, 4 * MS, SYS_read, -EINTR);
	/* The one that began last goes on although another one ends. */
	enter(7, 5 * MS, SYS_getpid, 0, 0, 0);
	enter(8, 6 * MS, SYS_getpid, 0, 0, 0);
	leave(7, 7 * MS, SYS_getpid, 7);
	leave(8, 8 * MS, SYS_getpid, 7);
	printed("     0.000 (         ): cat/7 read(fd: 3, count: 1)                                              ...\n"
		"     1.000 ( 1.000 ms): another/8 read(fd: 4, count: 1)                                                 = 1\n"
		"     0.000 ( 3.000 ms): cat/7  ... [continued]: read()                                              = -1 EINTR (Interrupted system call)\n"
		"     4.000 (         ): cat/7 getpid()                                                           ...\n"
		"     4.000 ( 2.000 ms): cat/7  ... [continued]: getpid()                                            = 7\n"
		"     5.000 ( 2.000 ms): another/8 getpid()                                                              = 7\n");
}

Test(trace_calls, beginnings_and_ends_that_are_missing)
{
	leave(7, 1 * MS, SYS_read, 5);
	enter(7, 2 * MS, SYS_read, 3, 0, 1);
	calls_lost(&calls, 17);
	leave(7, 3 * MS, SYS_getpid, 7);
	leave(7, 4 * MS, SYS_read, 5);
	/* A task has ended within a call, and another has its id. */
	enter(7, 5 * MS, SYS_read, 3, 0, 1);
	calls_task_ended(&calls, 7);
	calls_task_ended(&calls, 9);
	leave(7, 6 * MS, SYS_read, 1);
	printed("         ? (         ): cat/7  ... [continued]: read()                                              = 5\n"
		"LOST 17 events!\n"
		"         ? (         ): cat/7  ... [continued]: getpid()                                            = 7\n"
		"         ? (         ): cat/7  ... [continued]: read()                                              = 5\n"
		"     4.000 (         ): cat/7 read(fd: 3, count: 1)                                              ...\n"
		"         ? (         ): cat/7  ... [continued]: read()                                              = 1\n");
}

Test(trace_calls, calls_that_the_kernel_begins_again)
{
	static const int64_t errors[] = { 512, 513, 514, 516 };

	for (unsigned int i = 0; i < 4; i++)
		leave(7, i + 1, SYS_read, -errors[i]);
	fflush(calls.out);
	cr_expect_not_null(strstr(text, "= ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n"));
	cr_expect_not_null(strstr(text, "= ? ERESTARTNOINTR (To be restarted)\n"));
	cr_expect_not_null(strstr(text, "= ? ERESTARTNOHAND (To be restarted if no handler)\n"));
	cr_expect_not_null(strstr(text, "= ? ERESTART_RESTARTBLOCK (Interrupted by signal)\n"));
}

Test(trace_calls, only_long_ones_and_only_failures)
{
	calls.duration = 2 * MS;
	enter(7, 1 * MS, SYS_read, 3, 0, 1);
	enter(8, 2 * MS, SYS_read, 4, 0, 1);
	leave(8, 3 * MS, SYS_read, 1);
	leave(7, 4 * MS, SYS_read, 1);
	calls.duration = 0;
	calls.failures = true;
	enter(7, 5 * MS, SYS_read, 5, 0, 1);
	leave(7, 6 * MS, SYS_read, 1);
	enter(7, 7 * MS, SYS_read, 6, 0, 1);
	leave(7, 8 * MS, SYS_read, -EBADF);
	enter(7, 9 * MS, SYS_exit_group, 6, 0, 1);
	printed("     0.000 ( 3.000 ms): cat/7 read(fd: 3, count: 1)                                                 = 1\n"
		"     6.000 ( 1.000 ms): cat/7 read(fd: 6, count: 1)                                                 = -1 EBADF (Bad file descriptor)\n");
}

Test(trace_calls, times_since_the_machine_was_started)
{
	calls.full_time = true;
	enter(7, 12345 * MS, SYS_getpid, 0, 0, 0);
	leave(7, 12346 * MS, SYS_getpid, 7);
	printed(" 12345.000 ( 1.000 ms): cat/7 getpid()                                                              = 7\n");
}

/* ---- Page faults */

Test(trace_calls, page_faults_among_calls)
{
	struct call_fault fault = {
		.tid = 7, .comm = "cat", .time = 6 * MS, .code = "main+0x12", .data = "[heap]@0x10",
		.is_mapped = true, .level = '.',
	};

	enter(7, 5 * MS, SYS_read, 3, 0, 1);
	cr_assert_eq(calls_fault(&calls, &fault), 0);
	leave(7, 7 * MS, SYS_read, 1);
	fault = (struct call_fault){ .tid = 8, .comm = "another", .time = 8 * MS, .is_major = true,
				     .code = "0x401000", .data = "0x0", .level = '.' };
	cr_assert_eq(calls_fault(&calls, &fault), 0);
	printed("     1.000 ( 0.000 ms): cat/7 minfault [main+0x12] => [heap]@0x10 (d.)\n"
		"     0.000 ( 2.000 ms): cat/7 read(fd: 3, count: 1)                                                 = 1\n"
		"     3.000 ( 0.000 ms): another/8 majfault [0x401000] => 0x0 (?.)\n");
	calls.most = 3;
	cr_assert_eq(calls_fault(&calls, &fault), 0);
	calls.lines = false;
	calls.summary = true;
	summary_print(&calls);
	fflush(calls.out);
	cr_expect_not_null(strstr(text, " cat (7), 3 events, 60.0%, 1 minfaults\n"), "%s", text);
	cr_expect_not_null(strstr(text, " another (8), 2 events, 40.0%, 2 majfaults\n"), "%s", text);
}

/* ---- Which calls */

Test(trace_calls, choices)
{
	struct syscall_choice *choice = &calls.choice;
	char wrong[80], *filter;

	cr_expect(syscall_is_chosen(choice, 5000));
	cr_expect_null(syscall_choice_filter(choice));
	cr_assert_eq(syscall_choice_parse(choice, "openat,read", wrong, sizeof(wrong)), 0);
	cr_assert_eq(syscall_choice_parse(choice, "getpi?", wrong, sizeof(wrong)), 0);
	cr_expect(syscall_is_chosen(choice, SYS_read));
	cr_expect(syscall_is_chosen(choice, SYS_getpid));
	cr_expect_not(syscall_is_chosen(choice, SYS_write));
	cr_expect_not(syscall_is_chosen(choice, 5000));
	filter = syscall_choice_filter(choice);
	cr_expect_str_eq(filter, "id==0||id==39||id==257");
	free(filter);
	cr_expect_eq(syscall_choice_parse(choice, "!write", wrong, sizeof(wrong)), -EINVAL);
	cr_expect_eq(syscall_choice_parse(choice, "nothing,read", wrong, sizeof(wrong)), -ENOENT);
	cr_expect_str_eq(wrong, "nothing");
	cr_expect_eq(syscall_choice_parse(choice, "read,,write", wrong, sizeof(wrong)), -ENOENT);
	cr_expect_eq(syscall_choice_parse(choice, "", wrong, sizeof(wrong)), -ENOENT);
	*choice = (struct syscall_choice){ 0 };
	cr_assert_eq(syscall_choice_parse(choice, "!read,write", wrong, sizeof(wrong)), 0);
	cr_expect_not(syscall_is_chosen(choice, SYS_read));
	cr_expect(syscall_is_chosen(choice, SYS_openat));
	cr_expect(syscall_is_chosen(choice, 5000));
	filter = syscall_choice_filter(choice);
	cr_expect_str_eq(filter, "id!=0&&id!=1");
	free(filter);
	/* More than a filter of the module can have */
	cr_assert_eq(syscall_choice_parse(choice, "!get*", wrong, sizeof(wrong)), 0);
	cr_expect_null(syscall_choice_filter(choice));
	cr_expect_not(syscall_is_chosen(choice, SYS_getpid));
	enter(7, 1 * MS, SYS_getpid, 0, 0, 0);
	leave(7, 2 * MS, SYS_getpid, 7);
	printed("");
}

/* ---- Summary */

Test(trace_calls, summary)
{
	calls.lines = false;
	calls.summary = true;
	for (uint64_t i = 0; i < 4; i++) {
		enter(7, (10 * i + 1) * MS, SYS_read, 3, 0, 1);
		leave(7, (10 * i + 2 + i) * MS, SYS_read, i ? 1 : -EBADF);
	}
	enter(7, 100 * MS, SYS_openat, 1, 1, 1);
	leave(7, 120 * MS, SYS_openat, 3);
	leave(8, 130 * MS, SYS_read, 3);
	calls_task_ended(&calls, 8);
	/* Another task of that id */
	leave(8, 140 * MS, SYS_getpid, 3);
	enter(8, 150 * MS, SYS_exit_group, 3, 0, 0);
	summary_print(&calls);
	/* 1, 2, 3 and 4 ms: their variance is 5/3, that of the mean 5/12, and 0.645/2.5 25.82 % */
	printed("\n Summary of events:\n\n"
		" cat (7), 10 events, 76.9%\n\n"
		"   syscall            calls errors     total       min       avg       max     stddev\n"
		"                                      (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- -------- ------ --------- --------- --------- ---------     ------\n"
		"   openat                 1      0    20.000    20.000    20.000    20.000      0.00%\n"
		"   read                   4      1    10.000     1.000     2.500     4.000     25.82%\n"
		"\n\n"
		" another (8), 2 events, 15.4%\n\n"
		"   syscall            calls errors     total       min       avg       max     stddev\n"
		"                                      (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- -------- ------ --------- --------- --------- ---------     ------\n"
		"   getpid                 1      0     0.000     0.000     0.000     0.000      0.00%\n"
		"\n\n"
		" another (8), 1 events, 7.7%\n\n"
		"   syscall            calls errors     total       min       avg       max     stddev\n"
		"                                      (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- -------- ------ --------- --------- --------- ---------     ------\n"
		"   read                   1      0     0.000     0.000     0.000     0.000      0.00%\n"
		"\n\n");
}

Test(trace_calls, errors_in_the_summary)
{
	static const int64_t results[] = { -EINTR, 5, -EBADF, -512, -EINTR, -4095, 0 };
	char *end;

	calls.lines = false;
	calls.summary = true;
	calls.errors = true;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		enter(7, (2 * i + 1) * MS, SYS_read, 3, 0, 1);
		leave(7, (2 * i + 2) * MS, SYS_read, results[i]);
	}
	enter(7, 50 * MS, SYS_getpid, 0, 0, 0);
	leave(7, 50 * MS, SYS_getpid, 7);
	summary_print(&calls);
	fflush(calls.out);
	end = strstr(text, "   read ");
	cr_assert_not_null(end);
	cr_expect_str_eq(end, "   read                   7      5     7.000     1.000     1.000     1.000      0.00%\n"
			      "\t\t\t\tEINTR: 2\n\t\t\t\tEBADF: 1\n\t\t\t\tERESTARTSYS: 1\n\t\t\t\terror 4095: 1\n"
			      "   getpid                 1      0     0.000     0.000     0.000     0.000      0.00%\n\n\n");
}
