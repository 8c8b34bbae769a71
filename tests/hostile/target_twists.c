// SPDX-License-Identifier: GPL-2.0
/* All twists: found by name and number, given a value, described */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "target_acts.h"
#include "twists.h"

static const struct twist *const tables[] = {
	twists_connect, twists_answer, twists_data, twists_self,
};

#define TABLES	(sizeof(tables) / sizeof(*tables))

const struct twist *twist_number(unsigned int n)
{
	const struct twist *twist;
	size_t i;

	for (i = 0; i < TABLES; i++)
		for (twist = tables[i]; twist->name; twist++)
			if (!n--)
				return twist;
	return NULL;
}

const struct twist *twist_find(const char *name)
{
	const struct twist *twist;
	unsigned int n;

	for (n = 0; (twist = twist_number(n)); n++)
		if (!strcmp(twist->name, name))
			return twist;
	return NULL;
}

/* Give it one of its values, 0 for the first */
void twist_add(struct twist *twist, uint64_t value)
{
	switch (twist->sweep) {
	case SWEEP_NOTHING:
		break;
	case SWEEP_REQUEST:
		twist->request_arg += value;
		break;
	case SWEEP_POKE:
		twist->pokes[0].value += value;
		break;
	case SWEEP_ACT:
		twist->acts[0].arg += value;
		break;
	case SWEEP_SHIFT:
		twist->acts[0].arg <<= value;
		break;
	}
}

void used(const struct assoc *assoc, unsigned int part)
{
	/* else one of the case before, which still ends */
	if (assoc->twist.name == target.twist.name)
		target.used |= 1u << part;
}

bool act_idle(void)
{
	target.idle = true;
	return true;
}

bool all_used(void)
{
	const struct twist *twist = &target.twist;
	unsigned int parts = twist->request ? 1u << PART_REQUEST : 0;
	int i;

	for (i = 0; i < MAX_POKES; i++)
		if (twist->pokes[i].at)
			parts |= 1u << (PART_POKE + i);
	for (i = 0; i < MAX_ACTS; i++)
		if (twist->acts[i].run)
			parts |= 1u << (PART_ACT + i);
	return !(parts & ~target.used);
}

static const char * const places[NR_PLACES] = {
	"nothing", "accept", "reject", "Connect", "Connect of I/O", "CAP", "VS", "CSTS",
	"Identify Controller", "Identify Namespace", "namespace list",
	"namespace descriptors", "Number of Queues", "log",
};

static const char * const events[NR_EVENTS] = {
	"nothing", "Connect", "Connect of I/O", "Property", "NSSR", "admin", "Keep Alive", "Abort",
	"event request", "read", "write by key", "write in capsule", "write", "I/O",
};

static const char * const scopes[] = { "first", "always", "later" };

static void __attribute__((format(printf, 3, 4)))
add_words(char *words, size_t len, const char *fmt, ...)
{
	size_t used = strlen(words);
	va_list args;

	va_start(args, fmt);
	vsnprintf(words + used, len - used, fmt, args);
	va_end(args);
}

void twist_describe(const struct twist *twist, char *words, size_t len)
{
	int i;

	*words = 0;
	add_words(words, len, "%s", scopes[twist->scope]);
	if (twist->request)
		add_words(words, len, ", request act %d of %#" PRIx64 " on queue %d",
			  twist->request, twist->request_arg, twist->on_queue);
	for (i = 0; i < MAX_POKES && twist->pokes[i].at; i++)
		add_words(words, len, ", %s byte %u of %u is %#" PRIx64,
			  places[twist->pokes[i].at], twist->pokes[i].offset,
			  twist->pokes[i].bytes, twist->pokes[i].value);
	for (i = 0; i < MAX_ACTS && twist->acts[i].run; i++)
		add_words(words, len, ", %s %s %u: %s %#" PRIx64,
			  twist->acts[i].before ? "before" : "at",
			  events[twist->acts[i].on], twist->acts[i].nth,
			  act_name(twist->acts[i].run), twist->acts[i].arg);
}
