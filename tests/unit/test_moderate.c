// SPDX-License-Identifier: GPL-2.0
/* common/moderate.c: when a queue's interrupts are delayed, by a library that raises the level. */
#include "kernel.h"

#include "harness.h"

#define CONFIG_DIMLIB
#define RDMA_DIM_PARAMS_NUM_PROFILES	9
#define RDMA_DIM_START_PROFILE		0
/* The trace's header has nothing for user space */
#define NVME_RDMA_CQ_TRACE_H

/* What the library measures takes so many interrupts */
#define MEASUREMENT	64

enum { DIM_START_MEASURE, DIM_MEASURE_IN_PROGRESS, DIM_APPLY_NEW_PROFILE };
enum { DIM_GOING_RIGHT };

struct dim {
	struct work_struct work;
	void *priv;
	int state, tune_state;
	u8 profile_ix;
};

struct ib_cq {
	struct ib_device *device;
	struct dim *dim;
};

/* The level that the device has been told, in completions, and the work that will tell it one */
static unsigned int told;
static struct work_struct *queued;

static int rdma_set_cq_moderation(struct ib_cq *ib, u16 completions, u16 us)
{
	told = completions;
	return 0;
}

#define schedule_work(work)	((void)(queued = (work)))

static void trace_nvme_rdma_cq_moderate(const struct ib_cq *ib, unsigned int completions,
					unsigned int us, int error)
{
	assert_int_equal(error, 0);
}

static unsigned int measured;

/* Raises the level after each measurement, as the kernel's may when rates vary */
static void rdma_dim(struct dim *dim, u64 completions)
{
	if (dim->state == DIM_APPLY_NEW_PROFILE)
		return;
	if (dim->state == DIM_START_MEASURE) {
		dim->state = DIM_MEASURE_IN_PROGRESS;
		measured = 0;
	}
	if (++measured < MEASUREMENT || dim->profile_ix == RDMA_DIM_PARAMS_NUM_PROFILES - 1)
		return;
	dim->profile_ix++;
	dim->state = DIM_APPLY_NEW_PROFILE;
	schedule_work(&dim->work);
}

#include "common/moderate.c"

static int modify(struct ib_cq *ib, u16 completions, u16 us)
{
	return rdma_set_cq_moderation(ib, completions, us);
}

static struct ib_device device = { .ops.modify_cq = modify, .use_cq_dim = true };
static struct ib_cq cq = { .device = &device };

static int fresh(void **state)
{
	told = 1;
	queued = NULL;
	nvme_rdma_moderate_init(&cq);
	assert_non_null(cq.dim);
	return 0;
}

static int gone(void **state)
{
	nvme_rdma_moderate_free(cq.dim);
	cq.dim = NULL;
	return 0;
}

static void run_work(void)
{
	struct work_struct *work = queued;

	queued = NULL;
	if (work)
		work->fn(work);
}

/* @n interrupts with @usual completions, each eighth with one more; returns how many waited */
static unsigned int interrupts(unsigned int n, unsigned int usual)
{
	unsigned int i, delayed = 0;

	for (i = 1; i <= n; i++) {
		delayed += told > 1;
		nvme_rdma_moderate(&cq, usual + !(i % 8));
		run_work();
	}
	return delayed;
}

static void one_command_at_a_time(void **state)
{
	/* it is tried, now and then */
	assert_in_range(interrupts(100000, 1), 1, 2000);
}

static void a_delay_that_brings_more(void **state)
{
	interrupts(16 * MEASUREMENT, 4);
	assert_int_equal(told, 32);
}

static void fewer_than_before(void **state)
{
	interrupts(16 * MEASUREMENT, 4);
	assert_in_range(interrupts(MEASUREMENT, 1), 1, MEASUREMENT - 1);
	assert_int_equal(told, 1);
}

static void the_device_does_not_know_yet(void **state)
{
	unsigned int i;

	for (i = 0; i < MEASUREMENT; i++)
		nvme_rdma_moderate(&cq, 1);
	assert_non_null(queued);
	/* Nothing is delayed so far, so that these say nothing */
	for (i = 0; i < MEASUREMENT; i++)
		nvme_rdma_moderate(&cq, 1);
	run_work();
	assert_int_equal(told, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_command_at_a_time, fresh, gone),
		cmocka_unit_test_setup_teardown(a_delay_that_brings_more, fresh, gone),
		cmocka_unit_test_setup_teardown(fewer_than_before, fresh, gone),
		cmocka_unit_test_setup_teardown(the_device_does_not_know_yet, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
