// SPDX-License-Identifier: GPL-2.0
/*
 * Runs cases one after another. For each case: select it at the hostile target, connect the
 * kernel's host, run I/O, disconnect, and check the outcome.
 *
 *	hostile-target drive ADDRESS PORT [OPTION...]
 *
 *	--only REGEX		cases whose names match
 *	--after CASE		cases after this one
 *	--thin N		at most N of a case's values, and one more
 *	--slow			also cases that take a minute or more
 *	--fuzz SEED FIRST N	instead: N twists from a seed, starting at number FIRST
 *	--beside DISK		a disk of a well-behaved target, whose blocks are
 *				written and read after each case
 *	--device NAME		an RDMA device whose resources must be released
 *	--record		do not judge
 *
 * Prints a line for each: "result CASE expected=... got=...". Outcomes:
 *
 *	refused		the kernel did not connect
 *	ok		no error and no recovery
 *	recovers	no error after a reconnect
 *	io-error	I/O failed
 *	wrong-data	the data read differs from the data written
 *	no-disk		connected, but no namespace appeared
 *	lost		the controller was removed
 *	hang-...	an operation did not end; never expected
 */
#include <arpa/inet.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conn.h"
#include "drive.h"
#include "target.h"

/* Deadlines in milliseconds, longer than the kernel's own together; slow_ms() */
#define ANSWER_MS	10000
#define CONNECT_MS	60000
#define DISK_MS		3000
#define IO_MS		60000
#define SETTLE_MS	20000
#define DELETE_MS	80000
/* Until a companion has reached Identify, whose answer then waits */
#define COMPANION_MS	5000

/* How the host connects: few queues, small ones, and short waits */
#define HOST		"hostnqn=nqn.2026-01.test:drive,hostid=5b7f5e0e-2f3c-4c0c-9d2c-7e2f5a3c1d10"
#define COMPANION	"hostnqn=nqn.2026-01.test:companion,hostid=5b7f5e0e-2f3c-4c0c-9d2c-7e2f5a3c1d11"
#define SETTINGS	"nr_io_queues=2,queue_size=16,reconnect_delay=1,ctrl_loss_tmo=3"
#define KEEP_ALIVE_MS	4000

/* Log lines about a reconnect: in-tree and ours */
#define RECOVERY	"starting error recovery|resetting controller"
#define OF_A_HOST	"(nvme nvme[0-9]+: |nvme_rdma: )"
/*
 * The kernel prints 10 ratelimited messages of one function in 5 s; with the next one after
 * that it prints the number of dropped messages
 */
#define RATELIMIT_S	6
#define NOT_TAKEN	"nvme_rdma_.*: [0-9]+ callbacks suppressed"

static struct {
	const char *address, *port, *device, *beside, *after;
	regex_t only;
	bool have_only, record, slow, fuzz;
	uint64_t seed, first, count;
	unsigned int thin;
	int control;
	unsigned int alarms;
	unsigned int inputs, bad;
} how;

struct outcome {
	char got[64];
	char error[64];
	char said[256];
	char about[256];	/* the twist in words, of one that a seed made */
	unsigned int connect_ms, beside_us;
	const char *wrong;
};

/* ---- the target's ear ---- */

static void open_control(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	to.sin_port = htons((uint16_t)atoi(how.port));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	how.control = socket(AF_INET, SOCK_DGRAM, 0);
	if (how.control < 0 || connect(how.control, (struct sockaddr *)&to, sizeof(to)))
		die("no way to tell the target anything");
}

/*
 * A case, or an event of the current one; its alarms so far; whether all of the previous case
 * has happened; the case as text, if requested
 */
