// SPDX-License-Identifier: GPL-2.0
/*
 * The files in debugfs, in the directory "feeder":
 *
 *   connect     write "ADDRESS PORT SUBNQN HOSTNQN QUEUES [FIRST NUMBER]"; FIRST is the address
 *               of the first I/O queue, each other has the next one of NUMBER, in turn
 *   feed        write "read|write|write-keyed NSID DEPTH COUNT [random] [at-once] [check]
 *               [every=NS]"
 *   result      what came of the last one: "sent N answered N failed N wrong N"
 *   disconnect  write anything
 *
 * A write returns when all is done, with an error if it failed; the kernel's log has the
 * reason. struct feeder_job explains the words.
 */
#define pr_fmt(fmt) "feeder: " fmt

#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <uapi/linux/sched/types.h>
#include "feeder.h"

MODULE_DESCRIPTION("A minimal NVMe/RDMA host that keeps a target busy");
MODULE_LICENSE("GPL");

static DEFINE_MUTEX(lock);	/* protects the host and the last job */
static struct feeder *host;
static struct feeder_job last;
static struct dentry *dir;

struct feeding {
	struct completion done;
	int ret;
};

static int connect_line(char *line)
{
	const char *address = strsep(&line, " ");
	const char *port = strsep(&line, " ");
	const char *subnqn = strsep(&line, " ");
	const char *hostnqn = strsep(&line, " ");
	struct sockaddr_storage to, from = {};
	const char *nr;
	struct feeder *made;
	unsigned int queues, addresses = 0;
	const char *first;
	int ret;

	if (host)
		return -EISCONN;
	nr = strsep(&line, " ");
	if (!nr || kstrtouint(nr, 10, &queues) || !queues || queues > FEEDER_IO_QUEUES)
		return -EINVAL;
	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, address, port, &to);
	first = strsep(&line, " ");
	if (!ret && first) {
		if (!line || kstrtouint(line, 10, &addresses) || !addresses)
			return -EINVAL;
		ret = inet_pton_with_scope(&init_net, AF_INET, first, NULL, &from);
	}
	if (ret)
		return ret;
	made = feeder_connect(&to, &from, addresses, subnqn, hostnqn, queues);
	if (IS_ERR(made))
		return PTR_ERR(made);
	host = made;
	return 0;
}

static int disconnect_line(char *unused)
{
	if (!host)
		return -ENOTCONN;
	feeder_disconnect(host);
	host = NULL;
	return 0;
}

static int feed_thread(void *arg)
{
	struct feeding *f = arg;

	f->ret = feeder_feed(host, &last);
	kthread_complete_and_exit(&f->done, 0);
}

/* In a task of this CPU that has the idle policy, and is of no group of tasks */
static int feed(void)
{
	const struct sched_attr idle = { .sched_policy = SCHED_IDLE };
	struct feeding f = { .done = COMPLETION_INITIALIZER_ONSTACK(f.done) };
	struct task_struct *task = kthread_create(feed_thread, &f, "feeder");

	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, raw_smp_processor_id());
	WARN_ON(sched_setattr_nocheck(task, &idle));
	wake_up_process(task);
	wait_for_completion(&f.done);
	return f.ret ?: last.failed || last.wrong ? -EIO : 0;
}

static bool option(struct feeder_job *job, const char *word)
{
	const struct {
		const char *name;
		bool *flag;
	} options[] = {
		{ "random", &job->random },
		{ "at-once", &job->at_once },
		{ "check", &job->check },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!strcmp(word, options[i].name)) {
			*options[i].flag = true;
			return true;
		}
	}
	return false;
}

static bool rate(struct feeder_job *job, const char *word)
{
	static const char key[] = "every=";

	return !strncmp(word, key, strlen(key)) &&
	       !kstrtouint(word + strlen(key), 10, &job->every);
}

static int feed_line(char *line)
{
	const char *op = strsep(&line, " ");
	struct feeder_job job = {};
	const char *word;
	int at = 0;

	if (!host)
		return -ENOTCONN;
	job.opcode = strcmp(op, "read") ? nvme_cmd_write : nvme_cmd_read;
	job.keyed = !strcmp(op, "write-keyed");
	if ((job.opcode == nvme_cmd_write && !job.keyed && strcmp(op, "write")) || !line ||
	    sscanf(line, "%u %u %u%n", &job.nsid, &job.depth, &job.count, &at) != 3 ||
	    !job.depth || job.depth > FEEDER_DEPTH)
		return -EINVAL;
	line += at;
	while ((word = strsep(&line, " "))) {
		if (*word && !option(&job, word) && !rate(&job, word))
			return -EINVAL;
	}
	last = job;
	return feed();
}

static ssize_t line_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	int (*obey)(char *line) = file->private_data;
	char *line;
	int ret;

	if (len >= PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(from, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&lock);
	ret = obey(strim(line));
	mutex_unlock(&lock);
	kfree(line);
	return ret ?: len;
}

static const struct file_operations line_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = line_write,
};

static int result_show(struct seq_file *s, void *unused)
{
	mutex_lock(&lock);
	seq_printf(s, "sent %u answered %u failed %u wrong %u\n", last.sent, last.answered,
		   last.failed, last.wrong);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

static int __init feeder_init(void)
{
	dir = debugfs_create_dir("feeder", NULL);
	debugfs_create_file("connect", 0200, dir, connect_line, &line_fops);
	debugfs_create_file("disconnect", 0200, dir, disconnect_line, &line_fops);
	debugfs_create_file("feed", 0200, dir, feed_line, &line_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	return 0;
}

static void __exit feeder_exit(void)
{
	debugfs_remove(dir);
	if (host)
		feeder_disconnect(host);
}

module_init(feeder_init);
module_exit(feeder_exit);
