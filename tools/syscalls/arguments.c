// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which words the arguments of system calls have, by the names of the headers without their
 * beginnings, as "perf trace" has them; and which arguments a call does not look at.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "command.h"
#include "words.h"
#include "syscalls.h"

/* The C library's name for 0x1000 is that of 0 on machines where all files are large. */
#define LARGEFILE	0100000
/* Without the bit that says that it is a directory */
#define TMPFILE_ONLY	(O_TMPFILE & ~O_DIRECTORY)

#define WORD(prefix, name)	{ (uint64_t)(prefix##name), #name }
#define WORDS(...)		((const struct word[]){ __VA_ARGS__, { 0, NULL } })
#define ALL			UINT64_MAX

static const struct syscall_words open_flags = {
	.mask = O_ACCMODE,
	.one = WORDS(WORD(O_, RDONLY), WORD(O_, WRONLY), WORD(O_, RDWR)),
	.bits = WORDS(WORD(O_, TMPFILE), WORD(O_, SYNC), WORD(O_, CREAT), WORD(O_, EXCL),
		      WORD(O_, NOCTTY), WORD(O_, TRUNC), WORD(O_, APPEND), WORD(O_, NONBLOCK),
		      WORD(O_, DSYNC), WORD(O_, ASYNC), WORD(O_, DIRECT), WORD(, LARGEFILE),
		      WORD(O_, DIRECTORY), WORD(O_, NOFOLLOW), WORD(O_, NOATIME), WORD(O_, CLOEXEC),
		      WORD(O_, PATH)),
};

/* Calls that make a descriptor have names of their own for these, with the same values. */
static const struct syscall_words new_fd_flags = {
	.bits = WORDS(WORD(O_, CLOEXEC), WORD(O_, NONBLOCK), WORD(O_, DIRECT)),
};

static const struct syscall_words eventfd_flags = {
	.bits = WORDS(WORD(EFD_, SEMAPHORE), WORD(EFD_, CLOEXEC), WORD(EFD_, NONBLOCK)),
};

static const struct syscall_words memfd_flags = {
	.bits = WORDS(WORD(MFD_, CLOEXEC), WORD(MFD_, ALLOW_SEALING), WORD(MFD_, HUGETLB)),
};

static const struct syscall_words at_flags = {
	.bits = WORDS(WORD(AT_, SYMLINK_NOFOLLOW), WORD(AT_, SYMLINK_FOLLOW), WORD(AT_, NO_AUTOMOUNT),
		      WORD(AT_, EMPTY_PATH), WORD(AT_, STATX_FORCE_SYNC), WORD(AT_, STATX_DONT_SYNC)),
};

static const struct syscall_words access_flags = {
	.bits = WORDS(WORD(AT_, EACCESS), WORD(AT_, SYMLINK_NOFOLLOW), WORD(AT_, EMPTY_PATH)),
};

static const struct syscall_words unlink_flags = { .bits = WORDS(WORD(AT_, REMOVEDIR)) };

static const struct syscall_words rename_flags = {
	.bits = WORDS({ 1, "NOREPLACE" }, { 2, "EXCHANGE" }, { 4, "WHITEOUT" }),
};

static const struct syscall_words access_mode = {
	.one = WORDS({ F_OK, "F" }),
	.bits = WORDS({ R_OK, "R" }, { W_OK, "W" }, { X_OK, "X" }),
};

static const struct syscall_words seek_whence = {
	.mask = ALL,
	.one = WORDS(WORD(SEEK_, SET), WORD(SEEK_, CUR), WORD(SEEK_, END), WORD(SEEK_, DATA),
		     WORD(SEEK_, HOLE)),
};

static const struct syscall_words map_prot = {
	.bits = WORDS(WORD(PROT_, READ), WORD(PROT_, WRITE), WORD(PROT_, EXEC), WORD(PROT_, GROWSDOWN),
		      WORD(PROT_, GROWSUP)),
};

static const struct syscall_words map_flags = {
	.mask = MAP_TYPE,
	.one = WORDS(WORD(MAP_, SHARED), WORD(MAP_, PRIVATE), WORD(MAP_, SHARED_VALIDATE)),
	.bits = WORDS(WORD(MAP_, FIXED), WORD(MAP_, ANONYMOUS), WORD(MAP_, 32BIT), WORD(MAP_, GROWSDOWN),
		      WORD(MAP_, DENYWRITE), WORD(MAP_, EXECUTABLE), WORD(MAP_, LOCKED),
		      WORD(MAP_, NORESERVE), WORD(MAP_, POPULATE), WORD(MAP_, NONBLOCK),
		      WORD(MAP_, STACK), WORD(MAP_, HUGETLB), WORD(MAP_, SYNC),
		      WORD(MAP_, FIXED_NOREPLACE)),
};

