/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of DH-HMAC-CHAP */
#ifndef NVMERDMA_KEYFILE_H
#define NVMERDMA_KEYFILE_H

#include "base.h"

struct keys {
	const char *host;	/* by which a host proves who it is */
	const char *ctrl;	/* by which the controller does; NULL: it need not */
};

/*
 * keyfile_read() - keys from a file: the host's in the first line, and, if it is to ask the
 * controller in turn, the controller's in the second
 *
 * 0, or -1 and it was said, without saying a key.
 */
int keyfile_read(const char *path, struct keys *keys);

/* keyfile_is_key() - "DHHC-1:NN:BASE64:", NVM Express Base Specification, 8.13.5.8 */
bool keyfile_is_key(const char *text);

#endif
