// SPDX-License-Identifier: GPL-2.0
/*
 * The full screen.
 *
 * What ends the program sets a flag, and the terminal is restored before the signal does
 * what it would have done. A terminal that takes nothing, stopped by ^S or behind a network
 * that is gone, would hold that up for ever: a second signal, or the alarm that the first one
 * has set, ends at once, and restores no more than the terminal's mode. The flag is looked at
 * with the signals blocked, and they are let in while ppoll() waits, so that none is missed.
 * A window that changes its size, which ppoll() is to notice, is a key of ncurses. Whatever
 * else ends the program calls exit(), which restores the terminal, too; and words that are
 * said leave the screen before.
 */
#include "stat/stat.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>

/* Lines of the screen that are no rows: the title, the footer */
#define TITLE_LINES	1
#define FOOTER_LINES	1

/* Seconds from a signal to the end, whatever the terminal does */
#define END_S		2

/* With all letters of a terminal of 80 columns, and one more that ends the text */
#define KEYS_SHOWN	"q:quit s:sort r:reverse a:all c:ctrl u:queue h:host p:port space:pause arrows"
_Static_assert(sizeof(KEYS_SHOWN) <= 80 + 1, "they fit the narrowest terminal that is usual");

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

struct screen {
	enum stat_by by;
	enum stat_column sort;
	bool reverse, paused, quit;
	size_t top;			/* the first row that is shown */
	enum stat_column left;		/* the first column behind the name */
	size_t nr_rows;			/* that there are */
	size_t nr_shown;
};

static volatile sig_atomic_t ended_by;
static bool is_open;
static struct termios mode_before;

