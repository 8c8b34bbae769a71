// SPDX-License-Identifier: GPL-2.0
/*
 * Operation: a writer has a part of the device to itself, and keeps several I/Os on it
 * outstanding: writes, and reads over what is being written. Its thread alone touches
 * what is known of its sectors.
 *
 * No two writes to a sector are outstanding at a time, as nobody could say which comes
 * last. But a write that failed is not outstanding any more, whatever has become of it:
 * the next one may be issued at once, as an application would.
 *
 * A read may find of each sector what was acknowledged or read when it was issued, or
 * anything later up to what has been issued when it completes.
 */
#include "acked.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

atomic_bool stopping;
atomic_ullong last_gen;

/* Blocks, as many eighths of all I/O as they stand here; 0 is a logical block */
static const unsigned int blocks[8] = {
	0, 4096, 4096, 4096, 8192, 16384, 32768, 65536,
};

/* A quarter of I/O is to a sixteenth of the sectors, which so are written again soon */
#define HOT_SHARE	4
#define HOT_PART	16
/* After an error, before the next I/O: a disk that is gone fails them by the million */
#define ERROR_PAUSE_MS	20
/* How long to look for completions when there is nothing else to do */
#define WAIT_MS		100
#define TRIES		8

static uint64_t random_number(struct writer *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (w->random * 0x2545f4914f6cdd1dull) >> 16;
}

static void choose_place(struct writer *w, struct slot *slot)
{
	const unsigned int size = w->dev->sector_bytes;
	unsigned int bytes = blocks[random_number(w) % 8], align;
	uint32_t room = w->sectors;

	if (bytes > w->opt->block)
		bytes = w->opt->block;
	slot->count = bytes > size ? bytes / size : 1;
	if (random_number(w) % HOT_SHARE == 0 &&
	    room / HOT_PART >= 2 * slot->count)
		room /= HOT_PART;
	align = slot->count < 4096 / size ? slot->count : 4096 / size;
	slot->sector = w->first + (uint32_t)(random_number(w) %
			((room - slot->count) / align + 1) * align);
}

static bool write_is_on_its_way(const struct writer *w, const struct slot *to)
{
	unsigned int i;

	for (i = 0; i < w->opt->depth; i++) {
		const struct slot *s = &w->slots[i];

		if (s->busy && s->op == OP_WRITE &&
		    s->sector < to->sector + to->count &&
		    to->sector < s->sector + s->count)
			return true;
	}
	return false;
}

static void choose(struct writer *w, struct slot *slot)
{
	int tries = TRIES;

	w->begun++;
	slot->op = OP_WRITE;
	if (w->opt->flush && w->begun % w->opt->flush == 0) {
		slot->op = OP_FLUSH;
		return;
	}
	if (random_number(w) % 100 < w->opt->reads)
		slot->op = OP_READ;
	do {
		choose_place(w, slot);
	} while (slot->op == OP_WRITE && write_is_on_its_way(w, slot) &&
		 --tries);
	if (!tries)
		slot->op = OP_READ;
}

static void fill(struct writer *w, struct slot *slot)
{
	const unsigned int size = w->dev->sector_bytes;
	unsigned int i;

	slot->gen = atomic_fetch_add(&last_gen, 1) + 1;
	for (i = 0; i < slot->count; i++) {
		struct sector_id id = {
			.run = w->run,
			.lba = slot->sector + i,
			.gen = slot->gen,
		};

		sector_make((char *)slot->buffer + i * size, size, &id);
		w->known[slot->sector + i].issued = slot->gen;
	}
}

static void note_error(struct writer *w, enum op which, int error)
{
	struct counts *c = &w->counts;
	uint64_t now = now_ms();

	if (!c->first_errno) {
		c->first_errno = error;
		c->first_error_ms = now;
	}
	c->last_error_ms = now;
	c->errors[which]++;
	atomic_fetch_add(&w->failed, 1);
	w->next_ms = now + ERROR_PAUSE_MS;
	if (w->opt->stop_at_error)
		atomic_store(&stopping, true);
}

static void wrote(struct writer *w, const struct slot *slot)
{
	unsigned int i;

	for (i = 0; i < slot->count; i++)
		known_acked(&w->known[slot->sector + i], slot->gen);
	log_add(RECORD_ACKED, slot->sector, slot->count, slot->gen);
}

