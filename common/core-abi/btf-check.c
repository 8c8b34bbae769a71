// SPDX-License-Identifier: GPL-2.0
/*
 * Is this BTF whole, and does it belong to its base?
 *
 * libbpf trusts most of what it is given, and a module's BTF over the wrong
 * base loads without a complaint: names come out as garbage, ids point at other
 * types.  So the bytes are checked before libbpf sees them (header, every type
 * inside the section, strings that end), and the types after it:
 *
 *  - a name starts where a string starts, not in the middle of one;
 *  - an id is in range, and of the kind that the reference asks for;
 *  - the members of a structure fit into it and do not overlap.
 *
 * A few violations are damage; where most names are wrong, the base is.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core-abi.h"

struct check {
	const struct btf *btf;
	const char *path;
	const char *base_path;	/* NULL: this is the base */
	uint32_t first;		/* id of the first type of this part */
	uint32_t end;		/* one past the last id */
	uint32_t first_str;	/* offset of the first string of this part */
	bool foreign;		/* too much is wrong for mere damage */
};

/* Bytes behind a type's struct btf_type, or -1 for a kind nobody knows. */
static long extra_bytes(uint32_t kind, uint32_t vlen)
{
	switch (kind) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (long)(vlen * sizeof(struct btf_member));
	case BTF_KIND_ENUM:
		return (long)(vlen * sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
		return (long)(vlen * sizeof(struct btf_enum64));
	case BTF_KIND_FUNC_PROTO:
		return (long)(vlen * sizeof(struct btf_param));
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return (long)(vlen * sizeof(struct btf_var_secinfo));
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return -1;
	}
}

/* Walks the bytes.  After this every type lies inside the type section. */
static void check_bytes(struct span raw, const char *path)
{
	struct btf_header h;
	uint64_t room;
	uint32_t off = 0, nr = 0;

	if (raw.size < sizeof(h))
		fail("truncated BTF in %s: %zu bytes, its header alone takes %zu",
		     path, raw.size, sizeof(h));
	memcpy(&h, raw.data, sizeof(h));
	if (h.magic != BTF_MAGIC)
		fail("corrupt BTF in %s: it starts with %#06x, expected %#06x",
		     path, h.magic, BTF_MAGIC);
	if (h.version != BTF_VERSION || h.hdr_len < sizeof(h) ||
	    h.hdr_len > raw.size)
		fail("corrupt BTF in %s: version %u with a header of %u bytes, expected version %u and %zu bytes",
		     path, h.version, h.hdr_len, BTF_VERSION, sizeof(h));
	room = raw.size - h.hdr_len;
	if ((uint64_t)h.type_off + h.type_len > room ||
	    (uint64_t)h.str_off + h.str_len > room)
		fail("truncated BTF in %s: types end at %llu and strings at %llu, there are %llu bytes",
		     path, (unsigned long long)h.type_off + h.type_len,
		     (unsigned long long)h.str_off + h.str_len,
		     (unsigned long long)room);
	if (h.type_off % 4 || h.str_off < h.type_off + h.type_len || !h.str_len)
		fail("corrupt BTF in %s: types at %u (%u bytes), strings at %u (%u bytes)",
		     path, h.type_off, h.type_len, h.str_off, h.str_len);
	if (raw.data[h.hdr_len + h.str_off + h.str_len - 1])
		fail("corrupt BTF in %s: the last string does not end", path);

	while (off < h.type_len) {
		struct btf_type t;
		long extra;

		nr++;
		if (h.type_len - off < sizeof(t))
			fail("corrupt BTF in %s: type %u is cut off", path, nr);
		memcpy(&t, raw.data + h.hdr_len + h.type_off + off, sizeof(t));
		off += sizeof(t);
		extra = extra_bytes(BTF_INFO_KIND(t.info),
				    BTF_INFO_VLEN(t.info));
		if (extra < 0)
			fail("corrupt BTF in %s: type %u is of the unknown kind %u",
			     path, nr, BTF_INFO_KIND(t.info));
		if ((uint64_t)extra > h.type_len - off)
			fail("corrupt BTF in %s: type %u (kind %u, %u elements) is cut off",
			     path, nr, BTF_INFO_KIND(t.info),
			     BTF_INFO_VLEN(t.info));
		off += (uint32_t)extra;
	}
}

static void __attribute__((noreturn, format(printf, 2, 3)))
bad(const struct check *c, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (c->foreign)
		fail("wrong base: the BTF of %s was not made over %s: %s. Both must come from one build of the kernel",
		     c->path, c->base_path, what);
	fail("corrupt BTF in %s: %s", c->path, what);
}

