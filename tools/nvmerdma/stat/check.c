// SPDX-License-Identifier: GPL-2.0
/* Why there is nothing to show, and what to do */
#include "rdma/rdma.h"
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <linux/magic.h>
#include <sys/vfs.h>

static const struct {
	const char *module;
	const char *sysfs;
	const char *loads;		/* what does, but modprobe */
	const char *unused;		/* how it is made so */
} sides[NR_SIDES] = {
	[SIDE_HOST] = { "nvme-rdma", "nvme_rdma", "'nvme connect -t rdma' loads it",
			"disconnect its controllers" },
	[SIDE_TARGET] = { "nvmet-rdma", "nvmet_rdma", "'nvmerdma export' loads it",
			  "unlink its ports" },
};

/* The module is there, its files are not: mostly it is another one */
static const char *foreign(enum side side)
{
	const char *module = sides[side].module;

	if (module_loaded_is_ours("", sides[side].sysfs))
		return mem_fmt("%s is loaded and ours, and shows nothing in debugfs: the kernel may be locked down, or started with 'debugfs=off'; 'dmesg | grep -i debugfs'",
			       module);
	return mem_fmt("%s is loaded, but it is not ours, and has no counters; 'nvmerdma doctor' says whose the installed one is. To change over, %s, then 'modprobe -r %s' and 'modprobe %s'",
		       module, sides[side].unused, module, module);
}

static const char *absent(enum side side)
{
	const char *module = sides[side].module;

	return mem_fmt("%s is not loaded: %s, or 'modprobe %s' does", module, sides[side].loads,
		       module);
}

static bool is_loaded(enum side side)
{
	return file_there("/sys/module/%s", sides[side].sysfs);
}

int stat_check_debugfs(const char *mount, const char *command)
{
	struct statfs fs;

	if (!statfs(mount, &fs) && fs.f_type == DEBUGFS_MAGIC) {
		if (faccessat(AT_FDCWD, mount, R_OK | X_OK, AT_EACCESS))
			return error_msg("the counters in %s cannot be read (%m): that takes root, 'sudo %s'",
					 mount, command);
		return 0;
	}
	return error_msg("the counters are in debugfs, which is not mounted on %s: 'mount -t debugfs debugfs %s', as root, does it",
			 mount, mount);
}

int stat_check_read(void)
{
	const char *refused = counters_refused();

	if (!refused)
		return 0;
	return error_msg("%s cannot be read: %m; if that is not permitted to root, the kernel is locked down ('cat /sys/kernel/security/lockdown')",
			 refused);
}

int stat_check(const struct stat_dirs *dirs)
{
	bool some = false;
	enum side side;

	if (stat_check_debugfs(dirs->mount, "nvmerdma stat"))
		return -1;
	for (side = 0; side < NR_SIDES; side++)
		some |= dirs->debugfs[side] && file_there("%s", dirs->debugfs[side]);
	for (side = 0; side < NR_SIDES; side++) {
		if (!dirs->debugfs[side] || file_there("%s", dirs->debugfs[side]))
			continue;
		if (is_loaded(side) && some)
			note_msg("%s", foreign(side));
		else if (is_loaded(side))
			error_msg("%s", foreign(side));
		else if (!some)
			error_msg("%s", absent(side));
	}
	return some ? 0 : -1;
}
