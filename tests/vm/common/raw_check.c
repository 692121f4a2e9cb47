// SPDX-License-Identifier: GPL-2.0-only
#include "raw_check.h"

void raw_check_why(const struct pmuctl_explanation *why, int error, uint32_t code,
		   const char *field, const char *format, ...)
{
	char sentence[sizeof(why->sentence)];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	cr_assert_eq(why->error, (uint32_t)error, "error %u, expected %d: %s",
		     why->error, error, why->sentence);
	cr_assert_eq(why->code, code, "code %u, expected %u: %s", why->code,
		     code, why->sentence);
	cr_assert_str_eq(why->field, field, "field '%s', expected '%s'",
			 why->field, field);
	cr_assert_str_eq(why->sentence, sentence, "'%s', expected '%s'",
			 why->sentence, sentence);
	cr_assert_eq(why->size, sizeof(*why));
	cr_assert_eq(why->reserved, 0);
}
