// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: a user of the in-kernel API, driven through a device. See kapi_user.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/pmuctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kapi_user.h"

/* What a context has in it while it lives, and after */
#define ALIVE	0x616c697665ULL
#define DEAD	0x64656164ULL

/**
 * struct opened - an open device, the context of its counter
 * @counter: NULL if there is none.
 * @handler: KAPI_*.
 * @arg: for that.
 * @said: what the handler has written down.
 */
struct opened {
	struct pmuctl_counter *counter;
	u32 handler;
	u32 arg;
	struct kapi_calls said;
};

static void misuse(struct pmuctl_counter *counter, struct kapi_calls *said)
{
	static struct pmuctl_explanation why;
	u64 value;

	said->misuse[0] = pmuctl_counter_enable(counter);
	said->misuse[1] = pmuctl_counter_disable(counter);
	said->misuse[2] = pmuctl_counter_read(counter, &value, NULL, NULL);
	said->misuse[3] = pmuctl_counter_set_period(counter, 1, &why);
	said->misuse[4] = pmuctl_counter_release(counter);
	said->misuse_code = why.code;
}

static bool handle(struct pmuctl_counter *counter,
		   const struct pmuctl_sample *sample, struct pt_regs *regs,
		   void *context)
{
	struct opened *user = context;
	struct kapi_calls *said = &user->said;
	struct kapi_seen *seen;

	if (said->calls < KAPI_SEEN_MAX) {
		seen = &said->seen[said->calls];
		seen->value = sample->value;
		seen->period = sample->period;
		seen->time = sample->time;
		seen->enabled = sample->time_enabled;
		seen->running = sample->time_running;
		seen->ip = regs ? instruction_pointer(regs) : 0;
		seen->tid = current->pid;
		seen->cpu = raw_smp_processor_id();
		seen->user_mode = regs && user_mode(regs);
		seen->nmi = !!in_nmi();
	}
	if (user->handler & KAPI_MISUSE && !said->calls)
		misuse(counter, said);
	smp_store_release(&said->calls, said->calls + 1);
	if (user->handler & KAPI_SLOW && said->calls % user->arg == 0)
		mdelay(12);
	return !(user->handler & KAPI_STOP && said->calls == user->arg);
}

/* ---- Whom to count ---- */

static int nothing(void *unused)
{
	return 0;
}

/* Its end is told by its flag. */
static struct task_struct *exited_task(void)
{
	struct task_struct *task;

	task = kthread_create(nothing, NULL, "kapi_nothing");
	if (IS_ERR(task))
		return task;
	get_task_struct(task);
	wake_up_process(task);
	while (!(READ_ONCE(task->flags) & PF_EXITING))
		msleep(1);
	return task;
}

/* A task with a reference, NULL for none */
static struct task_struct *find_task(int pid)
{
	struct task_struct *task;
	struct pid *id;

	if (pid == KAPI_NOBODY)
		return NULL;
	if (pid == KAPI_ZOMBIE)
		return exited_task();
	if (!pid)
		return get_task_struct(current);
	id = find_get_pid(pid);
	task = get_pid_task(id, PIDTYPE_PID);
	put_pid(id);
	return task ?: ERR_PTR(-ECHILD); /* the test's mistake */
}

static struct pmuctl_counter *create(const u8 *bytes, int pid, int cpu,
				     pmuctl_handler_t handler, void *context,
				     struct pmuctl_explanation *why)
{
	struct task_struct *task = find_task(pid);
	struct pmuctl_counter *counter;
	struct perf_event_attr attr = { };

	if (IS_ERR(task))
		return ERR_CAST(task);
	memcpy(&attr, bytes, min_t(size_t, sizeof(attr), KAPI_ATTR_SIZE));
	counter = pmuctl_counter_create(&attr, cpu, task, handler, context, why);
	if (task)
		put_task_struct(task);
	return counter;
}

static long do_create(struct opened *user, void __user *arg)
{
	struct pmuctl_explanation why = { 0 };
	struct pmuctl_counter *counter;
	struct kapi_create *c;
	long err = 0;

	if (user->counter)
		return -EBUSY;
	c = memdup_user(arg, sizeof(*c));
	if (IS_ERR(c))
		return PTR_ERR(c);
	user->handler = c->handler;
	user->arg = c->arg;
	memset(&user->said, 0, sizeof(user->said));
	counter = create(c->attr, c->pid, c->cpu,
			 c->handler & KAPI_HANDLER ? handle : NULL, user,
			 c->handler & KAPI_NO_WHY ? NULL : &why);
	if (IS_ERR(counter))
		err = PTR_ERR(counter);
	else
		user->counter = counter;
	c->error = why.error;
	c->code = why.code;
	memcpy(c->field, why.field, sizeof(c->field));
	memcpy(c->sentence, why.sentence, sizeof(c->sentence));
	if (copy_to_user(arg, c, sizeof(*c)))
		err = -EFAULT;
	kfree(c);
	return err;
}

/* ---- A handler that is running at the release ---- */

/**
 * struct racer - context of such a handler, freed right after the release
 * @magic: ALIVE.
 * @inside: it runs.
 * @releasing: the release is about to be called.
 * @met: the handler has seen that.
 */
struct racer {
	u64 magic;
	u32 inside;
	u32 releasing;
	u32 met;
};

