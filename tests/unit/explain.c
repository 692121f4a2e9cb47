// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explanations: the helper through which every refusal goes, and the sentences themselves,
 * which are read from module/explain/sentences.h as text: each belongs to a code of the ABI and has
 * its errno, each fits its field with the longest arguments, each is tested in a guest.
 */
/* sources: module/explain/explain.c */
#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "explain/explain.h"

#define SENTENCES	"module/explain/sentences.h"
#define ABI		"include/uapi/linux/pmuctl.h"
#define MAX_SENTENCES	200

/* ---- The helper ---- */

Test(explain, fills_everything)
{
	struct pmuctl_explanation why;

	memset(&why, 0xa5, sizeof(why));
	cr_assert_eq(pmuctl_refuse(&why, PID_INVALID, "pid", -7), -ESRCH);
	cr_assert_eq(why.size, sizeof(why));
	cr_assert_eq(why.error, ESRCH);
	cr_assert_eq(why.code, PMUCTL_WHY_PID_INVALID);
	cr_assert_eq(why.entry, 0);
	cr_assert_str_eq(why.field, "pid");
	cr_assert_str_eq(why.sentence,
			 "pid -7 is not a target: use 0 for the calling task, a thread id, or -1 with a cpu");
}

/* What was there before could be the kernel's memory. */
Test(explain, leaves_nothing_behind_the_strings)
{
	struct pmuctl_explanation why;

	memset(&why, 0xa5, sizeof(why));
	pmuctl_refuse(&why, PMU_BUSY, "attr.type");
	memset(&why.sentence, 0xa5, sizeof(why.sentence));
	pmuctl_refuse(&why, NO_FD, "");
	for (size_t i = 0; i < sizeof(why.field); i++)
		cr_assert_eq(why.field[i], 0);
	for (size_t i = strlen(why.sentence); i < sizeof(why.sentence); i++)
		cr_assert_eq(why.sentence[i], 0, "byte %zu", i);
}

Test(explain, nobody_has_to_ask)
{
	cr_assert_eq(pmuctl_refuse(NULL, NO_SUCH_TASK, "pid", 1), -ESRCH);
	cr_assert_eq(pmuctl_refuse(NULL, NO_MEMORY, ""), -ENOMEM);
}

Test(explain, strings_that_are_too_long_are_cut_and_ended)
{
	struct pmuctl_explanation why;
	char text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_assert_eq(pmuctl_refuse_(&why, PMUCTL_WHY_NO_PMU, text, ENOENT, "%s",
				    text), -ENOENT);
	cr_assert_eq(strlen(why.field), sizeof(why.field) - 1);
	cr_assert_eq(strlen(why.sentence), sizeof(why.sentence) - 1);
}

Test(explain, an_entry_of_a_list_is_named_before_its_field)
{
	struct pmuctl_explanation why;

	pmuctl_refuse(&why, PID_INVALID, "attr.sample_stack_user", -7);
	pmuctl_refuse_entry(&why, 1023);
	cr_assert_eq(why.entry, 1023);
	cr_assert_str_eq(why.field, "[1023].attr.sample_stack_user");
	pmuctl_refuse(&why, NO_FD, "");
	cr_assert_eq(why.entry, 0);
	pmuctl_refuse_entry(&why, 3);
	cr_assert_str_eq(why.field, "[3]");
	cr_assert_eq(why.error, EMFILE);
}

/* ---- The sentences ---- */

struct sentence {
	char name[40];		/* PID_INVALID */
	char error[16];		/* EINVAL; empty for a reason of NO_PMU */
	char format[300];
};

static struct sentence sentences[MAX_SENTENCES], reasons[MAX_SENTENCES];
static int nr_sentences, nr_reasons;

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	cr_assert_not_null(file, "%s: run this in the project's directory", path);
	cr_assert_gt(getdelim(&text, &size, '\0', file), 0);
	fclose(file);
	return text;
}

/* The identifier at @text. */
static size_t copy_word(char *word, size_t size, const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	cr_assert_lt(n, size);
	memcpy(word, text, n);
	word[n] = '\0';
	return n;
}

