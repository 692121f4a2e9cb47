// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does what it reads, letter by letter, and writes each letter when it is done: 'm' maps the page
 * of the descriptor that is its argument, 's' sleeps a hundred times.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? atoi(argv[1]) : -1;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == 'm' && mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			return 1;
		for (int i = 0; c == 's' && i < 100; i++)
			usleep(1);
		if (write(STDOUT_FILENO, &c, 1) != 1)
			return 1;
	}
	return 0;
}