/* Integers have names like "long unsigned int", sections like ".data". */
static bool good_name(const char *s, uint32_t kind)
{
	bool loose = kind == BTF_KIND_INT || kind == BTF_KIND_FLOAT ||
		     kind == BTF_KIND_DATASEC || kind == BTF_KIND_DECL_TAG ||
		     kind == BTF_KIND_TYPE_TAG;

	if (!loose && isdigit((unsigned char)*s))
		return false;
	for (; *s; s++) {
		if (!isprint((unsigned char)*s))
			return false;
		if (!loose && !isalnum((unsigned char)*s) && *s != '_' &&
		    *s != '.' && *s != '$')
			return false;
	}
	return true;
}

/* Does @off point at the start of a string? */
static bool starts_string(const struct btf *btf, uint32_t off)
{
	const char *before = off ? btf__str_by_offset(btf, off - 1) : "";

	return btf__str_by_offset(btf, off) && before && !*before;
}

static void check_name(const struct check *c, uint32_t id, uint32_t kind,
		       uint32_t off)
{
	const char *s = btf__str_by_offset(c->btf, off);

	if (!s)
		bad(c, "the name of type %u is at %u, beyond the strings",
		    id, off);
	if (!starts_string(c->btf, off))
		bad(c, "the name of type %u starts in the middle of a string (\"%.40s\")",
		    id, s);
	if (!good_name(s, kind))
		bad(c, "the name of type %u is garbage (\"%.40s\")", id, s);
}

/*
 * Damage hits a name here and there.  Over a wrong base most of the names that
 * a module shares with it, and all of its own behind a base of another length,
 * point into the middle of some string.
 */
static bool is_foreign(const struct check *c)
{
	uint32_t wrong = 0, named = 0;

	for (uint32_t id = c->first; id < c->end; id++) {
		const struct btf_type *t = btf__type_by_id(c->btf, id);

		named += !!t->name_off;
		wrong += !starts_string(c->btf, t->name_off);
	}
	return c->base_path && wrong > named / 4;
}

/*
 * A type that may stand where a value or a pointer's target does.  @want_kind
 * 0 means any such type, otherwise just that kind.
 */
static void check_ref(const struct check *c, uint32_t id, uint32_t ref,
		      uint32_t want_kind)
{
	const struct btf_type *t;
	uint32_t kind;
	bool ok;

	if (ref >= c->end)
		bad(c, "type %u refers to type %u, there are %u",
		    id, ref, c->end);
	if (!ref) {
		if (want_kind)
			bad(c, "type %u refers to no type", id);
		return;		/* void */
	}
	t = btf__type_by_id(c->btf, ref);
	kind = btf_kind(t);
	if (want_kind)
		ok = kind == want_kind;
	else
		ok = kind != BTF_KIND_FUNC && kind != BTF_KIND_VAR &&
		     kind != BTF_KIND_DATASEC && kind != BTF_KIND_DECL_TAG;
	if (!ok)
		bad(c, "type %u refers to type %u, which is of the kind %u",
		    id, ref, kind);
}

struct extent {
	uint64_t from, to;
	uint32_t nr;
};

static int by_start(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/* In bits.  Sizes come from the base, so here a wrong base shows, too. */
static void check_members(const struct check *c, uint32_t id,
			  const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);
	uint32_t n = btf_vlen(t);
	struct extent *e = must_alloc(n * sizeof(*e));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t width = btf_member_bitfield_size(t, i);
		int64_t size = btf__resolve_size(c->btf, m[i].type);
		const char *name = btf__str_by_offset(c->btf, m[i].name_off);

		if (size < 0)
			bad(c, "member %s of type %u has no size",
			    name, id);
		e[i].nr = i;
		e[i].from = btf_member_bit_offset(t, i);
		e[i].to = e[i].from + (width ? width : (uint64_t)size * 8);
		if (e[i].to > (uint64_t)t->size * 8)
			bad(c, "member %s of type %u (%s) ends at bit %llu, the type has %llu",
			    name, id, btf__str_by_offset(c->btf, t->name_off),
			    (unsigned long long)e[i].to,
			    (unsigned long long)t->size * 8);
	}
	if (btf_is_struct(t)) {
		qsort(e, n, sizeof(*e), by_start);
		for (uint32_t i = 1; i < n; i++)
			if (e[i].from < e[i - 1].to && e[i].to != e[i].from)
				bad(c, "members %s and %s of type %u (%s) overlap",
				    btf__str_by_offset(c->btf, m[e[i - 1].nr].name_off),
				    btf__str_by_offset(c->btf, m[e[i].nr].name_off),
				    id, btf__str_by_offset(c->btf, t->name_off));
	}
	free(e);
}