static unsigned int tell(const char *words, bool *happened, char *about, size_t len)
{
	char answer[512];
	ssize_t n;
	unsigned int alarms;
	int at, all;

	if (send(how.control, words, strlen(words), 0) < 0)
		die("the target does not listen");
	errno = ETIMEDOUT;
	n = readable_until(how.control, own_ms() + slow_ms(ANSWER_MS)) ?
		recv(how.control, answer, sizeof(answer) - 1, 0) : -1;
	if (n < 0)
		die("the target does not answer");
	answer[n] = 0;
	if (sscanf(answer, "ok %u %d %n", &alarms, &all, &at) != 2) {
		errno = EINVAL;
		die("the target says '%s'", answer);
	}
	if (happened)
		*happened = all;
	if (about)
		snprintf(about, len, "%s", answer + at);
	return alarms;
}

/* ---- one of them ---- */

static void set(struct outcome *outcome, const char *got)
{
	snprintf(outcome->got, sizeof(outcome->got), "%s", got);
}

static struct child connect_as(const char *host)
{
	char options[512];

	snprintf(options, sizeof(options), "transport=rdma,traddr=%s,trsvcid=%s,nqn=%s,%s,%s,keep_alive_tmo=%d",
		 how.address, how.port, TARGET_NQN, host, SETTINGS,
		 timer_ms(KEEP_ALIVE_MS) / 1000);
	return host_connect_begin(options);
}

static int connect_host(char *name)
{
	return host_connect_end(connect_as(HOST), name, slow_ms(CONNECT_MS));
}

/* Another controller, whose Identify waits while the first one has I/O */
static struct child begin_companion(void)
{
	uint64_t until = own_ms() + slow_ms(COMPANION_MS);
	struct child child = connect_as(COMPANION);
	bool waits;

	do {
		usleep(10000);
		tell("companion", &waits, NULL, 0);
	} while (!waits && own_ms() < until);
	return child;
}

static void end_companion(struct child child, struct outcome *outcome)
{
	char name[NAME_LEN];
	int error = host_connect_end(child, name, slow_ms(CONNECT_MS));

	if (error < 0)
		outcome->wrong = "its companion hangs";
	else if (!error && !host_delete(name, slow_ms(DELETE_MS)))
		outcome->wrong = "its companion is not to be deleted";
}

/* Until it is live again, or gone */
static bool settled(const char *name, char *state)
{
	uint64_t until = own_ms() + slow_ms(SETTLE_MS);

	for (;;) {
		host_state(name, state);
		if (!strcmp(state, "live") || !*state)
			return true;
		if (own_ms() > until)
			return false;
		usleep(50000);
	}
}

static bool await_disk(const char *name, char *disk)
{
	uint64_t until = own_ms() + slow_ms(DISK_MS);

	while (!host_disk(name, disk)) {
		if (own_ms() > until || !host_exists(name))
			return false;
		usleep(20000);
	}
	return true;
}

static void linger(const struct twist *twist)
{
	uint64_t until = own_ms() + slow_ms((int)twist->linger * 1000);

	while (own_ms() < until) {
		if (twist->words ? log_said(twist->words, NULL, 0) :
				   log_count(RECOVERY) > 0)
			break;
		usleep(50000);
	}
	/* it is a prefix */
	if (twist->linger)
		usleep(200000);
}

static enum io_result some_io(const struct twist *twist, const char *disk)
{
	enum io_result result = host_io(disk, slow_ms(IO_MS));

	if (twist->reads &&
	    !host_reads(disk, twist->at_once ?: 1, twist->reads, slow_ms(IO_MS * 4)))
		result = IO_HANGS;
	return result;
}

