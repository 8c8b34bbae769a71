// SPDX-License-Identifier: GPL-2.0
/*
 * target/host_name.c: an NQN, and the file that is named after its host.
 *
 * Input: the NQN, to its first zero or its end. The function gets it with its zero,
 * at most 224 bytes: one more than a name has tells it that there is more.
 */
#include "fuzz.h"

#include "target/host_name.h"

#define LONGEST	223	/* NVMe base specification: bytes of an NQN */

/* Characters that need no quoting anywhere; '~' is what the caller adds */
static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

/* Letters, digits, each of the other plain characters, and all that is not plain */
static unsigned int class_of(char c)
{
	size_t at = strcspn(plain, (const char[]){ c, '\0' });

	return at < 26 ? 0 : at < 52 ? 1 : at < 62 ? 2 : (unsigned int)at - 59;
}

static void check(const char *nqn, size_t len, const char *name, bool same)
{
	size_t used = strlen(name), i;
	bool all = true;

	fuzz_check(used >= 1 && used <= LONGEST);
	fuzz_check(name[0] != '.');
	fuzz_check(strspn(name, plain) == used);
	fuzz_check(used == (!len ? 1 : len < LONGEST ? len : LONGEST));
	for (i = 0; i < used && i < len; i++) {
		bool keep = strchr(plain, nqn[i]) && !(nqn[i] == '.' && !i);

		fuzz_check(name[i] == (keep ? nqn[i] : '_'));
		fuzz_kind(class_of(nqn[i]) + (i ? 0 : 8));
		all = all && keep;
	}
	/* All that is left to say is how long it is */
	if (all)
		fuzz_near(len, LONGEST);
	/* What is called the same is that, to the last byte */
	fuzz_check(same == (used == len && !memcmp(name, nqn, len)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	size_t len = size ? strnlen((const char *)data, size) : 0;
	char *nqn, *name = malloc(LONGEST + 1), *again = malloc(LONGEST + 1);
	bool same;

	in.size = len;
	nqn = (char *)fuzz_exact(in, len < LONGEST ? len + 1 : LONGEST + 1);
	fuzz_check(name && again);
	memset(name, 'x', LONGEST + 1);
	memset(again, 0, LONGEST + 1);
	same = nvmet_rdma_host_name(nqn, name);
	fuzz_check(nvmet_rdma_host_name(nqn, again) == same);
	fuzz_check(!strcmp(name, again));
	check(nqn, len, name, same);
	/* A name is a name of its own */
	fuzz_check(nvmet_rdma_host_name(name, again));
	fuzz_check(!strcmp(name, again));
	free(again);
	free(name);
	free(nqn);
	return 0;
}
