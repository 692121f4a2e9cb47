// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose way is worth tracing, for decoders of its trace: static, without a C
 * library, the same at every run. Jumps that depend on data, calls of all kinds,
 * recursion, string instructions, system calls, page faults and a signal handler; all of
 * it as many times as there are arguments.
 */
#define ROUNDS	20
#define PAGES	8

typedef unsigned long word;

static char memory[PAGES * 4096];
static word seed = 1;
static volatile word signals;

static word syscall3(word number, word a, word b, word c)
{
	register word r10 asm("r10") = 8; /* rt_sigaction's size of a set */
	word result;

	asm volatile("syscall" : "=a"(result)
		     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
		     : "rcx", "r11", "memory");
	return result;
}

static word next(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed >> 33;
}

static __attribute__((noinline)) word fibonacci(word n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) word collatz(word n)
{
	word steps = 0;

	for (; n != 1 && steps < 40; steps++)
		n = n & 1 ? 3 * n + 1 : n / 2;
	return steps;
}

static __attribute__((noinline)) word copy(word n)
{
	void *to = memory + 1, *from = memory;
	word left = n % 64;

	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
	return left;
}

static __attribute__((noinline)) word parent(word n)
{
	return syscall3(110, 0, 0, 0) ? n : 0; /* getppid */
}

static word (*const calls[])(word) = { fibonacci, collatz, copy, parent };

static void handler(int signal)
{
	signals += signal;
}

asm("restorer:\n"
    "	mov	$15, %eax\n" /* rt_sigreturn */
    "	syscall\n");
extern void restorer(void);

static void raise_signal(void)
{
	const struct {
		void (*handler)(int);
		word flags;
		void (*restorer)(void);
		word mask;
	} action = { handler, 0x04000000 /* SA_RESTORER */, restorer, 0 };

	syscall3(13, 10, (word)&action, 0); /* rt_sigaction SIGUSR1 */
	syscall3(62, syscall3(39, 0, 0, 0), 10, 0); /* kill getpid */
}

__attribute__((used)) static void body(word arguments)
{
	word i, sum = 0;

	for (; arguments; arguments--) {
		for (i = 0; i < ROUNDS; i++) {
			word n = next();

			sum += calls[n % 4](n / 4 % 8 + 1);
			memory[n % sizeof(memory)]++;
		}
		raise_signal();
	}
	syscall3(231, !sum || !signals, 0, 0); /* exit_group */
}

asm(".globl _start\n"
    "_start:\n"
    "	mov	(%rsp), %rdi\n" /* argc */
    "	dec	%rdi\n"
    "	and	$-16, %rsp\n"
    "	call	body\n");
