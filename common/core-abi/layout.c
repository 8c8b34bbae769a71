// SPDX-License-Identifier: GPL-2.0
/*
 * Resolves the manifest against the BTF of a kernel.
 *
 * A definition is looked up by name in the module that owns it, first in the
 * module's own types and then in the base.  Newer kernels repeat base types in
 * their modules, so the same name may stand there more than once: that is fine
 * as long as all of them are of one size.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

/* Deeper than any real chain of typedefs and qualifiers, or nesting. */
#define MAX_DEPTH	32

/* The kernel lacks what we cannot do without. */
static void __attribute__((format(printf, 2, 3)))
lacks(const struct abi *abi, const char *fmt, ...)
{
	va_list ap;

	if (abi->report)
		return;
	va_start(ap, fmt);
	vfail(fmt, ap);
}

uint32_t strip_modifiers(const struct btf *btf, uint32_t id)
{
	for (int i = 0; i < MAX_DEPTH; i++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return id;
		id = t->type;
	}
	fail("corrupt BTF: type %u is a chain of qualifiers without an end",
	     id);
}

/* Is all that is wanted of a module optional, so that the build needs no BTF of it? */
static bool is_spare(const struct abi *abi, const char *name)
{
	const struct manifest *m = &abi->manifest;

	for (size_t i = 0; i < m->nr_wants; i++)
		if (m->wants[i].module && !strcmp(m->wants[i].module, name) &&
		    !m->wants[i].optional)
			return false;
	return true;
}

/*
 * Loads @name on first use; NULL where the kernel has no such module.  The result is valid until
 * the next call.
 */
struct module *abi_module(struct abi *abi, const char *name)
{
	struct kernel *k = &abi->kernel;
	struct module *mod;
	struct span raw;
	bool builtin;
	char *path;

	for (size_t i = 0; i < abi->nr_modules; i++)
		if (!strcmp(abi->modules[i].name, name))
			return &abi->modules[i];
	path = find_module(k, name, &builtin);
	if (!path && !builtin)
		return NULL;
	abi->modules = must_grow(abi->modules, abi->nr_modules, sizeof(*mod));
	mod = &abi->modules[abi->nr_modules++];
	mod->name = must_dup(name);
	mod->builtin = builtin;
	if (builtin) {
		mod->path = must_dup(k->base_path);
		mod->btf = abi->base;
		return mod;
	}
	mod->path = path;
	mod->file = blob_read_module(path);
	check_vermagic(k, mod);
	raw = elf_section(&mod->file, ".BTF");
	if ((!raw.data || elf_section(&mod->file, ".BTF.base").data) &&
	    is_spare(abi, name))
		return mod;
	if (!raw.data || !abi->base) {
		lacks(abi, "no BTF: %s has no section .BTF. The kernel must be built with CONFIG_DEBUG_INFO_BTF_MODULES",
		      path);
		return mod;
	}
	if (elf_section(&mod->file, ".BTF.base").data)
		fail("%s has BTF over a distilled base (.BTF.base): it was not built with the kernel but beside it",
		     path);
	mod->btf = btf_load(raw, path, abi->base, k->base_path);
	return mod;
}

static uint32_t first_own(const struct btf *btf)
{
	const struct btf *base = btf__base_btf(btf);

	return base ? btf__type_cnt(base) : 1;
}

static bool enum_holds(const struct btf *btf, const struct btf_type *t,
		       const char *name)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t off = btf_is_enum64(t) ? btf_enum64(t)[i].name_off :
						  btf_enum(t)[i].name_off;

		if (!strcmp(btf__str_by_offset(btf, off), name))
			return true;
	}
	return false;
}

