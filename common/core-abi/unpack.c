// SPDX-License-Identifier: GPL-2.0
/*
 * Files, compressed files, and the kernel inside a vmlinuz.
 *
 * Decompression is left to xz, zstd, gzip and lz4, the programs that depmod's and
 * the kernel's own packages rely on; each is looked up in PATH.  Their input is
 * always a file, never a pipe that we would have to feed while reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core-abi.h"

extern char **environ;

/*
 * The kernel's build appends the unpacked size to a payload.  xz ignores it with
 * --single-stream; the others fail after all of their output.  The magic of lz4 is that of
 * its legacy format, which the kernel is packed with.
 */
static const struct packer {
	const char *what, *package;
	unsigned char magic[6];
	size_t nr_magic;
	char *argv[5];
} packers[] = {
	{ "xz", "xz-utils", { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6,
	  { "xz", "-dc", "--single-stream", NULL } },
	{ "zstd", "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4,
	  { "zstd", "-dcq", NULL } },
	{ "gzip", "gzip", { 0x1f, 0x8b, 0x08 }, 3,
	  { "gzip", "-dcq", NULL } },
	{ "lz4", "lz4", { 0x02, 0x21, 0x4c, 0x18 }, 4,
	  { "lz4", "-dcq", NULL } },
};

/* Nothing that we read is larger: a vmlinux with full debug info is 1 GiB. */
#define MAX_FILE	(2ULL << 30)

void blob_free(struct blob *b)
{
	free(b->path);
	free(b->data);
	*b = (struct blob){ 0 };
}

/* Reads @fd to its end, whatever it is. */
static void slurp(int fd, struct blob *b)
{
	size_t room = 1 << 20;
	ssize_t n;

	b->data = must_alloc(room);
	for (;;) {
		if (b->size == room) {
			room *= 2;
			if (room > MAX_FILE)
				fail("%s is larger than a kernel can be",
				     b->path);
			b->data = realloc(b->data, room);
			if (!b->data)
				fail("out of memory reading %s", b->path);
		}
		n = read(fd, b->data + b->size, room - b->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail("cannot read %s: %s", b->path, strerror(errno));
		if (!n)
			return;
		b->size += (size_t)n;
	}
}

static int must_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("cannot open %s: %s", path, strerror(errno));
	return fd;
}

struct blob blob_read(const char *path)
{
	struct blob b = { .path = must_dup(path) };
	int fd = must_open(path);

	slurp(fd, &b);
	close(fd);
	return b;
}

/*
 * Runs @p with @in as its input.  Returns its exit status; its output is in @out, also if it
 * failed, because the payload of a kernel is followed by other bytes.
 */
static int unpack_fd(const struct packer *p, int in, struct blob *out)
{
	posix_spawn_file_actions_t acts;
	int fds[2], err, status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		fail("cannot make a pipe: %s", strerror(errno));
	if (posix_spawn_file_actions_init(&acts) ||
	    posix_spawn_file_actions_adddup2(&acts, in, 0) ||
	    posix_spawn_file_actions_adddup2(&acts, fds[1], 1) ||
	    posix_spawn_file_actions_addopen(&acts, 2, "/dev/null",
					     O_WRONLY, 0))
		fail("cannot prepare to run %s", p->what);
	err = posix_spawnp(&pid, p->argv[0], &acts, NULL, p->argv, environ);
	posix_spawn_file_actions_destroy(&acts);
	close(fds[1]);
	if (err == ENOENT)
		fail("%s is compressed with %s, and there is no program %s in PATH: install the package %s",
		     out->path, p->what, p->argv[0], p->package);
	if (err)
		fail("cannot run %s to unpack %s: %s", p->argv[0], out->path,
		     strerror(err));
	slurp(fds[0], out);
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("lost the program %s: %s", p->argv[0],
			     strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static bool has_magic(const unsigned char *data, size_t size,
		      const struct packer *p)
{
	return size >= p->nr_magic && !memcmp(data, p->magic, p->nr_magic);
}

/* A module: .ko, .ko.xz, .ko.zst, .ko.gz, told apart by their first bytes. */
struct blob blob_read_module(const char *path)
{
	struct blob b = { .path = must_dup(path) };
	unsigned char head[8] = { 0 };
	int fd = must_open(path);
	ssize_t n = pread(fd, head, sizeof(head), 0);

	if (n < 0)
		fail("cannot read %s: %s", path, strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		if (!has_magic(head, (size_t)n, &packers[i]))
			continue;
		if (unpack_fd(&packers[i], fd, &b))
			fail("%s: %s says that it is damaged: reinstall the package it came from",
			     path, packers[i].what);
		goto out;
	}
	slurp(fd, &b);
out:
	close(fd);
	if (!elf_is(&b))
		fail("%s is not a kernel module (no ELF file, nor xz, zstd, gzip or lz4 of one)",
		     path);
	return b;
}

static uint32_t le32(const unsigned char *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * The x86 boot protocol says where the payload is: the real-mode code is
 * setup_sects + 1 sectors long, payload_offset and payload_length (2.08 and
 * later) count from its end.
 */
static struct span bzimage_payload(const struct blob *b)
{
	uint64_t start, size;

	if (b->size < 0x250 || memcmp(b->data + 0x202, "HdrS", 4) ||
	    b->data[0x206] + (b->data[0x207] << 8) < 0x208)
		return (struct span){ 0 };
	start = (b->data[0x1f1] ? b->data[0x1f1] : 4) * 512ULL + 512 +
		le32(b->data + 0x248);
	size = le32(b->data + 0x24c);
	if (start > b->size || size > b->size - start)
		fail("%s is truncated: its payload ends at %llu, the file has %zu bytes",
		     b->path, (unsigned long long)(start + size), b->size);
	return (struct span){ b->data + start, size };
}

/* Unpacks @payload if @p made it; true if an ELF file came out. */
static bool try_payload(const struct packer *p, struct span payload,
			struct blob *out)
{
	FILE *tmp;

	if (!has_magic(payload.data, payload.size, p))
		return false;
	tmp = tmpfile();
	if (!tmp ||
	    fwrite(payload.data, 1, payload.size, tmp) != payload.size ||
	    fflush(tmp) || lseek(fileno(tmp), 0, SEEK_SET) < 0)
		fail("cannot write a temporary file to unpack %s: %s",
		     out->path, strerror(errno));
	unpack_fd(p, fileno(tmp), out);
	fclose(tmp);
	if (elf_is(out))
		return true;
	free(out->data);
	out->data = NULL;
	out->size = 0;
	return false;
}

/*
 * Base BTF that starts at @off: its header is plausible, its parts lie in the file, and its
 * strings begin with the empty one and end.  A module's strings begin with a name.
 */
static struct span btf_at(const struct blob *b, size_t off)
{
	uint64_t room = b->size - off, end;
	const unsigned char *strings;
	struct btf_header h;

	if (room < sizeof(h))
		return (struct span){ 0 };
	memcpy(&h, b->data + off, sizeof(h));
	end = (uint64_t)h.hdr_len + h.str_off + h.str_len;
	if (h.magic != BTF_MAGIC || h.version != BTF_VERSION || h.flags ||
	    h.hdr_len < sizeof(h) || h.type_off || !h.type_len ||
	    h.str_off < h.type_len || !h.str_len || end > room)
		return (struct span){ 0 };
	strings = b->data + off + h.hdr_len + h.str_off;
	if (strings[0] || strings[h.str_len - 1])
		return (struct span){ 0 };
	return (struct span){ b->data + off, end };
}

/* An image that is not packed, such as the Image of arm64, holds its BTF as it is. */
static struct span bare_btf(const struct blob *b)
{
	static const unsigned char magic[] = { BTF_MAGIC & 0xff, BTF_MAGIC >> 8 };
	const unsigned char *p = b->data, *end = b->data + b->size;
	struct span btf = { 0 };

	while (!btf.data && p < end &&
	       (p = memmem(p, (size_t)(end - p), magic, sizeof(magic))))
		btf = btf_at(b, (size_t)(p++ - b->data));
	return btf;
}

/*
 * A kernel: vmlinux (ELF), raw BTF (/sys/kernel/btf/vmlinux), a vmlinuz, or an image that is
 * not packed, of which only the BTF is returned.
 * Where the boot header does not say where the payload is, every place with the
 * first bytes of a compressed file is tried, and the one with an ELF file wins.
 */
struct blob blob_read_kernel(const char *path)
{
	struct blob image = blob_read(path);
	struct blob out = { .path = must_dup(path) };
	struct span payload, btf;

	if (elf_is(&image) ||
	    (image.size >= 2 && image.data[0] == 0x9f && image.data[1] == 0xeb)) {
		blob_free(&out);
		return image;
	}
	btf = bare_btf(&image);
	if (btf.data) {
		out.size = btf.size;
		out.data = memcpy(must_alloc(btf.size), btf.data, btf.size);
		goto found;
	}
	payload = bzimage_payload(&image);
	for (size_t i = 0; payload.data && i < ARRAY_SIZE(packers); i++)
		if (try_payload(&packers[i], payload, &out))
			goto found;
	for (size_t off = 0; !payload.data && off < image.size; off++)
		for (size_t i = 0; i < ARRAY_SIZE(packers); i++)
			if (try_payload(&packers[i],
					(struct span){ image.data + off,
						       image.size - off },
					&out))
				goto found;
	fail("%s holds no kernel that can be unpacked: expected an ELF file, one packed with xz, zstd, gzip or lz4, or an image that holds its BTF unpacked",
	     path);
found:
	blob_free(&image);
	return out;
}