/* Nothing here may wait for the terminal */
static void end_at_once(void)
{
	sigset_t all;

	tcsetattr(STDIN_FILENO, TCSANOW, &mode_before);
	signal(ended_by, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(ended_by);
}

static void on_end(int sig)
{
	if (ended_by)
		end_at_once();
	ended_by = sig;
	alarm(END_S);
}

static void close_screen(void)
{
	if (is_open)
		endwin();
	is_open = false;
}

/* @ends: those that end the program; @waiting: what is blocked while one waits */
static void take_signals(sigset_t *ends, sigset_t *waiting)
{
	struct sigaction action = { .sa_handler = on_end };
	sigset_t resize;
	size_t i;

	sigemptyset(ends);
	for (i = 0; i < NR(end_signals); i++) {
		sigaction(end_signals[i], &action, NULL);
		sigaddset(ends, end_signals[i]);
	}
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigprocmask(SIG_BLOCK, &resize, waiting);
}

static bool open_screen(void)
{
	if (tcgetattr(STDIN_FILENO, &mode_before) || !newterm(NULL, stdout, stdin))
		return false;
	is_open = true;
	before_message = close_screen;
	atexit(close_screen);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	set_escdelay(50);
	curs_set(0);
	return true;
}

/* A line, cut where the screen ends, and filled up to there */
static void draw_line(int y, attr_t how, const char *text)
{
	if (y >= LINES)
		return;
	attrset(how);
	mvprintw(y, 0, "%-*.*s", COLS, COLS, text);
	attrset(A_NORMAL);
}

/* The widest name that is shown; titles count, too */
static int name_width(const struct stat_rows *rows)
{
	size_t i, width = strlen("CONTROLLER");

	for (i = 0; i < rows->nr; i++) {
		size_t len = strlen(column_text(&rows->list[i], COL_NAME));

		if (len > width)
			width = len;
	}
	return width;
}

static const char *line_of(const struct screen *screen, const struct stat_row *row, int names,
			   bool title)
{
	enum stat_column column;
	const char *line = NULL;

	for (column = COL_NAME; column < NR_COLUMNS; column++) {
		const char *text = title ? column_title(column, row->side, row->by) :
				   column_text(row, column);

		if (column == COL_NAME)
			line = mem_fmt("%-*s", names, text);
		else if (column >= screen->left)
			line = mem_fmt("%s %*s", line, column_width(column), text);
	}
	return line;
}

static bool is_well(const char *state)
{
	return !strcmp(state, "live") || !strcmp(state, "listening");
}

/* Rows from the first one on, with a header over those of each side; how many there was
 * room for
 */
static size_t draw_rows(const struct screen *screen, const struct stat_rows *rows)
{
	int y = TITLE_LINES, bottom = LINES - FOOTER_LINES, names = name_width(rows);
	size_t i;

	for (i = screen->top; i < rows->nr; i++) {
		const struct stat_row *row = &rows->list[i];
		bool header = i == screen->top || row->side != row[-1].side;

		if (y + header >= bottom)
			break;
		if (header)
			draw_line(y++, A_REVERSE, line_of(screen, row, names, true));
		draw_line(y++, is_well(row->state) ? A_NORMAL : A_BOLD,
			  line_of(screen, row, names, false));
	}
	return i - screen->top;
}

static const char *title_of(const struct screen *screen, const struct sample *sample,
			    const struct stat_rows *rows)
{
	char when[sizeof("hh:mm:ss")] = "";
	const char *seconds;
	struct tm tm;

	if (localtime_r(&sample->time.tv_sec, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	seconds = sample->seconds > 0 ? mem_fmt("over %.1f s", sample->seconds) :
		  "the first interval runs";
	return mem_fmt("nvmerdma stat  %s  rows %zu-%zu of %zu  %s%s  %s by %s%s", when,
		       rows->nr ? screen->top + 1 : 0, screen->top + screen->nr_shown, rows->nr,
		       seconds, screen->paused ? "  PAUSED" : "", by_name(screen->by),
		       column_name(screen->sort), screen->reverse ? ", reversed" : "");
}

static void draw(struct screen *screen, const struct sample *sample)
{
	struct stat_rows rows = stat_rows(sample, screen->by);

	stat_sort(&rows, screen->sort, screen->reverse);
	screen->nr_rows = rows.nr;
	if (screen->top && screen->top >= rows.nr)
		screen->top = rows.nr ? rows.nr - 1 : 0;
	erase();
	screen->nr_shown = draw_rows(screen, &rows);
	if (!rows.nr)
		draw_line(TITLE_LINES + 1, A_BOLD, "nothing is connected");
	draw_line(0, A_BOLD, title_of(screen, sample, &rows));
	draw_line(LINES - 1, A_REVERSE, KEYS_SHOWN);
	refresh();
}

static void next_sort(struct screen *screen)
{
	do {
		screen->sort = (screen->sort + 1) % NR_COLUMNS;
	} while (!column_sorts(screen->sort));
	screen->top = 0;
}

static void scroll_rows(struct screen *screen, int key)
{
	size_t page = screen->nr_shown > 1 ? screen->nr_shown - 1 : 1, by = 1, rest;

	if (key == KEY_PPAGE || key == KEY_NPAGE)
		by = page;
	if (key == KEY_UP || key == KEY_PPAGE) {
		screen->top -= screen->top < by ? screen->top : by;
		return;
	}
	rest = screen->nr_rows - screen->top - screen->nr_shown;
	screen->top += rest < by ? rest : by;
}

static void scroll_columns(struct screen *screen, int key)
{
	if (key == KEY_RIGHT && screen->left < COL_NQN)
		screen->left++;
	else if (key == KEY_LEFT && screen->left > COL_STATE)
		screen->left--;
}

/* In the order of enum stat_by */
static const char by_keys[NR_BY + 1] = "acuhp";

static void take_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
		screen->quit = true;
		break;
	case 's':
		next_sort(screen);
		break;
	case 'r':
		screen->reverse = !screen->reverse;
		break;
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 'a':
	case 'c':
	case 'u':
	case 'h':
	case 'p':
		screen->by = strchr(by_keys, key) - by_keys;
		screen->top = 0;
		break;
	case KEY_UP:
	case KEY_DOWN:
	case KEY_PPAGE:
	case KEY_NPAGE:
		scroll_rows(screen, key);
		break;
	case KEY_RESIZE:
		clearok(stdscr, true);
		break;
	case KEY_LEFT:
	case KEY_RIGHT:
		scroll_columns(screen, key);
		break;
	default:
		break;
	}
}

/* ppoll() for a key, unless the program is to end */
static int poll_key(struct pollfd *in, const struct timespec *left, const sigset_t *ends,
		    const sigset_t *waiting)
{
	int ret = 0;

	sigprocmask(SIG_BLOCK, ends, NULL);
	if (!ended_by)
		ret = ppoll(in, 1, left, waiting);
	sigprocmask(SIG_UNBLOCK, ends, NULL);
	return ret;
}

/* Waits for a key, at most until @due; is it time for the next sample? */
static bool wait_keys(struct screen *screen, uint64_t due, const sigset_t *ends,
		      const sigset_t *waiting)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = stat_now();
	struct timespec left = { 0 };
	int key;

	if (due > now) {
		left.tv_sec = (due - now) / 1000000000;
		left.tv_nsec = (due - now) % 1000000000;
	}
	if (poll_key(&in, screen->paused ? NULL : &left, ends, waiting) > 0 &&
	    in.revents & (POLLHUP | POLLERR | POLLNVAL))
		screen->quit = true;		/* the terminal is gone */
	while ((key = getch()) != ERR)
		take_key(screen, key);
	return !screen->paused && stat_now() >= due;
}

int screen_run(const struct stat_options *options, struct history *history)
{
	struct screen screen = {
		.by = options->by, .left = COL_STATE,
		.sort = options->sorted ? options->sort : COL_IOPS,
	};
	uint64_t step = options->interval * 1e9, due = stat_now();
	struct mem_mark base = mem_mark();
	unsigned long shown = 0;
	sigset_t ends, waiting;

	if (!open_screen())
		return -1;
	take_signals(&ends, &waiting);
	while (!screen.quit && !ended_by) {
		struct sample sample = stat_sample(&options->dirs, history);
		struct mem_mark drawn = mem_mark();

		due = due + step > sample.ns ? due + step : sample.ns + step;
		do {
			draw(&screen, &sample);
			mem_release(drawn);
		} while (!wait_keys(&screen, due, &ends, &waiting) && !screen.quit && !ended_by);
		history_keep(history, &sample);
		mem_release(base);
		if (options->count && shown++ == options->count)
			break;
	}
	close_screen();
	if (ended_by)
		end_at_once();
	return STATUS_OK;
}