static bool matches(const struct btf *btf, const struct btf_type *t,
		    const struct want *w)
{
	switch (w->kind) {
	case WANT_STRUCT:
		if (w->is_union ? !btf_is_union(t) : !btf_is_struct(t))
			return false;
		break;
	case WANT_ENUM:
		if (!btf_is_any_enum(t))
			return false;
		if (!w->name)
			return !t->name_off &&
			       enum_holds(btf, t, w->fields[0].name);
		break;
	case WANT_FUNC:
	case WANT_PUBLIC_FUNC:
		if (!btf_is_func(t))
			return false;
		break;
	default:
		return false;
	}
	return !strcmp(btf__str_by_offset(btf, t->name_off), w->name);
}

/* The id of @w in ids [@from, @to), 0 if it is not there. */
static uint32_t find_in(const struct btf *btf, const struct want *w,
			uint32_t from, uint32_t to, const char *path)
{
	const struct btf_type *t, *have = NULL;
	uint32_t found = 0;

	for (uint32_t id = from; id < to; id++) {
		t = btf__type_by_id(btf, id);
		if (!matches(btf, t, w))
			continue;
		if (have && w->kind == WANT_STRUCT && t->size != have->size)
			fail("%s defines struct %s twice, with %u and %u bytes: which one is meant cannot be known",
			     path, w->name, have->size, t->size);
		if (!have) {
			have = t;
			found = id;
		}
	}
	return found;
}

static uint32_t find_own(const struct module *mod, const struct want *w)
{
	return find_in(mod->btf, w, first_own(mod->btf),
		       btf__type_cnt(mod->btf), mod->path);
}

/* A type may have come with the base; a module's functions are its own. */
static uint32_t find_want(const struct module *mod, const struct want *w)
{
	uint32_t id = mod->btf ? find_own(mod, w) : 0;

	if (!id && mod->btf && w->kind != WANT_FUNC && w->kind != WANT_PUBLIC_FUNC)
		id = find_in(mod->btf, w, 1, first_own(mod->btf), mod->path);
	return id;
}

/* Members of anonymous structs and unions belong to the one around them. */
static bool find_member(const struct btf *btf, uint32_t id, const char *name,
			uint64_t bit_off, int depth, struct want_field *f)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m = btf_members(t);

	if (depth == MAX_DEPTH)
		fail("corrupt BTF: type %u nests without an end", id);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint64_t off = bit_off + btf_member_bit_offset(t, i);
		const char *s = btf__str_by_offset(btf, m[i].name_off);
		uint32_t inner;

		if (!strcmp(s, name)) {
			f->found = true;
			f->type = m[i].type;
			f->bit_off = off;
			f->bit_size = btf_member_bitfield_size(t, i);
			f->size = (uint64_t)btf__resolve_size(btf, m[i].type);
			return true;
		}
		if (*s)
			continue;
		inner = strip_modifiers(btf, m[i].type);
		if (btf_is_composite(btf__type_by_id(btf, inner)) &&
		    find_member(btf, inner, name, off, depth + 1, f))
			return true;
	}
	return false;
}

static void resolve_struct(struct abi *abi, struct module *mod,
			   struct want *w)
{
	const char *tag = w->is_union ? "union" : "struct";
	const struct btf_type *t = btf__type_by_id(mod->btf, w->id);

	w->size = t->size;
	w->align = (uint32_t)btf__align_of(mod->btf, w->id);
	if (!w->align)
		fail("corrupt BTF in %s: %s %s has no alignment", mod->path,
		     tag, w->name);
	for (size_t i = 0; i < w->nr_fields; i++) {
		struct want_field *f = &w->fields[i];

		if (!find_member(mod->btf, w->id, f->name, 0, 0, f) &&
		    !f->optional)
			lacks(abi, "missing field: %s %s in %s has no member %s, which we cannot do without (%s:%d). This kernel is not supported yet",
			      tag, w->name, mod->path, f->name,
			      abi->manifest.path, w->line);
		if (f->found && !f->bit_size && f->bit_off % 8)
			fail("corrupt BTF in %s: %s.%s starts inside of a byte",
			     mod->path, w->name, f->name);
	}
}

