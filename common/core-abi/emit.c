// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the header.
 *
 * A struct is emitted at its exact size, with the members of the manifest at
 * their exact offsets and bytes between them.  Nothing is left to hope: the
 * compiler checks each size and each offset again, and the size of each public
 * type that is embedded, for that one comes from the headers package.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

struct emitter {
	struct abi *abi;
	FILE *out;
	struct decl_notes notes;
	unsigned int nr_pads;
};

/**
 * field_decl() - the declaration of a member, as it stands in the header
 * @w: the struct
 * @f: one of its members, found
 * @notes: see decl()
 *
 * Returns a string for free(), without the semicolon.
 */
char *field_decl(const struct want *w, const struct want_field *f,
		 struct decl_notes *notes)
{
	char *s = decl(w->btf, f->type, f->name, notes), *bits;

	if (!f->bit_size)
		return s;
	bits = say("%s : %u", s, f->bit_size);
	free(s);
	return bits;
}

/* The same for a function. */
char *func_decl(const struct want *w, struct decl_notes *notes)
{
	return decl(w->btf, btf__type_by_id(w->btf, w->id)->type, w->name,
		    notes);
}

static int by_offset(const void *a, const void *b)
{
	const struct want_field *x = *(const struct want_field *const *)a;
	const struct want_field *y = *(const struct want_field *const *)b;

	if (x->bit_off != y->bit_off)
		return x->bit_off < y->bit_off ? -1 : 1;
	return strcmp(x->name, y->name);
}

static uint64_t end_of(const struct want_field *f)
{
	return f->bit_off + (f->bit_size ? f->bit_size : f->size * 8);
}

/* Bits @from to @to that we do not name.  @tabs: how deep. */
static void pad(struct emitter *e, uint64_t from, uint64_t to,
		const char *tabs)
{
	uint64_t bits;

	/* up to the next byte, whole bytes, and bits of the last byte */
	bits = (8 - from % 8) % 8;
	if (bits > to - from)
		bits = to - from;
	if (bits)
		fprintf(e->out, "%su8 core_abi_pad%u : %u;\n", tabs,
			e->nr_pads++, (unsigned int)bits);
	from += bits;
	if ((to - from) / 8)
		fprintf(e->out, "%su8 core_abi_pad%u[%llu];\n", tabs,
			e->nr_pads++, (unsigned long long)(to - from) / 8);
	if ((to - from) % 8)
		fprintf(e->out, "%su8 core_abi_pad%u : %u;\n", tabs,
			e->nr_pads++, (unsigned int)((to - from) % 8));
}

static void emit_field(struct emitter *e, const struct want *w,
		       const struct want_field *f, const char *tabs)
{
	char *s = field_decl(w, f, &e->notes);

	fprintf(e->out, "%s%s;\n", tabs, s);
	free(s);
}

/* Members that share bytes, as those of a union do: a union of our own. */
static void emit_shared(struct emitter *e, const struct want *w,
			struct want_field **f, size_t n, uint64_t end)
{
	uint64_t start = f[0]->bit_off / 8 * 8;

	fputs("\tunion {\n", e->out);
	for (size_t i = 0; i < n; i++) {
		fputs("\t\tstruct {\n", e->out);
		pad(e, start, f[i]->bit_off, "\t\t\t");
		emit_field(e, w, f[i], "\t\t\t");
		fputs("\t\t};\n", e->out);
	}
	fprintf(e->out, "\t\tu8 core_abi_pad%u[%llu];\n\t};\n", e->nr_pads++,
		(unsigned long long)((end + 7) / 8 - start / 8));
}

static void emit_members(struct emitter *e, const struct want *w,
			 struct want_field **f, size_t n)
{
	uint64_t at = 0;

	for (size_t i = 0; i < n;) {
		uint64_t end = end_of(f[i]);
		size_t next = i + 1;

		while (next < n && f[next]->bit_off < end) {
			if (end_of(f[next]) > end)
				end = end_of(f[next]);
			next++;
		}
		if (next == i + 1) {
			pad(e, at, f[i]->bit_off, "\t");
			emit_field(e, w, f[i], "\t");
		} else {
			pad(e, at, f[i]->bit_off / 8 * 8, "\t");
			emit_shared(e, w, f + i, next - i, end);
			end = (end + 7) / 8 * 8;
		}
		at = end;
		i = next;
	}
	pad(e, at, w->size * 8, "\t");
}

