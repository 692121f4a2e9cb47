// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once while both CPUs sample as fast as they may: tasks come and go, move
 * and end; rings are mapped, unmapped, redirected, paused; events are enabled, disabled,
 * given other periods, opened and closed; a CPU goes and comes back. Whatever is read must
 * be whole, and in the end nothing is left. SAMPLING_SECONDS says for how long.
 */
#include "records.h"
#include "module.h"

TestSuite(sample_chaos, .timeout = 3000);

#define CPUS	2
#define SLOTS	4

static bool stop;

static bool is_over(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static uint64_t any_freq(unsigned int *seed)
{
	return rand_r(seed) % (is_slow_kernel() ? 100 : 20000) + 1;
}

/* All fields whose size is not known before, and those of fixed size */
static struct perf_event_attr chaos_attr(unsigned int *seed)
{
	struct perf_event_attr attr = sampling_attr(rand_r(seed) % 20000 + 1000);

	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (rand_r(seed) % 2)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (rand_r(seed) % 4 == 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = 0xff0fff;
		attr.sample_stack_user = 256;
	}
	if (rand_r(seed) % 4 == 0) {
		attr.freq = 1;
		attr.sample_freq = any_freq(seed);
	}
	attr.exclude_kernel = rand_r(seed) % 3 != 0;
	if (!attr.exclude_kernel && !attr.freq)
		/* Sampling itself is counted in part. */
		attr.sample_period = kernel_period(10 * attr.sample_period);
	attr.sample_id_all = rand_r(seed) % 2;
	attr.comm = rand_r(seed) % 2;
	attr.task = rand_r(seed) % 2;
	attr.mmap = attr.mmap2 = rand_r(seed) % 2;
	attr.context_switch = rand_r(seed) % 2;
	return attr;
}

/* Every record is as long as it says, and samples are of their fields. */
static uint64_t take_all_records(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t n = 0, end = ring_head(r);
	struct sample s;

	while ((header = ring_next_before(r, end))) {
		cr_assert(header->type >= PERF_RECORD_MMAP && header->type <= 20,
			  "type %u", header->type);
		if (header->type == PERF_RECORD_SAMPLE)
			take_sample(attr, header, &s);
		n++;
	}
	return n;
}

/* ---- Those who disturb ---- */

static void *forks(void *arg)
{
	pid_t child;

	(void)arg;
	while (!is_over()) {
		child = fork();
		if (!child) {
			user_loop(20000);
			execl("/bin/true", "true", NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return NULL;
}

static void *maps(void *arg)
{
	(void)arg;
	while (!is_over()) {
		char *map = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t i = 0; i < 64; i++)
			map[i * PAGE] = 1;
		munmap(map, 64 * PAGE);
	}
	return NULL;
}

static void *switches(void *arg)
{
	int *ends = arg;
	char byte = 0;

	while (!is_over())
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			break;
	return NULL;
}

static void *moves(void *arg)
{
	(void)arg;
	for (int cpu = 0; !is_over(); cpu = !cpu) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set); /* it may be gone */
		user_loop(100000);
	}
	return NULL;
}

static void *hotplug(void *arg)
{
	const char *path = "/sys/devices/system/cpu/cpu1/online";

	(void)arg;
	while (!is_over()) {
		raw_write_file(path, "0");
		usleep(20000);
		raw_write_file(path, "1");
		usleep(50000);
	}
	raw_write_file(path, "1");
	return NULL;
}

/* ---- Those who sample ---- */

struct slot {
	struct perf_event_attr attr;
	int fd;
	struct ring r;
	bool mapped;
};

static pid_t any_task(unsigned int *seed)
{
	return rand_r(seed) % 2 ? 0 : getpid();
}

static void slot_open(struct slot *slot, unsigned int *seed)
{
	int kind = rand_r(seed) % 3;

	slot->attr = chaos_attr(seed);
	slot->mapped = false;
	if (kind == 0)
		slot->fd = event_try(slot->attr, any_task(seed));
	else
		slot->fd = event_try(slot->attr, -1,
				     is_witness() ? 0 : kind == 1 ? rand_r(seed) % CPUS : -1);
	/* Nothing else may be in its way than that the CPU is not there. */
	cr_assert(slot->fd >= 0 || slot->fd == -ENODEV, "%s: %s", strerror(-slot->fd),
		  event_why.sentence);
	if (slot->fd < 0)
		return;
	slot->mapped = !ring_try_map(&slot->r, slot->fd, 1 << rand_r(seed) % 7,
				     PROT_READ | PROT_WRITE);
	cr_assert(slot->mapped);
	event_ioctl(slot->fd, PERF_EVENT_IOC_ENABLE);
}

static void slot_close(struct slot *slot, unsigned int *seed)
{
	if (slot->fd < 0)
		return;
	if (rand_r(seed) % 2) {
		close(slot->fd);
		ring_unmap(&slot->r);
	} else {
		ring_unmap(&slot->r);
		close(slot->fd);
	}
	slot->fd = -1;
}

/* Another period, or another frequency if it has one */
static uint64_t any_period(const struct slot *slot, unsigned int *seed)
{
	uint64_t period = rand_r(seed) % 20000 + 1000;

	if (slot->attr.freq)
		return any_freq(seed);
	return slot->attr.exclude_kernel ? period : kernel_period(period);
}

static void slot_disturb(struct slot *slot, unsigned int *seed)
{
	uint64_t period = any_period(slot, seed);

	switch (rand_r(seed) % 6) {
	case 0:
		ioctl(slot->fd, PERF_EVENT_IOC_DISABLE, 0);
		break;
	case 1:
		ioctl(slot->fd, PERF_EVENT_IOC_ENABLE, 0);
		break;
	case 2:
		ioctl(slot->fd, PERF_EVENT_IOC_REFRESH, 3);
		break;
	case 3:
		ioctl(slot->fd, PERF_EVENT_IOC_PERIOD, &period);
		break;
	case 4:
		ioctl(slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, rand_r(seed) % 2);
		break;
	default:
		ioctl(slot->fd, PERF_EVENT_IOC_RESET, 0);
	}
}

struct sampler {
	unsigned int seed;
	uint64_t records, rounds;
};

static void *samples(void *arg)
{
	struct sampler *sampler = arg;
	struct slot slots[SLOTS];

	for (int i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
	while (!is_over()) {
		struct slot *slot = &slots[rand_r(&sampler->seed) % SLOTS];

		if (slot->fd < 0)
			slot_open(slot, &sampler->seed);
		user_loop(20000);
		if (slot->fd < 0)
			continue;
		slot_disturb(slot, &sampler->seed);
		sampler->records += take_all_records(&slot->attr, &slot->r);
		if (rand_r(&sampler->seed) % 4 == 0)
			slot_close(slot, &sampler->seed);
		sampler->rounds++;
	}
	for (int i = 0; i < SLOTS; i++)
		slot_close(&slots[i], &sampler->seed);
	return NULL;
}

/* ---- All of them ---- */

static unsigned int seconds(void)
{
	const char *text = getenv("SAMPLING_SECONDS");

	return text ? strtoul(text, NULL, 10) : 3;
}

Test(sample_chaos, everything_at_once)
{
	void *(*const disturbers[])(void *) = { forks, maps, moves, hotplug };
	struct sampler samplers[2] = { { .seed = 1 }, { .seed = 2 } };
	unsigned int n = RAW_ARRAY_SIZE(disturbers), i;
	int there[2], back[2], one[2], other[2];
	pthread_t threads[8];

	cr_assert(!pipe(there) && !pipe(back));
	one[0] = back[0];
	one[1] = there[1];
	other[0] = there[0];
	other[1] = back[1];
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, disturbers[i], NULL);
	pthread_create(&threads[n], NULL, switches, one);
	pthread_create(&threads[n + 1], NULL, switches, other);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[n + 2 + i], NULL, samples, &samplers[i]);
	sleep(seconds());
	/* However slow all is, something has been sampled. */
	while (__atomic_load_n(&samplers[0].rounds, __ATOMIC_RELAXED) < 50 ||
	       __atomic_load_n(&samplers[0].records, __ATOMIC_RELAXED) < 50)
		usleep(10000);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	/* One more byte lets the last of the two switchers read. */
	cr_assert(write(there[1], "", 1) == 1 && write(back[1], "", 1) == 1);
	for (i = 0; i < n + 4; i++)
		pthread_join(threads[i], NULL);
	cr_log_info("%lu and %lu records in %lu and %lu rounds\n", samplers[0].records,
		    samplers[1].records, samplers[0].rounds, samplers[1].rounds);
	if (!is_witness())
		cr_assert_eq(module_info().hw_events, 0);
}
