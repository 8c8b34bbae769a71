// SPDX-License-Identifier: GPL-2.0
/* Twists: how a connection comes about, or does not */
#include "target_acts.h"
#include "twists.h"

/* Log lines of the kernel's host, as regular expressions */
#define NO_ANSWER	"not connected: still connecting after"
#define FORMAT		"unsupported record format"
#define FEW		"the controller can receive [0-9]+ commands at once"
#define REFUSES		"the connection was rejected"
#define GIVES_UP	"not reconnecting after [0-9]+ attempts"
#define NO_RESPONSE	"no response within"
#define NO_RECEIVE	"SEND failed: "
/* status 0, which means nothing, is the CM's own word for it */
#define REJECTED	"rejected(: consumer defined| by the controller: NVMe/RDMA status)"
#define LOST		"(connection lost|WR flushed|RECV failed|[0-9]: disconnected)"

#define REQUEST(act, queue) .request = (act), .on_queue = (queue)
#define ACCEPT_SAYS(offset, value) .pokes = { { AT_ACCEPT, offset, 2, value } }

const struct twist twists_connect[] = {
	{ "good", "nothing is wrong", FIRST, ONE_VALUE, .expect = "ok" },

	/* ---- the private data of accept ---- */
	{ "accept-absent", "accepted without private data", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_ACCEPT_LEN, QUEUE_ANY), .expect = "ok", .words = FEW },
	{ "accept-len", "accepted with 1 to 195 bytes of private data that are garbage", ALWAYS,
	  REQUEST(REQ_ACCEPT_LEN, QUEUE_ADMIN), .request_arg = 1, .sweep = SWEEP_REQUEST,
	  .values = 195, .expect = "refused", .words = FORMAT },
	{ "accept-len-io", "the same on an I/O queue", ALWAYS,
	  REQUEST(REQ_ACCEPT_LEN, QUEUE_IO), .request_arg = 1, .sweep = SWEEP_REQUEST,
	  .values = 195, .expect = "refused", .words = FORMAT },
	{ "accept-recfmt", "record format 1", ALWAYS, ONE_VALUE, ACCEPT_SAYS(0, 1),
	  .expect = "refused", .words = FORMAT },
	{ "accept-recfmt-io", "record format 65535, on an I/O queue", ALWAYS, ONE_VALUE,
	  .on_queue = QUEUE_IO, ACCEPT_SAYS(0, 0xffff), .expect = "refused", .words = FORMAT },
	{ "accept-recfmt-back", "record format 1 when the host comes back", LATER, ONE_VALUE,
	  ACCEPT_SAYS(0, 1), .expect = "lost", .words = REFUSES },
	{ "accept-crqsize-0", "CRQSIZE 0", ALWAYS, ONE_VALUE, .on_queue = QUEUE_ANY,
	  ACCEPT_SAYS(2, 0), .expect = "ok", .words = FEW },
	{ "accept-crqsize-1", "CRQSIZE 1", ALWAYS, ONE_VALUE, .on_queue = QUEUE_ANY,
	  ACCEPT_SAYS(2, 1), .expect = "ok", .words = FEW },
	{ "accept-crqsize-65535", "CRQSIZE 65535", ALWAYS, ONE_VALUE, .on_queue = QUEUE_ANY,
	  ACCEPT_SAYS(2, 0xffff), .expect = "ok" },
	{ "accept-no-reads", "initiator depth and responder resources 0", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_NO_READS, QUEUE_ANY), .expect = "ok|io-error" },

	/* ---- rejections ---- */
	{ "reject-status", "rejected with the statuses 0 to 255", ALWAYS,
	  REQUEST(REQ_REJECT, QUEUE_ADMIN), .sweep = SWEEP_REQUEST, .values = 256,
	  .expect = "refused", .words = REJECTED },
	{ "reject-status-io", "the same on an I/O queue", ALWAYS,
	  REQUEST(REQ_REJECT, QUEUE_IO), .sweep = SWEEP_REQUEST, .values = 256,
	  .expect = "refused", .words = REJECTED },
	{ "reject-len", "rejected with 1 to 147 bytes of private data that are garbage", ALWAYS,
	  REQUEST(REQ_REJECT_LEN, QUEUE_ADMIN), .request_arg = 1, .sweep = SWEEP_REQUEST,
	  .values = 147, .expect = "refused", .words = "[0-9]: rejected" },
	{ "reject-absent", "rejected without private data", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_REJECT_LEN, QUEUE_ADMIN), .expect = "refused", .words = "[0-9]: rejected" },
	{ "reject-cm", "rejected by the connection manager itself", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_REJECT_CM, QUEUE_ADMIN), .expect = "refused", .words = "[0-9]: rejected" },
	{ "reject-vendor", "rejected for an option of the vendor's", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_REJECT_VENDOR, QUEUE_ADMIN), .expect = "refused",
	  .words = "[0-9]: rejected" },
	{ "reject-back-busy", "no resources (6) whenever the host comes back", LATER, ONE_VALUE,
	  REQUEST(REQ_REJECT, QUEUE_ADMIN), .request_arg = 6, .expect = "lost",
	  .words = GIVES_UP },
	{ "reject-back-wrong", "invalid length (1) when the host comes back", LATER, ONE_VALUE,
	  REQUEST(REQ_REJECT, QUEUE_ADMIN), .request_arg = 1, .expect = "lost",
	  .words = REFUSES },
	{ "reject-back-io", "no resources (6) for I/O queues that come back", LATER, ONE_VALUE,
	  REQUEST(REQ_REJECT, QUEUE_IO), .request_arg = 6, .expect = "lost",
	  .words = GIVES_UP },

	/* ---- silence ---- */
	{ "ignore", "the connection request is never answered", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_IGNORE, QUEUE_ADMIN), .expect = "refused", .words = NO_ANSWER },
	{ "ignore-io", "that of an I/O queue is never answered", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_IGNORE, QUEUE_IO), .expect = "refused", .words = NO_ANSWER },
	{ "ignore-back", "no request is answered when the host comes back", LATER, ONE_VALUE,
	  REQUEST(REQ_IGNORE, QUEUE_ADMIN), .expect = "lost", .words = NO_ANSWER },
	{ "late", "accepted after 0.8 s", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LATE, QUEUE_ANY), .request_arg = 800, .expect = "ok" },
	{ "too-late", "accepted when the host has given up", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LATE, QUEUE_ADMIN), .request_arg = 5000, .expect = "refused",
	  .words = NO_ANSWER },
	{ "too-late-io", "an I/O queue accepted when the host has given up", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LATE, QUEUE_IO), .request_arg = 5000, .expect = "refused",
	  .words = NO_ANSWER },
	{ "silent", "accepted, and never a response", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_SILENT, QUEUE_ADMIN), .expect = "refused", .words = NO_RESPONSE },
	{ "silent-io", "I/O queues accepted, and never a response there", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_SILENT, QUEUE_IO), .expect = "refused", .words = NO_RESPONSE },
	{ "silent-back", "accepted, and no response when the host comes back", LATER, ONE_VALUE,
	  REQUEST(REQ_SILENT, QUEUE_ADMIN), .expect = "lost", .words = NO_RESPONSE },
	{ "silent-enable", "no response from the third Property command on", ALWAYS, ONE_VALUE,
	  BEFORE(ON_PROPERTY, 3, silent, 0), .expect = "refused", .words = NO_RESPONSE },
	{ "silent-identify", "no response from Identify on", ALWAYS, ONE_VALUE,
	  BEFORE(ON_ADMIN, 1, silent, 0), .expect = "refused", .words = NO_RESPONSE },

	/*
	 * ---- receives withheld ----
	 * The host's SENDs wait in its device, as often as the target lets it try again:
	 * for ever, which the command's timeout ends, or not once, which the device says.
	 */
	{ "recv-none", "accepted, and no receive for Connect", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_RECEIVES, QUEUE_ADMIN), .expect = "refused", .words = NO_RESPONSE },
	{ "recv-none-io", "no receive for Connect on I/O queues", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_RECEIVES, QUEUE_IO), .expect = "refused", .words = NO_RESPONSE },
	{ "recv-none-back", "no receive for Connect when the host comes back", LATER, ONE_VALUE,
	  REQUEST(REQ_RECEIVES, QUEUE_ADMIN), .expect = "lost", .words = NO_RESPONSE },
	{ "recv-none-once", "no receive for Connect, and no second try", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_RECEIVES, QUEUE_ADMIN), .request_arg = NO_RETRY, .expect = "refused",
	  .words = NO_RECEIVE },
	{ "recv-few-admin", "receives for the first 1 to 4 admin commands", ALWAYS,
	  REQUEST(REQ_RECEIVES, QUEUE_ADMIN), .request_arg = 1, .sweep = SWEEP_REQUEST,
	  .values = 4, .expect = "refused", .words = NO_RESPONSE },
	{ "recv-few", "I/O queues with receives for Connect and up to 11 commands", FIRST,
	  REQUEST(REQ_RECEIVES, QUEUE_IO), .request_arg = 1, .sweep = SWEEP_REQUEST,
	  .values = 12, .expect = "recovers", .words = NO_RESPONSE "|" LOST, .linger = 8 },
	{ "recv-few-once", "the same, and no second try", FIRST,
	  REQUEST(REQ_RECEIVES, QUEUE_IO), .request_arg = NO_RETRY + 1,
	  .sweep = SWEEP_REQUEST, .values = 12, .expect = "recovers", .words = NO_RECEIVE,
	  .linger = 8 },

	/* ---- the end ---- */
	{ "leave", "accepted and disconnected at once", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LEAVE, QUEUE_ADMIN), .expect = "refused" },
	{ "leave-io", "I/O queues accepted and disconnected at once", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LEAVE, QUEUE_IO), .expect = "refused" },
	{ "leave-established", "disconnected when the connection is established", ALWAYS,
	  ONE_VALUE, REQUEST(REQ_LEAVE_ESTABLISHED, QUEUE_ADMIN), .expect = "refused" },
	{ "leave-established-io", "the same for I/O queues", ALWAYS, ONE_VALUE,
	  REQUEST(REQ_LEAVE_ESTABLISHED, QUEUE_IO), .expect = "refused" },
	{ "leave-connect", "disconnected in place of an answer to Connect", ALWAYS, ONE_VALUE,
	  BEFORE(ON_CONNECT, 1, leave, 0), .expect = "refused" },
	{ "leave-connect-io", "the same on an I/O queue", ALWAYS, ONE_VALUE,
	  BEFORE(ON_CONNECT_IO, 1, leave, 0), .expect = "refused" },
	{ "leave-connected", "disconnected behind the answer to Connect", ALWAYS, ONE_VALUE,
	  ANSWER(ON_CONNECT, 1, answer_and_leave, 0), .expect = "refused" },
	{ "leave-connected-io", "the same on the last I/O queue", FIRST, ONE_VALUE,
	  ANSWER(ON_CONNECT_IO, 2, answer_and_leave, 0), .expect = "refused|recovers" },
	{ "leave-identify", "disconnected in place of Identify", ALWAYS, ONE_VALUE,
	  BEFORE(ON_ADMIN, 1, leave, 0), .expect = "refused" },
	{ "leave-read", "disconnected in place of an answer to a read", FIRST, ONE_VALUE,
	  BEFORE(ON_READ, 2, leave, 0), .expect = "recovers", .words = LOST },
	{ "leave-write", "disconnected in place of fetching a write's data", FIRST, ONE_VALUE,
	  BEFORE(ON_WRITE, 2, leave, 0), .expect = "recovers", .words = LOST },
	{ "leave-answered", "disconnected behind the answer to a read", FIRST, ONE_VALUE,
	  ANSWER(ON_READ, 2, answer_and_leave, 0), .expect = "recovers", .words = LOST },
	{ .name = NULL },
};