static void emit_struct(struct emitter *e, const struct want *w)
{
	const char *tag = w->is_union ? "union" : "struct";
	struct want_field **f = must_alloc(w->nr_fields * sizeof(struct want_field *));
	bool packed = false;
	size_t n = 0;

	for (size_t i = 0; i < w->nr_fields; i++) {
		if (!w->fields[i].found)
			continue;
		f[n++] = &w->fields[i];
		if (w->align == 1 &&
		    btf__align_of(w->btf, w->fields[i].type) > 1)
			packed = true;
	}
	qsort(f, n, sizeof(*f), by_offset);

	fprintf(e->out, "/* %s.ko */\n%s %s {\n", w->module, tag, w->name);
	e->nr_pads = 0;
	if (w->is_union && n)
		emit_shared(e, w, f, n, w->size * 8);
	else
		emit_members(e, w, f, n);
	fprintf(e->out, "}%s __aligned(%u);\n", packed ? " __packed" : "",
		w->align);

	fprintf(e->out, "core_abi_assert(sizeof(%s %s) == %llu);\n", tag,
		w->name, (unsigned long long)w->size);
	for (size_t i = 0; i < n; i++) {
		if (f[i]->bit_size)
			continue;
		fprintf(e->out, "core_abi_assert(offsetof(%s %s, %s) == %llu);\n",
			tag, w->name, f[i]->name,
			(unsigned long long)f[i]->bit_off / 8);
		fprintf(e->out, "core_abi_assert(sizeof_field(%s %s, %s) == %llu);\n",
			tag, w->name, f[i]->name,
			(unsigned long long)f[i]->size);
	}
	for (size_t i = 0; i < w->nr_fields; i++) {
		char *s, *u;

		if (!w->fields[i].optional || !w->fields[i].found)
			continue;
		s = upper(w->name);
		u = upper(w->fields[i].name);
		fprintf(e->out, "#define HAVE_%s_%s 1\n", s, u);
		free(s);
		free(u);
	}
	fputc('\n', e->out);
	free(f);
}

static void emit_enum(struct emitter *e, const struct want *w)
{
	const struct btf *btf = w->btf;
	const struct btf_type *t = btf__type_by_id(btf, w->id);

	fprintf(e->out, "/* %s.ko */\nenum %s%s{\n", w->module,
		w->name ? w->name : "", w->name ? " " : "");
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		if (btf_is_enum64(t)) {
			const struct btf_enum64 *v = &btf_enum64(t)[i];

			fprintf(e->out, "\t%s = %#llx,\n",
				field_name(btf, v->name_off),
				(unsigned long long)v->val_hi32 << 32 |
				v->val_lo32);
		} else {
			fprintf(e->out, "\t%s = %d,\n",
				field_name(btf, btf_enum(t)[i].name_off),
				btf_enum(t)[i].val);
		}
	}
	fputs("};\n", e->out);
	for (size_t i = 0; i < w->nr_fields; i++)
		if (w->fields[i].optional && w->fields[i].found)
			fprintf(e->out, "#define HAVE_%s 1\n",
				w->fields[i].name);
	fputc('\n', e->out);
}

static void emit_func(struct emitter *e, const struct want *w)
{
	char *up = upper(w->name), *s = func_decl(w, &e->notes);

	fprintf(e->out, "%s;\n#define %s_NARGS %u\n", s, up, w->nr_args);
	if (w->optional)
		fprintf(e->out, "#define HAVE_%s 1\n", up);
	free(s);
	free(up);
}

static void define_have(struct emitter *e, const char *what)
{
	char *up = upper(what);

	for (char *p = up; *p; p++)
		if (*p == ' ')
			*p = '_';
	fprintf(e->out, "#define HAVE_%s 1\n", up);
	free(up);
}

/* The headers package declares it: here is only its size to agree on. */
static void emit_public(struct emitter *e, const struct want *w)
{
	note_embedded(&e->notes, w->name, w->size);
	if (w->optional)
		define_have(e, w->name);
}

/*
 * Lines about what the headers package declares, of the form that report() looks for in the
 * headers of the tested kernels. Strings for free().
 */
char *public_func_line(const struct want *w)
{
	struct decl_notes unused = { 0 };
	char *s = func_decl(w, &unused), *line = say("/* %s; */", s);

	free(s);
	return line;
}

char *public_member_line(const struct want *w)
{
	struct decl_notes unused = { 0 };
	char *s = field_decl(w, &w->fields[0], &unused);
	char *line = say("/* struct %s: %s; */", w->name, s);

	free(s);
	return line;
}

static void emit_public_func(struct emitter *e, const struct want *w)
{
	char *up = upper(w->name), *s = public_func_line(w);

	fprintf(e->out, "%s\n#define %s_NARGS %u\n", s, up, w->nr_args);
	if (w->optional)
		define_have(e, w->name);
	free(up);
	free(s);
}

