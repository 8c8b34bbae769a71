// SPDX-License-Identifier: GPL-2.0
/* What else runs while a test does: kernel threads, and commands of a shell */

#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include "vrnic_test.h"

static int thread_run(void *arg)
{
	struct vt_thread *t = arg;

	return t->fn(t->arg);
}

/**
 * vt_thread_start() - start a thread
 * @t: its description
 * @cpu: its CPU; modulo the online CPUs, in their order
 * @fn: its function
 * @arg: for @fn
 *
 * Return: 0 or an error, which a check reports
 */
int vt_thread_start(struct vt_thread *t, int cpu, int (*fn)(void *arg), void *arg)
{
	struct task_struct *task;

	t->fn = fn;
	t->arg = arg;
	task = kthread_create(thread_run, t, "vrnic_test");
	if (IS_ERR(task)) {
		vt_equal(0, PTR_ERR(task), "a thread starts");
		return PTR_ERR(task);
	}
	kthread_bind(task, cpumask_nth(cpu % num_online_cpus(), cpu_online_mask));
	/* It may end before it is asked to */
	t->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

/**
 * vt_thread_stop() - ask a thread to stop, and wait until it has
 * @t: the thread, or one that did not start
 *
 * Return: its return value
 */
int vt_thread_stop(struct vt_thread *t)
{
	int ret;

	if (!t->task)
		return 0;
	ret = kthread_stop(t->task);
	put_task_struct(t->task);
	t->task = NULL;
	return ret;
}

/* ---- commands: a shell of the scenario's waits for them (vrnic_serve) ---- */

static char command[2048];
static int answer;
static bool asked;			/* @command has to be run */
static DECLARE_WAIT_QUEUE_HEAD(asking);
static DECLARE_COMPLETION(answered);

/**
 * vt_shell() - have a command run, and wait until it has ended
 * @fmt: the command
 *
 * Return: its status, or a negative error
 */
int vt_shell(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(command, sizeof(command) - 1, fmt, args);
	va_end(args);
	strcat(command, "\n");
	reinit_completion(&answered);
	WRITE_ONCE(asked, true);
	wake_up(&asking);
	if (!wait_for_completion_timeout(&answered, 30 * HZ))
		return -ETIMEDOUT;
	return answer;
}

/* A line for each opening of the file, when there is one */
static ssize_t command_read(struct file *file, char __user *to, size_t len,
			    loff_t *pos)
{
	if (!*pos) {
		int ret = wait_event_interruptible(asking, READ_ONCE(asked));

		if (ret)
			return ret;
		WRITE_ONCE(asked, false);
	}
	return simple_read_from_buffer(to, len, pos, command, strlen(command));
}

static ssize_t answer_write(struct file *file, const char __user *from, size_t len,
			    loff_t *pos)
{
	int ret = kstrtoint_from_user(from, len, 0, &answer);

	if (ret)
		return ret;
	complete(&answered);
	return len;
}

static const struct file_operations command_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = command_read,
	.llseek = default_llseek,
};

static const struct file_operations answer_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = answer_write,
};

/**
 * vt_shell_init() - create the files by which commands go to a shell
 * @dir: their directory
 */
void vt_shell_init(struct dentry *dir)
{
	debugfs_create_file("command", 0400, dir, NULL, &command_fops);
	debugfs_create_file("answer", 0200, dir, NULL, &answer_fops);
}

/**
 * vt_fault() - write a line into a device's file of faults
 * @dev: the device
 * @fmt: the line
 *
 * Return: 0 if it was taken
 */
int vt_fault(struct ib_device *dev, const char *fmt, ...)
{
	char line[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return vt_shell("echo '%s' > /sys/kernel/debug/vrnic/%s/faults", line,
			dev_name(&dev->dev));
}
