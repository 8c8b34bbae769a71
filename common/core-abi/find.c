// SPDX-License-Identifier: GPL-2.0
/*
 * Where a kernel keeps its base BTF and its modules.
 *
 * Only the kernel that was asked for counts.  /sys/kernel/btf/vmlinux is looked
 * at last, and only where that kernel is the running one.
 */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core-abi.h"

static const char *const module_dirs[] = { "lib/modules", "usr/lib/modules" };

static bool readable(const char *path)
{
	return !access(path, R_OK);
}

/* The names in a directory of kernels, for a message. */
static char *kernels_in(const char *dir)
{
	DIR *d = opendir(dir);
	char *list = must_dup("");

	for (struct dirent *e; d && (e = readdir(d));) {
		char *more;

		if (e->d_name[0] == '.')
			continue;
		more = say("%s%s%s", list, *list ? ", " : "", e->d_name);
		free(list);
		list = more;
	}
	if (d)
		closedir(d);
	if (!*list) {
		free(list);
		list = must_dup("none");
	}
	return list;
}

static char *modules_of(const struct kernel *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(module_dirs); i++) {
		char *dir = say("%s/%s/%s", k->root, module_dirs[i], k->kver);

		if (readable(dir))
			return dir;
		free(dir);
	}
	return NULL;
}

void kernel_must_exist(const struct kernel *k)
{
	char *dir, *list;

	if (k->ksrc) {
		if (!readable(k->ksrc))
			fail("there is no kernel tree %s: %s", k->ksrc,
			     strerror(errno));
		return;
	}
	if (k->module_dir && k->base_path)
		return;
	dir = modules_of(k);
	if (dir) {
		free(dir);
		return;
	}
	dir = say("%s/%s", k->root, module_dirs[0]);
	list = kernels_in(dir);
	fail("the kernel is not installed: there is no %s/%s (installed: %s). Install the package linux-image-%s, or choose another KVER",
	     dir, k->kver, list, k->kver);
}

/* The first of these that is there is the base.  %s: root, kver. */
static const char *const base_places[] = {
	"%s/lib/modules/%s/build/vmlinux",
	"%s/usr/lib/modules/%s/build/vmlinux",
	"%s/usr/src/linux-headers-%s/vmlinux",
	"%s/boot/vmlinux-%s",
	"%s/boot/vmlinuz-%s",
	"%s/lib/modules/%s/vmlinuz",
	"%s/usr/lib/modules/%s/vmlinuz",
};

char *find_base(const struct kernel *k)
{
	static const char running[] = "/sys/kernel/btf/vmlinux";
	struct utsname u;
	char *path;

	if (k->base_path) {
		if (!readable(k->base_path))
			fail("cannot read the base %s: %s", k->base_path,
			     strerror(errno));
		return must_dup(k->base_path);
	}
	if (k->ksrc) {
		path = say("%s/vmlinux", k->ksrc);
		if (!readable(path))
			fail("there is no %s: KSRC must be a kernel tree that was built",
			     path);
		return path;
	}
	for (size_t i = 0; i < ARRAY_SIZE(base_places); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		path = say(base_places[i], k->root, k->kver);
#pragma GCC diagnostic pop
		if (readable(path))
			return path;
		free(path);
	}
	if (!*k->root && !uname(&u) && !strcmp(u.release, k->kver) &&
	    readable(running))
		return must_dup(running);
	fail("no base BTF: looked for vmlinux in the headers (%s/lib/modules/%s/build) and for vmlinuz-%s in %s/boot. Install the packages linux-headers-%s and linux-image-%s",
	     k->root, k->kver, k->kver, k->root, k->kver, k->kver);
}

/* nftw() passes no argument of its caller to the callback. */
static struct {
	const char *name;
	char *found;
} walk;

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	static const char *const suffixes[] = { "", ".xz", ".zst", ".gz" };
	const char *file = path + ftw->base;
	size_t n = strlen(walk.name);

	(void)st;
	if (type != FTW_F && type != FTW_SL)
		return 0;
	if (strncmp(file, walk.name, n) || strncmp(file + n, ".ko", 3))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(file + n + 3, suffixes[i]))
			continue;
		walk.found = must_dup(path);
		return 1;
	}
	return 0;
}

static char *find_below(const char *dir, const char *name)
{
	walk.name = name;
	walk.found = NULL;
	nftw(dir, visit, 16, FTW_PHYS);
	return walk.found;
}

/* Is "…/<name>.ko" listed in modules.builtin? */
static bool is_builtin(const char *dir, const char *name)
{
	char *path = say("%s/modules.builtin", dir);
	char *tail = say("/%s.ko\n", name);
	FILE *f = fopen(path, "r");
	char line[PATH_MAX];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		size_t n = strlen(line), t = strlen(tail);

		found = n >= t && !strcmp(line + n - t, tail);
	}
	if (f)
		fclose(f);
	free(path);
	free(tail);
	return found;
}

/*
 * The file of an in-tree module, or NULL.  Only kernel/ is searched: updates/
 * holds what replaces the in-tree modules, among others our own.
 */
char *find_module(const struct kernel *k, const char *name, bool *builtin)
{
	static const char *const places[] = {
		"drivers/nvme", "drivers/infiniband/core" };
	char *dir, *sub, *path = NULL;

	*builtin = false;
	if (k->module_dir) {
		path = find_below(k->module_dir, name);
		dir = path ? NULL : modules_of(k);
		*builtin = dir && is_builtin(dir, name);
		free(dir);
		return path;
	}
	dir = k->ksrc ? must_dup(k->ksrc) : modules_of(k);
	if (!dir)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !path; i++) {
		sub = say("%s/%s%s", dir, k->ksrc ? "" : "kernel/", places[i]);
		path = find_below(sub, name);
		free(sub);
	}
	if (!path && !k->ksrc) {
		sub = say("%s/kernel", dir);
		path = find_below(sub, name);
		free(sub);
	}
	if (!path)
		*builtin = is_builtin(dir, name);
	free(dir);
	return path;
}

/* The first word of a module's vermagic is the kernel that it is for. */
void check_vermagic(const struct kernel *k, const struct module *mod)
{
	static const char key[] = "vermagic=";
	struct span info = elf_section(&mod->file, ".modinfo");
	const char *p = (const char *)info.data;
	size_t left = info.size, n = strlen(k->kver);

	while (left) {
		size_t len = strnlen(p, left);

		if (len == left)
			break;
		if (!strncmp(p, key, sizeof(key) - 1)) {
			p += sizeof(key) - 1;
			if (!strncmp(p, k->kver, n) &&
			    (p[n] == ' ' || !p[n]))
				return;
			fail("%s is for the kernel %.*s", mod->path,
			     (int)strcspn(p, " "), p);
		}
		p += len + 1;
		left -= len + 1;
	}
	fail("%s has no vermagic: it is not a kernel module", mod->path);
}
