// SPDX-License-Identifier: GPL-2.0
/*
 * One page that says whether the modules fit a kernel, for a bug report.
 *
 * What the kernel lacks is what layout_resolve() did not find.  What it has is held against the
 * headers of the tested kernels, as text (known.c): each declaration is rendered as emit() does,
 * and must stand in one of those headers.  Tested kernels may differ from each other in a type or
 * in arguments, because compat*.h evens that out.  Sizes, offsets and values may be any, because
 * the header for the kernel has its own; they are compared with the nearest tested kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

enum finding { MISSING, CHANGED, UNUSUAL, ABSENT, MOVED, NR_FINDINGS };

struct findings {
	FILE *out;
	char *text;
	size_t size;
	unsigned int nr;
};

struct report {
	const struct abi *abi;
	struct known *known;
	size_t nr_known;
	const struct known *near;
	struct findings found[NR_FINDINGS];
};

static const char *const titles[NR_FINDINGS] = {
	[MISSING] = "Missing: the modules cannot do without",
	[CHANGED] = "Changed: not as on any tested kernel",
	[UNUSUAL] = "Absent: optional, but every tested kernel has it",
	[ABSENT] = "Absent: optional, and absent on a tested kernel, too",
	[MOVED] = "Laid out differently: the derived header follows, nothing is to be written",
};

static const char *const advice[NR_FINDINGS] = {
	[MISSING] =
"  Missing: look in the kernel's sources for what took its place. Put a ? before its name in the\n"
"  manifest, and add what took its place to the named header, where HAVE_NAME is not defined.\n",
	[CHANGED] =
"  Changed function: add a case for its NAME_NARGS to the named header, or a test of its type if\n"
"  the number of arguments is the same. Changed member: read each use of it.\n",
	[UNUSUAL] =
"  Absent on no tested kernel: read how the named header, and its users, do without it.\n",
};

static void __attribute__((format(printf, 3, 4)))
note(struct report *r, enum finding what, const char *fmt, ...)
{
	struct findings *f = &r->found[what];
	va_list ap;

	va_start(ap, fmt);
	vfprintf(f->out, fmt, ap);
	va_end(ap);
	f->nr++;
}

/* The header in which compat code for @w belongs. */
static const char *compat_of(const struct want *w)
{
	return w->module && !strncmp(w->module, "nvmet", 5) ?
	       "compat-target.h" : "compat-host.h";
}

static const char *owner(const struct want *w)
{
	return w->module ? w->module : "the kernel";
}

/* A line of a header, without the marks of a comment. */
static void print_line(struct report *r, const char *kernel, const char *line)
{
	size_t n = strlen(line);

	if (!strncmp(line, "/* ", 3) && n > 6) {
		line += 3;
		n -= 6;
	}
	fprintf(r->found[CHANGED].out, "      %.*s  [%s]\n", (int)n, line, kernel);
}

/* Holds @here, a line that begins with @start and declares @name, against the tested kernels. */
static void compare(struct report *r, const struct want *w, const char *start,
		    const char *name, const char *here)
{
	char *near = known_line(r->near, w, start, name);
	bool same = false;

	for (size_t i = 0; i < r->nr_known && !same; i++) {
		char *line = known_line(&r->known[i], w, start, name);

		same = line && !strcmp(line, here);
		free(line);
	}
	if (!same) {
		note(r, CHANGED, "  %s: %s%s%s (manifest line %d, %s)\n", owner(w),
		     w->nr_fields ? w->name : "", w->nr_fields ? "." : "", name,
		     w->line, compat_of(w));
		print_line(r, "here", here);
		print_line(r, r->near->kver, near ? near : "does not have it");
	}
	free(near);
}

/* Where @w is absent: on no tested kernel, or on one of them, too? */
static void note_absent(struct report *r, const struct want *w,
			const char *start, const char *name)
{
	const char *struct_name = w->nr_fields && w->name ? w->name : "";
	enum finding what = UNUSUAL;

	for (size_t i = 0; i < r->nr_known; i++) {
		char *line = known_line(&r->known[i], w, start, name);

		if (!line)
			what = ABSENT;
		free(line);
	}
	/* some to a line */
	note(r, what, "%s%s%s%s", !r->found[what].nr ? "  " :
	     r->found[what].nr % 4 ? ", " : ",\n  ", struct_name,
	     *struct_name ? "." : "", name);
}