/* Without a limit two CPUs could wait for each other. */
#define SPINS_MAX	200000
/* Long enough for the release to reach the point at which it has to wait */
#define SPINS_AFTER	1000

static bool used_after_free;

static bool handle_race(struct pmuctl_counter *counter,
			const struct pmuctl_sample *sample,
			struct pt_regs *regs, void *context)
{
	struct racer *racer = context;
	unsigned int i;

	if (READ_ONCE(racer->met))
		return true;
	WRITE_ONCE(racer->inside, true);
	for (i = 0; i < SPINS_MAX && !READ_ONCE(racer->releasing); i++)
		cpu_relax();
	WRITE_ONCE(racer->met, READ_ONCE(racer->releasing));
	for (i = 0; i < SPINS_AFTER; i++)
		cpu_relax();
	touch_nmi_watchdog();
	if (READ_ONCE(racer->magic) != ALIVE)
		WRITE_ONCE(used_after_free, true);
	WRITE_ONCE(racer->inside, false);
	return true;
}

/* Returns 1 if the handler was running at the release, 0 if not, or -errno. */
static int race_once(const struct kapi_race *race, u32 *late)
{
	struct pmuctl_counter *counter;
	struct racer *racer;
	int met, err;

	racer = kzalloc(sizeof(*racer), GFP_KERNEL);
	if (!racer)
		return -ENOMEM;
	racer->magic = ALIVE;
	counter = create(race->attr, race->pid, race->cpu, handle_race, racer,
			 NULL);
	if (IS_ERR(counter)) {
		kfree(racer);
		return PTR_ERR(counter);
	}
	while (!READ_ONCE(racer->inside) && !signal_pending(current))
		cond_resched();
	WRITE_ONCE(racer->releasing, true);
	err = pmuctl_counter_release(counter);
	*late += READ_ONCE(racer->inside);
	met = racer->met;
	racer->magic = DEAD;
	kfree(racer);
	return err ?: met;
}

static long do_race(void __user *arg)
{
	struct kapi_race race;
	u32 met = 0;
	int ret;

	if (copy_from_user(&race, arg, sizeof(race)))
		return -EFAULT;
	WRITE_ONCE(used_after_free, false);
	race.late = 0;
	for (race.tries = 0; met < race.rounds; race.tries++) {
		ret = race_once(&race, &race.late);
		if (ret < 0)
			return ret;
		if (signal_pending(current))
			return -EINTR;
		met += ret;
	}
	race.late += READ_ONCE(used_after_free);
	return copy_to_user(arg, &race, sizeof(race)) ? -EFAULT : 0;
}

/* ---- The device ---- */

static long set_period(struct opened *user, u64 __user *arg)
{
	struct pmuctl_explanation why;
	u64 period;
	int err;

	if (copy_from_user(&period, arg, sizeof(period)))
		return -EFAULT;
	err = pmuctl_counter_set_period(user->counter, period, &why);
	/* The explanation belongs to the error. */
	return err && why.error != -err ? -EPROTO : err;
}

static long get_value(struct opened *user, u64 __user *arg)
{
	u64 value;
	int err = pmuctl_counter_read(user->counter, &value, NULL, NULL);

	if (!err && copy_to_user(arg, &value, sizeof(value)))
		err = -EFAULT;
	return err;
}

static long user_ioctl(struct file *file, unsigned int number, unsigned long arg)
{
	struct opened *user = file->private_data;

	if (number == KAPI_CREATE)
		return do_create(user, (void __user *)arg);
	if (number == KAPI_RACE)
		return do_race((void __user *)arg);
	if (!user->counter)
		return -ENOENT;
	switch (number) {
	case PERF_EVENT_IOC_ENABLE:
		return pmuctl_counter_enable(user->counter);
	case PERF_EVENT_IOC_DISABLE:
		return pmuctl_counter_disable(user->counter);
	case PERF_EVENT_IOC_PERIOD:
		return set_period(user, (u64 __user *)arg);
	case KAPI_VALUE:
		return get_value(user, (u64 __user *)arg);
	case KAPI_CALLS:
		return copy_to_user((void __user *)arg, &user->said,
				    sizeof(user->said)) ? -EFAULT : 0;
	default:
		return -ENOTTY;
	}
}

static ssize_t user_read(struct file *file, char __user *buf, size_t size,
			 loff_t *pos)
{
	struct opened *user = file->private_data;
	u64 out[3];
	int err;

	if (!user->counter || size < sizeof(out))
		return -EINVAL;
	err = pmuctl_counter_read(user->counter, &out[0], &out[1], &out[2]);
	if (err)
		return err;
	return copy_to_user(buf, out, sizeof(out)) ? -EFAULT : sizeof(out);
}

static int user_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct opened), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int user_release(struct inode *inode, struct file *file)
{
	struct opened *user = file->private_data;

	if (user->counter && pmuctl_counter_release(user->counter))
		return -EIO;
	kfree(user);
	return 0;
}

static const struct file_operations user_fops = {
	.owner = THIS_MODULE,
	.open = user_open,
	.release = user_release,
	.read = user_read,
	.unlocked_ioctl = user_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kapi_user",
	.fops = &user_fops,
};

module_misc_device(device);

MODULE_DESCRIPTION("A user of pmuctl's in-kernel API, for its tests");
MODULE_LICENSE("GPL");
