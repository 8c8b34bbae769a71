// SPDX-License-Identifier: GPL-2.0
/*
 * target/srq_grow.c: how many receives an SRQ begins with, and that it has all that it may have
 * when they are used, whatever happens to reports and memory.
 */
#include "srq_hca.h"

#include "target/srq_low.c"

/* The SRQ's work runs, if there is a reason */
static void work(struct nvmet_rdma_srq *srq)
{
	if (srq->level != NVMET_RDMA_SRQ_ARMED)
		nvmet_rdma_srq_work(&srq->work.work);
}

/* The HCA's report arrives, if there is one, and is worked on */
static void report(struct nvmet_rdma_srq *srq)
{
	if (reported)
		report_arrives(srq);
	work(srq);
}

static void first_receives(void **state)
{
	static const struct { u32 commands, receives; } t[] = {
		{ 2, 2 }, { 32, 32 }, { 64, 64 }, { 65, 64 }, { 128, 64 }, { 256, 64 },
		{ 257, 64 }, { 260, 128 }, { 512, 128 }, { 1024, 256 }, { 2048, 512 },
		{ 4096, 1024 }, { 1000000, 1024 },
	};
	struct nvmet_rdma_srq srq = { .dev = &dev, .room = SZ_4K };
	size_t i;

	dev.srq_size = 4096;
	for (i = 0; i < ARRAY_SIZE(t); i++) {
		u32 all = min(t[i].commands, dev.srq_size);

		unit_context("%u commands", t[i].commands);
		unit_equal(t[i].receives, nvmet_rdma_srq_begin(&srq, t[i].commands));
		dev.rnr_harms = true;
		unit_equal(all, nvmet_rdma_srq_begin(&srq, t[i].commands));
		dev.rnr_harms = false;
		srq.room = 0;
		unit_equal(all, nvmet_rdma_srq_begin(&srq, t[i].commands));
		srq.room = SZ_4K;
		dev.srq_reports = false;
		unit_equal(all, nvmet_rdma_srq_begin(&srq, t[i].commands));
		dev.srq_reports = true;
	}
}

/* The first command shows that the device reports, and until then all receives are there */
static void a_device_is_tried(void **state)
{
	struct nvmet_rdma_srq *srq;

	dev.srq_reports = false;
	srq = join(32)->srq;
	join(DEPTH);
	assert_int_equal(srq->nr, 32 + DEPTH);
	assert_int_equal(hold(1), 1);
	assert_true(reported);
	report(srq);
	assert_true(dev.srq_reports);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
	assert_int_equal(mark, 1);
	assert_int_equal(vacated + srq->nr_replaced, 0);
	assert_int_equal(join_as(DEPTH, SZ_64K)->srq->nr, 64);
}

/*
 * Until one is reported, a mark is what there is, as some devices set no higher one. Spare
 * receives may be posted besides, but fewer than a full chain.
 */
static void a_mark_to_try_a_device(void **state)
{
	unsigned int depth, came;

	for (depth = 32; depth < 32 + NVMET_RDMA_RECV_CHAIN; depth++) {
		struct nvmet_rdma_srq *srq;

		no_queues(state);
		dev.srq_reports = false;
		srq = join(depth)->srq;
		unit_context("depth %u", depth);
		unit_equal(depth, srq->nr);
		unit_equal(depth, mark);
		unit_equal(true, mark <= nr_posted);
		for (came = 0; !reported && came < DEPTH; came++)
			commands(1);
		unit_equal(true, came <= NVMET_RDMA_RECV_CHAIN);
		report(srq);
		unit_equal(true, dev.srq_reports);
		unit_equal(1, mark);
	}
}

/* Each SRQ has such a mark of its own. Its report moves no commands, also if another came first. */
static void two_srqs_try_a_device(void **state)
{
	struct nvmet_rdma_srq *a, *b;
	unsigned int i;

	dev.srq_reports = false;
	a = join(DEPTH)->srq;
	b = join_as(MOST / 2, SZ_64K)->srq;
	for (i = 1; i < 4; i++)
		join_as(MOST / 2, SZ_64K);
	assert_ptr_not_equal(a, b);
	assert_int_equal(b->nr, MOST);
	assert_int_equal(mark, MOST);
	reported = true;
	report_arrives(a);
	reported = true;
	report_arrives(b);
	assert_int_equal(b->level, NVMET_RDMA_SRQ_GROW);
	work(b);
	assert_int_equal(b->level, NVMET_RDMA_SRQ_ARMED);
	assert_int_equal(mark, MOST / LOW_WATER);
	assert_int_equal(vacated + b->nr_replaced, 0);
}