/* How many members a line about moved members names. */
#define MAX_NAMED	4

/* One line for what differs in the sizes and offsets of @w from the nearest tested kernel. */
static void report_layout(struct report *r, const struct want *w)
{
	const char *tag = w->is_union ? "union" : "struct";
	char *size = say("sizeof(%s %s)", tag, w->name), *list = must_dup("");
	unsigned int moved = 0;
	uint64_t was = w->size, at;

	known_number(r->near, size, &was);
	for (size_t i = 0; i < w->nr_fields; i++) {
		const struct want_field *f = &w->fields[i];
		char *what = say("offsetof(%s %s, %s)", tag, w->name, f->name);
		char *s;

		if (f->found && !f->bit_size &&
		    known_number(r->near, what, &at) && at != f->bit_off / 8 &&
		    ++moved <= MAX_NAMED) {
			s = say("%s; %s at %llu, was %llu", list, f->name,
				(unsigned long long)f->bit_off / 8,
				(unsigned long long)at);
			free(list);
			list = s;
		}
		free(what);
	}
	if (moved || was != w->size)
		note(r, MOVED, "  %s %s: %llu bytes, was %llu%s", tag, w->name,
		     (unsigned long long)w->size, (unsigned long long)was, list);
	if (moved > MAX_NAMED)
		fprintf(r->found[MOVED].out, "; %u more members moved",
			moved - MAX_NAMED);
	if (moved || was != w->size)
		fputc('\n', r->found[MOVED].out);
	free(size);
	free(list);
}

/* emit() makes bytes of a struct or union without a name: their number is not its type. */
static bool is_bytes(const struct want *w, const struct want_field *f)
{
	const struct btf_type *t =
		btf__type_by_id(w->btf, strip_modifiers(w->btf, f->type));

	return btf_is_composite(t) && !t->name_off;
}

/* One line for the members of a struct that are missing, and for one whose place differs. */
static void report_fields(struct report *r, const struct want *w)
{
	struct decl_notes unused = { 0 };
	char *missing = must_dup("");

	for (size_t i = 0; i < w->nr_fields; i++) {
		const struct want_field *f = &w->fields[i];
		char *s;

		if (!f->found && f->optional) {
			note_absent(r, w, "", f->name);
		} else if (!f->found) {
			s = say("%s%s%s", missing, *missing ? ", " : "", f->name);
			free(missing);
			missing = s;
		} else if (w->kind == WANT_STRUCT && !is_bytes(w, f)) {
			char *line = field_decl(w, f, &unused);

			s = say("%s;", line);
			compare(r, w, "", f->name, s);
			free(line);
			free(s);
		}
	}
	if (*missing)
		note(r, MISSING, "  %s: %s %s: no %s (manifest line %d, %s)\n",
		     w->module, w->kind == WANT_ENUM ? "enum" : "struct",
		     w->name ? w->name : "without a name", missing, w->line,
		     compat_of(w));
	free(missing);
}

static void report_missing(struct report *r, const struct want *w)
{
	static const char *const kinds[] = {
		[WANT_STRUCT] = "no struct", [WANT_ENUM] = "no enum",
		[WANT_FUNC] = "no exported function",
		[WANT_VAR] = "no exported variable",
		[WANT_PUBLIC] = "no type",
		[WANT_PUBLIC_FUNC] = "no function",
		[WANT_PUBLIC_MEMBER] = "no member" };

	/* BTF names it, but only within its module */
	if (w->id) {
		note(r, MISSING, "  %s: function %s is there, but not exported (manifest line %d, %s)\n",
		     owner(w), w->name, w->line, compat_of(w));
		return;
	}
	note(r, MISSING, "  %s: %s %s%s%s (manifest line %d, %s)\n", owner(w),
	     kinds[w->kind],
	     w->name ? w->name : w->fields[0].name,
	     w->kind == WANT_PUBLIC_MEMBER ? "." : "",
	     w->kind == WANT_PUBLIC_MEMBER ? w->fields[0].name : "", w->line,
	     compat_of(w));
}