static const struct syscall_words remap_flags = {
	.bits = WORDS(WORD(MREMAP_, MAYMOVE), WORD(MREMAP_, FIXED), WORD(MREMAP_, DONTUNMAP)),
};

static const struct syscall_words madvise_behavior = {
	.mask = ALL,
	.one = WORDS(WORD(, MADV_NORMAL), WORD(, MADV_RANDOM), WORD(, MADV_SEQUENTIAL),
		     WORD(, MADV_WILLNEED), WORD(, MADV_DONTNEED), WORD(, MADV_FREE), WORD(, MADV_REMOVE),
		     WORD(, MADV_DONTFORK), WORD(, MADV_DOFORK), WORD(, MADV_MERGEABLE),
		     WORD(, MADV_UNMERGEABLE), WORD(, MADV_HUGEPAGE), WORD(, MADV_NOHUGEPAGE),
		     WORD(, MADV_DONTDUMP), WORD(, MADV_DODUMP), WORD(, MADV_WIPEONFORK),
		     WORD(, MADV_KEEPONFORK), WORD(, MADV_COLD), WORD(, MADV_PAGEOUT),
		     WORD(, MADV_POPULATE_READ), WORD(, MADV_POPULATE_WRITE), { 24, "MADV_DONTNEED_LOCKED" },
		     { 25, "MADV_COLLAPSE" }, { 102, "MADV_GUARD_INSTALL" }, { 103, "MADV_GUARD_REMOVE" }),
};

static const struct syscall_words sync_flags = {
	.bits = WORDS(WORD(MS_, ASYNC), WORD(MS_, INVALIDATE), WORD(MS_, SYNC)),
};

static const struct syscall_words lock_all_flags = {
	.bits = WORDS(WORD(MCL_, CURRENT), WORD(MCL_, FUTURE), WORD(MCL_, ONFAULT)),
};

static const struct syscall_words fcntl_cmd = {
	.mask = ALL,
	.one = WORDS(WORD(F_, DUPFD), WORD(F_, GETFD), WORD(F_, SETFD), WORD(F_, GETFL), WORD(F_, SETFL),
		     WORD(F_, GETLK), WORD(F_, SETLK), WORD(F_, SETLKW), WORD(F_, SETOWN),
		     WORD(F_, GETOWN), WORD(F_, SETSIG), WORD(F_, GETSIG), WORD(F_, SETOWN_EX),
		     WORD(F_, GETOWN_EX), WORD(F_, OFD_GETLK), WORD(F_, OFD_SETLK), WORD(F_, OFD_SETLKW),
		     WORD(F_, SETLEASE), WORD(F_, GETLEASE), WORD(F_, NOTIFY), WORD(F_, DUPFD_CLOEXEC),
		     WORD(F_, SETPIPE_SZ), WORD(F_, GETPIPE_SZ), WORD(F_, ADD_SEALS),
		     WORD(F_, GET_SEALS)),
};

static const struct syscall_words flock_cmd = {
	.bits = WORDS(WORD(LOCK_, SH), WORD(LOCK_, EX), WORD(LOCK_, NB), WORD(LOCK_, UN)),
};

static const struct syscall_words epoll_op = {
	.mask = ALL,
	.one = WORDS(WORD(EPOLL_CTL_, ADD), WORD(EPOLL_CTL_, DEL), WORD(EPOLL_CTL_, MOD)),
};

static const struct syscall_words socket_family = {
	.mask = ALL,
	.one = WORDS(WORD(AF_, UNSPEC), WORD(AF_, LOCAL), WORD(AF_, INET), WORD(AF_, INET6),
		     WORD(AF_, NETLINK), WORD(AF_, PACKET), WORD(AF_, ALG), WORD(AF_, VSOCK),
		     WORD(AF_, XDP)),
};