/* A queue's first burst from idle: the second half of it waits for one report */
static void a_burst(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;

	assert_int_equal(srq->nr, 64);
	assert_int_equal(with_memory, 64 + SPARE);
	assert_int_equal(mark, 32);
	/* the spare ones wait for a full chain */
	assert_int_equal(hold(DEPTH), 64);
	report(srq);
	assert_int_equal(srq->nr, DEPTH);
	assert_int_equal(hold(DEPTH - 64), DEPTH - 64);
	answer();
	/* nothing was short, and nothing lost */
	assert_int_equal(vacated + srq->nr_replaced, 0);
	assert_int_equal(mark, 1);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
}

/* In step: with each capsule the HCA has as many receives as it reports */
static void half_is_enough_for_half(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		assert_int_equal(hold(32), 32);
		assert_false(reported);
		answer();
	}
	assert_int_equal(srq->nr, 64);
}

static void four_queues_in_two_steps(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;
	unsigned int done, steps = 0, i;

	for (i = 1; i < 4; i++)
		join(DEPTH);
	assert_int_equal(srq->nr, DEPTH);
	for (done = 0; done < 4 * DEPTH; steps++) {
		done += hold(4 * DEPTH - done);
		report(srq);
	}
	assert_int_equal(steps, 3);
	assert_int_equal(srq->nr, 4 * DEPTH);
	assert_int_equal(vacated + srq->nr_replaced, 0);
}

/* As many as it may have, then the rules of an SRQ that has fewer receives than commands */
static void then_commands_leave(void **state)
{
	struct nvmet_rdma_queue *queue = join(512);
	struct nvmet_rdma_srq *srq = queue->srq;
	unsigned int i;

	for (i = 0; i < 3; i++)
		join(512);
	assert_int_equal(srq->nr, MOST / 4);
	hold(MOST / 2);
	report(srq);
	assert_int_equal(srq->nr, MOST / 2);
	hold(MOST / 2);
	report(srq);
	assert_int_equal(srq->nr, MOST);
	assert_int_equal(vacated, 0);
	assert_int_equal(mark, MOST / LOW_WATER);
	hold(MOST);
	report(srq);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_LOW_HANDLED);
	assert_int_equal(vacated, 4);
}

/* Commands leave their receives meanwhile, and nothing is taken for lost */
static void no_memory_to_grow(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;
	unsigned int i;

	hold(DEPTH);
	no_memory = true;
	report(srq);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_LOW_HANDLED);
	assert_int_equal(vacated, 1);
	for (i = 0; i < 5; i++) {
		jiffies += NVMET_RDMA_SRQ_LOW_SECS * HZ;
		work(srq);
		assert_int_equal(srq->level, NVMET_RDMA_SRQ_LOW_HANDLED);
	}
	no_memory = false;
	work(srq);
	assert_int_equal(srq->nr, DEPTH);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
	assert_int_equal(vacated, 1);
	assert_int_equal(srq->nr_replaced, 0);
}

/* With less than its part of the first receives, a queue has receives of its own */
static void no_memory_to_begin(void **state)
{
	no_memory = true;
	assert_null(join(DEPTH)->srq);
	no_memory = false;
	assert_non_null(join(DEPTH)->srq);
	no_memory = true;
	assert_non_null(join(DEPTH)->srq);
	assert_null(join(512)->srq);
}

static void memory_goes_when_idle(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;

	hold(DEPTH);
	report(srq);
	hold(DEPTH - nr_held);
	/* It is used */
	look_after(srq, SHRINK_SECS);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, DEPTH);
	answer();
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, 64);
	assert_int_equal(mark, 32);
	commands(2 * DEPTH);
	assert_false(reported);
	look_after(srq, 0);
	assert_int_equal(with_memory, 64 + SPARE);
	/* and is there when it is wanted again */
	assert_in_range(hold(DEPTH), 64, 64 + SPARE);
	report(srq);
	assert_int_equal(srq->nr, DEPTH);
	hold(DEPTH - nr_held);
	assert_int_equal(nr_held, DEPTH);
	answer();
	/* not at once after that */
	look_after(srq, SHRINK_SECS - 1);
	assert_int_equal(srq->nr, DEPTH);
	look_after(srq, 1);
	assert_int_equal(srq->nr, 64);
	/* nor is anything lost that retires while it is not used */
	hold(DEPTH);
	report(srq);
	answer();
	work(srq);
	assert_int_equal(srq->nr_replaced, 0);
}

/* A look finds that the HCA has fewer than the mark */
static void a_report_is_lost(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;

	hold(DEPTH);
	reported = false;
	look_after(srq, SHRINK_SECS);
	work(srq);
	assert_int_equal(srq->nr, DEPTH);
}

/* A report of the mark before: the SRQ grows earlier than it had to, and nothing is lost */
static void a_report_is_late(void **state)
{
	struct nvmet_rdma_srq *srq = join(DEPTH)->srq;

	hold(40);
	assert_true(reported);
	join(DEPTH);
	answer();
	report(srq);
	assert_int_equal(srq->nr, 128);
	assert_int_equal(vacated + srq->nr_replaced, 0);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, 64);
}

