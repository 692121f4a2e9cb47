// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a program spends its time, found out by itself: a sample at each 100,000th instruction;
 * the address of each tells in which of two functions that is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmuctl_builder.h>

#define PERIOD	100000

/* The linker tells where sections with such names begin and end. */
#define IN(name)	__attribute__((noinline, section(#name)))

extern const char __start_often[], __stop_often[], __start_seldom[], __stop_seldom[];

struct places {
	unsigned long often, seldom, elsewhere;
};

IN(often) static void count_often(void)
{
	for (volatile int i = 0; i < 3000000; i++)
		;
}

IN(seldom) static void count_seldom(void)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
}

/* Called for each sample by pmuctl_event_dispatch(), not by the kernel */
static void place(struct pmuctl_event *event, const struct pmuctl_overflow *overflow, void *arg)
{
	const char *ip = (const char *)(uintptr_t)overflow->ip;
	struct places *places = arg;

	(void)event;
	if (ip >= __start_often && ip < __stop_often)
		places->often++;
	else if (ip >= __start_seldom && ip < __stop_seldom)
		places->seldom++;
	else
		places->elsewhere++;
}

static int open_event(struct pmuctl_device *dev, struct places *places, struct pmuctl_event **event)
{
	struct pmuctl_explanation why;
	struct pmuctl_builder *builder;
	int ret = pmuctl_builder_new(&builder);

	if (ret < 0)
		return ret;
	/* What is wrong with any of these, the last call tells. */
	pmuctl_builder_name(builder, "instructions:u");
	pmuctl_builder_period(builder, PERIOD);
	pmuctl_builder_callback(builder, place, places);
	ret = pmuctl_builder_open(builder, dev, &why, event);
	if (ret < 0)
		fprintf(stderr, "%s\n", why.sentence);
	pmuctl_builder_free(builder);
	return ret;
}

int main(void)
{
	struct places places = { 0 };
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;
	struct pmuctl_event *event;

	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		fprintf(stderr, "%s\n", why.sentence);
		return EXIT_FAILURE;
	}
	if (open_event(dev, &places, &event) < 0) {
		pmuctl_device_close(dev);
		return EXIT_FAILURE;
	}
	for (int i = 0; i < 4; i++) {
		count_often();
		count_seldom();
		/* The buffer is read before it is full. */
		pmuctl_event_dispatch(event);
	}
	pmuctl_event_disable(event);
	pmuctl_event_dispatch(event);
	printf("samples in count_often() %lu, in count_seldom() %lu, elsewhere %lu\n", places.often,
	       places.seldom, places.elsewhere);
	pmuctl_event_close(event);
	pmuctl_device_close(dev);
	return EXIT_SUCCESS;
}
