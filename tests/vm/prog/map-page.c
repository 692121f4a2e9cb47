// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes each letter that it reads; before it writes an 'm' it maps the page of the descriptor
 * that is its argument.
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
		if (write(STDOUT_FILENO, &c, 1) != 1)
			return 1;
	}
	return 0;
}