static void emit_public_member(struct emitter *e, const struct want *w)
{
	char *what = say("%s %s", w->name, w->fields[0].name);
	char *s = public_member_line(w);

	fprintf(e->out, "%s\n", s);
	if (w->optional)
		define_have(e, what);
	free(what);
	free(s);
}

static void emit_kind(struct emitter *e, enum want_kind kind,
		      void (*one)(struct emitter *e, const struct want *w))
{
	const struct manifest *m = &e->abi->manifest;

	for (size_t i = 0; i < m->nr_wants; i++)
		if (m->wants[i].kind == kind && m->wants[i].found)
			one(e, &m->wants[i]);
}

static void emit_var(struct emitter *e, const struct want *w)
{
	char *up = upper(w->name);
	size_t n = strlen(w->type);

	fprintf(e->out, "extern %s%s%s;\n", w->type,
		n && w->type[n - 1] == '*' ? "" : " ", w->name);
	if (w->optional)
		fprintf(e->out, "#define HAVE_%s 1\n", up);
	free(up);
}

static void emit_data(struct emitter *e, const struct want *w)
{
	char *a = upper(w->name), *b = upper(w->fields[0].name);

	fprintf(e->out, "/* as %s.ko initializes it */\n#define CORE_ABI_%s_%s %#llx\n",
		w->module, a, b, (unsigned long long)w->value);
	free(a);
	free(b);
}

static bool is_private(const struct manifest *m, const char *name)
{
	for (size_t i = 0; i < m->nr_wants; i++) {
		const struct want *w = &m->wants[i];

		if (w->kind == WANT_STRUCT &&
		    !strncmp(name, w->is_union ? "union " : "struct ",
			     w->is_union ? 6 : 7) &&
		    !strcmp(name + (w->is_union ? 6 : 7), w->name))
			return true;
	}
	return false;
}

/*
 * The declarations are made first and in memory, because only they determine what must precede
 * them.
 */
void emit(struct abi *abi, FILE *out)
{
	struct emitter e = { .abi = abi };
	const struct manifest *m = &abi->manifest;
	char *body = NULL;
	size_t size = 0;

	e.out = open_memstream(&body, &size);
	if (!e.out)
		fail("out of memory");
	emit_kind(&e, WANT_ENUM, emit_enum);
	emit_kind(&e, WANT_STRUCT, emit_struct);
	emit_kind(&e, WANT_FUNC, emit_func);
	emit_kind(&e, WANT_VAR, emit_var);
	emit_kind(&e, WANT_DATA, emit_data);
	emit_kind(&e, WANT_PUBLIC, emit_public);
	emit_kind(&e, WANT_PUBLIC_FUNC, emit_public_func);
	emit_kind(&e, WANT_PUBLIC_MEMBER, emit_public_member);
	if (fclose(e.out))
		fail("out of memory");

	fprintf(out, "/* %s: GPL-2.0 */\n"
		"/* Written by core-abi from the BTF of this kernel: do not edit. */\n"
		"#ifndef CORE_ABI_GEN_H\n#define CORE_ABI_GEN_H\n\n"
		"#define CORE_ABI_KVER \"%s\"\n\n",
		"SPDX-License-Identifier", abi->kernel.kver);
	for (size_t i = 0; i < m->nr_includes; i++)
		fprintf(out, "#include <%s>\n", m->includes[i]);
	fputs("\n/* sparse lays some bit-fields out in another way than compilers do */\n"
	      "#ifdef __CHECKER__\n#define core_abi_assert(expr) static_assert(1)\n"
	      "#else\n#define core_abi_assert(expr) static_assert(expr)\n#endif\n\n",
	      out);
	for (size_t i = 0; i < m->nr_wants; i++)
		if (m->wants[i].kind == WANT_STRUCT && m->wants[i].found)
			fprintf(out, "%s %s;\n", m->wants[i].is_union ?
				"union" : "struct", m->wants[i].name);
	for (size_t i = 0; i < e.notes.nr_forwards; i++)
		if (!is_private(m, e.notes.forwards[i]))
			fprintf(out, "%s;\n", e.notes.forwards[i]);
	fputs("\n/* Public types as the core was compiled with them. */\n", out);
	for (size_t i = 0; i < e.notes.nr_embedded; i++)
		if (!is_private(m, e.notes.embedded[i].name))
			fprintf(out, "core_abi_assert(sizeof(%s) == %llu);\n",
				e.notes.embedded[i].name,
				(unsigned long long)e.notes.embedded[i].size);
	fprintf(out, "\n%s\n#endif\n", body);
	free(body);
}
