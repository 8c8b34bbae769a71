// SPDX-License-Identifier: GPL-2.0
/* target/host_name.c: NQNs as hosts make them up, and the files named after them */
#include "harness.h"

#include "target/host_name.h"

static bool name_of(const char *nqn, char name[NVMET_RDMA_HOST_NAME_LEN + 1])
{
	char *copy = (char *)unit_exact_copy(nqn, strlen(nqn) + 1);
	bool same = nvmet_rdma_host_name(copy, name);

	free(copy);
	return same;
}

static void by_hand(void **state)
{
	static const struct {
		const char *nqn, *name;
		bool same;
	} table[] = {
		{ "nqn.2014-08.org.nvmexpress:uuid:0a-F9",
		  "nqn.2014-08.org.nvmexpress:uuid:0a-F9", true },
		{ "a_b", "a_b", true },
		{ "a/b", "a_b", false },
		{ "../../etc/passwd", "_._.._etc_passwd", false },
		{ ".", "_", false },
		{ "..", "_.", false },
		{ ".hidden", "_hidden", false },
		{ "a..b", "a..b", true },
		{ "", "_", false },
		{ "two\nlines\t\x7f\xff", "two_lines___", false },
		{ "a~1", "a_1", false },
		{ "100% *?", "100____", false },
	};
	char name[NVMET_RDMA_HOST_NAME_LEN + 1];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		bool same = name_of(table[i].nqn, name);

		unit_context("row %zu", i);
		assert_string_equal(name, table[i].name);
		unit_equal(table[i].same, same);
	}
}

static void as_long_as_it_gets(void **state)
{
	char nqn[300], name[NVMET_RDMA_HOST_NAME_LEN + 1];
	size_t len;

	(void)state;
	for (len = 1; len < sizeof(nqn); len++) {
		bool fits = len <= NVMET_RDMA_HOST_NAME_LEN;

		memset(nqn, 'n', len);
		nqn[len] = '\0';
		unit_context("length %zu", len);
		unit_equal(fits, name_of(nqn, name));
		unit_equal(fits ? len : NVMET_RDMA_HOST_NAME_LEN, strlen(name));
	}
}

/* Whatever comes: a file name; and "same" is the truth */
static void whatever_comes(void **state)
{
	char nqn[257], name[NVMET_RDMA_HOST_NAME_LEN + 1];
	u64 seed = 3;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		size_t i, len = unit_random(&seed) % sizeof(nqn);
		bool same;

		/* most of them nearly good */
		for (i = 0; i < len; i++)
			nqn[i] = unit_random(&seed) % 64 ? 'a' :
				 (char)(unit_random(&seed) % 255 + 1);
		nqn[len] = '\0';
		same = name_of(nqn, name);
		unit_context("round %d", round);
		unit_equal(!strcmp(nqn, name), same);
		assert_true(name[0] && name[0] != '.');
		assert_null(strpbrk(name, "/~\n"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(as_long_as_it_gets),
		cmocka_unit_test(whatever_comes),
	};

	return cmocka_run_group_tests_name("target_host_name", tests, NULL, NULL);
}