/* No more than a look at what there was a second ago may keep a new queue's commands waiting */
static void a_queue_joins_a_full_srq(void **state)
{
	struct nvmet_rdma_srq *srq = join_as(32, SZ_4K)->srq;

	assert_int_equal(srq->nr, 32);
	hold(32 + SPARE);
	report_arrives(srq);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_REACHED);
	join(DEPTH);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_GROW);
	work(srq);
	assert_int_equal(srq->nr, 128);
	assert_int_equal(srq->nr_replaced, 0);
}

/* Nothing is left that the HCA could take, and so report */
static void a_queue_joins_an_empty_srq(void **state)
{
	struct nvmet_rdma_srq *srq = join(64)->srq;

	hold(64);
	report(srq);
	hold(SPARE);
	report(srq);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_ARMED);
	assert_int_equal(mark, 1);
	assert_int_equal(nr_posted, 0);
	join(DEPTH);
	assert_int_equal(srq->nr, 64);
	assert_int_equal(mark, 32);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_GROW);
	work(srq);
	assert_int_equal(srq->nr, 128);
	assert_in_range(nr_posted, 64, 128);
	assert_int_equal(srq->nr_replaced, 0);
}

/* Those that retire are in use, too: with them, more are held than the next mark allows for */
static void it_grows_on_without_a_report(void **state)
{
	struct nvmet_rdma_srq *srq = join(MOST / 2)->srq;

	join(MOST / 2);
	hold(MOST / 4);
	report(srq);
	assert_int_equal(srq->nr, MOST / 2);
	answer();
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, MOST / 4);
	hold(MOST / 2 - 64);
	report(srq);
	assert_int_equal(srq->nr, 3 * MOST / 4);
	assert_int_equal(mark, 3 * MOST / 8);
	assert_in_range(nr_posted, 1, mark - 1);
	assert_false(reported);
	assert_int_equal(srq->level, NVMET_RDMA_SRQ_GROW);
	work(srq);
	assert_int_equal(srq->nr, MOST);
	assert_int_equal(vacated + srq->nr_replaced, 0);
}

/*
 * An SRQ of 512 commands that has 128 receives, and three blocks of 128 that retire. The HCA has
 * all of them, in this order after the spare ones.
 */
static struct nvmet_rdma_srq *three_blocks_retire(void)
{
	struct nvmet_rdma_srq *srq = join(4 * DEPTH)->srq;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		hold(MOST);
		if (reported)
			report_arrives(srq);
		if (i < 2)
			work(srq);
	}
	assert_int_equal(srq->nr, 4 * DEPTH);
	assert_int_equal(nr_held, 4 * DEPTH + SPARE);
	for (i = 0; i < nr_held; i++)
		nvmet_rdma_srq_post(srq, held[i]);
	nr_held = 0;
	work(srq);
	assert_int_equal(nr_posted, 4 * DEPTH + SPARE);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, DEPTH);
	return srq;
}

/* Connections have broken all receives but those of two blocks, of which neither finishes */
static void what_is_left_retires(void **state)
{
	struct nvmet_rdma_srq *srq = three_blocks_retire();

	lose(SPARE + 2 * DEPTH + 1);
	commands(DEPTH - 1);
	lose(1);
	hold(DEPTH);
	report_arrives(srq);
	answer();
	look_after(srq, 0);
	assert_int_equal(nr_posted, 0);
	work(srq);
	assert_int_equal(srq->nr, 4 * DEPTH);
	commands(4 * DEPTH);
}

/* The same, but both have finished: the third one gives the HCA nothing */
static void what_is_left_is_freed(void **state)
{
	struct nvmet_rdma_srq *srq = three_blocks_retire();

	lose(SPARE + 2 * DEPTH);
	commands(DEPTH);
	hold(DEPTH);
	report_arrives(srq);
	answer();
	look_after(srq, 0);
	assert_int_equal(nr_posted, 0);
	assert_int_equal(with_memory, 2 * DEPTH + SPARE);
	work(srq);
	commands(4 * DEPTH);
}

/* One block is freed, and the two that are not come back although there is no memory for it */
static void what_retires_needs_no_memory(void **state)
{
	struct nvmet_rdma_srq *srq = three_blocks_retire();

	commands(SPARE + 2 * DEPTH);
	look_after(srq, 0);
	assert_int_equal(with_memory, 3 * DEPTH + SPARE);
	hold(MOST);
	no_memory = true;
	report(srq);
	assert_int_equal(srq->nr, 3 * DEPTH);
}

