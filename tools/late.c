// SPDX-License-Identifier: GPL-2.0-only
/*
 * Libraries that are loaded when they are first called, not each time the command starts:
 * libcapstone and libpfm4 are tables of 120,000 pointers that the loader would set one by one,
 * libstdc++ refers to itself by 4,000 names, and few commands need one of them. Each function
 * here stands for that of the library that has its name. Without the library, the call
 * that has to come first fails, and what tells of errors says why.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>

#include "command.h"

/* The library's FUNCTION, and the function itself, found once */
#define OF(library, function) ({					\
	static typeof(function) *there;					\
	if (!there)							\
		there = find(&(library), #function);			\
	there;								\
})

/**
 * struct library - one that may be loaded
 * @name: its soname.
 * @handle: NULL if it is not loaded yet, or is not there.
 * @why: why it is not there.
 */
struct library {
	const char *name;
	void *handle;
	char *why;
};

static bool is_there(struct library *library)
{
	if (!library->handle && !library->why) {
		library->handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
		if (!library->handle)
			library->why = strdup(dlerror());
	}
	return library->handle;
}

static const char *why_not(const struct library *library)
{
	return library->why ? library->why : "out of memory";
}

static void *find(struct library *library, const char *function)
{
	void *there = library->handle ? dlsym(library->handle, function) : NULL;

	if (!there) {
		say_error("%s has no %s(): it is not the one that this was built for", library->name,
			  function);
		exit(1);
	}
	return there;
}

static struct library pfm = { .name = "libpfm.so.4" };

pfm_err_t pfm_initialize(void)
{
	return is_there(&pfm) ? OF(pfm, pfm_initialize)() : PFM_ERR_NOTSUPP;
}

const char *pfm_strerror(int code)
{
	return is_there(&pfm) ? OF(pfm, pfm_strerror)(code) : why_not(&pfm);
}

int pfm_find_event(const char *name)
{
	return OF(pfm, pfm_find_event)(name);
}

int pfm_get_event_next(int index)
{
	return OF(pfm, pfm_get_event_next)(index);
}

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	return OF(pfm, pfm_get_pmu_info)(pmu, info);
}

pfm_err_t pfm_get_event_info(int index, pfm_os_t os, pfm_event_info_t *info)
{
	return OF(pfm, pfm_get_event_info)(index, os, info);
}

pfm_err_t pfm_get_event_attr_info(int index, int attr, pfm_os_t os, pfm_event_attr_info_t *info)
{
	return OF(pfm, pfm_get_event_attr_info)(index, attr, os, info);
}

pfm_err_t pfm_get_os_event_encoding(const char *name, int levels, pfm_os_t os, void *args)
{
	return OF(pfm, pfm_get_os_event_encoding)(name, levels, os, args);
}

static struct library stdcxx = { .name = "libstdc++.so.6" };

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* As if it were no name of C++, without the library */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
{
	return is_there(&stdcxx) ? OF(stdcxx, __cxa_demangle)(mangled, buffer, length, status) : NULL;
}

#if __has_include("capstone/capstone.h")

#include <capstone/capstone.h>

#define SONAME(major)	SONAME_OF(major)
#define SONAME_OF(major) "libcapstone.so." #major

static struct library capstone = { .name = SONAME(CS_API_MAJOR) };

cs_err cs_open(cs_arch arch, cs_mode mode, csh *handle)
{
	return is_there(&capstone) ? OF(capstone, cs_open)(arch, mode, handle) : CS_ERR_MEM;
}

const char *cs_strerror(cs_err code)
{
	return is_there(&capstone) ? OF(capstone, cs_strerror)(code) : why_not(&capstone);
}

cs_err cs_close(csh *handle)
{
	return OF(capstone, cs_close)(handle);
}

cs_err cs_option(csh handle, cs_opt_type type, size_t value)
{
	return OF(capstone, cs_option)(handle, type, value);
}

cs_insn *cs_malloc(csh handle)
{
	return OF(capstone, cs_malloc)(handle);
}

void cs_free(cs_insn *insn, size_t count)
{
	OF(capstone, cs_free)(insn, count);
}

bool cs_disasm_iter(csh handle, const uint8_t **code, size_t *size, uint64_t *address, cs_insn *insn)
{
	return OF(capstone, cs_disasm_iter)(handle, code, size, address, insn);
}

bool cs_insn_group(csh handle, const cs_insn *insn, unsigned int group)
{
	return OF(capstone, cs_insn_group)(handle, insn, group);
}

#endif
