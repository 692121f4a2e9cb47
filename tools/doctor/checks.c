// SPDX-License-Identifier: GPL-2.0-only
/*
 * The doctor's checks of driver, machine and permissions. Each looks at one thing
 * and says what to do about it; none of them changes anything.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"

#define MODULE_DIR	"/sys/module/pmuctl"
#define CLAIM		"/sys/module/pmuctl/parameters/claim"
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define SIG_ENFORCE	"/sys/module/module/parameters/sig_enforce"
#define SECURE_BOOT	"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
/* Where shim tells whether it validates: mokutil(1), --disable-validation */
#define SHIM_OFF	"/sys/firmware/efi/efivars/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23"

/* The start of a small file, without the newline; false if it cannot be read. */
static bool file_read(const char *path, char *buffer, size_t size, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, buffer, size - 1);
	close(fd);
	if (got < 0)
		return false;
	buffer[got] = '\0';
	*len = (size_t)got;
	if (got && buffer[got - 1] == '\n')
		buffer[got - 1] = '\0';
	return true;
}

/* Is this word in the "flags" line of /proc/cpuinfo? */
static bool cpu_has_flag(const char *flag)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (in && !found && getline(&line, &size, in) > 0) {
		char *save, *word;

		if (strncmp(line, "flags", 5) != 0)
			continue;
		for (word = strtok_r(line, " \t\n", &save); word && !found;
		     word = strtok_r(NULL, " \t\n", &save))
			found = !strcmp(word, flag);
		break;
	}
	free(line);
	if (in)
		fclose(in);
	return found;
}

