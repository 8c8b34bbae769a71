/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A target that breaks the rules of NVMe/RDMA in a chosen way at a chosen moment, and follows
 * all others.
 *
 * A twist describes what goes wrong: the handling of a connection request, bytes that are
 * changed where the target describes itself (pokes), and acts, which happen when a certain
 * command arrives or is answered. An association is one controller of the host: it starts with
 * a request for an admin queue. Associations are numbered from the choice of the twist, which
 * is active in the first one, in all, or in those after the first.
 */
#ifndef HOSTILE_TARGET_H
#define HOSTILE_TARGET_H

#include "conn.h"
#include "wire.h"

#define TARGET_NQN	"nqn.2026-01.test:hostile"

/* The namespace, in memory */
#define LBA_SHIFT	9
#define DISK_LEN	(4u << 20)

/* Data behind a command: up to IOCCSZ, and more that only a forged value requests */
#define IN_CAPSULE_LEN	8192
#define CAPSULE_LEN	(SQE_LEN + 16384)
/* Capsules of a queue; a host that is asked to sends fewer at once */
#define MAX_DEPTH	160
/* Posted and not completed: entries of the completion queue, and pages */
#define RING		1024
#define PAGES		64
#define PAGE_LEN	4096
/* The longest response that is sent in place of a completion queue entry */
#define MAX_RESPONSE	64

struct assoc;
struct queue;

/* ---- what goes wrong ---- */

enum request_act {
	REQ_ACCEPT,
	REQ_ACCEPT_LEN,		/* with so many bytes of private data, not zeroes */
	REQ_REJECT,		/* with this status */
	REQ_REJECT_LEN,		/* with so many bytes of private data, not zeroes */
	REQ_REJECT_CM,		/* as the connection manager does, without words */
	REQ_REJECT_VENDOR,	/* for another reason of the connection manager's */
	REQ_IGNORE,
	REQ_LATE,		/* accepted after so many milliseconds */
	REQ_NO_READS,		/* accepted with initiator depth and responder resources 0 */
	REQ_LEAVE,		/* accepted, and disconnected at once */
	REQ_LEAVE_ESTABLISHED,	/* when it is established */
	REQ_SILENT,		/* accepted, and never a response */
	REQ_RECEIVES,		/* with so many receives, and none again; see NO_RETRY */
	NR_REQUEST_ACTS,
};

/* With REQ_RECEIVES: the host shall not try again for want of a receive, else for ever */
#define NO_RETRY	0x10000

enum which_queue { QUEUE_ADMIN, QUEUE_IO, QUEUE_ANY };

/* Where the target describes itself: bytes that can be changed */
enum place {
	AT_NOTHING,
	AT_ACCEPT,	/* private data of accept */
	AT_REJECT,
	AT_CONNECT,	/* completion of Connect, of the admin queue */
	AT_CONNECT_IO,
	AT_CAP,		/* values of properties */
	AT_VS,
	AT_CSTS,
	AT_CTRL,	/* Identify, Controller */
	AT_NS,		/* Identify, Namespace */
	AT_NS_LIST,
	AT_NS_DESCS,
	AT_QUEUES,	/* completion of Set Features, Number of Queues */
	AT_LOG,		/* any log page */
	NR_PLACES,
};

struct poke {
	enum place at;
	uint16_t offset;
	uint8_t bytes;
	uint64_t value;
};

/* Which command it is about */
enum event {
	ON_NOTHING,
	ON_CONNECT,
	ON_CONNECT_IO,
	ON_PROPERTY,
	ON_SUBSYSTEM_RESET,	/* Property Set of NSSR */
	ON_ADMIN,	/* anything on the admin queue but the above and events */
	ON_KEEP_ALIVE,
	ON_ABORT,
	ON_EVENT_REQUEST,
	ON_READ,
	ON_WRITE,	/* by key */
	ON_WRITE_IN,	/* in the capsule */
	ON_WRITE_ANY,
	ON_IO,		/* any command of an I/O queue but Connect */
	NR_EVENTS,
};

/* The answer to a command */
struct answer {
	uint8_t bytes[MAX_RESPONSE];
	uint32_t len;
	enum ibv_wr_opcode opcode;
	uint32_t key;		/* to be invalidated, or the immediate */
	unsigned int times;	/* 0: never */
	unsigned int delay_ms;
};

