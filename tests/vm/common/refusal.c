// SPDX-License-Identifier: GPL-2.0-only
#include "refusal.h"

#include <stdarg.h>

union raw_attr raw_attr_of(struct perf_event_attr attr)
{
	union raw_attr a;

	memset(&a, 0, sizeof(a));
	a.attr = attr;
	return a;
}

/* What is wrong with a case, for whoever reads the test's output; "" if it is right */
struct fault {
	char text[640];
};

/* The number before the field of an entry, "[3].fd"; else 0 */
static uint32_t entry_of(const char *field)
{
	return *field == '[' ? (uint32_t)strtoul(field + 1, NULL, 10) : 0;
}

static struct fault fault_of_why(const struct pmuctl_explanation *why, const struct refusal *r)
{
	struct fault f = { "" };

	if (why->error != (uint32_t)r->error)
		snprintf(f.text, sizeof(f.text), "explained as errno %u, expected %d: %.200s",
			 why->error, r->error, why->sentence);
	else if (why->code != r->code)
		snprintf(f.text, sizeof(f.text), "code %u, expected %u: %.200s", why->code,
			 r->code, why->sentence);
	else if (strncmp(why->field, r->field, sizeof(why->field)))
		snprintf(f.text, sizeof(f.text), "field '%.24s', expected '%s'", why->field,
			 r->field);
	else if (strncmp(why->sentence, r->sentence, sizeof(why->sentence)))
		snprintf(f.text, sizeof(f.text), "'%.208s', expected '%s'", why->sentence,
			 r->sentence);
	else if (why->size != sizeof(*why) || why->entry != entry_of(r->field))
		snprintf(f.text, sizeof(f.text), "size %u, entry %u of '%s'", why->size,
			 why->entry, r->field);
	return f;
}

/* 0, or -errno; what it has opened or mapped is given back at once. */
static int make_call(const struct call *c, struct pmuctl_explanation *why)
{
	struct pmuctl_open request;
	void *map;
	int ret;

	errno = 0;
	switch (c->kind) {
	case CALL_OPEN:
		request = raw_request(c->attr, c->target.pid, c->target.cpu, c->target.flags, why);
		request.group_fd = c->target.group;
		request.tracepoint = (uintptr_t)c->target.tracepoint;
		ret = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
		if (ret >= 0)
			close(ret);
		break;
	case CALL_IOCTL:
		ret = ioctl(c->fd, c->number, c->argument);
		break;
	case CALL_READ:
		ret = syscall(SYS_read, c->fd, c->argument, c->length);
		break;
	default:
		map = mmap(NULL, c->length, c->prot ?: PROT_READ | PROT_WRITE,
			   c->private ? MAP_PRIVATE : MAP_SHARED, c->fd, c->offset);
		ret = map == MAP_FAILED ? -1 : munmap(map, c->length);
	}
	return ret < 0 ? -errno : 0;
}

static struct fault fault_of(const struct refusal *r)
{
	struct pmuctl_explanation told, kept;
	bool is_open = r->call.kind == CALL_OPEN;
	struct fault f = { "" };
	int err;

	memset(&told, 0x5a, sizeof(told));
	err = make_call(&r->call, &told);
	if (err != -r->error) {
		snprintf(f.text, sizeof(f.text), "the call gives %d, expected %d", err, -r->error);
		return f;
	}
	err = raw_explain(is_open ? raw_device() : r->call.fd, &kept);
	if (err)
		snprintf(f.text, sizeof(f.text), "PMUCTL_IOC_EXPLAIN gives %d", err);
	else if (is_open && memcmp(&told, &kept, sizeof(kept)))
		snprintf(f.text, sizeof(f.text), "the open told '%.208s', and later '%.208s'",
			 told.sentence, kept.sentence);
	else
		f = fault_of_why(&kept, r);
	return f;
}

void check_refusals_of(const struct refusal *cases, size_t n)
{
	size_t right = 0;

	for (size_t i = 0; i < n; i++) {
		struct fault f = fault_of(&cases[i]);

		right += !f.text[0];
		cr_expect_str_empty(f.text, "%s: %s", cases[i].name, f.text);
	}
	cr_assert_eq(right, n, "%zu of %zu cases", right, n);
}

/* The sentence of a format, which must fit: 208 bytes are what an explanation has. */
#define FORMAT_SENTENCE(sentence, format) do {				\
	va_list args;							\
									\
	va_start(args, format);						\
	vsnprintf(sentence, sizeof(sentence), format, args);		\
	va_end(args);							\
} while (0)

void check_refused_at(const char *name, struct call call, int error, uint32_t code,
		      const char *field, const char *format, ...)
{
	char sentence[sizeof(((struct pmuctl_explanation *)0)->sentence)];
	struct refusal r = { name, call, error, code, field, sentence };
	struct fault f;

	FORMAT_SENTENCE(sentence, format);
	f = fault_of(&r);
	cr_assert_str_empty(f.text, "%s: %s", name, f.text);
}

void check_explained_at(const char *name, int fd, int error, uint32_t code,
			const char *field, const char *format, ...)
{
	char sentence[sizeof(((struct pmuctl_explanation *)0)->sentence)];
	struct refusal r = { .error = error, .code = code, .field = field, .sentence = sentence };
	struct pmuctl_explanation why;
	struct fault f;

	FORMAT_SENTENCE(sentence, format);
	cr_assert_eq(raw_explain(fd, &why), 0, "%s", name);
	f = fault_of_why(&why, &r);
	cr_assert_str_empty(f.text, "%s: %s", name, f.text);
}

void check_why_at(const char *name, const struct pmuctl_explanation *why, int error,
		  uint32_t code, const char *field, const char *format, ...)
{
	char sentence[sizeof(((struct pmuctl_explanation *)0)->sentence)];
	struct refusal r = { .error = error, .code = code, .field = field, .sentence = sentence };
	struct fault f;

	FORMAT_SENTENCE(sentence, format);
	f = fault_of_why(why, &r);
	cr_assert_str_empty(f.text, "%s: %s", name, f.text);
}
