/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nvmerdma metrics: what its files share.
 *
 * A sample of nvmerdma stat is taken apart into subjects, such as a host or the I/O queues of a
 * controller: labels, and counters. A table of families says which of a subject's counters
 * are series, and by which name. Two subjects never have the same labels, because a
 * duplicate series makes a reader reject all of them.
 */
#ifndef NVMERDMA_METRICS_METRICS_H
#define NVMERDMA_METRICS_METRICS_H

#include "stat/stat.h"

/* Label of the sum of all hosts, or controllers, that have no series of their own */
#define METRICS_OTHERS	"(others)"

enum metrics_format {
	METRICS_OPENMETRICS,	/* what Prometheus asks for */
	METRICS_CLASSIC,	/* version 0.0.4, which node_exporter reads from files */
	NR_METRICS_FORMATS
};

struct metrics_options {
	struct stat_dirs dirs;
	unsigned long limit;	/* of hosts, and of controllers, with series of their own */
	int hash_hosts;		/* flags of getopt_long() */
	int http;
	const char *textfile;	/* NULL: none */
};

/* ---- subjects: metrics/subjects.c ---- */

struct metric_subject {
	const char *labels;	/* as they are written between braces */
	const struct counters *counters;
};

struct metric_subjects { struct metric_subject *list; size_t nr; };

/* Of what there are subjects; each has a table of families */
enum metric_kind {
	METRIC_MODULES, METRIC_CONTROLLERS, METRIC_CONTROLLER_INFO, METRIC_CONTROLLER_QUEUES,
	METRIC_HOSTS, METRIC_PORTS, METRIC_THREADS, METRIC_DEVICES, NR_METRIC_KINDS
};

/* metric_subjects() - those of a sample, in order of their labels, each of which is unique */
struct metric_subjects metric_subjects(const struct sample *sample, enum metric_kind kind,
				       const struct metrics_options *options);

/* ---- families: metrics/families.c ---- */

enum metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

struct metric_family {
	const char *name;	/* without the suffix of its type */
	enum metric_type type;
	const char *unit;	/* suffix of the name; NULL: it only counts */
	const char *key;	/* of the counter; of a family with @label its beginning */
	const char *label;	/* name of the label with the rest of the key; NULL: none */
	bool ns;		/* the counter has nanoseconds, and the series seconds */
	const char *help;
};

struct metric_families { const struct metric_family *list; size_t nr; };

/* metric_families() - the families of subjects of a kind */
struct metric_families metric_families(enum metric_kind kind);

/* ---- text: metrics/text.c ---- */

/* metric_label() - a label, after others or "", whose value may be any bytes */
const char *metric_label(const char *others, const char *name, const char *value);
/* metrics_write() - all series of a sample */
void metrics_write(FILE *out, const struct sample *sample, const struct metrics_options *options,
		   enum metrics_format format);

/* ---- metrics/metrics.c ---- */

/* metrics_text() - the same as text; NULL: the counters cannot be read, which was said */
const char *metrics_text(const struct metrics_options *options, enum metrics_format format);

/* ---- a scrape: metrics/http.c ---- */

/* Longest request. That of Prometheus has a few hundred bytes. */
#define HTTP_REQUEST_MAX	8192

struct http_verdict {
	const char *status;		/* code and reason of the answer */
	bool head;			/* the client wants no body */
	enum metrics_format format;
};

/* http_judge() - what to answer to a request, which may be any bytes */
struct http_verdict http_judge(const char *request, size_t len);
/* http_serve() - read one request from a socket and answer it; a status to end with */
int http_serve(int sock, const struct metrics_options *options, unsigned int ms);

#endif