static const struct syscall_words socket_type = {
	.mask = 0xf,
	.one = WORDS(WORD(SOCK_, STREAM), WORD(SOCK_, DGRAM), WORD(SOCK_, RAW), WORD(SOCK_, RDM),
		     WORD(SOCK_, SEQPACKET), WORD(SOCK_, DCCP), WORD(SOCK_, PACKET)),
	.bits = WORDS(WORD(SOCK_, CLOEXEC), WORD(SOCK_, NONBLOCK)),
};

static const struct syscall_words message_flags = {
	.bits = WORDS(WORD(MSG_, OOB), WORD(MSG_, PEEK), WORD(MSG_, DONTROUTE), WORD(MSG_, CTRUNC),
		      WORD(MSG_, TRUNC), WORD(MSG_, DONTWAIT), WORD(MSG_, EOR), WORD(MSG_, WAITALL),
		      WORD(MSG_, CONFIRM), WORD(MSG_, ERRQUEUE), WORD(MSG_, NOSIGNAL), WORD(MSG_, MORE),
		      WORD(MSG_, WAITFORONE), WORD(MSG_, ZEROCOPY), WORD(MSG_, FASTOPEN),
		      WORD(MSG_, CMSG_CLOEXEC)),
};

static const struct syscall_words shutdown_how = {
	.mask = ALL,
	.one = WORDS(WORD(SHUT_, RD), WORD(SHUT_, WR), WORD(SHUT_, RDWR)),
};

static const struct syscall_words socket_level = {
	.mask = ALL,
	.one = WORDS({ IPPROTO_IP, "IP" }, WORD(SOL_, SOCKET), { IPPROTO_TCP, "TCP" },
		     { IPPROTO_UDP, "UDP" }, { IPPROTO_IPV6, "IPV6" }, WORD(SOL_, PACKET),
		     WORD(SOL_, NETLINK)),
};

static const struct syscall_words clock_id = {
	.mask = ALL,
	.one = WORDS(WORD(CLOCK_, REALTIME), WORD(CLOCK_, MONOTONIC), WORD(CLOCK_, PROCESS_CPUTIME_ID),
		     WORD(CLOCK_, THREAD_CPUTIME_ID), WORD(CLOCK_, MONOTONIC_RAW),
		     WORD(CLOCK_, REALTIME_COARSE), WORD(CLOCK_, MONOTONIC_COARSE), WORD(CLOCK_, BOOTTIME),
		     WORD(CLOCK_, REALTIME_ALARM), WORD(CLOCK_, BOOTTIME_ALARM), WORD(CLOCK_, TAI)),
};

static const struct syscall_words sleep_flags = { .bits = WORDS(WORD(TIMER_, ABSTIME)) };

static const struct syscall_words timer_which = {
	.mask = ALL,
	.one = WORDS(WORD(ITIMER_, REAL), WORD(ITIMER_, VIRTUAL), WORD(ITIMER_, PROF)),
};

static const struct syscall_words signal_number = { .mask = ALL, .is_signal = true };

static const struct syscall_words mask_how = {
	.mask = ALL,
	.one = WORDS(WORD(SIG_, BLOCK), WORD(SIG_, UNBLOCK), WORD(SIG_, SETMASK)),
};

static const struct syscall_words prctl_option = {
	.mask = ALL,
	.one = WORDS(WORD(PR_, SET_PDEATHSIG), WORD(PR_, GET_PDEATHSIG), WORD(PR_, GET_DUMPABLE),
		     WORD(PR_, SET_DUMPABLE), WORD(PR_, GET_KEEPCAPS), WORD(PR_, SET_KEEPCAPS),
		     WORD(PR_, SET_NAME), WORD(PR_, GET_NAME), WORD(PR_, GET_SECCOMP),
		     WORD(PR_, SET_SECCOMP), WORD(PR_, CAPBSET_READ), WORD(PR_, CAPBSET_DROP),
		     WORD(PR_, GET_TSC), WORD(PR_, SET_TSC), WORD(PR_, GET_SECUREBITS),
		     WORD(PR_, SET_SECUREBITS), WORD(PR_, SET_TIMERSLACK), WORD(PR_, GET_TIMERSLACK),
		     WORD(PR_, TASK_PERF_EVENTS_DISABLE), WORD(PR_, TASK_PERF_EVENTS_ENABLE),
		     WORD(PR_, SET_MM), WORD(PR_, SET_CHILD_SUBREAPER), WORD(PR_, GET_CHILD_SUBREAPER),
		     WORD(PR_, SET_NO_NEW_PRIVS), WORD(PR_, GET_NO_NEW_PRIVS), WORD(PR_, SET_THP_DISABLE),
		     WORD(PR_, GET_THP_DISABLE), WORD(PR_, CAP_AMBIENT), WORD(PR_, SET_PTRACER),
		     WORD(PR_, SET_VMA)),
};