static void use_host(const struct twist *twist, const char *name, struct outcome *outcome)
{
	static const char * const words[] = { "ok", "io-error", "wrong-data", "hang-io" };
	enum io_result first = IO_OK, then = IO_OK;
	char disk[NAME_LEN], state[NAME_LEN];
	bool have = await_disk(name, disk);
	struct child companion = { 0 };

	if (twist->companion)
		companion = begin_companion();
	if (have)
		first = some_io(twist, disk);
	if (twist->companion)
		end_companion(companion, outcome);
	if (twist->subsystem_reset && !host_subsystem_reset(name, slow_ms(CONNECT_MS))) {
		set(outcome, "hang-reset");
		return;
	}
	linger(twist);
	if (!settled(name, state)) {
		snprintf(outcome->got, sizeof(outcome->got), "hang-%s", state);
		return;
	}
	if (!*state) {
		set(outcome, first == IO_HANGS ? "hang-io" : "lost");
		return;
	}
	have = await_disk(name, disk);
	if (have && first != IO_HANGS)
		then = host_io(disk, slow_ms(IO_MS));
	if (then > first)
		first = then;
	set(outcome, first == IO_OK && !have ? "no-disk" : words[first]);
	if (first == IO_OK && have && log_count(RECOVERY))
		set(outcome, "recovers");
}

/* The target's event makes the host request a log, whose answer is then late */
static void await_log(void)
{
	uint64_t until = own_ms() + slow_ms(5000);
	bool asked;

	do {
		usleep(10000);
		tell("ana-changes", &asked, NULL, 0);
	} while (!asked && own_ms() < until);
}

static void run(const struct twist *twist, struct outcome *outcome)
{
	uint64_t from = now_ms();
	char name[NAME_LEN];
	int error = connect_host(name);

	outcome->connect_ms = (unsigned int)(now_ms() - from);
	if (error > 0) {
		set(outcome, "refused");
		snprintf(outcome->error, sizeof(outcome->error), " (%s)", strerror(error));
	} else if (error < 0) {
		set(outcome, "hang-connect");
	} else {
		use_host(twist, name, outcome);
		if (twist->ana_changes)
			await_log();
		if (!host_delete(name, slow_ms(DELETE_MS)))
			outcome->wrong = "it is not to be deleted";
	}
}

/* ---- judgement ---- */

static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, "|"), list += *list == '|')
		if (!strncmp(list, word, len) && (!list[len] || list[len] == '|'))
			return true;
	return false;
}

static const char unsaid[] = "the kernel did not say it";

static void judge(const struct twist *twist, struct outcome *outcome)
{
	char line[256] = "";

	if (twist->words && !log_said(twist->words, line, sizeof(line)) && !outcome->wrong)
		outcome->wrong = unsaid;
	if (!*line && !log_said(OF_A_HOST "queue [0-9]", line, sizeof(line)))
		log_said(OF_A_HOST, line, sizeof(line));
	if (*line)
		snprintf(outcome->said, sizeof(outcome->said), "%s", line);
	if (twist->expect ? !listed(twist->expect, outcome->got) :
	    !strncmp(outcome->got, "hang", 4))
		outcome->wrong = "not as expected";
}

static void print_result(const struct twist *twist, const char *words,
			 const struct outcome *outcome, unsigned int ms, const char *about)
{
	printf("%sresult %s expected=%s got=%s%s connect=%ums all=%ums beside=%uus said=\"%s\"",
	       outcome->wrong && !how.record ? "BAD " : "", words,
	       twist->expect ?: "anything", outcome->got, outcome->error,
	       outcome->connect_ms, ms, outcome->beside_us, outcome->said);
	if (outcome->wrong)
		printf(" wrong=\"%s\"", outcome->wrong);
	if (*about)
		printf(" twist=\"%s\"", about);
	putchar('\n');
}

static void try_it(const struct twist *twist, const char *words, struct outcome *outcome)
{
	unsigned int alarms;
	bool happened;

	memset(outcome, 0, sizeof(*outcome));
	how.alarms = tell(words, NULL, outcome->about, sizeof(outcome->about));
	log_begin(words);
	run(twist, outcome);
	/* it drops its pending answers, and reports the number of alarms */
	alarms = tell("good", &happened, NULL, 0);
	outcome->wrong = rest_wrong(&outcome->beside_us) ?: outcome->wrong;
	judge(twist, outcome);
	if (!happened && !how.fuzz)
		outcome->wrong = "not all of it happened";
	if (alarms != how.alarms)
		outcome->wrong = "ALARM";
}