/* A look that finds too many receives, but no block that is not needed, changes nothing */
static void no_block_can_retire(void **state)
{
	struct nvmet_rdma_queue *deep = join(500);
	struct nvmet_rdma_srq *srq = deep->srq;
	unsigned int marks;

	join(12);
	assert_int_equal(srq->nr, 128);
	nvmet_rdma_srq_leave(deep);
	marks = nr_marks;
	look_after(srq, SHRINK_SECS);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, 128);
	assert_int_equal(nr_marks, marks);
}

/* All receives at once, and the next queue's, too */
static void marks_cannot_be_set(void **state)
{
	struct nvmet_rdma_srq *srq;

	no_marks = true;
	srq = join(DEPTH)->srq;
	work(srq);
	assert_int_equal(srq->nr, DEPTH);
	assert_int_equal(vacated, 0);
	join(DEPTH);
	assert_int_equal(srq->nr, 2 * DEPTH);
	look_after(srq, SHRINK_SECS);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, 2 * DEPTH);
}

static void where_no_host_may_be_without_a_receive(void **state)
{
	struct nvmet_rdma_srq *srq;

	dev.rnr_harms = true;
	srq = join(DEPTH)->srq;
	assert_int_equal(srq->nr, DEPTH);
	join(DEPTH);
	assert_int_equal(srq->nr, 2 * DEPTH);
	look_after(srq, SHRINK_SECS);
	look_after(srq, SHRINK_SECS);
	assert_int_equal(srq->nr, 2 * DEPTH);
	assert_int_equal(hold(2 * DEPTH), 2 * DEPTH);
	answer();
}

/* One host uses all that it may: others find receives after as many steps as it has to grow */
static void a_greedy_host(void **state)
{
	struct nvmet_rdma_srq *srq = join(512)->srq;
	unsigned int left = 512, steps = 0;

	join(DEPTH);
	while (left) {
		left -= hold(left);
		report(srq);
		steps++;
	}
	assert_in_range(steps, 1, 4);
	report(srq);
	assert_int_equal(hold(DEPTH), DEPTH);
}

static void random_rounds(void **state)
{
	struct nvmet_rdma_queue *queue[8] = { join(DEPTH) };
	struct nvmet_rdma_srq *srq = queue[0]->srq;
	u64 seed = 20260102;
	unsigned int round, i, n;

	for (round = 0; round < 5000; round++) {
		unit_context("round %u", round);
		i = 1 + unit_random(&seed) % 7;
		no_memory = !(unit_random(&seed) % 4);
		if (queue[i] && queue[i]->srq && !nr_held)
			nvmet_rdma_srq_leave(queue[i]);
		else if (!queue[i] || !queue[i]->srq)
			queue[i] = join(16 + unit_random(&seed) % 400);
		n = unit_random(&seed) % (srq->nr_commands + 1);
		hold(n > nr_held ? n - nr_held : 0);
		if (!(unit_random(&seed) % 8))
			reported = false;
		report(srq);
		if (unit_random(&seed) % 2)
			answer();
		look_after(srq, unit_random(&seed) % (2 * SHRINK_SECS));
		unit_equal(true, srq->nr <= MOST);
		unit_equal(true, nr_posted + nr_held <= MOST + SPARE);
		/* With memory, all that may come finds its receive soon */
		if (round % 16)
			continue;
		no_memory = false;
		for (n = 0; n < 8; n++) {
			work(srq);
			i = min(srq->nr_commands, MOST);
			hold(i > nr_held ? i - nr_held : 0);
			report(srq);
			look_after(srq, SHRINK_SECS);
		}
		unit_equal(true, nr_held >= min(srq->nr_commands, MOST));
		answer();
		for (n = 0; n < 4; n++)
			work(srq);
		unit_equal(0, srq->nr_replaced);
	}
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup(name, no_queues)
	const struct CMUnitTest tests[] = {
		TEST(first_receives),
		TEST(a_device_is_tried),
		TEST(a_mark_to_try_a_device),
		TEST(two_srqs_try_a_device),
		TEST(a_burst),
		TEST(half_is_enough_for_half),
		TEST(four_queues_in_two_steps),
		TEST(then_commands_leave),
		TEST(no_memory_to_grow),
		TEST(no_memory_to_begin),
		TEST(memory_goes_when_idle),
		TEST(a_report_is_lost),
		TEST(a_report_is_late),
		TEST(a_queue_joins_a_full_srq),
		TEST(a_queue_joins_an_empty_srq),
		TEST(it_grows_on_without_a_report),
		TEST(what_is_left_retires),
		TEST(what_is_left_is_freed),
		TEST(what_retires_needs_no_memory),
		TEST(no_block_can_retire),
		TEST(marks_cannot_be_set),
		TEST(where_no_host_may_be_without_a_receive),
		TEST(a_greedy_host),
		TEST(random_rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
