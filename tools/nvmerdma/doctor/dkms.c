// SPDX-License-Identifier: GPL-2.0
/* What keeps the modules: DKMS over updates of the kernel, signatures with Secure Boot */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doctor/parse.h"

#define DKMS_S		10
#define PACKAGE		"nvme-rdma"
/* The variable of EFI, by its vendor's GUID; four bytes of attributes, then the value */
#define SECURE_BOOT	"/sys/firmware/efi/efivars/" \
			"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define EFI_ATTRIBUTES	4
/* The key with which DKMS signs; it makes one by itself */
#define KEY		"/var/lib/dkms/mok.pub"

/* "installed (original_module exists)" says that one of the kernel's was put aside */
static bool is_installed(const char *state)
{
	return !strncmp(state, "installed", strlen("installed"));
}

static void check_kernel(struct doctor *d, const char *status, const char *release,
			 const char *which)
{
	const char *version = NULL;
	const char *state = parse_dkms(status, PACKAGE, release, &version);
	bool runs = !strcmp(release, d->release);

	if (state && is_installed(state) && !strstr(state, "WARNING")) {
		report(d, FOUND_OK, "DKMS has installed %s/%s for %s, %s", PACKAGE, version,
		       release, which);
		return;
	}
	if (state && is_installed(state)) {
		report(d, FOUND_WARNING, "the %s/%s of %s, %s, is not as DKMS has built it: %s",
		       PACKAGE, version, release, which, state);
		report_reason(d, "somebody has put other modules in its place; the command puts those of DKMS there, and they are used when they are loaded next");
		report_fix(d, HERE, "dkms install %s/%s -k %s --force", PACKAGE, version, release);
		return;
	}
	report(d, runs ? FOUND_ERROR : FOUND_WARNING,
	       "DKMS has not installed %s for %s, %s: %s", PACKAGE, release, which,
	       state ? state : "it is not built");
	report_reason(d, runs ? "the kernel's own modules are used, or none" :
		      "after the next boot the kernel's own modules are used, or none");
	if (!file_there("%s/lib/modules/%s/build/Makefile", d->root, release)) {
		report_fix(d, HERE, "apt install linux-headers-%s", release);
		report_detail(d, "there is no %s/lib/modules/%s/build: headers are missing",
			      d->root, release);
	}
	report_fix(d, HERE, "dkms install %s/%s -k %s --force", PACKAGE, version ? version : "VERSION",
		   release);
	report_detail(d, "why a build failed: /var/lib/dkms/%s/%s/build/make.log", PACKAGE,
		      version ? version : "VERSION");
}

/* The newest one that could be booted: what 'make headers_install' alone made is none */
static const char *newest_kernel(struct doctor *d)
{
	struct names all = names_in("%s/lib/modules", d->root);
	const char *newest = NULL;
	size_t i;

	for (i = 0; i < all.nr; i++) {
		if (file_there("%s/lib/modules/%s/modules.order", d->root, all.name[i]) ||
		    file_there("%s/lib/modules/%s/kernel", d->root, all.name[i]))
			newest = all.name[i];
	}
	return newest;
}

void check_dkms(struct doctor *d)
{
	const char *status, *newest, *version;

	status = program_output(DKMS_S, "dkms", "status", NULL);
	parse_dkms(status ? status : "", PACKAGE, "", &version);
	if (report_skipped(d, version ? NULL : "our modules are not installed by DKMS"))
		return;
	check_kernel(d, status, d->release, "which runs");
	newest = newest_kernel(d);
	if (newest && strcmp(newest, d->release))
		check_kernel(d, status, newest, "the newest one");
}

/* -1: this machine has no EFI, or does not say */
static int secure_boot(struct doctor *d)
{
	unsigned char bytes[EFI_ATTRIBUTES + 1];
	int fd = open(mem_fmt("%s" SECURE_BOOT, d->root), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	return n == sizeof(bytes) ? bytes[EFI_ATTRIBUTES] : -1;
}

/* Whether the machine does not know the key yet, so far as mokutil can tell */
static bool is_key_unknown(struct doctor *d)
{
	const char *said;

	if (file_there("%s/sys/module/nvme_rdma", d->root))
		return false;
	said = program_output(DKMS_S, "mokutil", "--test-key", KEY, NULL);
	return said && strstr(said, "is not enrolled");
}

void check_secure_boot(struct doctor *d)
{
	const char *signer, *version;
	int on = secure_boot(d);

	if (on != 1) {
		report(d, FOUND_OK, on ? "this machine has no Secure Boot" : "Secure Boot is off");
		return;
	}
	signer = program_output(DKMS_S, "modinfo", "-F", "signer", "nvme-rdma", NULL);
	if (signer && *signer && !is_key_unknown(d)) {
		report(d, FOUND_OK, "Secure Boot is on, and nvme-rdma is signed by %s", signer);
		report_detail(d, "if it does not load (\"Key was rejected\"), its key is not enrolled: mokutil --import "
			      KEY ", and boot");
		return;
	}
	report(d, FOUND_ERROR, "Secure Boot is on, and nvme-rdma is %s", signer && *signer ?
	       mem_fmt("signed by %s, whose key is not enrolled", signer) : "not signed");
	report_reason(d, "the kernel does not load it: \"Key was rejected by service\"");
	if (!signer || !*signer) {
		version = program_output(DKMS_S, "modinfo", "-F", "version", "nvme-rdma", NULL);
		version = version && *version ? version : "VERSION";
		report_fix(d, HERE, "dkms build %s/%s -k %s --force && dkms install %s/%s -k %s --force",
			   PACKAGE, version, d->release, PACKAGE, version, d->release);
	}
	report_fix(d, HERE, "mokutil --import " KEY);
	report_detail(d, "it asks for a password, and is finished at the console when the machine boots");
}