static void check_type(const struct check *c, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(c->btf, id);
	uint32_t kind = btf_kind(t), n = btf_vlen(t);

	check_name(c, id, kind, t->name_off);
	switch (kind) {
	case BTF_KIND_TYPEDEF:
		if (!t->name_off)
			bad(c, "type %u is a typedef without a name",
			    id);
		__attribute__((fallthrough));
	case BTF_KIND_PTR:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_VAR:
		check_ref(c, id, t->type, 0);
		break;
	case BTF_KIND_FUNC:
		check_ref(c, id, t->type, BTF_KIND_FUNC_PROTO);
		break;
	case BTF_KIND_ARRAY:
		check_ref(c, id, btf_array(t)->type, 0);
		check_ref(c, id, btf_array(t)->index_type, 0);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (uint32_t i = 0; i < n; i++) {
			check_name(c, id, kind, btf_members(t)[i].name_off);
			check_ref(c, id, btf_members(t)[i].type, 0);
		}
		break;
	case BTF_KIND_ENUM:
		for (uint32_t i = 0; i < n; i++)
			check_name(c, id, kind, btf_enum(t)[i].name_off);
		break;
	case BTF_KIND_ENUM64:
		for (uint32_t i = 0; i < n; i++)
			check_name(c, id, kind, btf_enum64(t)[i].name_off);
		break;
	case BTF_KIND_FUNC_PROTO:
		check_ref(c, id, t->type, 0);
		for (uint32_t i = 0; i < n; i++) {
			check_name(c, id, kind, btf_params(t)[i].name_off);
			check_ref(c, id, btf_params(t)[i].type, 0);
		}
		break;
	case BTF_KIND_DATASEC:
		for (uint32_t i = 0; i < n; i++)
			check_ref(c, id, btf_var_secinfos(t)[i].type,
				  BTF_KIND_VAR);
		break;
	default:
		break;
	}
}

static uint32_t string_bytes(const struct btf *btf)
{
	uint32_t size;
	const struct btf_header *h = btf__raw_data(btf, &size);

	if (!h)
		fail("out of memory reading BTF");
	return h->str_len;
}

/*
 * btf__new_split() is declared by libbpf 1.1 but not exported, so the bytes go through a file,
 * which is removed before this returns.
 */
static struct btf *new_split(struct span raw, struct btf *base)
{
	const char *dir = getenv("TMPDIR");
	char *path = say("%s/core-abi.XXXXXX", dir && *dir ? dir : "/tmp");
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	struct btf *btf;
	int err;

	if (!f)
		fail("cannot make the temporary file %s: %s", path,
		     strerror(errno));
	if (fwrite(raw.data, 1, raw.size, f) != raw.size || fclose(f)) {
		err = errno;
		unlink(path);
		fail("cannot write the temporary file %s: %s", path,
		     strerror(err));
	}
	btf = btf__parse_raw_split(path, base);
	err = errno;
	unlink(path);
	free(path);
	errno = err;
	return btf;
}

/**
 * btf_load() - check a .BTF section and give it to libbpf
 * @raw: its bytes; not kept
 * @path: the file it came from, for messages
 * @base: the BTF that it extends, or NULL where it stands alone
 * @base_path: the file of @base
 *
 * Returns the types, with ids that go on where @base ends; never NULL.
 */
struct btf *btf_load(struct span raw, const char *path, struct btf *base,
		     const char *base_path)
{
	struct check c = { .path = path, .base_path = base_path, .first = 1 };
	struct btf *btf;

	check_bytes(raw, path);
	if (base) {
		c.first = btf__type_cnt(base);
		c.first_str = string_bytes(base);
		btf = new_split(raw, base);
	} else {
		btf = btf__new(raw.data, (uint32_t)raw.size);
	}
	if (!btf)
		fail("corrupt BTF in %s: libbpf says \"%s\"", path,
		     strerror(errno));
	c.btf = btf;
	c.end = btf__type_cnt(btf);
	if (c.end == c.first)
		fail("corrupt BTF in %s: it holds no type", path);
	c.foreign = is_foreign(&c);
	for (uint32_t id = c.first; id < c.end; id++)
		check_type(&c, id);
	for (uint32_t id = c.first; id < c.end; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_composite(t))
			check_members(&c, id, t);
	}
	return btf;
}
