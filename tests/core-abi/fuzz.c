// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz SECONDS KVER BASE MODULE-DIR MANIFEST HEADER
 *
 * Damages the BTF and the ELF file of nvme-core.ko, in the same way in each run,
 * and lets core-abi go all the way with it, in a child a time: it must end by
 * itself, with a header, a report or with words. Linked with core-abi's own objects, under
 * ASan and UBSan.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "core-abi.h"

static uint64_t state = 0x9e3779b97f4a7c15;

/* xorshift64: the same numbers in every run. */
static uint32_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state % n);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static void flip(unsigned char *data, size_t from, size_t to)
{
	for (uint32_t n = 1 + below(3); n; n--)
		data[from + below(to - from)] ^= (unsigned char)(1 << below(8));
}

/* Exactly as long as the data, so that ASan detects the first byte beyond. */
static unsigned char *copy(const void *data, size_t size)
{
	unsigned char *p = must_alloc(size);

	memcpy(p, data, size);
	return p;
}

static void replace_btf(struct abi *abi, struct module *mod, size_t size,
			bool damage)
{
	struct span raw = elf_section(&mod->file, ".BTF");
	unsigned char *data;

	if (size > raw.size)
		size = raw.size;
	data = copy(raw.data, size);
	if (damage && size)
		flip(data, 0, size);
	mod->btf = btf_load((struct span){ data, size }, mod->path, abi->base,
			    abi->kernel.base_path);
}

/* The base damaged, and the module over it. */
static void replace_base(struct abi *abi, struct module *mod)
{
	struct blob file = blob_read_kernel(abi->kernel.base_path);
	struct span raw = elf_section(&file, ".BTF");

	flip((unsigned char *)raw.data, 0, below(2) ? 4096 : raw.size);
	abi->base = btf_load(raw, abi->kernel.base_path, NULL, NULL);
	replace_btf(abi, mod, SIZE_MAX, false);
}

/* The ELF file damaged around its BTF: headers, section table, symbols. */
static void replace_file(struct abi *abi, struct module *mod)
{
	size_t headers = mod->file.size > 8192 ? mod->file.size - 8192 : 0;

	mod->file.data = copy(mod->file.data, mod->file.size);
	switch (below(4)) {
	case 0:
		mod->file.size = below(mod->file.size);
		break;
	case 1:
		flip(mod->file.data, 0, 64);
		break;
	default:
		flip(mod->file.data, headers, mod->file.size);
	}
	check_vermagic(&abi->kernel, mod);
	if (!elf_section(&mod->file, ".BTF").data)
		fail("no BTF");
	replace_btf(abi, mod, SIZE_MAX, false);
}

/* One damaged module, from its bytes to the header or report. Ends the process. */
static void __attribute__((noreturn))
child(struct abi *abi, unsigned int nr, char *const *header)
{
	struct module *mod = abi_module(abi, "nvme-core");
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	state += (uint64_t)nr << 32;
	below(2);
	if (nr % 32 == 31)
		replace_base(abi, mod);
	else if (nr % 4 == 1)
		replace_btf(abi, mod, below(60000), false);
	else if (nr % 4 == 2)
		replace_btf(abi, mod, SIZE_MAX, true);
	else if (nr)	/* the first case is whole, and must be taken */
		replace_file(abi, mod);
	abi->report = nr % 3 == 2;
	layout_resolve(abi);
	out = open_memstream(&text, &size);
	if (!out)
		_exit(2);
	if (abi->report)
		report(abi, header, 1, out);
	else
		emit(abi, out);
	fclose(out);
	_exit(0);
}

static int run(struct abi *abi, unsigned int nr, char *const *header, bool loud)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot fork");
	if (!pid) {
		if (!loud && !freopen("/dev/null", "w", stderr))
			_exit(2);
		child(abi, nr, header);
	}
	if (waitpid(pid, &status, 0) != pid)
		fail("lost a child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"nvme-core", "nvme-fabrics", "nvmet", "ib_core", "rdma_cm",
		"nvme-rdma", "nvmet-rdma" };
	struct abi abi = { 0 };
	unsigned int nr = 0, refused = 0, taken = 0;
	struct blob file;
	time_t end;

	if (argc != 7)
		return 2;
	libbpf_set_print(quiet);
	abi.kernel = (struct kernel){ .root = "", .kver = argv[2],
				      .base_path = argv[3],
				      .module_dir = argv[4] };
	manifest_read(&abi.manifest, argv[5]);
	file = blob_read_kernel(argv[3]);
	abi.base = btf_load(elf_section(&file, ".BTF"), argv[3], NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!abi_module(&abi, names[i]))
			fail("there is no %s", names[i]);

	end = time(NULL) + atoi(argv[1]);
	for (; nr < 4000 && (nr < 100 || time(NULL) < end); nr++) {
		int status = run(&abi, nr, argv + 6, false);

		if (status > 1 || (!nr && status)) {
			fprintf(stderr, "case %u ended with status %d:\n", nr,
				status);
			run(&abi, nr, argv + 6, true);
			return 1;
		}
		refused += status == 1;
		taken += status == 0;
	}
	printf("%u cases: %u refused, %u taken\n", nr, refused, taken);
	return refused < nr / 4 || taken < nr / 16;
}
