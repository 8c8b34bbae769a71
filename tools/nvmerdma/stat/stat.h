/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nvmerdma stat: what its files share.
 *
 * A sample is what the modules' files say at a time, and for each queue what it has
 * done since the sample before: queues are what is measured. Rows are made of a sample:
 * a queue each, or the queues of a controller, host or port together. Columns are what
 * is shown of a row, and printed as lines or JSON.
 *
 * A sample has memory of its own, and lives until the next one was compared with it. What
 * is made of it is released before.
 */
#ifndef NVMERDMA_STAT_STAT_H
#define NVMERDMA_STAT_STAT_H

#include "common/util.h"

#include <time.h>

/* As in common/hist.h: bucket 0 is below 1.024 us, bucket n below 2^n times that, and
 * the last one all above
 */
#define HIST_BUCKETS	26
#define HIST_UNIT_US	1.024

/* ---- a file of keys and values: stat/counters.c ---- */

struct counter {
	const char *key;
	const char *text;
	uint64_t value;		/* if @is_number */
	bool is_number;
};

struct counters {
	struct counter *list;	/* in the file's order, without the histogram */
	size_t nr;
	bool has_hist;
	uint64_t hist[HIST_BUCKETS];
};

/*
 * counters_parse() - take a file's text apart; @counters points into it afterwards. Lines that
 * are no key and value are left out, as is a histogram of another shape.
 */
void counters_parse(struct counters *counters, char *text);
/* counters_read() - the same of a file; false if it is not there (any more) */
bool counters_read(struct counters *counters, const char *fmt, ...) PRINTF(2, 3);
/*
 * counters_refused() - a file that counters_read() found and was not allowed to read, or NULL;
 * errno says why. One whose queue has ended meanwhile is not refused.
 */
const char *counters_refused(void);
/* counter() - a number; 0 if there is none */
uint64_t counter(const struct counters *counters, const char *key);
/* counter_text() - a value as it stands; "-" if there is none */
const char *counter_text(const struct counters *counters, const char *key);
/* counter_sum() - the sum of the numbers whose keys begin with @prefix */
uint64_t counter_sum(const struct counters *counters, const char *prefix);
/* counter_errors() - what went wrong: error_*, but for the flushes that each end brings */
uint64_t counter_errors(const struct counters *counters);
/* counters_add() - add the counts of another queue, but not how it is set up */
void counters_add(struct counters *sum, const struct counters *counters);

/* ---- what was done in a time: stat/rates.c ---- */

enum work_kind { WORK_COMMANDS, WORK_READ, WORK_WRITTEN, WORK_WAITS, NR_WORK };

struct work {
	uint64_t n[NR_WORK];
	uint64_t hist[HIST_BUCKETS];
};

/* work_of() - what a queue has done since its counts began */
struct work work_of(const struct counters *counters);
/* work_since() - the work between @old and @now; all of @now if the counts began anew */
struct work work_since(const struct work *now, const struct work *old);
void work_add(struct work *sum, const struct work *work);
/*
 * percentile_us() - the time that a part (0.99) of the commands took no longer than; NAN: there
 * were none. Commands are taken to be spread evenly over their bucket. Of the last one, which
 * has no end, it is the beginning.
 */
double percentile_us(const uint64_t hist[HIST_BUCKETS], double part);

/* ---- queues, and whose they are: stat/host.c, stat/target.c ---- */

enum side { SIDE_HOST, SIDE_TARGET, NR_SIDES };

#define NO_GROUP	SIZE_MAX

/* Commands of a host's queue that will never be answered: see stat/in-flight.c */
struct unanswered {
	uint64_t nr;
	bool known;
	bool live;
	uint64_t connects;
};

struct stat_queue {
	const char *id;		/* its file below the side's directory */
	uint64_t instance;	/* if it is another one, the counts began anew */
	bool admin;
	const char *state;
	const char *address;
	size_t owner;		/* its controller or host, in the list of those; or NO_GROUP */
	size_t port;		/* the same of a target's ports */
	size_t device;		/* its RDMA device; or NO_GROUP */
	struct counters counters;
	struct work total, delta;

