// SPDX-License-Identifier: GPL-2.0
/*
 * Series as text: OpenMetrics 1.0, or the classic format of Prometheus.
 *
 * The two differ in this: OpenMetrics names a counter's family without _total, and has units
 * and an end mark. A histogram of the modules has no sum of its times. OpenMetrics allows
 * _count only beside _sum; readers of the classic format expect _count.
 */
#include "metrics/metrics.h"

#include <inttypes.h>
#include <string.h>

#define REPLACEMENT	"\xef\xbf\xbd"		/* U+FFFD */

/* Length of the UTF-8 character at @s, by table 3-7 of the Unicode Standard; 0: there is none */
static size_t utf8_len(const unsigned char *s)
{
	static const struct {
		unsigned char first, last;	/* of the first byte */
		unsigned char low, high;	/* of the second byte; all others: 80 to bf */
		size_t len;
	} forms[] = {
		{ 0x00, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i, n;

	for (i = 0; i < NR(forms) && (*s < forms[i].first || *s > forms[i].last); i++)
		;
	if (i == NR(forms))
		return 0;
	/* a string ends with a byte that continues nothing */
	if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
		return 0;
	for (n = 2; n < forms[i].len; n++) {
		if (s[n] < 0x80 || s[n] > 0xbf)
			return 0;
	}
	return forms[i].len;
}

/*
 * Both formats escape a backslash, a quote and a line feed, and take any other character. Other
 * control characters, which a terminal would obey, and what is no character are replaced.
 */
static const char *escaped(const char *value)
{
	char *text = mem_get(strlen(value) * strlen(REPLACEMENT) + 1), *to = text;
	const unsigned char *from = (const unsigned char *)value;
	size_t len;

	for (; *from; from += len ? len : 1) {
		len = utf8_len(from);
		if (*from == '\n')
			to = stpcpy(to, "\\n");
		else if (!len || *from < ' ' || *from == 0x7f)
			to = stpcpy(to, REPLACEMENT);
		else if (*from == '\\' || *from == '"')
			to += sprintf(to, "\\%c", *from);
		else
			to = mempcpy(to, from, len);
	}
	return text;
}

const char *metric_label(const char *others, const char *name, const char *value)
{
	return mem_fmt("%s%s%s=\"%s\"", others, *others ? "," : "", name, escaped(value));
}

struct writer {
	FILE *out;
	enum metrics_format format;
	const struct metric_family *family;
	bool begun;		/* the family has its header */
};

/* A family without series has no header */
static void write_header(struct writer *w)
{
	static const char * const types[] = { "gauge", "counter", "histogram" };
	const struct metric_family *family = w->family;
	const char *suffix = "";

	if (w->begun)
		return;
	w->begun = true;
	if (w->format == METRICS_CLASSIC && family->type == METRIC_COUNTER)
		suffix = "_total";
	fprintf(w->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(w->out, "# TYPE %s%s %s\n", family->name, suffix, types[family->type]);
	if (w->format == METRICS_OPENMETRICS && family->unit)
		fprintf(w->out, "# UNIT %s %s\n", family->name, family->unit);
}

static void write_sample(struct writer *w, const char *suffix, const char *labels, uint64_t value)
{
	write_header(w);
	fprintf(w->out, "%s%s", w->family->name, suffix);
	if (*labels)
		fprintf(w->out, "{%s}", labels);
	if (w->family->ns)
		fprintf(w->out, " %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000,
			value % 1000000000);
	else
		fprintf(w->out, " %" PRIu64 "\n", value);
}

/*
 * Buckets are cumulative here, and have their upper bounds: see common/hist.h. A bucket of the
 * modules does not include its bound, which is a difference of a nanosecond.
 */
static void write_histogram(struct writer *w, const struct metric_subject *subject)
{
	const uint64_t *hist = subject->counters->hist;
	uint64_t sum = 0;
	size_t i;

	if (!subject->counters->has_hist)
		return;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		const char *bound = mem_fmt("%.12g", HIST_UNIT_US / 1e6 * (1u << i));

		sum += hist[i];
		write_sample(w, "_bucket", metric_label(subject->labels, "le", bound), sum);
	}
	sum += hist[i];
	write_sample(w, "_bucket", metric_label(subject->labels, "le", "+Inf"), sum);
	if (w->format == METRICS_CLASSIC)
		write_sample(w, "_count", subject->labels, sum);
}

static void write_counters(struct writer *w, const struct metric_subject *subject)
{
	const char *suffix = w->family->type == METRIC_COUNTER ? "_total" : "";
	const struct metric_family *family = w->family;
	const char *labels = subject->labels;
	size_t i, len = strlen(family->key);

	for (i = 0; i < subject->counters->nr; i++) {
		const struct counter *one = &subject->counters->list[i];

		if (strncmp(one->key, family->key, len) || (!family->label && one->key[len]))
			continue;
		if (family->label)
			labels = metric_label(subject->labels, family->label, one->key + len);
		write_sample(w, suffix, labels, one->value);
	}
}

static void write_kind(struct writer *w, const struct metric_families *families,
		       const struct metric_subjects *subjects)
{
	size_t i, k;

	for (i = 0; i < families->nr; i++) {
		w->family = &families->list[i];
		w->begun = false;
		for (k = 0; k < subjects->nr; k++) {
			struct mem_mark mark = mem_mark();

			if (w->family->type == METRIC_HISTOGRAM)
				write_histogram(w, &subjects->list[k]);
			else
				write_counters(w, &subjects->list[k]);
			mem_release(mark);
		}
	}
}

void metrics_write(FILE *out, const struct sample *sample, const struct metrics_options *options,
		   enum metrics_format format)
{
	struct writer w = { .out = out, .format = format };
	enum metric_kind kind;

	for (kind = 0; kind < NR_METRIC_KINDS; kind++) {
		struct metric_families families = metric_families(kind);
		struct metric_subjects subjects = metric_subjects(sample, kind, options);

		write_kind(&w, &families, &subjects);
	}
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", out);
}
