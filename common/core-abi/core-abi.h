/* SPDX-License-Identifier: GPL-2.0 */
/*
 * core-abi: derive the private part of the kernel's NVMe core from BTF.
 *
 * The pieces, in the order in which a run uses them:
 *
 *	main.c		arguments, the order of work, writing the result
 *	manifest-read.c	reads the manifest: the list of what the modules need
 *	find.c		finds a kernel's base BTF and its modules
 *	unpack.c	reads files, compressed files and the payload of a vmlinuz
 *	elf.c		reads sections and symbols of ELF files, with bounds checks
 *	btf-check.c	checks that BTF is complete and matches its base
 *	layout.c	resolves the manifest against the BTF
 *	emit.c, decl.c	write the header
 *	report.c	or a page that says whether the kernel fits: known.c reads the
 *			headers of tested kernels, to compare with
 *
 * Every error ends the run: fail() prints what was expected, what was found and
 * what to do, and exits with status 1.  The program never guesses.  Only for a
 * report it goes on where the kernel lacks something: "found" is then false for
 * an entry of the manifest that is not optional.
 */
#ifndef CORE_ABI_H
#define CORE_ABI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <bpf/btf.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* util.c */
extern const char *run_context;	/* prefix of every message, such as the kernel */
extern int fail_status;

void vfail(const char *fmt, va_list ap) __attribute__((noreturn));
void fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
char *say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *must_alloc(size_t n);
void *must_grow(void *p, size_t count, size_t size);
char *must_dup(const char *s);
char *upper(const char *s);

/* A file in memory.  Messages name it by @path. */
struct blob {
	char *path;
	unsigned char *data;
	size_t size;
};

/* Part of a blob; @data is NULL if the part does not exist. */
struct span {
	const unsigned char *data;
	size_t size;
};

/* manifest-read.c */
struct want_field {
	char *name;
	bool optional;
	/* filled in by layout.c */
	bool found;
	uint32_t type;		/* BTF id */
	uint64_t bit_off;	/* from the start of the outer struct */
	uint32_t bit_size;	/* 0: not a bitfield */
	uint64_t size;		/* in bytes; for a bitfield that of its type */
};

enum want_kind { WANT_STRUCT, WANT_ENUM, WANT_FUNC, WANT_VAR, WANT_DATA,
		 WANT_PUBLIC, WANT_PUBLIC_FUNC, WANT_PUBLIC_MEMBER };

struct want {
	enum want_kind kind;
	char *name;		/* enum: NULL if it has no name */
	char *module;		/* the module with the definition; NULL: any */
	char *type;		/* var: its C type; data: the struct */
	bool optional;
	bool is_union;
	struct want_field *fields;	/* members; enum: enumerators */
	size_t nr_fields;
	int line;
	/* filled in by layout.c */
	bool found;
	const struct btf *btf;	/* of @id; NULL: the module has no BTF */
	uint32_t id;
	uint64_t size;
	uint32_t align;
	uint32_t nr_args;
	uint64_t value;		/* data: the value in the .ko */
};

struct manifest {
	const char *path;
	char **includes;
	size_t nr_includes;
	struct want *wants;
	size_t nr_wants;
};

void manifest_read(struct manifest *m, const char *path);

/* unpack.c */
struct blob blob_read(const char *path);
struct blob blob_read_module(const char *path);
struct blob blob_read_kernel(const char *path);
void blob_free(struct blob *b);

/* elf.c */
bool elf_is(const struct blob *b);
struct span elf_section(const struct blob *b, const char *name);
bool elf_symbol(const struct blob *b, const char *name, struct span *data);
bool elf_exports(const struct blob *b, const char *symbol);

/* btf-check.c */
struct btf *btf_load(struct span raw, const char *path, struct btf *base,
		     const char *base_path);

/* find.c */
struct kernel {
	const char *root;	/* prefix of every path, "" for the machine */
	const char *kver;
	const char *ksrc;	/* a built kernel tree, or NULL */
	const char *base_path;	/* from --base, or found */
	const char *module_dir;	/* from --module-dir, or NULL */
};

struct module {
	char *name;
	char *path;
	bool builtin;
	struct blob file;
	struct btf *btf;	/* NULL, for a report only: it has none */
};

void kernel_must_exist(const struct kernel *k);
char *find_base(const struct kernel *k);
char *find_module(const struct kernel *k, const char *name, bool *builtin);
void check_vermagic(const struct kernel *k, const struct module *mod);

/* layout.c */
struct abi {
	struct kernel kernel;
	struct manifest manifest;
	struct btf *base;	/* NULL, for a report only: it has none */
	struct module *modules;
	size_t nr_modules;
	bool report;		/* go on where the kernel lacks something */
};

struct module *abi_module(struct abi *abi, const char *name);
void layout_resolve(struct abi *abi);
uint32_t strip_modifiers(const struct btf *btf, uint32_t id);

/* decl.c */
struct decl_notes {
	/* tags of structs and unions that are used only by pointers */
	char **forwards;
	size_t nr_forwards;
	/* public types that are embedded: "struct mutex" -> 32 */
	struct { char *name; uint64_t size; } *embedded;
	size_t nr_embedded;
};

char *decl(const struct btf *btf, uint32_t id, const char *inner,
	   struct decl_notes *notes);
void note_embedded(struct decl_notes *notes, const char *name, uint64_t size);
const char *field_name(const struct btf *btf, uint32_t off);

/* emit.c */
char *field_decl(const struct want *w, const struct want_field *f,
		 struct decl_notes *notes);
char *func_decl(const struct want *w, struct decl_notes *notes);
char *public_func_line(const struct want *w);
char *public_member_line(const struct want *w);
void emit(struct abi *abi, FILE *out);

/* known.c */
struct known {
	char *text;
	char *kver;
	unsigned long series;
};

void known_read(struct known *k, const char *path);
const struct known *known_near(const struct known *known, size_t nr,
			       const char *kver);
char *known_line(const struct known *k, const struct want *w,
		 const char *start, const char *name);
bool known_number(const struct known *k, const char *what, uint64_t *nr);

/* report.c */
bool report(struct abi *abi, char *const *known, size_t nr_known, FILE *out);

#endif