struct command {
	uint8_t sqe[SQE_LEN];
	struct queue *queue;
	bool busy;
	unsigned int acts;	/* the ones for this one, by bit */
	bool no_data;		/* an act moved the data, or it must not be moved */
	uint64_t due;		/* when the answer is to go, 0: not held */
	struct answer answer;
};

/* False: the command gets no answer, now or here */
typedef bool act_fn(struct command *cmd, uint64_t arg);

struct act {
	bool before;		/* when it arrives; else when its answer is ready */
	enum event on;
	unsigned int nth;	/* which of them, from 1; 0: each */
	act_fn *run;
	uint64_t arg;
};

enum scope {
	FIRST,		/* the first association is twisted, all others are well */
	ALWAYS,
	LATER,		/* the first one is well and ends under I/O, all others are not */
};

/* SHIFT: an act's, shifted by it */
enum sweep { SWEEP_NOTHING, SWEEP_REQUEST, SWEEP_POKE, SWEEP_ACT, SWEEP_SHIFT };

#define MAX_POKES	6
#define MAX_ACTS	2

struct twist {
	const char *name;
	const char *about;
	enum scope scope;
	enum request_act request;
	enum which_queue on_queue;
	uint64_t request_arg;
	struct poke pokes[MAX_POKES];
	struct act acts[MAX_ACTS];
	/* The base to which a case's value is added, and the number of values */
	enum sweep sweep;
	unsigned int values;
	/* How our host takes it: outcomes of hostile-drive, by '|' */
	const char *expect;
	/* The expected log line: a regex */
	const char *words;
	/* Reads, good or not, that hostile-drive makes besides */
	unsigned int reads;
	unsigned int at_once;	/* by so many processes, 0: one */
	/* Seconds that it waits after the I/O for the words, or for recovery */
	unsigned int linger;
	bool subsystem_reset;	/* the host is asked for one after its I/O */
	bool ana_changes;	/* and the target reports it, right before the host leaves */
	bool companion;		/* another controller is made meanwhile */
	bool slow;		/* a minute and more: only where that is asked for */
};

const struct twist *twist_find(const char *name);
/* The n'th of all, or NULL */
const struct twist *twist_number(unsigned int n);
/* One of the twists of a seed, with its description */
void fuzz_twist(struct twist *twist, uint64_t seed, uint64_t number);
void twist_add(struct twist *twist, uint64_t value);
void twist_describe(const struct twist *twist, char *words, size_t len);

/* ---- connected hosts ---- */

struct target {
	struct twist twist;	/* with its value */
	unsigned int assocs;	/* that have begun since it was chosen */
	bool armed;		/* the host has written something: I/O can be twisted */
	bool acted;		/* an act that is for once in a case was run */
	bool companion;		/* a companion's command has come, and waits */
	bool idle;		/* the act that runs had nothing to do */
	unsigned int used;	/* parts of the twist that have happened: twist_part() */
	unsigned int alarms;
};

/* The limits that an association has reported, including poked ones */
struct limits {
	bool known;
	uint32_t ioccsz, sgls;
	uint16_t maxcmd;
	uint8_t mdts;
	unsigned int queues;	/* I/O queues granted; 0: not yet */
};

struct assoc {
	struct twist twist;
	unsigned int serial;	/* of all of the program, from 1 */
	unsigned int number;	/* since the twist was chosen, from 0 */
	bool twisted;
	bool leaves;		/* this one is well, and ends under I/O */
	bool discovery;		/* the host gives no keep-alive time, like discovery hosts */
	struct limits limits;
	unsigned int queues;	/* connected or being connected */
	uint32_t cc;
	uint16_t cntlid;
	unsigned int seen[MAX_ACTS];
	bool silent;		/* on all queues, from now on */
	struct command *event_request;
	struct command *held;	/* until its Abort */
	unsigned int events;
	uint64_t activates_until;	/* firmware, which the host waits for */
	bool ana_changes;	/* the log of ANA has a group in change */
	unsigned int io;	/* commands of I/O queues, once the target was armed */
	/* what acts have kept of a command: its key, and its completion */
	uint64_t kept_at;
	uint64_t kept_addr;
	uint32_t kept_key;
	uint8_t kept[CQE_LEN];
};

