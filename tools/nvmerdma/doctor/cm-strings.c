// SPDX-License-Identifier: GPL-2.0
/* What a peer's words mean, and how they are passed on */
#include "doctor/parse.h"

#include <arpa/inet.h>
#include <string.h>

#define HARMLESS	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.:_-"

bool word_is_address(const char *word)
{
	const char *address = mem_strn(word, strcspn(word, "%"));
	const char *zone = word + strlen(address);
	struct in6_addr bytes;

	if (*zone && (!zone[1] || zone[1 + strspn(zone + 1, HARMLESS)]))
		return false;
	return inet_pton(AF_INET6, address, &bytes) == 1 ||
	       (!*zone && inet_pton(AF_INET, address, &bytes) == 1);
}

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

/* InfiniBand Architecture Specification, volume 1, "Rejection Reason" */
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
		[11] = "it knows no such RDC",
		[12] = "it does not take its GID from this side",
		[13] = "it has not this LID",
		[14] = "it does not take this service level",
		[15] = "it does not take this traffic class",
		[16] = "it does not take this hop limit",
		[17] = "it does not take this packet rate",
		[18] = "it does not take the GID of the alternate path",
		[19] = "it does not take the LID of the alternate path",
		[20] = "it does not take the service level of the alternate path",
		[21] = "it does not take the traffic class of the alternate path",
		[22] = "it does not take the hop limit of the alternate path",
		[23] = "it does not take the packet rate of the alternate path",
		[24] = "another connection manager is to be asked (redirected)",
		[25] = "another port is to be used (redirected)",
		[26] = "the MTUs do not fit: it cannot take this path MTU",
		[27] = "its resources for RDMA READs do not suffice",
		[28] = "the listener itself refused",
		[29] = "it does not take this RNR retry count",
		[30] = "it has another connection of the same communication ID",
		[31] = "it does not know this version of the connection manager",
		[32] = "it does not take this flow label",
		[33] = "it does not take the flow label of the alternate path",
		[35] = "it does not support an option of the vendor's",
	};

	return reason < NR(words) ? words[reason] : NULL;
}
