// SPDX-License-Identifier: GPL-2.0
/* Twists: the controller's description of itself */
#include "target_acts.h"
#include "twists.h"

/* Identify Controller: byte offsets */
enum {
	ID_SN = 4, ID_MN = 24, ID_CMIC = 76, ID_MDTS = 77, ID_CNTLID = 78, ID_RTD3E = 88,
	ID_OAES = 92, ID_CTRATT = 96, ID_CNTRLTYPE = 111, ID_OACS = 256, ID_ACL = 258,
	ID_LPA = 261, ID_KAS = 320, ID_ANATT = 342, ID_ANAGRPMAX = 344, ID_NANAGRPID = 348,
	ID_SQES = 512, ID_MAXCMD = 514, ID_NN = 516, ID_ONCS = 520, ID_FUSES = 522, ID_VWC = 525,
	ID_SGLS = 536, ID_MNAN = 540, ID_SUBNQN = 768, ID_IOCCSZ = 1792, ID_IORCSZ = 1796,
	ID_ICDOFF = 1800, ID_FCATT = 1802, ID_MSDBD = 1803,
};

/* Identify Namespace */
enum {
	NS_NSZE = 0, NS_NCAP = 8, NS_NSFEAT = 24, NS_NLBAF = 25, NS_FLBAS = 26, NS_MC = 27,
	NS_DPC = 28, NS_DPS = 29, NS_NMIC = 30, NS_NOIOB = 46, NS_NPWG = 64, NS_NGUID = 104,
	NS_LBAF0 = 128, NS_LBADS = 130,
};

#define SAYS(at, offset, bytes, value) \
	ALWAYS, ONE_VALUE, .on_queue = QUEUE_ANY, .pokes = { { at, offset, bytes, value } }
#define POKE(at, offset, bytes, value) { at, offset, bytes, value }
#define SAYS_ALL(...)	ALWAYS, ONE_VALUE, .pokes = { __VA_ARGS__ }
#define SAYS_RANGE(at, offset, bytes, from, count) \
	ALWAYS, .values = (count), .sweep = SWEEP_POKE, .pokes = { { at, offset, bytes, from } }
/* The controller is correct at first, and reports that when the host reconnects */
#define BACK(at, offset, bytes, value) \
	LATER, ONE_VALUE, .pokes = { { at, offset, bytes, value } }

/* More commands than the controller may report as its limit */
#define AT_ONCE		.reads = 8, .at_once = 12

#define HELD_READ \
	.acts = { { false, ON_READ, 2, act_hold, 7 }, { false, ON_ABORT, 1, act_abort, 0 } }

/* The core's words, and the transport's */
#define CAPSULE		"I/O queue command capsule supported size|too small for a command"
#define OFFSET		"unsupported in-capsule data offset"
#define FEW_COMMANDS	"queue size too small: MQES"
/* The latter without CONFIG_NVME_AUTH, as in Debian's 6.1 */
#define NO_KEY(qid)	"qid " qid ": (no key|authentication setup failed)"
#define NO_KEYS		"does not support keyed SGLs"
#define CNTLID		"Mismatching cntlid"
#define NOT_READY	"Device not ready"
#define SHRUNK		"now supports a queue size of [0-9]+"
#define REFUSES		"the connection was rejected"
#define GIVES_UP	"not reconnecting after [0-9]+ attempts"
#define MAYBE		"ok|refused|no-disk|io-error"

