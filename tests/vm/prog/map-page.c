// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes each letter that it reads; before it writes an 'm' it maps the page of the descriptor
 * that is its argument. It ends at an 'i' if that page tells of a counter, or of a time that goes on.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? atoi(argv[1]) : -1;
	const struct perf_event_mmap_page *page = NULL;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == 'm') {
			page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
			if (page == MAP_FAILED)
				return 1;
		}
		if (c == 'i' && (page->index || page->cap_user_time))
			return 1;
		if (write(STDOUT_FILENO, &c, 1) != 1)
			return 1;
	}
	return 0;
}
