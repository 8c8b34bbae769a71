/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A configuration as JSON, in the form of nvmetcli, which reads and writes it as well.
 *
 * Beyond what nvmetcli knows there are "buffered_io" and "p2pmem" of a namespace and
 * "dhchap" of a host: nvmetcli leaves alone what it does not know.
 */
#ifndef NVMERDMA_JSON_H
#define NVMERDMA_JSON_H

#include "node.h"

struct json_object;

/* json_of() - to be given back by json_object_put() */
struct json_object *json_of(const struct node *root);

/*
 * json_parse() - a configuration from text
 * @text: the text
 * @from: where it is from, for messages
 *
 * All that is wrong is said, with where it is. NULL if anything was.
 */
struct node *json_parse(const char *text, const char *from);

#endif