/* One sector of a read that has succeeded */
static void judge_sector(struct writer *w, struct slot *slot, unsigned int i)
{
	const unsigned int size = w->dev->sector_bytes;
	struct known *then = &slot->known[i];
	struct known *now = &w->known[slot->sector + i];
	enum sector_kind kind;
	enum verdict verdict;
	struct sector_id found;
	bool changing;

	kind = sector_look((char *)slot->buffer + i * size, size, &found);
	changing = then->issued > then->acked || now->issued > then->issued;
	then->issued = now->issued;
	verdict = judge(kind, &found, w->run, slot->sector + i, then, true);
	if (verdict == TORN && changing) {
		/* Half of it was there when it was read; verify will see all */
		w->counts.raced++;
		return;
	}
	w->counts.verdicts[verdict]++;
	if (verdict_bad(verdict))
		say_violation(w->dev->name, "read under load", verdict, kind,
			      &found, slot->sector + i, then);
	if (verdict != FINE)
		return;
	w->counts.verified += size;
	if (found.gen > now->acked && found.gen > now->seen) {
		known_seen(now, found.gen);
		log_add(RECORD_SEEN, slot->sector + i, 1, found.gen);
	}
}

static void completed(struct slot *slot, long result)
{
	struct writer *w = slot->writer;
	uint64_t bytes = slot->op == OP_FLUSH ? 0 :
			 (uint64_t)slot->count * w->dev->sector_bytes;
	uint64_t now = now_ms(), since = now - atomic_load(&w->event_ms);
	unsigned int i;

	slot->busy = false;
	w->busy--;
	atomic_fetch_sub(&w->outstanding, 1);
	atomic_store(&w->event_ms, now);
	if (w->counts.stall_ms < since)
		w->counts.stall_ms = since;
	if (w->counts.slowest_ms < now - slot->begun_ms)
		w->counts.slowest_ms = now - slot->begun_ms;
	if (result < 0 || (uint64_t)result != bytes) {
		note_error(w, slot->op, result < 0 ? (int)-result : ENODATA);
		return;
	}
	if (w->counts.outage_ms < now - w->success_ms)
		w->counts.outage_ms = now - w->success_ms;
	w->success_ms = now;
	w->counts.done[slot->op]++;
	w->counts.bytes[slot->op] += bytes;
	if (slot->op == OP_WRITE)
		wrote(w, slot);
	for (i = 0; slot->op == OP_READ && i < slot->count; i++)
		judge_sector(w, slot, i);
	atomic_fetch_add(&w->succeeded, 1);
}

static void start(struct writer *w, struct slot *slot)
{
	long error;

	choose(w, slot);
	if (slot->op == OP_WRITE)
		fill(w, slot);
	if (slot->op == OP_READ)
		memcpy(slot->known, &w->known[slot->sector],
		       slot->count * sizeof(*slot->known));
	slot->begun_ms = now_ms();
	if (!w->busy)
		atomic_store(&w->event_ms, slot->begun_ms);
	slot->busy = true;
	w->busy++;
	atomic_fetch_add(&w->outstanding, 1);
	error = aio_start(&w->aio, slot, w->dev->fd);
	if (error)
		completed(slot, error);
}

static struct slot *free_slot(struct writer *w)
{
	unsigned int i;

	for (i = 0; i < w->opt->depth; i++) {
		if (!w->slots[i].busy)
			return &w->slots[i];
	}
	return NULL;
}

/* Begin what may be begun now. Return: ms until more may be */
static unsigned int start_more(struct writer *w)
{
	struct slot *slot;
	uint64_t now;

	while (!atomic_load(&stopping)) {
		slot = free_slot(w);
		if (!slot)
			return WAIT_MS;
		now = now_ms();
		if (now < w->next_ms)
			return w->next_ms - now < WAIT_MS ?
			       (unsigned int)(w->next_ms - now) : WAIT_MS;
		w->next_ms = now + w->opt->pace;
		start(w, slot);
	}
	return WAIT_MS;
}

static void run_here(const struct writer *w)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->number % (unsigned long)sysconf(_SC_NPROCESSORS_ONLN), &set);
	/* Where it runs decides which queue it uses; any does */
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/*
 * writer_run - a writer's thread, until all are to stop
 *
 * What is outstanding then is waited for as long as the options say; the rest is left
 * in @outstanding.
 */
void *writer_run(void *arg)
{
	struct writer *w = arg;
	uint64_t deadline;
	unsigned int i;

	run_here(w);
	aio_open(&w->aio, w->opt->depth, w->opt->polled);
	for (i = 0; i < w->opt->depth; i++) {
		w->slots[i].writer = w;
		w->slots[i].buffer = device_buffer(MAX_BLOCK);
	}
	w->success_ms = now_ms();
	while (!atomic_load(&stopping)) {
		unsigned int wait = start_more(w);

		aio_wait(&w->aio, wait, completed);
	}
	if (w->counts.outage_ms < now_ms() - w->success_ms)
		w->counts.outage_ms = now_ms() - w->success_ms;
	deadline = now_ms() + w->opt->drain * 1000ull;
	while (w->busy && now_ms() < deadline)
		aio_wait(&w->aio, WAIT_MS, completed);
	return NULL;
}