static const struct module *module_of(const struct abi *abi, const char *name)
{
	for (size_t i = 0; name && i < abi->nr_modules; i++)
		if (!strcmp(abi->modules[i].name, name))
			return &abi->modules[i];
	return NULL;
}

/* Is there no telling, because BTF is absent, whether the kernel has @w? */
static bool is_unknown(const struct abi *abi, const struct want *w)
{
	if (w->found || w->kind == WANT_FUNC || w->kind == WANT_VAR)
		return false;
	if (w->module)
		return !module_of(abi, w->module)->btf &&
		       w->kind != WANT_PUBLIC_FUNC;
	for (size_t i = 0; i < abi->nr_modules; i++)
		if (!abi->modules[i].btf)
			return true;
	return !abi->base;
}

static void report_found(struct report *r, const struct want *w)
{
	struct decl_notes unused = { 0 };
	char *start = must_dup(""), *line = NULL, *s;

	if (w->kind == WANT_STRUCT)
		report_layout(r, w);
	if (w->kind == WANT_STRUCT || w->kind == WANT_ENUM) {
		report_fields(r, w);
	} else if (w->kind == WANT_FUNC) {
		line = func_decl(w, &unused);
		s = say("%s;", line);
		compare(r, w, start, w->name, s);
		free(s);
	} else if (w->kind == WANT_PUBLIC_FUNC) {
		line = public_func_line(w);
		compare(r, w, "/* ", w->name, line);
	} else if (w->kind == WANT_PUBLIC_MEMBER) {
		free(start);
		start = say("/* struct %s: ", w->name);
		line = public_member_line(w);
		compare(r, w, start, w->fields[0].name, line);
	}
	free(start);
	free(line);
}

static void report_want(struct report *r, const struct want *w, unsigned int *unknown)
{
	char *start;

	if (w->kind == WANT_DATA ||
	    (w->module && !module_of(r->abi, w->module)))
		return;
	if (is_unknown(r->abi, w)) {
		++*unknown;
	} else if (w->found) {
		if (w->btf)
			report_found(r, w);
	} else if (!w->optional) {
		report_missing(r, w);
	} else if (w->kind == WANT_PUBLIC_MEMBER) {
		start = say("/* struct %s: ", w->name);
		note_absent(r, w, start, w->fields[0].name);
		free(start);
	} else {
		note_absent(r, w, w->kind == WANT_PUBLIC_FUNC ? "/* " : "",
			    w->name);
	}
}

/* The modules of the manifest that the kernel does not have. */
static void report_modules(struct report *r)
{
	const struct manifest *m = &r->abi->manifest;

	for (size_t i = 0; i < m->nr_wants; i++) {
		const struct want *w = &m->wants[i];
		const char *last = i ? m->wants[i - 1].module : NULL;

		if (w->module && (!last || strcmp(last, w->module)) &&
		    w->kind != WANT_DATA && !module_of(r->abi, w->module))
			note(r, MISSING, "  no module %s, neither as a file nor built in\n",
			     w->module);
	}
}

static const char no_btf[] =
"\n  The build takes layouts and arguments from BTF: without it nothing can be built, and %u\n"
"  entries of the manifest cannot be looked up. Exported functions are in the lists below.\n"
"  Modules have BTF from Linux 5.11 on, with CONFIG_DEBUG_INFO_BTF_MODULES. DWARF would do for\n"
"  this report: take vmlinux and the modules named here out of the kernel's debug package\n"
"  (Debian: linux-image-%s-dbg), run 'pahole -J --btf_base VMLINUX MODULE'\n"
"  for each of the modules, and give VMLINUX as BTF= and their directory as MODULE_DIR=.\n";

/* What is absent without BTF, and what would help. */
static void print_no_btf(const struct report *r, unsigned int unknown, FILE *out)
{
	const struct abi *abi = r->abi;

	fputs("\nNo BTF\n ", out);
	if (!abi->base)
		fputs(" the kernel itself", out);
	for (size_t i = 0; i < abi->nr_modules; i++)
		if (!abi->modules[i].btf)
			fprintf(out, " %s", abi->modules[i].name);
	fprintf(out, no_btf, unknown, abi->kernel.kver);
}