	uint64_t open;		/* commands that were begun and not answered */
	struct unanswered unanswered;
	uint64_t depth;
	uint64_t in_flight;	/* at most */
	bool in_flight_exact;
};

/* A controller, a host of a target, or one of its ports */
struct stat_group {
	const char *name;
	const char *nqn;	/* the controller's subsystem, the host itself; NULL: a port */
	const char *address;
	const char *state;
	uint64_t born;			/* when its file was made: see stat_born() */
	struct counters counters;	/* the file's, if it has one of its own */
};

struct stat_groups { struct stat_group *list; size_t nr; };

/* What a target's thread that polls has done */
enum thread_work {
	THREAD_CPU, THREAD_SPUN, THREAD_ROUNDS, THREAD_SLEEPS, THREAD_INTERRUPTS, THREAD_ABSENCES,
	NR_THREAD
};

struct stat_thread {
	const char *name;
	const char *state;
	struct counters counters;
	uint64_t total[NR_THREAD], delta[NR_THREAD];
};

struct stat_threads { struct stat_thread *list; size_t nr; };

struct stat_queues { struct stat_queue *list; size_t nr; };

/* What an RDMA device had to send again: for all who use it, more cannot be known */
struct stat_device {
	const char *name;
	bool counts;		/* it does count that */
	uint64_t retries;	/* since it was made */
	bool known;		/* and also in the time of this sample: */
	uint64_t delta;
};

struct stat_devices { struct stat_device *list; size_t nr; };

struct sample {
	struct mem_mark memory;		/* of all that it has */
	struct timespec time;		/* by the clock on the wall */
	uint64_t ns;			/* by stat_now() */
	double seconds;			/* since the one before; 0: there was none */
	struct stat_groups ctrls, hosts, ports;
	struct stat_threads threads;
	struct stat_queues queues[NR_SIDES];
	struct stat_devices devices;	/* that the queues use */
};

/* Where the files are */
struct stat_dirs {
	const char *mount;		/* of debugfs */
	const char *debugfs[NR_SIDES];	/* NULL: this side is not wanted */
	const char *ctrls;		/* /sys/class/nvme */
	const char *devices;		/* /sys/class/infiniband */
	bool no_target_queues;		/* a target is wanted without its queues */
};

/* STAT_DIRS - those of this machine, both sides */
#define STAT_DIRS							\
{									\
	.mount = "/sys/kernel/debug",					\
	.debugfs = {							\
		[SIDE_HOST] = "/sys/kernel/debug/nvme_rdma",		\
		[SIDE_TARGET] = "/sys/kernel/debug/nvmet_rdma",		\
	},								\
	.ctrls = "/sys/class/nvme",					\
	.devices = "/sys/class/infiniband",				\
}

/* stat_instance() - tells a directory from a later one of the same name */
uint64_t stat_instance(const char *path);
/* stat_born() - when a file of debugfs was made, as ns since 1970; 0: it is gone */
uint64_t stat_born(const char *path);
/* stat_read_host() - controllers and queues of a host; none if @dir is not there */
void stat_read_host(struct sample *sample, const char *dir, const char *sysfs);
/* stat_read_target() - hosts, ports and threads of a target, and with @queues its queues */
void stat_read_target(struct sample *sample, const char *dir, bool queues);

/* ---- one sample after another: stat/sample.c ---- */

struct history {
	struct sample before;
	uint64_t ns;			/* when; 0: there is none yet */
};

/* stat_sample() - read all, and compare it with the sample before */
struct sample stat_sample(const struct stat_dirs *dirs, const struct history *history);
/* history_keep() - this sample, for the next one; the one before is void then */
void history_keep(struct history *history, const struct sample *sample);
void history_free(struct history *history);
/* stat_now() - nanoseconds of a clock that only goes on */
uint64_t stat_now(void);

/* ---- RDMA devices: stat/device.c ---- */

/* devices_read() - those of the sample's queues, compared with the sample before */
void devices_read(struct sample *sample, const char *sysfs, const struct history *history);

/* ---- commands in flight: stat/in-flight.c ---- */

/* flight_host() - fill in what a host's queue has in flight; @old is NULL at first */
struct unanswered flight_host(struct stat_queue *queue, const struct unanswered *old);

