// SPDX-License-Identifier: GPL-2.0
/*
 * broken: does what a kernel that watches itself has to notice, one thing for each
 * word that is written to the parameter "do". A kernel that says nothing then says
 * nothing of other modules either.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define OBJECT_LEN	256

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static unsigned int shared;

static void do_leak(void)
{
	void *lost = kmalloc(OBJECT_LEN, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void do_use_after_free(void)
{
	u8 *freed = kmalloc(OBJECT_LEN, GFP_KERNEL);

	if (!freed)
		return;
	kfree(freed);
	OPTIMIZER_HIDE_VAR(freed);
	pr_info("it was %u\n", READ_ONCE(freed[8]));
}

static void do_sleep(void)
{
	spin_lock(&spin);
	usleep_range(1000, 2000);
	spin_unlock(&spin);
}

static void do_deadlock(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);
	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

static void do_shift(void)
{
	int bits = 64;

	OPTIMIZER_HIDE_VAR(bits);
	pr_info("it came to %d\n", 1 << bits);
}

static int count(void *until)
{
	while (time_before(jiffies, (unsigned long)until)) {
		shared++;
		cond_resched();
	}
	return 0;
}

/* Both write one variable, for a quarter of a second */
static void do_race(void)
{
	void *until = (void *)(jiffies + HZ / 4);
	struct task_struct *task = kthread_create(count, until, "broken");

	if (IS_ERR(task))
		return;
	get_task_struct(task);
	wake_up_process(task);
	count(until);
	kthread_stop_put(task);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{ "leak", do_leak },
	{ "use-after-free", do_use_after_free },
	{ "sleep", do_sleep },
	{ "deadlock", do_deadlock },
	{ "shift", do_shift },
	{ "race", do_race },
};

static int do_set(const char *word, const struct kernel_param *kp)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(things); i++) {
		if (sysfs_streq(word, things[i].name)) {
			things[i].run();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops do_ops = {
	.set = do_set,
};

module_param_cb(do, &do_ops, NULL, 0200);
MODULE_PARM_DESC(do, "leak, use-after-free, sleep, deadlock, shift or race");

static int __init broken_init(void)
{
	return 0;
}

static void __exit broken_exit(void)
{
}

module_init(broken_init);
module_exit(broken_exit);
MODULE_DESCRIPTION("what a kernel that watches itself has to notice");
MODULE_LICENSE("GPL");