static void resolve_enum(struct abi *abi, struct module *mod, struct want *w)
{
	const struct btf_type *t = btf__type_by_id(mod->btf, w->id);

	for (size_t i = 0; i < w->nr_fields; i++) {
		struct want_field *f = &w->fields[i];

		f->found = enum_holds(mod->btf, t, f->name);
		if (!f->found && !f->optional)
			lacks(abi, "missing field: enum %s in %s has no %s, which we cannot do without (%s:%d). This kernel is not supported yet",
			      w->name ? w->name : "without a name", mod->path,
			      f->name, abi->manifest.path, w->line);
	}
}

/* The value to which the in-tree module initialized a field of one of its objects. */
static void resolve_data(struct module *mod, struct want *w)
{
	struct want type = { .kind = WANT_STRUCT, .name = w->type };
	struct want_field *f = &w->fields[0];
	struct span data;
	uint32_t id = find_want(mod, &type);
	uint64_t off;

	w->found = id && elf_symbol(&mod->file, w->name, &data) && data.data &&
		   find_member(mod->btf, id, f->name, 0, 0, f) &&
		   !f->bit_size && f->size <= sizeof(w->value);
	if (!w->found)
		return;
	off = f->bit_off / 8;
	if (off > data.size || f->size > data.size - off)
		fail("corrupt file %s: the object %s has %zu bytes, its member %s ends at %llu",
		     mod->path, w->name, data.size, f->name,
		     (unsigned long long)(off + f->size));
	for (uint64_t i = 0; i < f->size; i++)
		w->value |= (uint64_t)data.data[off + i] << (8 * i);
}

static uint32_t count_args(const struct btf *btf, uint32_t func)
{
	uint32_t proto = btf__type_by_id(btf, func)->type;

	return btf_vlen(btf__type_by_id(btf, proto));
}

static bool exported(const struct module *mod, const char *symbol)
{
	/* A builtin's symbols are in the kernel image: modpost will tell. */
	return mod->builtin || elf_exports(&mod->file, symbol);
}

/* The id of @name among the types of @btf itself, 0 if it is not there. */
static uint32_t find_name(const struct btf *btf, const char *name,
			  uint32_t kind)
{
	for (uint32_t id = first_own(btf); id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_kind(t) == kind &&
		    !strcmp(btf__str_by_offset(btf, t->name_off), name))
			return id;
	}
	return 0;
}

/* Finds a type or function of the public headers in the base or a module that was loaded. */
static void resolve_public(struct abi *abi, struct want *w)
{
	static const struct { const char *tag; uint32_t kind; } tags[] = {
		{ "struct ", BTF_KIND_STRUCT }, { "union ", BTF_KIND_UNION },
		{ "enum ", BTF_KIND_ENUM }, { "", BTF_KIND_TYPEDEF },
	};
	const char *name = w->name;
	uint32_t kind = BTF_KIND_STRUCT;
	uint32_t id = 0;

	if (w->kind == WANT_PUBLIC_FUNC) {
		kind = BTF_KIND_FUNC;
	} else if (w->kind == WANT_PUBLIC) {
		size_t i = 0;

		while (strncmp(name, tags[i].tag, strlen(tags[i].tag)))
			i++;
		name += strlen(tags[i].tag);
		kind = tags[i].kind;
	}
	for (size_t i = 0; i <= abi->nr_modules && !id; i++) {
		w->btf = i ? abi->modules[i - 1].btf : abi->base;
		id = w->btf ? find_name(w->btf, name, kind) : 0;
	}
	w->found = id && (w->kind != WANT_PUBLIC_MEMBER ||
			  find_member(w->btf, id, w->fields[0].name, 0, 0,
				      w->fields));
	if (!w->found && !w->optional)
		lacks(abi, "missing type: the kernel has no %s%s%s, which we cannot do without (%s:%d)",
		      w->name, w->nr_fields ? " with a member " : "",
		      w->nr_fields ? w->fields[0].name : "",
		      abi->manifest.path, w->line);
	if (!w->found)
		return;
	w->id = id;
	if (w->kind == WANT_PUBLIC_FUNC) {
		w->nr_args = count_args(w->btf, w->id);
	} else if (w->kind == WANT_PUBLIC) {
		int64_t size = btf__resolve_size(w->btf, w->id);

		if (size <= 0)
			fail("corrupt BTF: %s has no size", w->name);
		w->size = (uint64_t)size;
	}
}