static const struct syscall_words arch_prctl_option = {
	.mask = ALL,
	.one = WORDS({ 0x1001, "SET_GS" }, { 0x1002, "SET_FS" }, { 0x1003, "GET_FS" },
		     { 0x1004, "GET_GS" }, { 0x1011, "GET_CPUID" }, { 0x1012, "SET_CPUID" }),
};

static const struct syscall_words limited_resource = {
	.mask = ALL,
	.one = WORDS(WORD(RLIMIT_, CPU), WORD(RLIMIT_, FSIZE), WORD(RLIMIT_, DATA), WORD(RLIMIT_, STACK),
		     WORD(RLIMIT_, CORE), WORD(RLIMIT_, RSS), WORD(RLIMIT_, NPROC), WORD(RLIMIT_, NOFILE),
		     WORD(RLIMIT_, MEMLOCK), WORD(RLIMIT_, AS), WORD(RLIMIT_, LOCKS),
		     WORD(RLIMIT_, SIGPENDING), WORD(RLIMIT_, MSGQUEUE), WORD(RLIMIT_, NICE),
		     WORD(RLIMIT_, RTPRIO), WORD(RLIMIT_, RTTIME)),
};

static const struct syscall_words random_flags = {
	.bits = WORDS(WORD(GRND_, NONBLOCK), WORD(GRND_, RANDOM), { 4, "INSECURE" }),
};

static const struct syscall_words futex_op = {
	.mask = FUTEX_CMD_MASK & UINT32_MAX,
	.one = WORDS(WORD(FUTEX_, WAIT), WORD(FUTEX_, WAKE), WORD(FUTEX_, REQUEUE),
		     WORD(FUTEX_, CMP_REQUEUE), WORD(FUTEX_, WAKE_OP), WORD(FUTEX_, LOCK_PI),
		     WORD(FUTEX_, UNLOCK_PI), WORD(FUTEX_, TRYLOCK_PI), WORD(FUTEX_, WAIT_BITSET),
		     WORD(FUTEX_, WAKE_BITSET), WORD(FUTEX_, WAIT_REQUEUE_PI),
		     WORD(FUTEX_, CMP_REQUEUE_PI), WORD(FUTEX_, LOCK_PI2)),
	.bits = WORDS(WORD(FUTEX_, PRIVATE_FLAG), WORD(FUTEX_, CLOCK_REALTIME)),
};

static const struct syscall_words clone_flags = {
	.mask = CSIGNAL,
	.is_signal = true,
	.bits = WORDS(WORD(CLONE_, VM), WORD(CLONE_, FS), WORD(CLONE_, FILES), WORD(CLONE_, SIGHAND),
		      WORD(CLONE_, PIDFD), WORD(CLONE_, PTRACE), WORD(CLONE_, VFORK),
		      WORD(CLONE_, PARENT), WORD(CLONE_, THREAD), WORD(CLONE_, NEWNS),
		      WORD(CLONE_, SYSVSEM), WORD(CLONE_, SETTLS), WORD(CLONE_, PARENT_SETTID),
		      WORD(CLONE_, CHILD_CLEARTID), WORD(CLONE_, DETACHED), WORD(CLONE_, UNTRACED),
		      WORD(CLONE_, CHILD_SETTID), WORD(CLONE_, NEWCGROUP), WORD(CLONE_, NEWUTS),
		      WORD(CLONE_, NEWIPC), WORD(CLONE_, NEWUSER), WORD(CLONE_, NEWPID),
		      WORD(CLONE_, NEWNET), WORD(CLONE_, IO)),
};

/* unshare(2) and setns(2) send no signal; CLONE_NEWTIME is one of its bits. */
static const struct syscall_words namespaces = {
	.bits = WORDS(WORD(CLONE_, FS), WORD(CLONE_, FILES), WORD(CLONE_, NEWNS), WORD(CLONE_, SYSVSEM),
		      WORD(CLONE_, NEWCGROUP), WORD(CLONE_, NEWUTS), WORD(CLONE_, NEWIPC),
		      WORD(CLONE_, NEWUSER), WORD(CLONE_, NEWPID), WORD(CLONE_, NEWNET),
		      { 0x80, "NEWTIME" }),
};

