/* SPDX-License-Identifier: GPL-2.0 */
/* Files that are written whole or not at all */
#ifndef NVMERDMA_REPLACE_H
#define NVMERDMA_REPLACE_H

/*
 * replace_file() - a file in whose place another one comes, which only its owner can read
 *
 * @path: what no symbolic link leads to. 0: it is on the disk; -1: it was said.
 */
int replace_file(const char *path, const char *text);

/* replace_write() - all of a text, to what is open; 0, or -1 with errno */
int replace_write(int fd, const char *text);

#endif
