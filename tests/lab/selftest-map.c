// SPDX-License-Identifier: GPL-2.0-only
/*
 * One CPU reads a device's memory while another changes the machine's memory map: what is
 * RAM and what is of devices below 1 MiB, by the host bridge's PAM registers (Q35's, at 91H
 * to 96H of its configuration space). The device is the guest's serial port, and what is
 * read the address of the first entry of its MSI-X table, which is the local APIC's
 * (FEExxxxxH). Ends with 1 if anything else was read; the argument is how often all
 * registers are changed.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PCI	"/sys/bus/pci/devices/0000:00:"
#define PAM	0x91
#define NR_PAM	6

static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(2, "CPU %d", cpu);
}

static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = true;
}

/*
 * Who waits for QEMU's lock when the map changes looks nothing up: so each access is a little
 * later after the last than the one before.
 */
static int read_device(const volatile uint32_t *entry)
{
	unsigned int i;

	for (i = 0; !over; i++) {
		volatile unsigned int wait = i * 7919 % 1501;
		uint32_t address;

		while (wait)
			wait--;
		address = *entry;
		if (address >> 20 != 0xfee) {
			warnx("read %#x at another device", address);
			return 1;
		}
	}
	return 0;
}

static void change_map(int config, int times)
{
	uint8_t was[NR_PAM], devices[NR_PAM] = { 0 };

	if (pread(config, was, sizeof(was), PAM) != sizeof(was))
		err(2, "reading the host bridge");
	while (times--) {
		int i;

		for (i = 0; i < 2 * NR_PAM; i++) {
			const uint8_t *to = i < NR_PAM ? devices : was;

			if (pwrite(config, &to[i % NR_PAM], 1, PAM + i % NR_PAM) != 1)
				err(2, "writing to the host bridge");
		}
	}
}

int main(int argc, char **argv)
{
	int device = open(PCI "01.0/resource1", O_RDWR);
	int config = open(PCI "00.0/config", O_RDWR), status;
	const volatile uint32_t *entry;
	pid_t reader;

	if (argc != 2 || device < 0 || config < 0)
		err(2, "the devices of this machine");
	entry = mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, 0);
	if (entry == MAP_FAILED)
		err(2, "mapping the device");
	signal(SIGTERM, end);
	reader = fork();
	if (reader < 0)
		err(2, "fork");
	if (!reader) {
		run_on(1);
		return read_device(entry);
	}
	run_on(0);
	change_map(config, atoi(argv[1]));
	kill(reader, SIGTERM);
	if (waitpid(reader, &status, 0) != reader || !WIFEXITED(status))
		err(2, "the reader");
	return WEXITSTATUS(status);
}
