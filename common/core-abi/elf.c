// SPDX-License-Identifier: GPL-2.0
/*
 * Just enough ELF: the bytes of a section, the data behind a symbol, and
 * whether a module exports a symbol.  64-bit little endian, which is what the
 * kernels that we build for are.  Every offset from the file is held against
 * the file's size before it is used.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core-abi.h"

struct elf {
	const struct blob *b;
	Elf64_Ehdr eh;
	Elf64_Shdr names;
};

bool elf_is(const struct blob *b)
{
	return b->size >= SELFMAG && !memcmp(b->data, ELFMAG, SELFMAG);
}

static void copy_from(const struct blob *b, void *to, uint64_t off, size_t n)
{
	if (off > b->size || n > b->size - off)
		fail("%s is truncated: there are no %zu bytes from %llu on, the file has %zu",
		     b->path, n, (unsigned long long)off, b->size);
	memcpy(to, b->data + off, n);
}

static void header(struct elf *e, const struct blob *b, Elf64_Shdr *sh,
		   unsigned int i)
{
	copy_from(b, sh, e->eh.e_shoff + (uint64_t)i * sizeof(*sh), sizeof(*sh));
	if (sh->sh_type == SHT_NOBITS)
		return;
	if (sh->sh_offset > b->size || sh->sh_size > b->size - sh->sh_offset)
		fail("%s is truncated: section %u ends at %llu, the file has %zu bytes",
		     b->path, i,
		     (unsigned long long)(sh->sh_offset + sh->sh_size),
		     b->size);
}

static void elf_open(struct elf *e, const struct blob *b)
{
	memset(e, 0, sizeof(*e));
	e->b = b;
	if (!elf_is(b))
		fail("%s is not an ELF file", b->path);
	copy_from(b, &e->eh, 0, sizeof(e->eh));
	if (e->eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->eh.e_ident[EI_DATA] != ELFDATA2LSB)
		fail("%s is not a 64-bit little-endian ELF file: no other kernel is supported",
		     b->path);
	if (e->eh.e_shentsize != sizeof(Elf64_Shdr) ||
	    e->eh.e_shstrndx >= e->eh.e_shnum)
		fail("%s has a broken ELF header (%u sections of %u bytes, names in %u)",
		     b->path, e->eh.e_shnum, e->eh.e_shentsize,
		     e->eh.e_shstrndx);
	header(e, b, &e->names, e->eh.e_shstrndx);
}

/* Is the string at @off of table @tab just @name? */
static bool named(const struct blob *b, const Elf64_Shdr *tab, uint32_t off,
		  const char *name)
{
	size_t n = strlen(name) + 1;

	return tab->sh_type != SHT_NOBITS && off < tab->sh_size &&
	       n <= tab->sh_size - off &&
	       !memcmp(b->data + tab->sh_offset + off, name, n);
}

/* An absent section is a span without data: the caller has the words. */
struct span elf_section(const struct blob *b, const char *name)
{
	struct elf e;
	Elf64_Shdr sh;

	elf_open(&e, b);
	for (unsigned int i = 1; i < e.eh.e_shnum; i++) {
		header(&e, b, &sh, i);
		if (!named(b, &e.names, sh.sh_name, name))
			continue;
		if (sh.sh_type == SHT_NOBITS)
			break;
		return (struct span){ b->data + sh.sh_offset, sh.sh_size };
	}
	return (struct span){ 0 };
}

/*
 * Looks @name up in the symbol table.  @data, if given, becomes the bytes from
 * the symbol on: up to its size, or to the end of its section.
 */
bool elf_symbol(const struct blob *b, const char *name, struct span *data)
{
	struct elf e;
	Elf64_Shdr symtab = { 0 }, strtab, sh;
	Elf64_Sym sym;
	unsigned int i;

	elf_open(&e, b);
	for (i = 1; i < e.eh.e_shnum; i++) {
		header(&e, b, &symtab, i);
		if (symtab.sh_type == SHT_SYMTAB)
			break;
	}
	if (i == e.eh.e_shnum || symtab.sh_link >= e.eh.e_shnum)
		fail("%s has no symbol table", b->path);
	header(&e, b, &strtab, symtab.sh_link);

	for (uint64_t off = 0; off + sizeof(sym) <= symtab.sh_size;
	     off += sizeof(sym)) {
		copy_from(b, &sym, symtab.sh_offset + off, sizeof(sym));
		if (sym.st_shndx == SHN_UNDEF ||
		    !named(b, &strtab, sym.st_name, name))
			continue;
		if (!data)
			return true;
		*data = (struct span){ 0 };
		if (sym.st_shndx >= e.eh.e_shnum)
			return true;
		header(&e, b, &sh, sym.st_shndx);
		if (sh.sh_type == SHT_NOBITS || sym.st_value > sh.sh_size)
			return true;
		data->data = b->data + sh.sh_offset + sym.st_value;
		data->size = sh.sh_size - sym.st_value;
		if (sym.st_size && sym.st_size < data->size)
			data->size = sym.st_size;
		return true;
	}
	return false;
}

/*
 * BTF names every function, also static ones.  A module may call those for which
 * EXPORT_SYMBOL*() left an entry __ksymtab_<name>.
 */
bool elf_exports(const struct blob *b, const char *symbol)
{
	char *entry = say("__ksymtab_%s", symbol);
	bool there = elf_symbol(b, entry, NULL);

	free(entry);
	return there;
}