static const struct syscall_words wait_options = {
	.bits = WORDS(WORD(W, NOHANG), WORD(W, UNTRACED), WORD(W, EXITED), WORD(W, CONTINUED),
		      WORD(W, NOWAIT), { 0x20000000, "NOTHREAD" }, { 0x40000000, "ALL" },
		      { 0x80000000, "CLONE" }),
};

static const struct syscall_words wait_which = {
	.mask = ALL,
	.one = WORDS({ P_ALL, "ALL" }, { P_PID, "PID" }, { P_PGID, "PGID" }, { 3, "PIDFD" }),
};

static const struct syscall_words scheduling_policy = {
	.mask = 0xff,
	.one = WORDS({ SCHED_OTHER, "NORMAL" }, WORD(SCHED_, FIFO), WORD(SCHED_, RR), WORD(SCHED_, BATCH),
		     WORD(SCHED_, IDLE), { 6, "DEADLINE" }, { 7, "EXT" }),
	.bits = WORDS(WORD(SCHED_, RESET_ON_FORK)),
};

static const struct syscall_words priority_which = {
	.mask = ALL,
	.one = WORDS(WORD(PRIO_, PROCESS), WORD(PRIO_, PGRP), WORD(PRIO_, USER)),
};

static const struct syscall_words usage_who = {
	.mask = ALL,
	.one = WORDS({ 0, "SELF" }, { (uint32_t)-1, "CHILDREN" }, { 1, "THREAD" }),
};

static const struct syscall_words allocation_mode = {
	.bits = WORDS({ 0x01, "KEEP_SIZE" }, { 0x02, "PUNCH_HOLE" }, { 0x08, "COLLAPSE_RANGE" },
		      { 0x10, "ZERO_RANGE" }, { 0x20, "INSERT_RANGE" }, { 0x40, "UNSHARE_RANGE" }),
};

static const struct syscall_words file_advice = {
	.mask = ALL,
	.one = WORDS(WORD(POSIX_FADV_, NORMAL), WORD(POSIX_FADV_, RANDOM), WORD(POSIX_FADV_, SEQUENTIAL),
		     WORD(POSIX_FADV_, WILLNEED), WORD(POSIX_FADV_, DONTNEED), WORD(POSIX_FADV_, NOREUSE)),
};

static const struct syscall_words splice_flags = {
	.bits = WORDS(WORD(SPLICE_F_, MOVE), WORD(SPLICE_F_, NONBLOCK), WORD(SPLICE_F_, MORE),
		      WORD(SPLICE_F_, GIFT)),
};

static const struct syscall_words mount_flags = {
	.magic = MS_MGC_VAL,
	.bits = WORDS(WORD(MS_, RDONLY), WORD(MS_, NOSUID), WORD(MS_, NODEV), WORD(MS_, NOEXEC),
		      WORD(MS_, SYNCHRONOUS), WORD(MS_, REMOUNT), WORD(MS_, MANDLOCK), WORD(MS_, DIRSYNC),
		      WORD(MS_, NOATIME), WORD(MS_, NODIRATIME), WORD(MS_, BIND), WORD(MS_, MOVE),
		      WORD(MS_, REC), WORD(MS_, SILENT), WORD(MS_, POSIXACL), WORD(MS_, UNBINDABLE),
		      WORD(MS_, PRIVATE), WORD(MS_, SLAVE), WORD(MS_, SHARED), WORD(MS_, RELATIME),
		      WORD(MS_, KERNMOUNT), WORD(MS_, I_VERSION), WORD(MS_, STRICTATIME),
		      WORD(MS_, LAZYTIME)),
};

static const struct syscall_words unmount_flags = {
	.bits = WORDS(WORD(MNT_, FORCE), WORD(MNT_, DETACH), WORD(MNT_, EXPIRE), { 8, "NOFOLLOW" }),
};

