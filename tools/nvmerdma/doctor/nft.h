/* SPDX-License-Identifier: GPL-2.0 */
/* Rules in the words of nft: what doctor/nft.c and doctor/nft-rule.c share */
#ifndef NVMERDMA_DOCTOR_NFT_H
#define NVMERDMA_DOCTOR_NFT_H

#include "doctor/parse.h"

enum match { NO, MAYBE, YES };

/* nft_word() - the next word of a line: a blank parts them, a comma or semicolon at its end
 * is left out, and what is quoted is one word without its quotes; NULL at the end
 */
const char *nft_word(const char **at);

/* nft_is_iface() - is it the packet's interface? A name may end with a star for any rest. */
enum match nft_is_iface(const char *word, const struct packet *packet);

/*
 * nft_rule() - does a rule match a packet?
 *
 * @verdict: set to what it then does, "accept", "drop", "reject", "return", "queue",
 *	"jump", "goto", or NULL if the packet just goes on
 * @to: set to the chain that is jumped to
 */
enum match nft_rule(const char *rule, const struct packet *packet, const char **verdict,
		    const char **to);

#endif