/* "#define PREFIX_NAME ERRNO, \ "the sentence"", the errno only @with_error */
static int read_sentences(const char *text, const char *prefix, bool with_error,
			  struct sentence *all)
{
	int n = 0;

	while ((text = strstr(text, prefix))) {
		struct sentence *s = &all[n++];
		const char *end;

		cr_assert_lt(n, MAX_SENTENCES);
		text += strlen(prefix);
		text += copy_word(s->name, sizeof(s->name), text);
		text += strspn(text, " ");
		if (with_error)
			text += copy_word(s->error, sizeof(s->error), text);
		text = strchr(text, '"') + 1;
		end = strchr(text, '"');
		cr_assert_lt((size_t)(end - text), sizeof(s->format));
		memcpy(s->format, text, end - text);
		s->format[end - text] = '\0';
		text = end;
	}
	return n;
}

static void read_all(void)
{
	char *text = read_text(SENTENCES);

	nr_sentences = read_sentences(text, "#define PMUCTL_SAY_", true, sentences);
	nr_reasons = read_sentences(text, "#define PMUCTL_NO_PMU_", false, reasons);
	free(text);
	cr_assert_gt(nr_sentences, 30);
	cr_assert_gt(nr_reasons, 5);
}

TestSuite(explain_sentences, .init = read_all);

/* The longest strings that can stand for %s, in the order in which they do */
static const char *longest_string(const char *name, int nth)
{
	static const struct {
		const char *name, *string[2];
	} known[] = {
		{ "ATTR_UNSUPPORTED", { "attr.exclude_callchain_kernel" } },
		{ "TYPE_UNSUPPORTED", { "breakpoint" } },
		{ "EVENT_NOT_HERE", { "Intel architectural PMU version 255, 47 letters",
				      "stalled-cycles-frontend" } },
		{ "EVENT_OTHER_CPUS", { "Intel performance core, PMU version 5" } },
		{ "EVENT_ALIKE", { "cpu_core" } },
		{ "SOFT_UNSUPPORTED", { "bpf-output" } },
		{ "NO_SOFT_HOOK", { "sched_migrate_task" } },
		/* None is longer than that. */
		{ "TRACEPOINT_UNKNOWN", { "vmscan_kswapd_sleep_and_ten_more_or_so_x" } },
		{ "FILTER_TEXT", { "a slash and a size are expected: the processor has ranges only" } },
		{ "FLAG_UNSUPPORTED", { "PID_CGROUP" } },
		{ "CGROUP_EVENT", { "cpu-migrations" } },
		{ "SIBLING_FLAG", { "exclusive" } },
		{ "GROUP_LONG", { " of which samples tell all values" } },
		{ "NO_HOOK", { "sched_process_exec" } },
		{ "NO_MMAP_HOOK", { "perf_event_mmap" } },
		{ "NO_SIDE_HOOK", { "perf_event_namespaces" } },
		{ "SAMPLE_UNSUPPORTED", { "PERF_SAMPLE_DATA_PAGE_SIZE" } },
		{ "OUTPUT_OTHER", { "write_backward" } },
		{ "AUX_NONE", { "intel_bts", PMUCTL_NO_BTS_ISOLATED } },
		{ "AUX_FOREIGN", { "intel_bts" } },
		{ "AUX_RIVAL", { "intel_bts" } },
		{ "AUX_NO_FILTER", { "intel_bts" } },
		{ "PERM_ADDRESSES", { "intel_bts" } },
		{ "AUX_BUSY", { "a task that is to inherit this" } },
		{ "AUX_ONLY", { "attr.aux_watermark" } },
		{ "PT_CHOICE", { "mtc_period" } },
		{ "PT_RANGE_LEVEL", { "kernel", "kernel" } },
		{ "IOCTL_UNSUPPORTED", { "PERF_EVENT_IOC_MODIFY_ATTRIBUTES" } },
		{ "EVENTS_CONTEXT", { "task" } },
		{ "LIST_ENTRY_SIZE", { "pmuctl_read_entry" } },
		{ "KERNEL_ATTR", { "attr.branch_sample_type" } },
		{ "NO_LBR", { PMUCTL_NO_LBR_MSR } },
	};
	const char *longest = "";

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(name, known[i].name))
			return nth < 2 ? known[i].string[nth] : NULL;
	if (strcmp(name, "NO_PMU"))
		return NULL;
	for (int i = 0; i < nr_reasons; i++)
		if (strlen(reasons[i].format) > strlen(longest))
			longest = reasons[i].format;
	return longest;
}