static const struct syscall_words terminal_cmd = {
	.mask = ALL,
	.one = WORDS(WORD(, TCGETS), WORD(, TCSETS), WORD(, TCSETSW), WORD(, TCSETSF), WORD(, TCSBRK),
		     WORD(, TCXONC), WORD(, TCFLSH), WORD(, TIOCSCTTY), WORD(, TIOCNOTTY),
		     WORD(, TIOCGPGRP), WORD(, TIOCSPGRP), WORD(, TIOCOUTQ), WORD(, TIOCGWINSZ),
		     WORD(, TIOCSWINSZ), WORD(, FIONREAD), WORD(, FIONBIO), WORD(, FIONCLEX),
		     WORD(, FIOCLEX), WORD(, FIOASYNC), WORD(, TIOCGPTN), WORD(, TIOCSPTLCK),
		     WORD(, TIOCGPTPEER)),
};

static const struct syscall_words seccomp_op = {
	.mask = ALL,
	.one = WORDS(WORD(SECCOMP_, SET_MODE_STRICT), WORD(SECCOMP_, SET_MODE_FILTER),
		     WORD(SECCOMP_, GET_ACTION_AVAIL), WORD(SECCOMP_, GET_NOTIF_SIZES)),
};

/* Which argument of which call, counted from 0 */
static const struct {
	const char *call;
	unsigned int arg;
	const struct syscall_words *words;
} users[] = {
	{ "accept4", 3, &new_fd_flags },
	{ "access", 1, &access_mode },
	{ "arch_prctl", 0, &arch_prctl_option },
	{ "clock_getres", 0, &clock_id },
	{ "clock_gettime", 0, &clock_id },
	{ "clock_nanosleep", 0, &clock_id },
	{ "clock_nanosleep", 1, &sleep_flags },
	{ "clock_settime", 0, &clock_id },
	{ "clone", 0, &clone_flags },
	{ "dup3", 2, &new_fd_flags },
	{ "epoll_create1", 0, &new_fd_flags },
	{ "epoll_ctl", 1, &epoll_op },
	{ "eventfd2", 1, &eventfd_flags },
	{ "faccessat", 2, &access_mode },
	{ "faccessat2", 2, &access_mode },
	{ "faccessat2", 3, &access_flags },
	{ "fadvise64", 3, &file_advice },
	{ "fallocate", 1, &allocation_mode },
	{ "fchmodat2", 3, &at_flags },
	{ "fchownat", 4, &at_flags },
	{ "fcntl", 1, &fcntl_cmd },
	{ "flock", 1, &flock_cmd },
	{ "futex", 1, &futex_op },
	{ "getitimer", 0, &timer_which },
	{ "getpriority", 0, &priority_which },
	{ "getrandom", 2, &random_flags },
	{ "getrlimit", 0, &limited_resource },
	{ "getrusage", 0, &usage_who },
	{ "getsockopt", 1, &socket_level },
	{ "inotify_init1", 0, &new_fd_flags },
	{ "ioctl", 1, &terminal_cmd },
	{ "kill", 1, &signal_number },
	{ "linkat", 4, &at_flags },
	{ "lseek", 2, &seek_whence },
	{ "madvise", 2, &madvise_behavior },
	{ "memfd_create", 1, &memfd_flags },
	{ "mlockall", 0, &lock_all_flags },
	{ "mmap", 2, &map_prot },
	{ "mmap", 3, &map_flags },
	{ "mount", 3, &mount_flags },
	{ "mprotect", 2, &map_prot },
	{ "mremap", 3, &remap_flags },
	{ "msync", 2, &sync_flags },
	{ "name_to_handle_at", 4, &at_flags },
	{ "newfstatat", 3, &at_flags },
	{ "open", 1, &open_flags },
	{ "openat", 2, &open_flags },
	{ "pidfd_send_signal", 1, &signal_number },
	{ "pipe2", 1, &new_fd_flags },
	{ "pkey_mprotect", 2, &map_prot },
	{ "prctl", 0, &prctl_option },
	{ "prlimit64", 1, &limited_resource },
	{ "recvfrom", 3, &message_flags },
	{ "recvmmsg", 3, &message_flags },
	{ "recvmsg", 2, &message_flags },
	{ "renameat2", 4, &rename_flags },
	{ "rt_sigaction", 0, &signal_number },
	{ "rt_sigprocmask", 0, &mask_how },
	{ "rt_sigqueueinfo", 1, &signal_number },
	{ "rt_tgsigqueueinfo", 2, &signal_number },
	{ "sched_setscheduler", 1, &scheduling_policy },
	{ "seccomp", 0, &seccomp_op },
	{ "sendmmsg", 3, &message_flags },
	{ "sendmsg", 2, &message_flags },
	{ "sendto", 3, &message_flags },
	{ "setitimer", 0, &timer_which },
	{ "setns", 1, &namespaces },
	{ "setpriority", 0, &priority_which },
	{ "setrlimit", 0, &limited_resource },
	{ "setsockopt", 1, &socket_level },
	{ "shutdown", 1, &shutdown_how },
	{ "signalfd4", 3, &new_fd_flags },
	{ "socket", 0, &socket_family },
	{ "socket", 1, &socket_type },
	{ "socketpair", 0, &socket_family },
	{ "socketpair", 1, &socket_type },
	{ "splice", 5, &splice_flags },
	{ "statx", 2, &at_flags },
	{ "tgkill", 2, &signal_number },
	{ "timerfd_create", 0, &clock_id },
	{ "timerfd_create", 1, &new_fd_flags },
	{ "timerfd_settime", 1, &sleep_flags },
	{ "tkill", 1, &signal_number },
	{ "umount2", 1, &unmount_flags },
	{ "unlinkat", 2, &unlink_flags },
	{ "unshare", 0, &namespaces },
	{ "utimensat", 3, &at_flags },
	{ "wait4", 2, &wait_options },
	{ "waitid", 0, &wait_which },
	{ "waitid", 3, &wait_options },
};