static bool is_func(const struct want *w)
{
	return w->kind == WANT_FUNC || w->kind == WANT_PUBLIC_FUNC;
}

static void resolve(struct abi *abi, struct want *w)
{
	static const char *const kinds[] = {
		[WANT_STRUCT] = "struct", [WANT_ENUM] = "enum",
		[WANT_FUNC] = "function", [WANT_VAR] = "variable",
		[WANT_PUBLIC_FUNC] = "function" };
	struct module *mod;

	mod = abi_module(abi, w->module);
	if (!mod) {
		if (!w->optional)
			lacks(abi, "missing module: the kernel has no %s.ko, neither below %s nor built in. Install the package linux-image-%s, or a kernel with NVMe over Fabrics and RDMA",
			      w->module, abi->kernel.module_dir ?
			      abi->kernel.module_dir : abi->kernel.ksrc ?
			      abi->kernel.ksrc : "/lib/modules",
			      abi->kernel.kver);
		return;
	}
	switch (w->kind) {
	case WANT_VAR:
		w->found = exported(mod, w->name);
		break;
	case WANT_DATA:
		if (!mod->builtin)
			resolve_data(mod, w);
		return;
	default:
		/* A module that is spare */
		if (!mod->btf && !abi->report)
			return;
		w->btf = mod->btf;
		w->id = find_want(mod, w);
		w->found = w->id;
		/* without BTF this much is known */
		if (is_func(w) && (w->found || !mod->btf))
			w->found = exported(mod, w->name);
	}
	if (!w->found && !w->optional)
		lacks(abi, "missing %s: %s has no %s %s, which we cannot do without (%s:%d). This kernel is not supported yet",
		      kinds[w->kind], mod->path,
		      is_func(w) || w->kind == WANT_VAR ?
		      "exported" : kinds[w->kind],
		      w->name ? w->name : w->fields[0].name,
		      abi->manifest.path, w->line);
	if (!w->found || !w->btf)
		return;
	if (w->kind == WANT_STRUCT)
		resolve_struct(abi, mod, w);
	else if (w->kind == WANT_ENUM)
		resolve_enum(abi, mod, w);
	else if (is_func(w))
		w->nr_args = count_args(mod->btf, w->id);
}

/* One build has one definition of a type: modules of two builds show here. */
static void check_agreement(struct abi *abi, const struct want *w)
{
	for (size_t i = 0; i < abi->nr_modules; i++) {
		const struct module *mod = &abi->modules[i];
		uint32_t id = mod->btf ? find_own(mod, w) : 0;

		if (id && btf__type_by_id(mod->btf, id)->size != w->size)
			fail("struct %s has %llu bytes in %s.ko and %u bytes in %s: these modules are not of one build",
			     w->name, (unsigned long long)w->size, w->module,
			     btf__type_by_id(mod->btf, id)->size, mod->path);
	}
}

void layout_resolve(struct abi *abi)
{
	struct manifest *m = &abi->manifest;

	for (size_t i = 0; i < m->nr_wants; i++)
		if (m->wants[i].module)
			resolve(abi, &m->wants[i]);
	for (size_t i = 0; i < m->nr_wants; i++)
		if (!m->wants[i].module)
			resolve_public(abi, &m->wants[i]);
	for (size_t i = 0; i < m->nr_wants; i++)
		if (m->wants[i].kind == WANT_STRUCT && m->wants[i].found)
			check_agreement(abi, &m->wants[i]);
}