static bool module_exists(void)
{
	struct utsname system;
	char path[256];

	if (uname(&system) < 0)
		return false;
	for (int i = 0; i < 3; i++) {
		static const char *const formats[] = {
			"/lib/modules/%s/updates/dkms/pmuctl.ko",
			"/lib/modules/%s/updates/dkms/pmuctl.ko.xz",
			"/lib/modules/%s/extra/pmuctl.ko",
		};

		snprintf(path, sizeof(path), formats[i], system.release);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/**
 * check_driver() - is the module loaded?
 * @check: filled.
 * @patient: with the device, or why not.
 */
void check_driver(struct check *check, const struct patient *patient)
{
	struct utsname system;

	if (patient->dev || access(MODULE_DIR, F_OK) == 0) {
		check_set(check, CHECK_OK, "the pmuctl module is loaded%s%s",
			  patient->dev ? ", version " : "",
			  patient->dev ? patient->info.module_version : "");
		return;
	}
	check_set(check, CHECK_PROBLEM, "the pmuctl module is not loaded");
	if (module_exists())
		check_remedy(check, "load it as root: modprobe pmuctl");
	else if (uname(&system) == 0)
		check_remedy(check, "it is not installed for kernel %s: run 'make dkms-install' in pmuctl's source as root, then 'modprobe pmuctl'",
			     system.release);
}

/**
 * check_version() - do tool and module belong together?
 * @check: filled.
 * @patient: with the device.
 */
void check_version(struct check *check, const struct patient *patient)
{
	const struct pmuctl_info *info = &patient->info;

	if (!patient->dev) {
		check_set(check, CHECK_UNKNOWN, "the module's version is not known");
		return;
	}
	if (!strcmp(info->module_version, pmuctl_version())) {
		check_set(check, CHECK_OK, "tool and module are both version %s",
			  pmuctl_version());
		return;
	}
	check_set(check, info->abi_version < PMUCTL_ABI_VERSION ?
		  CHECK_PROBLEM : CHECK_NOTE,
		  "the tool is version %s, the module %s", pmuctl_version(),
		  info->module_version);
	check_remedy(check, "install both from the same source and reload the module: modprobe -r pmuctl; modprobe pmuctl");
}

/**
 * check_device() - may this user open the device?
 * @check: filled.
 * @patient: with the device, or why not.
 */
void check_device(struct check *check, const struct patient *patient)
{
	struct stat status;

	if (patient->dev) {
		check_set(check, CHECK_OK, "%s can be opened", PMUCTL_DEVICE);
		return;
	}
	if (stat(PMUCTL_DEVICE, &status) < 0) {
		if (access(MODULE_DIR, F_OK) == 0) {
			check_set(check, CHECK_PROBLEM,
				  "%s is not there although the module is loaded",
				  PMUCTL_DEVICE);
			check_remedy(check, "in a container, hand the device in; else mount devtmpfs on /dev, or make the node with the number in /sys/class/misc/pmuctl/dev");
		} else {
			check_set(check, CHECK_UNKNOWN, "%s is not there",
				  PMUCTL_DEVICE);
		}
		return;
	}
	check_set(check, CHECK_PROBLEM, "%s", patient->why.sentence);
	check_remedy(check, "its mode is %04o, owner %u, group %u: as root, chmod 0666 %s (what a user may count is decided at open all the same)",
		     status.st_mode & 07777, status.st_uid, status.st_gid,
		     PMUCTL_DEVICE);
}

/* What makes the kernel refuse an unsigned module; empty if nothing does */
struct refusers {
	bool secure_boot, lockdown, confidential, sig_enforce;
};

/* Is this variable of the firmware 1? Its attributes, four bytes, come first. */
static bool firmware_says_yes(const char *path)
{
	char value[128];
	size_t len;

	return file_read(path, value, sizeof(value), &len) && len >= 5 && value[4] == 1;
}

static struct refusers refusers_get(void)
{
	struct refusers found = { .secure_boot = false };
	char text[128];
	size_t len;

	/* For the kernel it is off when shim validates nothing. */
	found.secure_boot = firmware_says_yes(SECURE_BOOT) && !firmware_says_yes(SHIM_OFF);
	found.sig_enforce = file_read(SIG_ENFORCE, text, sizeof(text), &len) && text[0] == 'Y';
	if (file_read(LOCKDOWN, text, sizeof(text), &len)) {
		found.lockdown = !strstr(text, "[none]");
		found.confidential = strstr(text, "[confidentiality]");
	}
	return found;
}

/**
 * check_secure_boot() - would the kernel refuse an unsigned module?
 * @check: filled.
 * @patient: with the device, if the module got in.
 *
 * The keys of a machine's owner are trusted if it was started with Secure Boot, else not.
 */
void check_secure_boot(struct check *check, const struct patient *patient)
{
	struct refusers by = refusers_get();
	bool before_sig = by.secure_boot || by.lockdown;

	if (!before_sig && !by.sig_enforce) {
		check_set(check, CHECK_OK,
			  "Secure Boot is off or not there, the kernel is not locked down, module.sig_enforce is off");
		return;
	}
	check_set(check, patient->dev ? CHECK_OK : CHECK_NOTE, "%s%s%s%s%s%s%s",
		  by.secure_boot ? "Secure Boot is on" : "",
		  by.secure_boot && by.lockdown ? ", " : "",
		  by.lockdown ? "the kernel is locked down" : "",
		  before_sig && by.sig_enforce ? ", " : "",
		  by.sig_enforce ? "module.sig_enforce is on" : "",
		  patient->dev ? ", and the module is loaded" : ": modules must be signed",
		  by.confidential ? "; lockdown is at 'confidentiality'" : "");
	if (patient->dev)
		return;
	if (by.secure_boot)
		check_remedy(check, "DKMS signs the module with its own key: enrol it with 'mokutil --import /var/lib/dkms/mok.pub', then reboot");
	else
		check_remedy(check, "boot without %s%s%s on the kernel's command line, or with Secure Boot: DKMS's key is trusted with that only",
			     by.lockdown ? "lockdown" : "",
			     by.lockdown && by.sig_enforce ? " and " : "",
			     by.sig_enforce ? "module.sig_enforce" : "");
}

/**
 * check_machine() - is this a virtual machine, and one without a PMU?
 * @check: filled.
 * @patient: with what the driver found.
 */
void check_machine(struct check *check, const struct patient *patient)
{
	bool virtual = cpu_has_flag("hypervisor");
	bool pmu = (patient->dev &&
		    patient->info.pmu_kind != PMUCTL_PMU_NONE) ||
		   cpu_has_flag("arch_perfmon") || cpu_has_flag("perfctr_core");

	if (!virtual) {
		check_set(check, CHECK_OK, "not a virtual machine, as far as the CPU tells");
	} else if (pmu) {
		check_set(check, CHECK_OK, "a virtual machine with a PMU");
	} else {
		check_set(check, CHECK_NOTE, "a virtual machine without a PMU");
		check_remedy(check, "ask the host for one: QEMU '-cpu host,pmu=on', libvirt '<features><pmu state=\"on\"/></features>', or a larger or bare-metal instance of a cloud");
	}
}

/**
 * check_pmu() - is there a PMU that the driver can use?
 * @check: filled.
 * @patient: with what the driver found.
 */
void check_pmu(struct check *check, const struct patient *patient)
{
	const struct pmuctl_info *info = &patient->info;

	if (!patient->dev)
		check_set(check, CHECK_UNKNOWN, "only the driver can tell");
	else if (info->pmu_kind == PMUCTL_PMU_NONE)
		check_set(check, CHECK_PROBLEM, "%s", info->pmu_reason[0] ?
			  info->pmu_reason : "there is none that can be used");
	else
		check_set(check, CHECK_OK,
			  "%s: %u counters of %u bits, %u fixed ones of %u bits",
			  info->pmu_name, info->nr_counters, info->counter_width,
			  info->nr_fixed, info->fixed_width);
}

/* Is the parameter that says who may take the PMU set to this? */
static bool claim_is(const char *word)
{
	char text[32] = "";
	size_t len;

	return file_read(CLAIM, text, sizeof(text), &len) && !strcmp(text, word);
}

/**
 * check_owner() - who holds the PMU?
 * @check: filled.
 * @patient: with what the driver found.
 */
void check_owner(struct check *check, const struct patient *patient)
{
	char text[32] = "";
	size_t len;
	bool watchdog = file_read(WATCHDOG, text, sizeof(text), &len) &&
			!strcmp(text, "1");
	unsigned int owner = patient->info.pmu_owner;
	unsigned int events = patient->info.hw_events;

	if (!patient->dev && watchdog)
		check_set(check, CHECK_NOTE, "the NMI watchdog is on: where there is a PMU, it holds it");
	else if (!patient->dev)
		check_set(check, CHECK_UNKNOWN, "only the driver can tell");
	else if (owner == PMUCTL_OWNER_OTHER && watchdog)
		check_set(check, CHECK_PROBLEM, "the kernel's NMI watchdog holds the PMU");
	else if (owner == PMUCTL_OWNER_OTHER)
		check_set(check, CHECK_PROBLEM, "perf, or another user of the kernel's perf events, holds the PMU");
	else if (owner == PMUCTL_OWNER_UNKNOWN && watchdog)
		check_set(check, CHECK_NOTE, "the kernel's NMI watchdog is on: most likely it holds the PMU");
	else if (owner == PMUCTL_OWNER_UNKNOWN)
		check_set(check, CHECK_UNKNOWN, "pmuctl does not; who else may, only root or a user with CAP_PERFMON is told");
	else if (owner == PMUCTL_OWNER_PMUCTL && !events)
		check_set(check, CHECK_OK, "pmuctl, with no open hardware event%s",
			  claim_is("always") ? ": it keeps it always" : "");
	else if (owner == PMUCTL_OWNER_PMUCTL)
		check_set(check, CHECK_OK, "pmuctl, with %u open hardware event%s",
			  events, events == 1 ? "" : "s");
	else
		check_set(check, CHECK_OK, "nobody holds it");
	if (watchdog && owner != PMUCTL_OWNER_PMUCTL)
		check_remedy(check, "switch the watchdog off as root: sysctl kernel.nmi_watchdog=0");
	else if (patient->dev && owner == PMUCTL_OWNER_OTHER)
		check_remedy(check, "end the programs that count with perf: 'fuser -v' does not show them, look for perf, and for KVM guests with a PMU");
}

static bool has_capability(cap_value_t capability)
{
	cap_t all = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (!all)
		return false;
	cap_get_flag(all, capability, CAP_EFFECTIVE, &value);
	cap_free(all);
	return value == CAP_SET;
}

static bool is_privileged(void)
{
	return has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
}

/**
 * check_claim() - may this user take the PMU?
 * @check: filled.
 * @patient: with who holds it.
 */
void check_claim(struct check *check, const struct patient *patient)
{
	bool ours = patient->info.pmu_owner == PMUCTL_OWNER_PMUCTL;

	if (!patient->dev) {
		check_set(check, CHECK_UNKNOWN, "only the driver can tell");
	} else if (is_privileged()) {
		check_set(check, CHECK_OK, "this user may, with CAP_PERFMON");
	} else if (!claim_is("privileged")) {
		check_set(check, CHECK_OK, "every user may");
	} else {
		check_set(check, ours ? CHECK_NOTE : CHECK_PROBLEM,
			  "this user may not%s", ours ?
			  ", but counts while somebody with CAP_PERFMON does" :
			  "; with CAP_PERFMON one may");
		check_remedy(check, "as root: echo anyone > %s (or always); for good: 'options pmuctl claim=anyone' in /etc/modprobe.d/pmuctl.conf; or give the tool the capability (make install SETCAP=1)",
			     CLAIM);
	}
}

/* How often KVM's module is in use: once for each guest; 0 if it is not there. */
static int kvm_guests(void)
{
	static const char *const modules[] = { "kvm_intel", "kvm_amd" };
	char path[64], text[32];
	size_t len;
	int n = 0;

	for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s/refcnt", modules[i]);
		if (file_read(path, text, sizeof(text), &len))
			n += atoi(text);
	}
	return n;
}

/**
 * check_guests() - are there virtual machines that may want the PMU too?
 * @check: filled.
 * @patient: unused.
 *
 * KVM counts for its guests by the kernel's perf, which asks nobody whether it may.
 */
void check_guests(struct check *check, const struct patient *patient)
{
	char text[32] = "";
	size_t len;
	int guests = kvm_guests();
	bool none = file_read("/sys/module/kvm/parameters/enable_pmu", text, sizeof(text), &len) &&
		    !strcmp(text, "N");

	(void)patient;
	if (!guests || none) {
		check_set(check, CHECK_OK, guests ? "KVM guests run here, without a PMU" :
			  "no KVM guest that is known runs here");
		return;
	}
	check_set(check, CHECK_NOTE, "KVM is in use (%d): guests with a PMU count nothing while pmuctl has it, and are not told",
		  guests);
	check_remedy(check, "count while they do not, or give them none: QEMU '-cpu host,pmu=off', or kvm.enable_pmu=0");
}

/**
 * check_reading() - may programs read their counters by themselves?
 * @check: filled.
 * @patient: unused.
 *
 * The kernel's switch for rdpmc, Documentation/ABI/testing/sysfs-bus-event_source-devices; on hybrid
 * processors there is one for each type of CPU.
 */
void check_reading(struct check *check, const struct patient *patient)
{
	static const char *const files[] = { "/sys/devices/cpu/rdpmc", "/sys/devices/cpu_core/rdpmc" };
	const char *file = NULL;
	char text[32] = "";
	size_t len;

	(void)patient;
	for (size_t i = 0; i < ARRAY_LEN(files) && !file; i++)
		if (file_read(files[i], text, sizeof(text), &len))
			file = files[i];
	if (!file) {
		check_set(check, CHECK_UNKNOWN, "the kernel does not tell whether they may read them by themselves");
		return;
	}
	if (!strcmp(text, "1")) {
		check_set(check, CHECK_OK, "programs may read their own by themselves");
		return;
	}
	if (!strcmp(text, "0"))
		check_set(check, CHECK_NOTE, "%s is 0: programs that read them by themselves, as pmuctl_event_map() has them do, are killed by SIGSEGV",
			  file);
	else
		check_set(check, CHECK_NOTE, "%s is %s: every program may read every counter, and where perf has counted before, the first count of each CPU may be too small",
			  file, text);
	check_remedy(check, "as root: echo 1 > %s", file);
}

#define KERNELS_LEVEL	"/proc/sys/kernel/perf_event_paranoid"
#define STRICTEST	3 /* of ours; the kernel's may be stricter */

/* The kernel's level, as far as ours go, if it is stricter: it may be set at any time. Else @level */
static int stricter_level(int level)
{
	char text[16];
	int kernels;
	size_t len;

	if (!file_read(KERNELS_LEVEL, text, sizeof(text), &len))
		return level;
	kernels = atoi(text);
	kernels = kernels > STRICTEST ? STRICTEST : kernels;
	return kernels > level ? kernels : level;
}

/**
 * check_permission() - what may this user count?
 * @check: filled.
 * @patient: with the driver's level.
 */
void check_permission(struct check *check, const struct patient *patient)
{
	static const char *const allowed[] = {
		"everything",
		"tasks and CPUs, user space and kernel",
		"own tasks, user space and kernel",
		"own tasks, user space only",
		"nothing",
	};
	int level = patient->info.paranoid, stricter;
	bool privileged = is_privileged();

	if (!patient->dev) {
		check_set(check, CHECK_UNKNOWN, "the driver's level is not known; this user %s CAP_PERFMON",
			  privileged ? "has" : "does not have");
		return;
	}
	stricter = stricter_level(level);
	if (privileged && stricter != level) {
		check_set(check, CHECK_NOTE, "the level is %d, and that of the kernel's perf is higher: others may count here what they may not with perf",
			  level);
		check_remedy(check, "if that is not meant, as root: echo %d > /sys/module/pmuctl/parameters/paranoid",
			     stricter);
		return;
	}
	if (privileged) {
		check_set(check, CHECK_OK, "the level is %d; with CAP_PERFMON this user may count everything",
			  level);
		return;
	}
	level = level < -1 ? -1 : level > 3 ? 3 : level;
	check_set(check, level == 3 ? CHECK_PROBLEM : CHECK_OK,
		  "the level is %d: without CAP_PERFMON this user may count %s",
		  level, allowed[level + 1]);
	if (level >= 1)
		check_remedy(check, "for more: give the tool the capability (make install SETCAP=1), or lower /sys/module/pmuctl/parameters/paranoid");
}
