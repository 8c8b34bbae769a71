/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every part of nvmerdma stands on: words for people, memory, files.
 *
 * An error is said where it is found, in words that let a person act, and the
 * caller is only told that there was one (-1, NULL): main() ends with status 1.
 */
#ifndef NVMERDMA_COMMON_UTIL_H
#define NVMERDMA_COMMON_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* How nvmerdma ends. doctor has more to say: see doctor/doctor.h. */
enum status {
	STATUS_OK,
	STATUS_FAILED,		/* what went wrong was said */
	STATUS_USAGE,		/* so was what is wrong with the command line */
	STATUS_NOT_KEPT = 5,	/* it is done, and could not be kept: that was said */
};

/* ---- words: common/message.c ---- */

/* error_msg() - an error, to stderr; always -1, so that 'return error_msg(...)' does */
int error_msg(const char *fmt, ...) PRINTF(1, 2);
/* note_msg() - what is odd, and no error */
void note_msg(const char *fmt, ...) PRINTF(1, 2);
/* usage_error() - the command line is wrong; always -STATUS_USAGE */
#define usage_error(...)	(error_msg(__VA_ARGS__), -STATUS_USAGE)
/* error_count() - how many errors were said so far */
unsigned int error_count(void);
/* count_words() - "1 queue", "3 queues": a number and its noun */
const char *count_words(uint64_t n, const char *noun);
/* safe_words() - a peer's words, without what a terminal would obey, or no reader of JSON
 * take; "-" for none
 */
const char *safe_words(const char *words);
/* word_in() - whether a list, NULL behind the last, has @word */
bool word_in(const char * const *list, const char *word);
/* word_for_shell() - so that a shell takes it for one word: most need no quotes */
const char *word_for_shell(const char *word);
/* size_words() - "8.0 GiB" of 8589934592 */
const char *size_words(uint64_t bytes);
/* words_are_news() - whether @words are others than the last, which they then replace, cut to
 * @size
 */
bool words_are_news(char *last, size_t size, const char *words);
/* name_uuid() - the UUID of a name in a space of names, of version 5 (RFC 9562), as text;
 * common/uuid.c
 */
const char *name_uuid(const char *space, const char *name);
/* tell_systemd() - lines as sd_notify(3) takes them, "STATUS=..."; common/systemd.c */
void tell_systemd(const char *words);
/* number_option() - a whole number within bounds; 0, or -1 and it was said */
int number_option(const char *option, const char *text, unsigned long min, unsigned long max,
		  unsigned long *value);

/* ---- memory: common/arena.c ---- */

/*
 * Memory is taken and never given back one by one: a command ends soon. What runs
 * on, as stat does, marks a place and releases all that was taken since. There is no
 * failure to check for: without memory the program says so and ends.
 */
void *mem_get(size_t size);			/* zeroed */
char *mem_str(const char *s);			/* a copy */
char *mem_strn(const char *s, size_t len);	/* of at most @len bytes */
char *mem_fmt(const char *fmt, ...) PRINTF(1, 2);
/* mem_grow() - room for one more of @size behind @count of them; @old is void then */
void *mem_grow(void *old, size_t count, size_t size);
/* mem_push() - a value behind those that there are */
#define mem_push(list, nr, ...)						\
	do {								\
		(list) = mem_grow(list, nr, sizeof(*(list)));		\
		(list)[(nr)++] = (__VA_ARGS__);				\
	} while (0)
struct mem_mark { void *at; };
struct mem_mark mem_mark(void);
void mem_release(struct mem_mark mark);
/* mem_switch() - go on with other memory, or zero for new one; where the one of before ended */
struct mem_mark mem_switch(struct mem_mark to);

/* ---- files of the kernel and of /etc: common/file.c ---- */

/* file_read() - the text of a file, without the white space at its end; NULL: errno says why it
 * cannot be read, and nothing is printed, as often that is just an answer
 */
char *file_read(const char *fmt, ...) PRINTF(1, 2);
/* file_u64() - a number that a file holds; @absent if there is none */
uint64_t file_u64(uint64_t absent, const char *fmt, ...) PRINTF(2, 3);
/* file_there() - does it exist? */
bool file_there(const char *fmt, ...) PRINTF(1, 2);

/* text_value() - of lines "KEY VALUE", the value of @key; NULL if there is no such line */
const char *text_value(const char *text, const char *key);

/* The names in a directory, as strverscmp() sorts them, without those with a dot first;
 * none if it cannot be read.
 */
struct names {
	char **name;
	size_t nr;
};

struct names names_in(const char *fmt, ...) PRINTF(1, 2);

/* stream_text() - the same of what is open; NULL: errno */
char *stream_text(FILE *file);

/* replace_file() - replace a file, no symbolic link, by one of this mode; 0: it is on the disk;
 * -1: it was said
 */
int replace_file(const char *path, const char *text, mode_t mode);

/* replace_file_unsynced() - the same for a file that is soon written again: a reader finds the old
 * file or the new one, but after a crash of the machine it may be empty
 */
int replace_file_unsynced(const char *path, const char *text, mode_t mode);

/* replace_write() - all of a text, to what is open; 0, or -1 with errno */
int replace_write(int fd, const char *text);

/* ---- programs and children that end in time: common/subprocess.c ---- */

#define PROGRAM_S	5	/* that a program may take, as a rule */

/* program_output() - what a program prints; NULL if it failed, is not there, or took longer. The
 * arguments end with NULL.
 */
char *program_output(unsigned int seconds, const char *program, ...) __attribute__((sentinel));
/* seconds_now() - by a clock that nobody sets */
static inline time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* longer_pause() - seconds until the next of several attempts: they double, up to @most */
static inline unsigned int longer_pause(unsigned int pause, unsigned int most)
{
	pause = pause ? pause * 2 : 1;
	return pause < most ? pause : most;
}

/* shared_alloc() - zeroed memory that a child's words come back by */
void *shared_alloc(size_t size);
/* run_in_child() - have @work done by a process of its own, whose stderr goes nowhere; false: it
 * did not end within @seconds, and was killed, with what it held in the kernel
 */
bool run_in_child(unsigned int seconds, void (*work)(void *shared), void *shared);

/* ---- for a function that takes a format as printf() does ---- */

/* To be freed; NULL: no memory */
#define FORMAT(text, fmt)					\
	do {							\
		va_list ap_;					\
								\
		va_start(ap_, fmt);				\
		if (vasprintf(&(text), fmt, ap_) < 0)		\
			(text) = NULL;				\
		va_end(ap_);					\
	} while (0)

#endif
