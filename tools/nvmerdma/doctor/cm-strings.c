// SPDX-License-Identifier: GPL-2.0
/* What a peer's connection manager answers, in words */
#include "doctor/peer.h"

const char *words_cm_status(unsigned int status)
{
	static const char * const words[] = {
		[1] = "the private data has the wrong length",
		[2] = "it does not know this record format",
		[3] = "it does not take this queue ID",
		[4] = "it does not take a queue with so many commands (HSQSIZE)",
		[5] = "it does not take so few or many receives (HRQSIZE)",
		[6] = "it has no resources for another queue",
		[7] = "this host serves too few RDMA READs (IRD)",
		[8] = "it does not serve so few or many RDMA READs (ORD)",
		[9] = "it does not take this controller ID",
	};

	return status < NR(words) ? words[status] : NULL;
}

/* InfiniBand Architecture Specification, volume 1, "Rejection Reason": of a request without an
 * alternate path
 */
const char *words_cm_reason(unsigned int reason)
{
	static const char * const words[] = {
		[1] = "it has no queue pair left",
		[2] = "it has no end-to-end context left",
		[3] = "it has no resources left",
		[4] = "its time is over: timeout",
		[5] = "it does not support the request",
		[6] = "it knows no such connection",
		[7] = "it knows this connection, and not this instance of it",
		[8] = "nothing listens on this port (invalid service ID)",
		[9] = "it does not take this transport service",
		[10] = "it still has the connection from before (stale)",
		[12] = "it does not take its GID from this side",
		[13] = "it has not this LID",
		[14] = "it does not take this service level",
		[15] = "it does not take this traffic class",
		[16] = "it does not take this hop limit",
		[17] = "it does not take this packet rate",
		[24] = "another connection manager is to be asked (redirected)",
		[25] = "another port is to be used (redirected)",
		[26] = "the MTUs do not fit: it cannot take this path MTU",
		[27] = "its resources for RDMA READs do not suffice",
		[28] = "the listener itself refused",
		[29] = "it does not take this RNR retry count",
		[30] = "it has another connection of the same communication ID",
		[31] = "it does not know this version of the connection manager",
		[32] = "it does not take this flow label",
		[35] = "it does not support an option of the vendor's",
	};

	return reason < NR(words) ? words[reason] : NULL;
}
