// SPDX-License-Identifier: GPL-2.0-only
/* libs: -Wl,--eh-frame-hdr -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-icf */
/*
 * main() calls step(), which calls itself four times deep, and then work(), which has twist()
 * compiled into itself; nobody has a frame pointer. With "read", work() has the kernel do
 * something, too; with "forever", it has no end.
 *
 * usage: no-frames [read | forever]
 */
#include <fcntl.h>
#include <unistd.h>

#define ROUNDS	400
#define LOOPS	20000

static volatile unsigned long result;
static int zeros = -1;

static inline __attribute__((always_inline)) unsigned long twist(unsigned long n)
{
	unsigned long sum = 1;

	for (unsigned long i = 0; i < n; i++)
		sum = (sum ^ i) * 3;
	result = sum;
	return sum;
}

__attribute__((noinline)) static unsigned long work(unsigned long n)
{
	static char buffer[65536];
	unsigned long sum = twist(n);

	if (zeros >= 0)
		sum += (unsigned long)read(zeros, buffer, sizeof(buffer));
	result = sum;
	return sum + 1;
}

__attribute__((noinline)) static unsigned long step(unsigned long depth)
{
	volatile char room[100];
	unsigned long sum;

	room[depth] = 1;
	sum = depth ? step(depth - 1) : work(LOOPS);
	result = sum;
	return sum + (unsigned long)room[depth];
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (*how == 'r')
		zeros = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < ROUNDS || *how == 'f'; i++)
		result = step(4);
	return 0;
}
