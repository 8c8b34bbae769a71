// SPDX-License-Identifier: GPL-2.0
/* The modules: whose they are, whether they fit the kernel, which one is loaded */
#include "doctor/doctor.h"
#include "rdma/rdma.h"

#include <string.h>

static char *modinfo(const char *field, const char *module)
{
	return program_output(PROGRAM_S, "modinfo", "-F", field, module, NULL);
}

/*
 * A loaded module is compared by its srcversion. The distribution's own may have none,
 * as Debian's: then both have none.
 */
static bool is_stale(struct doctor *d, const char *name, const char *sys)
{
	const char *want = modinfo("srcversion", name);
	const char *have = file_read("%s/sys/module/%s/srcversion", d->root, sys);

	return strcmp(want ? want : "", have ? have : "");
}

static void say_not_installed(struct doctor *d, const char *name, bool needed)
{
	report(d, needed ? FOUND_ERROR : FOUND_NOTE,
	       "there is no module %s for the kernel %s", name, d->release);
	report_reason(d, "without it this machine cannot %s disks over RDMA" MODULE_WHERE,
		      strcmp(name, "nvme-rdma") ? "offer" : "use a target's");
	report_fix(d, HERE, "apt install linux-headers-%s " MODULE_PACKAGE, d->release);
	report_fix(d, HERE, "depmod -a");
}

static bool has_controllers(struct doctor *d)
{
	struct names all = names_in("%s/sys/class/nvme", d->root);
	size_t i;

	for (i = 0; i < all.nr; i++) {
		const char *transport = file_read("%s/sys/class/nvme/%s/transport", d->root,
						  all.name[i]);

		if (transport && !strcmp(transport, "rdma"))
			return true;
	}
	return false;
}

static void say_stale(struct doctor *d, const char *name)
{
	bool target = strcmp(name, "nvme-rdma");
	const char *why = "what was mended or added since is not in use";

	report(d, FOUND_WARNING, "the %s that is loaded is not the one that is installed", name);
	if (target && target_listens(d))
		report_reason(d, "%s; the command takes all exports away for a moment: I/O of connected hosts waits until they are back",
			      why);
	else if (!target && has_controllers(d))
		report_reason(d, "%s; the command takes the disks away that are connected over RDMA: umount them before, and connect them again",
			      why);
	else
		report_reason(d, "%s", why);
	if (target)
		report_fix_reload_target(d);
	else
		report_fix(d, HERE, "modprobe -r %s && modprobe %s", name, name);
}

static void because_not_ours(struct doctor *d, const char *more)
{
	report_reason(d, "it has none of our counters, deadlines and words in the log; what follows judges it as far as it can be seen%s",
		      more);
}

/* False: it is ours, and nothing is said */
static bool say_whose(struct doctor *d, const char *name, const char *path)
{
	enum module_whose whose = module_whose(path, modinfo("description", name));

	if (whose == MODULE_OURS)
		return false;
	if (whose == MODULE_KERNELS) {
		report(d, FOUND_WARNING, "%s is the kernel's own module", name);
		because_not_ours(d, MODULE_WHERE);
		report_fix(d, HERE, MODULE_INSTALL);
	} else {
		report(d, FOUND_WARNING, "%s is not ours, nor the kernel's own: %s", name, path);
		because_not_ours(d, ". One that came with another RDMA stack, as MLNX_OFED's, goes with that stack, and ours does not load beside it: see migration.md, From MLNX_OFED");
		report_fix(d, HERE, "ofed_info -s; dkms status; modinfo -n ib_core rdma_cm");
	}
	return true;
}

static void check_module(struct doctor *d, const char *name, const char *sys, bool needed)
{
	const char *path = program_output(PROGRAM_S, "modinfo", "-n", name, NULL);
	bool loaded = file_there("%s/sys/module/%s", d->root, sys);
	const char *version;

	if (!path) {
		say_not_installed(d, name, needed);
		return;
	}
	if (loaded && is_stale(d, name, sys)) {
		say_stale(d, name);
	} else if (!say_whose(d, name, path)) {
		version = modinfo("version", name);
		report(d, FOUND_OK, "%s is ours, version %s, %s", name,
		       version ? version : "unknown", loaded ? "loaded" : "not loaded");
	}
	report_detail(d, "found by modprobe: %s", path);
}

/* The host's module matters to who uses a target, or has nothing else to do here */
void check_module_host(struct doctor *d)
{
	check_module(d, "nvme-rdma", "nvme_rdma", d->address || !is_target(d));
}

void check_module_target(struct doctor *d)
{
	check_module(d, "nvmet-rdma", "nvmet_rdma", is_target(d));
}

void check_module_fabrics(struct doctor *d)
{
	if (file_there("%s/dev/nvme-fabrics", d->root)) {
		report(d, FOUND_OK, "nvme-fabrics is loaded");
		return;
	}
	report(d, d->address ? FOUND_ERROR : FOUND_NOTE, "nvme-fabrics is not loaded");
	report_reason(d, "'nvme connect' fails with \"Failed to open /dev/nvme-fabrics\"; unloading nvme-rdma may have taken it along");
	report_fix(d, HERE, "modprobe nvme-fabrics");
	report_fix(d, HERE, "echo nvme-fabrics >/etc/modules-load.d/nvme-fabrics.conf");
}