/**
 * syscall_words_of() - what the values of an argument mean
 * @call: the name of the call.
 * @arg: which argument, counted from 0.
 *
 * Return: NULL if they are just numbers.
 */
const struct syscall_words *syscall_words_of(const char *call, unsigned int arg)
{
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (users[i].arg == arg && !strcmp(users[i].call, call))
			return users[i].words;
	return NULL;
}

/* With these bits of one argument others are not looked at, whatever is in their registers. */
static const struct {
	const char *call;
	unsigned int arg;
	uint32_t mask;
	uint32_t value;
	unsigned int unused;
} unused[] = {
	{ "fcntl", 1, UINT32_MAX, F_GETFD, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GETFL, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GETOWN, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GETSIG, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GETLEASE, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GETPIPE_SZ, 1 << 2 },
	{ "fcntl", 1, UINT32_MAX, F_GET_SEALS, 1 << 2 },
	{ "futex", 1, FUTEX_CMD_MASK, FUTEX_WAIT, 3 << 4 },
	{ "futex", 1, FUTEX_CMD_MASK, FUTEX_WAKE, 7 << 3 },
	{ "futex", 1, FUTEX_CMD_MASK, FUTEX_WAIT_BITSET, 1 << 4 },
	{ "futex", 1, FUTEX_CMD_MASK, FUTEX_WAKE_BITSET, 3 << 3 },
	{ "mmap", 3, MAP_ANONYMOUS, MAP_ANONYMOUS, 3 << 4 },
	{ "mremap", 3, MREMAP_FIXED | MREMAP_DONTUNMAP, 0, 1 << 4 },
	{ "open", 1, O_CREAT | TMPFILE_ONLY, 0, 1 << 2 },
	{ "openat", 2, O_CREAT | TMPFILE_ONLY, 0, 1 << 3 },
	{ "prctl", 0, UINT32_MAX, PR_SET_NAME, 7 << 2 },
	{ "prctl", 0, UINT32_MAX, PR_GET_NAME, 7 << 2 },
	{ "prctl", 0, UINT32_MAX, PR_SET_PDEATHSIG, 7 << 2 },
	{ "prctl", 0, UINT32_MAX, PR_GET_DUMPABLE, 15 << 1 },
	{ "prctl", 0, UINT32_MAX, PR_SET_DUMPABLE, 7 << 2 },
	{ "prctl", 0, UINT32_MAX, PR_CAPBSET_READ, 7 << 2 },
};

/**
 * syscall_arg_is_unused() - does the call not look at an argument?
 * @call: the name of the call.
 * @args: all its arguments.
 * @arg: which one, counted from 0.
 */
bool syscall_arg_is_unused(const char *call, const uint64_t *args, unsigned int arg)
{
	for (size_t i = 0; i < ARRAY_LEN(unused); i++)
		if (unused[i].unused & (1u << arg) && !strcmp(unused[i].call, call) &&
		    ((uint32_t)args[unused[i].arg] & unused[i].mask) == unused[i].value)
			return true;
	return false;
}