/* What a conversion gives at most: its length, and in @used that of the conversion */
static size_t longest_conversion(const char *spec, const char *name, int nth_string,
				 size_t *used)
{
	static const struct {
		const char *spec, *longest;
	} numbers[] = {
		{ "%u", "4294967295" }, { "%d", "-2147483648" },
		{ "%x", "ffffffff" }, { "%llx", "ffffffffffffffff" },
		{ "%lx", "ffffffffffffffff" }, { "%zu", "18446744073709551615" },
		{ "%lu", "18446744073709551615" }, { "%llu", "18446744073709551615" },
	};
	const char *string;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		*used = strlen(numbers[i].spec);
		if (!strncmp(spec, numbers[i].spec, *used))
			return strlen(numbers[i].longest);
	}
	*used = 2;
	cr_assert(!strncmp(spec, "%s", 2), "%s: unknown conversion %.4s", name, spec);
	string = longest_string(name, nth_string);
	cr_assert_not_null(string, "%s: which strings can it have?", name);
	return strlen(string);
}

static size_t longest(const struct sentence *s)
{
	size_t length = 0, used;
	int nth_string = 0;

	for (const char *c = s->format; *c; c += used) {
		used = 1;
		if (*c != '%') {
			length++;
			continue;
		}
		length += longest_conversion(c, s->name, nth_string, &used);
		nth_string += c[1] == 's';
	}
	return length;
}

Test(explain_sentences, fit_with_their_longest_arguments)
{
	size_t room = sizeof(((struct pmuctl_explanation *)0)->sentence);

	for (int i = 0; i < nr_sentences; i++)
		cr_expect_lt(longest(&sentences[i]), room, "%s can have %zu bytes",
			     sentences[i].name, longest(&sentences[i]));
	room = sizeof(((struct pmuctl_info *)0)->pmu_reason);
	for (int i = 0; i < nr_reasons; i++)
		cr_expect_lt(strlen(reasons[i].format), room, "%s",
			     reasons[i].name);
}

/* Programs print them after a prefix of their own. */
static void check_form(const struct sentence *s)
{
	size_t length = strlen(s->format);

	cr_expect_gt(length, 30, "%s says nothing", s->name);
	cr_expect_null(strchr(s->format, '\\'), "%s has an escape", s->name);
	cr_expect_neq(s->format[length - 1], '.', "%s ends with a full stop", s->name);
	cr_expect_neq(s->format[length - 1], ' ', "%s ends with a blank", s->name);
	/* Capitals begin names only: PMU, CPUID. */
	cr_expect(!isupper((unsigned char)s->format[0]) ||
		  isupper((unsigned char)s->format[1]), "%s begins with a capital",
		  s->name);
}

Test(explain_sentences, have_their_form)
{
	for (int i = 0; i < nr_sentences; i++)
		check_form(&sentences[i]);
	for (int i = 0; i < nr_reasons; i++)
		check_form(&reasons[i]);
}

/* Whoever is refused learns what to do. */
Test(explain_sentences, name_a_remedy)
{
	static const char *const without[] = { "INTERRUPTED", "IOCTL_UNSUPPORTED",
		"NO_PMU" };

	for (int i = 0; i < nr_sentences; i++) {
		bool excused = false;

		for (size_t k = 0; k < ARRAY_SIZE(without); k++)
			excused |= !strcmp(sentences[i].name, without[k]);
		cr_expect(excused || strstr(sentences[i].format, ": "),
			  "%s has no remedy", sentences[i].name);
	}
}