struct queue {
	struct queue *next;
	struct conn c;
	struct assoc *assoc;
	uint16_t qid;
	uint16_t depth;
	uint16_t sqhd;
	bool accepted;
	bool silent;
	bool leave;		/* when it is established */
	bool withhold;		/* no receives besides those that it has */
	unsigned int receives;
	bool leaving;
	bool dead;		/* nothing can be posted any more */
	bool gone;		/* to be closed */
	uint8_t reads;		/* RDMA READs at once that the host allows */
	uint64_t accept_at;
	struct mem capsules;	/* receives */
	struct mem responses;	/* RING of MAX_RESPONSE bytes */
	struct mem pages;	/* PAGES, for data of admin commands */
	struct ibv_mr *disk;
	unsigned int response_at, page_at;
	struct command cmds[MAX_DEPTH];
};

extern struct target target;
extern uint8_t target_disk[DISK_LEN];

/* target.c */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* An event that no host may ever allow */
void alarm_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void drop_requests(void);
struct queue *other_queue(const struct queue *queue, bool admin);
/* An I/O queue of the last connected host, or NULL */
struct queue *last_io_queue(void);

/* target_control.c */
bool control_choose(const char *words, char *answer, size_t len);
int control_open(uint16_t port);
void control_look(int fd);

/* Parts of a twist, by bit: what happens to requests, pokes, acts */
#define PART_REQUEST	0
#define PART_POKE	1
#define PART_ACT	(PART_POKE + MAX_POKES)
void used(const struct assoc *assoc, unsigned int part);
/* Whether all parts of the current case have happened */
bool all_used(void);
/* For an act to end with */
bool act_idle(void);

/* target_acts.c: an event that no command has caused; false if the host takes none */
bool target_ana_changes(struct queue *queue);

/* target_limits.c: a host that exceeds a reported limit is an alarm */
void limits_ctrl(struct assoc *assoc, const uint8_t *id);
void limits_queues(struct assoc *assoc, const uint8_t *cqe);
void limits_request(const struct assoc *assoc, uint16_t qid);
void limits_command(const struct command *cmd, uint32_t in_capsule);

/* target_queue.c */
bool queue_open(struct queue *queue);
void queue_close(struct queue *queue);
bool queue_poll(struct queue *queue);
bool queue_send(struct queue *queue, const struct answer *answer);
/* Data of ours to the host; len up to PAGE_LEN */
bool queue_give(struct queue *queue, const uint8_t *from, uint32_t len,
		uint64_t addr, uint32_t key);
/* One of disk's bytes; reads end with a completion for @cmd, if there is one */
bool queue_move(struct queue *queue, enum ibv_wr_opcode opcode, uint64_t lba_byte,
		uint32_t len, uint64_t addr, uint32_t key, struct command *cmd);
/* An access that has to be refused: alarm if it is not */
bool queue_probe(struct queue *queue, enum ibv_wr_opcode opcode, uint32_t len,
		 uint64_t addr, uint32_t key);
/* An RDMA WRITE of so many bytes that takes a receive of the host */
bool queue_immediate(struct queue *queue, uint32_t len, uint64_t addr, uint32_t key);
void queue_disconnect(struct queue *queue);

/* target_cmd.c: a controller that keeps the rules, but for pokes and acts */
void command_arrived(struct queue *queue, const uint8_t *capsule, uint32_t len);
void command_data_here(struct command *cmd);
void command_answer(struct command *cmd, uint16_t status, uint64_t result);
void command_send(struct command *cmd);
/* target_keys.c: the key of an I/O command that has arrived */
void key_note(const struct command *cmd);
/* target_admin.c: the same for commands of the admin queue */
void admin_command(struct command *cmd);
void command_due(struct queue *queue, uint64_t now);
void poke_bytes(const struct assoc *assoc, enum place at, uint8_t *bytes, size_t len);
uint32_t cmd_len(const struct command *cmd);
uint64_t cmd_addr(const struct command *cmd);
uint32_t cmd_key(const struct command *cmd);

#endif /* HOSTILE_TARGET_H */
