// SPDX-License-Identifier: GPL-2.0
/* core-abi: arguments, the order of work, writing the result. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "core-abi.h"

static const char usage[] =
"usage: core-abi --kver VERSION --manifest FILE --out FILE [options]\n"
"       core-abi --ksrc DIR --manifest FILE --out FILE [options]\n"
"       core-abi --report --kver VERSION --manifest FILE [options] HEADER...\n"
"\n"
"Derives the private part of the kernel's NVMe core from its BTF and writes it\n"
"as one C header. Or prints whether that fits: status 0 if all that is needed is\n"
"there, and declared as in one of the HEADERs, which core-abi wrote for tested\n"
"kernels; 1 if not; 2 if there is nothing to report on.\n"
"\n"
"  --kver VERSION    the installed kernel to build for\n"
"  --ksrc DIR        a kernel tree that was built, in its place\n"
"  --manifest FILE   what is needed from the core\n"
"  --out FILE        the header to write; left alone where nothing changed\n"
"  --read FILE       also write the list of the kernel's files that were read\n"
"  --root DIR        look for the kernel below DIR\n"
"  --base FILE       take the base BTF from this vmlinux, vmlinuz or raw BTF\n"
"  --module-dir DIR  take the modules from below DIR\n";

struct options {
	const char *manifest, *out, *read;
	char *const *known;
	size_t nr_known;
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static void __attribute__((noreturn)) misused(void)
{
	fputs(usage, stderr);
	exit(2);
}

static void parse(int argc, char **argv, struct abi *abi, struct options *o)
{
	static const struct option longs[] = {
		{ "kver", required_argument, NULL, 'k' },
		{ "ksrc", required_argument, NULL, 's' },
		{ "manifest", required_argument, NULL, 'm' },
		{ "out", required_argument, NULL, 'o' },
		{ "read", required_argument, NULL, 'R' },
		{ "root", required_argument, NULL, 'r' },
		{ "base", required_argument, NULL, 'b' },
		{ "module-dir", required_argument, NULL, 'M' },
		{ "report", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct kernel *k = &abi->kernel;
	int c;

	k->root = "";
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'k': k->kver = optarg; break;
		case 's': k->ksrc = optarg; break;
		case 'm': o->manifest = optarg; break;
		case 'o': o->out = optarg; break;
		case 'R': o->read = optarg; break;
		case 'r': k->root = optarg; break;
		case 'b': k->base_path = optarg; break;
		case 'M': k->module_dir = optarg; break;
		case 'p': abi->report = true; break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			misused();
		}
	}
	o->known = argv + optind;
	o->nr_known = (size_t)(argc - optind);
	if ((!k->kver && !k->ksrc) || !o->manifest ||
	    !abi->report == !o->out || !abi->report == !!o->nr_known)
		misused();
}

/* The release of a built tree. */
static void kver_of_tree(struct kernel *k)
{
	char *path = say("%s/include/config/kernel.release", k->ksrc);
	struct blob b;
	char *release;

	if (access(path, R_OK))
		fail("there is no %s: KSRC must be a kernel tree that was built",
		     path);
	b = blob_read(path);
	release = say("%.*s", (int)b.size, (const char *)b.data);
	release[strcspn(release, "\n")] = '\0';
	if (k->kver && strcmp(k->kver, release))
		fail("KSRC %s is the kernel %s, asked for was %s", k->ksrc,
		     release, k->kver);
	k->kver = release;
	blob_free(&b);
	free(path);
}

static void load_base(struct abi *abi)
{
	struct kernel *k = &abi->kernel;
	struct blob file;
	struct span raw;

	k->base_path = find_base(k);
	file = blob_read_kernel(k->base_path);
	if (elf_is(&file))
		raw = elf_section(&file, ".BTF");
	else
		raw = (struct span){ file.data, file.size };
	if (raw.data)
		abi->base = btf_load(raw, k->base_path, NULL, NULL);
	else if (!abi->report)
		fail("no BTF: %s has no section .BTF. The kernel must be built with CONFIG_DEBUG_INFO_BTF",
		     k->base_path);
	blob_free(&file);
}

/* Whole or not at all; and an unchanged header keeps its time for make. */
static void write_out(const char *path, const char *text, size_t size)
{
	char *tmp;
	FILE *f;

	if (!access(path, R_OK)) {
		struct blob old = blob_read(path);
		bool same = old.size == size && !memcmp(old.data, text, size);

		blob_free(&old);
		if (same)
			return;
	}
	tmp = say("%s.tmp", path);
	f = fopen(tmp, "w");
	if (!f)
		fail("cannot write %s: %s", tmp, strerror(errno));
	if (fwrite(text, 1, size, f) != size || fclose(f) ||
	    rename(tmp, path))
		fail("cannot write %s: %s", path, strerror(errno));
	free(tmp);
}

/* For make: a header is as old as its source. */
static void write_read(const struct abi *abi, const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fail("cannot write %s: %s", path, strerror(errno));
	fprintf(f, "%s\n", abi->kernel.base_path);
	for (size_t i = 0; i < abi->nr_modules; i++)
		fprintf(f, "%s\n", abi->modules[i].path);
	if (fclose(f))
		fail("cannot write %s: %s", path, strerror(errno));
}

static void write_header(struct abi *abi, const struct options *o)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		fail("out of memory");
	emit(abi, out);
	if (fclose(out))
		fail("out of memory");
	write_out(o->out, text, size);
	if (o->read)
		write_read(abi, o->read);
	free(text);
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct abi abi = { 0 };

	parse(argc, argv, &abi, &o);
	if (abi.report)
		fail_status = 2;
	libbpf_set_print(quiet);
	run_context = abi.kernel.kver ? abi.kernel.kver : abi.kernel.ksrc;
	kernel_must_exist(&abi.kernel);
	if (abi.kernel.ksrc)
		kver_of_tree(&abi.kernel);
	manifest_read(&abi.manifest, o.manifest);
	load_base(&abi);
	layout_resolve(&abi);
	if (abi.report) {
		bool fits = report(&abi, o.known, o.nr_known, stdout);

		if (fflush(stdout) || ferror(stdout))
			fail("cannot print the report: %s", strerror(errno));
		return fits ? 0 : 1;
	}
	write_header(&abi, &o);
	return 0;
}