/* ---- The codes of the ABI ---- */

static const struct sentence *find_sentence(const char *name)
{
	for (int i = 0; i < nr_sentences; i++)
		if (!strcmp(sentences[i].name, name))
			return &sentences[i];
	return NULL;
}

/* Call @check for every code in the header, with the errno that its comment names. */
static int for_each_code(void (*check)(const char *name, const char *error))
{
	char *text = read_text(ABI), *line, *rest;
	char name[40], error[16];
	int n = 0;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *code = strstr(line, "PMUCTL_WHY_");
		char *comment = strstr(line, "/* E");

		if (!code || !strchr(line, '=') || strstr(line, "PMUCTL_WHY_NOTHING"))
			continue;
		copy_word(name, sizeof(name), code + strlen("PMUCTL_WHY_"));
		cr_assert_not_null(comment, "%s names no errno", name);
		copy_word(error, sizeof(error), comment + 3);
		check(name, error);
		n++;
	}
	free(text);
	return n;
}

static void has_sentence(const char *name, const char *error)
{
	const struct sentence *s = find_sentence(name);

	cr_assert_not_null(s, "PMUCTL_WHY_%s has no sentence", name);
	cr_expect_str_eq(s->error, error, "%s: the header says %s, the sentence %s",
			 name, error, s->error);
}

Test(explain_sentences, are_those_of_the_codes)
{
	cr_assert_eq(for_each_code(has_sentence), nr_sentences,
		     "a sentence has no code in the ABI");
}

/* Programs tell refusals apart by them. */
Test(explain_sentences, codes_are_not_given_twice)
{
	char *text = read_text(ABI), *line, *rest;
	static char name_of[1000][40];
	char name[40];

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *code = strstr(line, "PMUCTL_WHY_"), *number = strchr(line, '=');
		unsigned long n;

		if (!code || !number)
			continue;
		copy_word(name, sizeof(name), code + strlen("PMUCTL_WHY_"));
		n = strtoul(number + 1, NULL, 10);
		cr_assert_lt(n, ARRAY_SIZE(name_of));
		cr_expect_str_empty(name_of[n], "%s has the number of %s", name,
				    name_of[n]);
		strcpy(name_of[n], name);
	}
	free(text);
}

/* ---- Tests ---- */

static char *guest_tests;

static bool is_tested(const char *name)
{
	char code[60];
	const char *at = guest_tests;

	snprintf(code, sizeof(code), "PMUCTL_WHY_%s", name);
	while ((at = strstr(at, code))) {
		at += strlen(code);
		if (!isalnum((unsigned char)*at) && *at != '_')
			return true;
	}
	return false;
}

/* No program can make these happen; tests/vm/refuse/refuse_call.c says why. The laboratory's CPU
 * has no choice of periods of its trace, nor Broadwell's erratum: these are unit pt_config's. Its
 * kernels have cgroups.
 */
static bool is_out_of_reach(const char *name)
{
	return !strcmp(name, "NO_MEMORY") || !strcmp(name, "NO_HOOK") ||
	       !strcmp(name, "FLAG_UNSUPPORTED") ||
	       !strcmp(name, "NO_MMAP_HOOK") || !strcmp(name, "NO_SIDE_HOOK") ||
	       !strcmp(name, "PT_CHOICE") || !strcmp(name, "PT_BRANCHES");
}

static void has_test(const char *name, const char *error)
{
	(void)error;
	cr_expect(is_tested(name) || is_out_of_reach(name),
		  "PMUCTL_WHY_%s has no test in tests/vm", name);
}

Test(explain_sentences, are_tested_in_a_guest)
{
	size_t length = 0;
	glob_t found;

	cr_assert_eq(glob("tests/vm/*/*.c", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *text = read_text(found.gl_pathv[i]);

		guest_tests = realloc(guest_tests, length + strlen(text) + 1);
		strcpy(guest_tests + length, text);
		length += strlen(text);
		free(text);
	}
	globfree(&found);
	for_each_code(has_test);
	free(guest_tests);
}