/* ---- rows and columns: stat/rows.c, stat/columns.c ---- */

enum stat_by { BY_ALL, BY_CONTROLLER, BY_QUEUE, BY_HOST, BY_PORT, BY_THREAD, NR_BY };

struct stat_row {
	enum side side;
	enum stat_by by;
	const char *name, *state, *address, *nqn;
	double seconds;
	struct work work;		/* of I/O queues, in these seconds; or of the queue */
	uint64_t in_flight;		/* at most */
	bool in_flight_exact;
	uint64_t slots, slots_free;
	uint64_t devices;		/* a bit for each in the sample's list */
	bool retries_counted, retries_known;
	uint64_t retries, retries_delta;	/* of all those, since they were made */
	uint64_t errors;
	uint64_t ends;			/* of connections: see COL_ENDS */
	bool has_ends;
	const struct stat_thread *thread;	/* the row is a thread: all else is nothing */
	const struct counters *counters;
};

struct stat_rows { struct stat_row *list; size_t nr; };

enum stat_column {
	COL_NAME, COL_STATE, COL_IOPS, COL_READ, COL_WRITE, COL_P50, COL_P99, COL_FLIGHT,
	COL_ENDS, COL_ERRORS, COL_RETRIES, COL_WAITS, COL_CREDITS, COL_ADDRESS, COL_NQN,
	COL_CPU, COL_SPUN, COL_ROUNDS, COL_SLEEPS, COL_INTERRUPTS, COL_ABSENCES, NR_COLUMNS
};

/* by_named() - the words of --by and their like; NR_BY if it is none of them */
enum stat_by by_named(const char *name);
const char *by_name(enum stat_by by);
/* by_has_side() - are there such rows on this side? */
bool by_has_side(enum stat_by by, enum side side);
/* stat_rows() - the rows of a sample, the host's before the target's, in order of name */
struct stat_rows stat_rows(const struct sample *sample, enum stat_by by);
/* stat_sort() - largest first, names from A to Z */
void stat_sort(struct stat_rows *rows, enum stat_column column);

/* column_named() - the column that --sort knows by this name; NR_COLUMNS if none */
enum stat_column column_named(const char *name);
/* column_names() - all that such rows can be sorted by, for people */
const char *column_names(enum stat_by by);
/* column_is_of() - have such rows this column? */
bool column_is_of(enum stat_column column, enum stat_by by);
/* column_value() - a row's number; NAN if there is none */
double column_value(const struct stat_row *row, enum stat_column column);
/* column_text() - the same in words */
const char *column_text(const struct stat_row *row, enum stat_column column);
/* column_title() - what stands above it; @by: what the rows are */
const char *column_title(enum stat_column column, enum side side, enum stat_by by);
/* column_width() - how wide it is; negative: to the left. 0: as wide as it takes */
int column_width(enum stat_column column);

/* ---- what is printed: stat/plain.c, stat/json.c ---- */

struct stat_options {
	struct stat_dirs dirs;
	double interval;
	unsigned long count;		/* reports; 0: on and on */
	int once, json;			/* flags of getopt_long() */
	enum stat_by by;
	enum stat_column sort;
};

/* Lines until the next header, and what the last one was of */
struct plain_state {
	bool said_none;
	unsigned int lines;
	enum side side;
	enum stat_by by;
};

/* plain_print() - a block of lines */
void plain_print(struct plain_state *state, const struct sample *sample,
		 const struct stat_rows *rows);
/* json_print() - a line; -1 if there is no memory for it */
int json_print(const struct sample *sample, const struct stat_rows *rows, enum stat_by by);
/* json_text() - that line */
const char *json_text(const struct sample *sample, const struct stat_rows *rows,
		      enum stat_by by);

/* ---- stat/check.c ---- */

/* stat_check() - is there anything to show, be it later of one side? -1: what to do was said */
int stat_check(const struct stat_dirs *dirs);
/* stat_check_debugfs() - can @command read debugfs? -1: what to do was said */
int stat_check_debugfs(const char *mount, const char *command);
/* stat_check_read() - could all files that are there be read so far? -1: which not was said */
int stat_check_read(void);

#endif