/* How much of what the manifest names the kernel has. */
static void print_found(const struct manifest *m, FILE *out)
{
	unsigned int entries = 0, found = 0, members = 0, with = 0;

	for (size_t i = 0; i < m->nr_wants; i++) {
		const struct want *w = &m->wants[i];

		if (w->kind == WANT_DATA)
			continue;
		entries++;
		found += w->found;
		if (w->kind != WANT_STRUCT && w->kind != WANT_ENUM)
			continue;
		members += (unsigned int)w->nr_fields;
		for (size_t j = 0; j < w->nr_fields; j++)
			with += w->fields[j].found;
	}
	fprintf(out, "found         %u of %u types, functions and variables, %u of %u members\n\n",
		found, entries, with, members);
}

static void print_head(const struct report *r, bool fits, bool blind, FILE *out)
{
	const struct abi *abi = r->abi;

	fprintf(out, "kernel        %s\nbase BTF      %s\nmodules      ",
		abi->kernel.kver, abi->kernel.base_path);
	for (size_t i = 0; i < abi->nr_modules; i++)
		fprintf(out, " %s%s", abi->modules[i].name,
			abi->modules[i].builtin ? " (built in: exports unchecked)" : "");
	fputs("\ncompared with", out);
	for (size_t i = 0; i < r->nr_known; i++)
		fprintf(out, " %s", r->known[i].kver);
	fprintf(out, "; offsets with %s\n", r->near->kver);
	print_found(&abi->manifest, out);
	if (fits)
		fputs("Result: it fits. Everything is there, and declared as on a tested kernel.\n",
		      out);
	else
		fprintf(out, "Result: it %s fit: %s%u missing, %u changed, %u absent as on no tested kernel.\n",
			blind || r->found[MISSING].nr ? "does not" : "may not",
			blind ? "no BTF, " : "", r->found[MISSING].nr,
			r->found[CHANGED].nr, r->found[UNUSUAL].nr);
}

/**
 * report() - print whether the modules fit the kernel
 * @abi: after layout_resolve(), with ->report set
 * @known: the files of the headers for the tested kernels
 * @nr_known: their number, at least one
 * @out: where to print
 *
 * Returns true if the kernel has what the manifest asks for, declared as on a tested kernel.
 */
bool report(struct abi *abi, char *const *known, size_t nr_known, FILE *out)
{
	struct report r = { .abi = abi, .nr_known = nr_known };
	const struct manifest *m = &abi->manifest;
	unsigned int unknown = 0;
	bool fits, blind = !abi->base;

	r.known = must_alloc(nr_known * sizeof(*r.known));
	for (size_t i = 0; i < nr_known; i++)
		known_read(&r.known[i], known[i]);
	r.near = known_near(r.known, nr_known, abi->kernel.kver);
	for (size_t i = 0; i < NR_FINDINGS; i++) {
		r.found[i].out = open_memstream(&r.found[i].text, &r.found[i].size);
		if (!r.found[i].out)
			fail("out of memory");
	}
	report_modules(&r);
	for (size_t i = 0; i < m->nr_wants; i++)
		report_want(&r, &m->wants[i], &unknown);
	for (size_t i = 0; i < abi->nr_modules; i++)
		blind |= !abi->modules[i].btf;
	fits = !blind && !r.found[MISSING].nr && !r.found[CHANGED].nr &&
	       !r.found[UNUSUAL].nr;

	print_head(&r, fits, blind, out);
	if (blind)
		print_no_btf(&r, unknown, out);
	for (size_t i = 0; i < NR_FINDINGS; i++) {
		if (fclose(r.found[i].out))
			fail("out of memory");
		if (r.found[i].nr)
			fprintf(out, "\n%s\n%s%s", titles[i], r.found[i].text,
				i == ABSENT || i == UNUSUAL ? "\n" : "");
	}
	if (!fits)
		fputs("\nTo be written, in common/core-abi\n", out);
	for (size_t i = 0; i < NR_FINDINGS; i++) {
		if (r.found[i].nr && advice[i])
			fputs(advice[i], out);
		free(r.found[i].text);
	}
	return fits;
}