const struct twist twists_self[] = {
	/* ---- what NVMe/RDMA is about ---- */
	{ "ioccsz-0", "IOCCSZ 0 to 3: less than a command", SAYS_RANGE(AT_CTRL, ID_IOCCSZ, 4, 0, 4),
	  .expect = "refused", .words = CAPSULE },
	{ "ioccsz-4", "IOCCSZ 4: no data in capsules", SAYS(AT_CTRL, ID_IOCCSZ, 4, 4),
	  .expect = "ok" },
	{ "ioccsz-5", "IOCCSZ 5: 16 bytes of data", SAYS(AT_CTRL, ID_IOCCSZ, 4, 5),
	  .expect = "ok" },
	{ "ioccsz-65535", "IOCCSZ 65535", SAYS(AT_CTRL, ID_IOCCSZ, 4, 65535), .expect = "ok" },
	{ "ioccsz-max", "IOCCSZ 2^32 - 1", SAYS(AT_CTRL, ID_IOCCSZ, 4, 0xffffffff),
	  .expect = "ok" },
	{ "iorcsz-0", "IORCSZ 0", SAYS(AT_CTRL, ID_IORCSZ, 4, 0), .expect = "refused" },
	{ "iorcsz-max", "IORCSZ 2^32 - 1", SAYS(AT_CTRL, ID_IORCSZ, 4, 0xffffffff),
	  .expect = "ok" },
	{ "icdoff-1", "ICDOFF 1", SAYS(AT_CTRL, ID_ICDOFF, 2, 1), .expect = "refused",
	  .words = OFFSET },
	{ "icdoff-65535", "ICDOFF 65535", SAYS(AT_CTRL, ID_ICDOFF, 2, 65535),
	  .expect = "refused", .words = OFFSET },
	{ "fcatt", "FCATT 255", SAYS(AT_CTRL, ID_FCATT, 1, 255), .expect = "ok" },
	{ "msdbd-0", "MSDBD 0", SAYS(AT_CTRL, ID_MSDBD, 1, 0), .expect = "ok" },
	{ "msdbd-255", "MSDBD 255", SAYS(AT_CTRL, ID_MSDBD, 1, 255), .expect = "ok" },
	{ "maxcmd-0", "MAXCMD 0", SAYS(AT_CTRL, ID_MAXCMD, 2, 0), AT_ONCE, .expect = "ok" },
	{ "maxcmd-1", "MAXCMD 1", SAYS(AT_CTRL, ID_MAXCMD, 2, 1), .expect = "refused",
	  .words = FEW_COMMANDS },
	{ "maxcmd-2", "MAXCMD 2: room for Connect alone", SAYS(AT_CTRL, ID_MAXCMD, 2, 2),
	  .expect = "refused", .words = FEW_COMMANDS },
	{ "maxcmd-3", "MAXCMD 3: and for another one", SAYS(AT_CTRL, ID_MAXCMD, 2, 3),
	  AT_ONCE, .expect = "ok" },
	{ "maxcmd-65535", "MAXCMD 65535", SAYS(AT_CTRL, ID_MAXCMD, 2, 65535), AT_ONCE,
	  .expect = "ok" },
	{ "sgls-0", "SGLS 0", SAYS(AT_CTRL, ID_SGLS, 4, 0), .expect = "refused",
	  .words = NO_KEYS },
	{ "sgls-plain", "SGLS without keyed ones", SAYS(AT_CTRL, ID_SGLS, 4, 0x100001),
	  .expect = "refused", .words = NO_KEYS },
	{ "sgls-no-offset", "SGLS without offsets: no data in capsules",
	  SAYS(AT_CTRL, ID_SGLS, 4, 5), .expect = "ok" },
	{ "sgls-all", "SGLS of all ones", SAYS(AT_CTRL, ID_SGLS, 4, 0xffffffff),
	  .expect = "ok" },

	/* ---- the controller ---- */
	{ "mdts", "MDTS 0, 1, 2 ... 255", SAYS_RANGE(AT_CTRL, ID_MDTS, 1, 0, 256),
	  .expect = "ok" },
	{ "cntlid-other", "Identify has another CNTLID than Connect",
	  SAYS(AT_CTRL, ID_CNTLID, 2, 0x1234), .expect = "refused", .words = CNTLID },
	{ "cntlid-connect", "Connect has another than Identify",
	  SAYS(AT_CONNECT, 0, 2, 0x1234), .expect = "refused", .words = CNTLID },
	{ "cntlid-0", "CNTLID 0",
	  SAYS_ALL(POKE(AT_CTRL, ID_CNTLID, 2, 0), POKE(AT_CONNECT, 0, 2, 0)), .expect = "ok" },
	{ "cntlid-65535", "CNTLID 65535",
	  SAYS_ALL(POKE(AT_CTRL, ID_CNTLID, 2, 0xffff), POKE(AT_CONNECT, 0, 2, 0xffff)),
	  .expect = "ok" },
	{ "connect-result", "Connect's result is of all ones but for CNTLID",
	  SAYS(AT_CONNECT, 2, 6, 0xffffffffffff), .expect = "ok|refused" },
	{ "connect-atr", "Connect wants authentication, for which there is no key",
	  SAYS(AT_CONNECT, 2, 2, 2), .expect = "refused", .words = NO_KEY("0") },
	{ "connect-ascr", "Connect wants secure concatenation, which is TCP's",
	  SAYS(AT_CONNECT, 2, 2, 4), .expect = "refused",
	  .words = "secure concatenation is not supported" },
	{ "connect-atr-io", "Connect of an I/O queue wants authentication",
	  SAYS(AT_CONNECT_IO, 2, 2, 2), .expect = "refused", .words = NO_KEY("[12]") },
	{ "kas-0", "KAS 0", SAYS(AT_CTRL, ID_KAS, 2, 0), .expect = "refused",
	  .words = "keep-alive support is mandatory" },
	{ "kas-65535", "KAS 65535", SAYS(AT_CTRL, ID_KAS, 2, 65535), .expect = "ok" },
	{ "nn-0", "NN 0", SAYS(AT_CTRL, ID_NN, 4, 0), .expect = MAYBE },
	{ "nn-max", "NN 2^32 - 1", SAYS(AT_CTRL, ID_NN, 4, 0xffffffff), .expect = "ok" },
	{ "type", "controller types 0 to 255", SAYS_RANGE(AT_CTRL, ID_CNTRLTYPE, 1, 0, 256),
	  .expect = MAYBE },
	{ "ctratt", "CTRATT of all ones", SAYS(AT_CTRL, ID_CTRATT, 4, 0xffffffff),
	  .expect = MAYBE },
	{ "oacs", "OACS of all ones", SAYS(AT_CTRL, ID_OACS, 2, 0xffff), .expect = MAYBE },
	{ "acl-255", "ACL 255", SAYS(AT_CTRL, ID_ACL, 1, 255), .expect = "ok" },
	{ "lpa", "LPA of all ones", SAYS(AT_CTRL, ID_LPA, 1, 255), .expect = "ok" },
	{ "oncs", "ONCS of all ones", SAYS(AT_CTRL, ID_ONCS, 2, 0xffff), .expect = "ok" },
	{ "oaes", "OAES of all ones", SAYS(AT_CTRL, ID_OAES, 4, 0xffffffff), .expect = "ok" },
	{ "vwc", "VWC of all ones", SAYS(AT_CTRL, ID_VWC, 1, 255), .expect = "ok" },
	{ "sqes", "SQES and CQES 0", SAYS(AT_CTRL, ID_SQES, 2, 0), .expect = "ok|refused" },
	{ "ana", "ANA with 2^32 - 1 groups",
	  SAYS_ALL(POKE(AT_CTRL, ID_CMIC, 1, 0xff),
		   POKE(AT_CTRL, ID_ANAGRPMAX, 8, ~0ull),
		   POKE(AT_CTRL, ID_NN, 4, 0xffffffff)), .expect = MAYBE },
	{ "ana-log", "a log of ANA with 65535 groups, where there is one",
	  FIRST, ONE_VALUE, .pokes = {
		  { AT_CTRL, ID_CMIC, 1, 8 }, { AT_CTRL, ID_MNAN, 4, 1 },
		  { AT_CTRL, ID_ANATT, 8, 1 | 1 << 16 | 1ull << 48 },
		  { AT_LOG, 8, 2, 0xffff } }, .expect = MAYBE },
	{ "ana-leaves", "the log of ANA, with a group in change, comes when the host has begun to leave",
	  FIRST, ONE_VALUE, .pokes = {
		  { AT_CTRL, ID_CMIC, 1, 8 }, { AT_CTRL, ID_MNAN, 4, 1 },
		  /* ANATT 1 s, one group */
		  { AT_CTRL, ID_ANATT, 8, 1 | 1 << 16 | 1ull << 48 },
		  { AT_LOG, 8, 2, 1 }, { AT_LOG, 16, 4, 1 }, { AT_LOG, 32, 1, 1 } },
	  ANSWER(ON_ADMIN, 0, delay_ana, 2500), .ana_changes = true, .expect = "ok" },
	{ "aborted", "a read is answered when it is aborted, as one that was", FIRST, ONE_VALUE,
	  HELD_READ, .expect = "ok", .words = "Abort of command ID .*: done" },
	{ "aborted-path", "the same of a disk that may have other paths", FIRST, ONE_VALUE,
	  .pokes = { { AT_CTRL, ID_CMIC, 1, 2 }, { AT_NS, NS_NMIC, 1, 1 } },
	  HELD_READ, .expect = "recovers", .words = "aborted by the controller" },
	{ "names", "serial number and model of no letters",
	  SAYS_ALL(POKE(AT_CTRL, ID_SN, 8, ~0ull),
		   POKE(AT_CTRL, ID_MN, 8, 0)), .expect = "ok" },
	{ "subnqn", "another name of the subsystem",
	  SAYS(AT_CTRL, ID_SUBNQN, 8, 0x7878787878787878), .expect = MAYBE },

	/* ---- properties ---- */
	{ "cap-mqes-0", "CAP: MQES 0: queues of one command", SAYS(AT_CAP, 0, 2, 0),
	  .expect = "refused", .words = FEW_COMMANDS },
	{ "cap-mqes-1", "CAP: MQES 1: of two", SAYS(AT_CAP, 0, 2, 1), .expect = "refused",
	  .words = FEW_COMMANDS },
	{ "cap-mqes-2", "CAP: MQES 2: of three", SAYS(AT_CAP, 0, 2, 2), AT_ONCE,
	  .expect = "ok" },
	{ "cap-mqes-65535", "CAP: MQES 65535", SAYS(AT_CAP, 0, 2, 65535), .expect = "ok" },
	{ "cap-mpsmin", "CAP: MPSMIN 1 to 15: larger pages than the host's",
	  SAYS_RANGE(AT_CAP, 6, 1, 1, 15), .expect = "refused",
	  .words = "Minimum device page size" },
	{ "cap-to-0", "CAP: TO 0: ready at once", SAYS(AT_CAP, 3, 1, 0), .expect = "ok" },
	{ "cap-to-255", "CAP: TO 255: ready within 127 s", SAYS(AT_CAP, 3, 1, 255),
	  .expect = "ok" },
	{ "cap-css-0", "CAP: CSS 0: no command set", SAYS(AT_CAP, 4, 2, 0), .expect = MAYBE },
	{ "cap-css-max", "CAP: CSS of all ones", SAYS(AT_CAP, 4, 2, 0x1fe0), .expect = MAYBE },
	{ "cap-cqr", "CAP: queues have to be contiguous", SAYS(AT_CAP, 2, 1, 1), .expect = "ok" },
	{ "cap-mpsmax-max", "CAP: MPSMAX 15", SAYS(AT_CAP, 6, 1, 0xf0), .expect = "ok" },
	{ "cap-0", "CAP 0", SAYS(AT_CAP, 0, 8, 0), .expect = "refused" },
	{ "cap-max", "CAP of all ones", SAYS(AT_CAP, 0, 8, ~0ull), .expect = "refused" },
	{ "vs-0", "VS 0", SAYS(AT_VS, 0, 4, 0), .expect = MAYBE },
	{ "vs-max", "VS of all ones", SAYS(AT_VS, 0, 4, 0xffffffff), .expect = MAYBE },
	{ "csts-never", "CSTS: never ready", SAYS(AT_CSTS, 0, 4, 0), .expect = "refused",
	  .words = NOT_READY },
	{ "csts-fatal", "CSTS: ready, and a fatal status", SAYS(AT_CSTS, 0, 4, 3),
	  .expect = MAYBE },
	{ "csts-max", "CSTS of all ones", SAYS(AT_CSTS, 0, 4, 0xffffffff),
	  .expect = "refused" },
	{ "csts-no-shutdown", "CSTS: no shutdown is ever complete", SAYS(AT_CSTS, 0, 4, 1),
	  .expect = "ok" },
	{ "csts-no-shutdown-long", "and RTD3E of 71 minutes",
	  SAYS_ALL(POKE(AT_CSTS, 0, 4, 1),
		   POKE(AT_CTRL, ID_RTD3E, 4, 0xffffffff)),
	  .expect = "ok", .slow = true },
	{ "queues-1", "one I/O queue is granted", SAYS(AT_QUEUES, 0, 4, 0), .expect = "ok" },
	{ "queues-65536", "65536 are", SAYS(AT_QUEUES, 0, 4, 0xffffffff), .expect = "ok" },
	{ "queues-uneven", "submission queues, and no completion queues",
	  SAYS(AT_QUEUES, 0, 4, 0x0000ffff), .expect = "ok" },
	{ "queues-refused", "none is: invalid field", SAYS(AT_QUEUES, CQE_STATUS, 2, 0x8004),
	  .expect = "refused", .words = "granted 0 I/O queues" },

	/* ---- namespaces ---- */
	{ "ns-lba-size", "LBAs of 2^0 to 2^255 bytes", SAYS_RANGE(AT_NS, NS_LBADS, 1, 0, 256),
	  .expect = MAYBE },
	{ "ns-metadata", "65535 bytes of metadata", SAYS(AT_NS, NS_LBAF0, 2, 0xffff),
	  .expect = MAYBE },
	{ "ns-metadata-pi", "8 bytes of metadata, all kinds of protection",
	  SAYS_ALL(POKE(AT_NS, NS_LBAF0, 2, 8),
		   POKE(AT_NS, NS_MC, 3, 0xffffff)), .expect = MAYBE },
	{ "ns-flbas", "formats 0 to 255, of which there is one",
	  SAYS_RANGE(AT_NS, NS_FLBAS, 1, 0, 256), .expect = MAYBE },
	{ "ns-nlbaf", "255 formats", SAYS(AT_NS, NS_NLBAF, 1, 255), .expect = "ok" },
	{ "ns-size-0", "NSZE 0", SAYS(AT_NS, NS_NSZE, 8, 0), .expect = MAYBE },
	{ "ns-size-max", "NSZE 2^64 - 1", SAYS(AT_NS, NS_NSZE, 8, ~0ull), .expect = MAYBE },
	{ "ns-size-lie", "NSZE of twice what there is",
	  SAYS(AT_NS, NS_NSZE, 8, 2 * DISK_LEN >> LBA_SHIFT), .expect = "ok" },
	{ "ns-ncap-0", "NCAP 0", SAYS(AT_NS, NS_NCAP, 8, 0), .expect = MAYBE },
	{ "ns-hints", "all hints, of all ones",
	  SAYS_ALL(POKE(AT_NS, NS_NSFEAT, 1, 255),
		   POKE(AT_NS, NS_NOIOB, 2, 0xffff),
		   POKE(AT_NS, NS_NPWG, 8, ~0ull)), .expect = MAYBE },
	{ "ns-shared", "NMIC of all ones", SAYS(AT_NS, NS_NMIC, 1, 255), .expect = MAYBE },
	{ "ns-no-name", "NGUID 0", SAYS(AT_NS, NS_NGUID, 8, 0), .expect = "ok" },
	{ "ns-list-twice", "a list with the same namespace three times",
	  SAYS_ALL(POKE(AT_NS_LIST, 4, 4, 1),
		   POKE(AT_NS_LIST, 8, 4, 1)), .expect = "ok" },
	{ "ns-list-down", "a list that descends",
	  SAYS_ALL(POKE(AT_NS_LIST, 0, 4, 3),
		   POKE(AT_NS_LIST, 4, 4, 2),
		   POKE(AT_NS_LIST, 8, 4, 1)), .expect = MAYBE },
	{ "ns-list-far", "a list with a namespace 2^32 - 2",
	  SAYS(AT_NS_LIST, 4, 4, 0xfffffffe), .expect = MAYBE },
	{ "ns-list-all", "a list with the broadcast namespace 2^32 - 1",
	  SAYS(AT_NS_LIST, 4, 4, 0xffffffff), .expect = MAYBE },
	{ "ns-list-empty", "an empty list", SAYS(AT_NS_LIST, 0, 4, 0), .expect = "no-disk" },
	{ "ns-descs-len", "a descriptor of 0 to 255 bytes",
	  SAYS_RANGE(AT_NS_DESCS, 1, 1, 0, 256), .expect = MAYBE },
	{ "ns-descs-type", "descriptors of the types 0 to 255",
	  SAYS_RANGE(AT_NS_DESCS, 0, 1, 0, 256), .expect = MAYBE },

	/* ---- another controller than before ---- */
	{ "back-ioccsz-4", "no data in capsules any more", BACK(AT_CTRL, ID_IOCCSZ, 4, 4),
	  .expect = "recovers" },
	{ "back-ioccsz-0", "capsules smaller than a command", BACK(AT_CTRL, ID_IOCCSZ, 4, 0),
	  .expect = "lost" },
	{ "back-icdoff", "in-capsule data at an offset", BACK(AT_CTRL, ID_ICDOFF, 2, 1),
	  .expect = "lost", .words = REFUSES },
	{ "back-sgls", "no keyed SGLs any more", BACK(AT_CTRL, ID_SGLS, 4, 1),
	  .expect = "lost", .words = REFUSES },
	{ "back-mqes", "smaller queues", BACK(AT_CAP, 0, 2, 3), .expect = "lost",
	  .words = SHRUNK },
	{ "back-maxcmd", "fewer commands at once", BACK(AT_CTRL, ID_MAXCMD, 2, 3),
	  .expect = "lost", .words = SHRUNK },
	{ "back-mdts", "smaller transfers: 8 KiB", BACK(AT_CTRL, ID_MDTS, 1, 1),
	  .expect = "recovers|io-error" },
	{ "back-cntlid", "a CNTLID that does not fit", BACK(AT_CTRL, ID_CNTLID, 2, 0x1234),
	  .expect = "lost", .words = CNTLID },
	{ "back-kas", "no keep-alives any more", BACK(AT_CTRL, ID_KAS, 2, 0),
	  .expect = "lost" },
	{ "back-csts", "not ready any more", BACK(AT_CSTS, 0, 4, 0), .expect = "lost",
	  .words = GIVES_UP },
	{ "back-queues", "fewer queues", BACK(AT_QUEUES, 0, 4, 0),
	  .expect = "recovers|io-error|lost" },
	{ "back-queues-none", "no queues", BACK(AT_QUEUES, CQE_STATUS, 2, 0x8004),
	  .expect = "lost" },
	{ "back-lba-size", "LBAs of 4 KiB", BACK(AT_NS, NS_LBADS, 1, 12),
	  .expect = "recovers|io-error" },
	{ "back-size", "a smaller namespace", BACK(AT_NS, NS_NSZE, 8, 16),
	  .expect = "recovers|io-error" },
	{ "back-uuid", "another namespace", BACK(AT_NS_DESCS, 4, 8, 1),
	  .expect = "recovers|io-error|no-disk" },
	{ "back-no-ns", "no namespace", BACK(AT_NS_LIST, 0, 4, 0),
	  .expect = "recovers|io-error|no-disk" },
	{ .name = NULL },
};