/* Run once more if the only failure is that the kernel logged less than expected */
static void try_again(const struct twist *twist, const char *words, struct outcome *outcome)
{
	sleep(RATELIMIT_S);
	try_it(twist, words, outcome);
	if (!outcome->wrong && !log_said(NOT_TAKEN, NULL, 0))
		outcome->wrong = unsaid;
}

static void one(const struct twist *twist, const char *words)
{
	struct outcome outcome;
	uint64_t from = now_ms();

	try_it(twist, words, &outcome);
	if (outcome.wrong == unsaid)
		try_again(twist, words, &outcome);
	how.inputs++;
	if (outcome.wrong && !how.record)
		how.bad++;
	print_result(twist, words, &outcome, (unsigned int)(now_ms() - from),
		     how.fuzz ? outcome.about : "");
	fflush(stdout);
}

static void all_values(const struct twist *twist)
{
	unsigned int n = twist->values, step = 1, v;
	char words[64];

	if (how.thin && n > how.thin)
		step = how.thin > 1 ? (n - 1) / (how.thin - 1) : n;
	for (v = 0; v < n; v += step) {
		snprintf(words, sizeof(words), "%s %u", twist->name, v);
		one(twist, words);
	}
}

static void all_cases(void)
{
	const struct twist *twist;
	bool behind = !how.after;
	unsigned int n;

	for (n = 0; (twist = twist_number(n)); n++) {
		if (behind && (how.slow || !twist->slow) &&
		    (!how.have_only || !regexec(&how.only, twist->name, 0, NULL, 0)))
			all_values(twist);
		if (how.after && !strcmp(how.after, twist->name))
			behind = true;
	}
}

static void fuzz(void)
{
	struct twist twist;
	char words[96];
	uint64_t n;

	for (n = how.first; n < how.first + how.count; n++) {
		fuzz_twist(&twist, how.seed, n);
		snprintf(words, sizeof(words), "%s %llu %llu", twist.name,
			 (unsigned long long)how.seed, (unsigned long long)n);
		one(&twist, words);
	}
}

static void __attribute__((noreturn)) usage(const char *what)
{
	fprintf(stderr, "hostile-target: '%s' is none of the options that the head of %s names\n",
		what, __FILE__);
	exit(2);
}

static void parse(int argc, char **argv)
{
	int i;

	how.address = argv[1];
	how.port = argv[2];
	for (i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "--record")) {
			how.record = true;
		} else if (!strcmp(argv[i], "--slow")) {
			how.slow = true;
		} else if (!strcmp(argv[i], "--fuzz") && i + 3 < argc) {
			how.fuzz = true;
			how.seed = strtoull(argv[++i], NULL, 0);
			how.first = strtoull(argv[++i], NULL, 0);
			how.count = strtoull(argv[++i], NULL, 0);
		} else if (i + 1 == argc) {
			usage(argv[i]);
		} else if (!strcmp(argv[i], "--only")) {
			how.have_only = !regcomp(&how.only, argv[++i], REG_EXTENDED | REG_NOSUB);
			if (!how.have_only)
				usage(argv[i]);
		} else if (!strcmp(argv[i], "--after")) {
			how.after = argv[++i];
		} else if (!strcmp(argv[i], "--thin")) {
			how.thin = (unsigned int)atoi(argv[++i]);
		} else if (!strcmp(argv[i], "--beside")) {
			how.beside = argv[++i];
		} else if (!strcmp(argv[i], "--device")) {
			how.device = argv[++i];
		} else {
			usage(argv[i]);
		}
	}
}

int drive(int argc, char **argv)
{
	if (argc < 3)
		usage("ADDRESS PORT");
	parse(argc, argv);
	open_control();
	log_open();
	rest_remember(how.beside, how.device);
	if (how.fuzz)
		fuzz();
	else
		all_cases();
	printf("all: %u inputs, %u bad\n", how.inputs, how.bad);
	return how.bad || !how.inputs;
}
