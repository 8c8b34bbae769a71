// SPDX-License-Identifier: GPL-2.0
/*
 * The full screen: as many rows as fit, drawn anew for each sample.
 *
 * A signal that ends the program restores the terminal in its handler. There the terminal is
 * made not to block: one that takes nothing, stopped by ^S or behind a network that is gone,
 * must not keep the program alive. Whatever else ends it calls exit(), and a message leaves
 * the screen before it is printed.
 */
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define OPEN	"\x1b[?1049h\x1b[?25l"	/* another screen than the shell's, no cursor */
#define CLOSE	"\x1b[?25h\x1b[?1049l"
#define BOLD	"\x1b[1m"
#define REVERSE	"\x1b[7m"
#define PLAIN	"\x1b[0m"

#define KEYS_SHOWN	"q:quit s:sort a:all c:controller u:queue h:host p:port"
_Static_assert(sizeof(KEYS_SHOWN) <= 80 + 1, "they fit the narrowest terminal that is usual");

static const int end_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

struct screen {
	enum stat_by by;
	enum stat_column sort;
	bool quit;
	struct winsize size;
	FILE *out;		/* what is drawn goes to the terminal in one piece */
	int line;		/* the next one; 0 is the title's */
};

static volatile sig_atomic_t is_open;
static struct termios mode_before;

/* Also called by handlers of signals: nothing here may wait, or take memory */
static void restore_terminal(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (!is_open)
		return;
	is_open = false;
	fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	if (write(STDOUT_FILENO, CLOSE, strlen(CLOSE)) < 0)
		tcflush(STDOUT_FILENO, TCOFLUSH);
	fcntl(STDOUT_FILENO, F_SETFL, flags);
	tcsetattr(STDIN_FILENO, TCSANOW, &mode_before);
}

static void on_end(int sig)
{
	restore_terminal();
	raise(sig);
}

static void on_resize(int sig)
{
	(void)sig;		/* poll() ends with EINTR */
}

static bool open_screen(void)
{
	struct sigaction ends = { .sa_handler = on_end, .sa_flags = SA_RESETHAND | SA_NODEFER };
	struct sigaction resize = { .sa_handler = on_resize };
	const char *terminal = getenv("TERM");
	struct termios mode;
	size_t i;

	if (!terminal || !strcmp(terminal, "dumb") || tcgetattr(STDIN_FILENO, &mode_before))
		return false;
	for (i = 0; i < NR(end_signals); i++)
		sigaction(end_signals[i], &ends, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	mode = mode_before;
	mode.c_lflag &= ~(ICANON | ECHO);
	is_open = true;
	before_message = restore_terminal;
	atexit(restore_terminal);
	tcsetattr(STDIN_FILENO, TCSANOW, &mode);
	fputs(OPEN, stdout);
	return true;
}

/* A line, cut where the screen ends, and empty behind its text */
static void draw_line(struct screen *screen, const char *how, const char *text)
{
	fprintf(screen->out, "\x1b[%d;1H%s%-*.*s" PLAIN, ++screen->line, how,
		screen->size.ws_col, screen->size.ws_col, text);
}

/* The widest name; titles count, too */
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

static const char *line_of(const struct stat_row *row, int names, bool title)
{
	enum stat_column column;
	const char *line = NULL;

	for (column = COL_NAME; column < NR_COLUMNS; column++) {
		const char *text = title ? column_title(column, row->side, row->by) :
				   column_text(row, column);

		line = column == COL_NAME ? mem_fmt("%-*s", names, text) :
		       mem_fmt("%s %*s", line, column_width(column), text);
	}
	return line;
}

/* With a header over those of each side; how many there is room for */
static size_t draw_rows(struct screen *screen, const struct stat_rows *rows)
{
	int names = name_width(rows);
	size_t i;

	for (i = 0; i < rows->nr; i++) {
		const struct stat_row *row = &rows->list[i];
		bool header = !i || row->side != row[-1].side;
		bool well = !strcmp(row->state, "live") || !strcmp(row->state, "listening");

		if (screen->line + header + 1 >= screen->size.ws_row)
			break;
		if (header)
			draw_line(screen, REVERSE, line_of(row, names, true));
		draw_line(screen, well ? "" : BOLD, line_of(row, names, false));
	}
	return i;
}

static const char *title_of(const struct screen *screen, const struct sample *sample,
			    const struct stat_rows *rows, size_t shown)
{
	char when[sizeof("hh:mm:ss")] = "";
	struct tm tm;

	if (localtime_r(&sample->time.tv_sec, &tm))
		strftime(when, sizeof(when), "%H:%M:%S", &tm);
	return mem_fmt("nvmerdma stat  %s  rows %zu of %zu  %s  %s by %s", when, shown, rows->nr,
		       sample->seconds > 0 ? mem_fmt("over %.1f s", sample->seconds) :
		       "the first interval runs", by_name(screen->by), column_name(screen->sort));
}

static void draw(struct screen *screen, const struct sample *sample)
{
	struct stat_rows rows = stat_rows(sample, screen->by);
	char *text = NULL;
	size_t size, shown;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &screen->size) || !screen->size.ws_col)
		screen->size = (struct winsize) { .ws_row = 24, .ws_col = 80 };
	screen->out = open_memstream(&text, &size);
	if (!screen->out)
		return;
	stat_sort(&rows, screen->sort);
	screen->line = 1;
	shown = draw_rows(screen, &rows);
	if (!rows.nr)
		draw_line(screen, BOLD, "nothing is connected");
	fputs("\x1b[J", screen->out);
	screen->line = 0;
	draw_line(screen, BOLD, title_of(screen, sample, &rows, shown));
	screen->line = screen->size.ws_row - 1;
	draw_line(screen, REVERSE, KEYS_SHOWN);
	if (!fclose(screen->out))
		fwrite(text, size, 1, stdout);
	free(text);
	fflush(stdout);
}

static void take_key(struct screen *screen, char key)
{
	static const char views[] = {
		[BY_ALL] = 'a', [BY_CONTROLLER] = 'c', [BY_QUEUE] = 'u', [BY_HOST] = 'h',
		[BY_PORT] = 'p',
	};
	const char *view = memchr(views, key, sizeof(views));

	if (key == 'q')
		screen->quit = true;
	else if (view)
		screen->by = view - views;
	while (key == 's') {
		screen->sort = (screen->sort + 1) % NR_COLUMNS;
		if (column_sorts(screen->sort))
			break;
	}
}

/* Until a key was pressed, the window has changed, or the next sample is due: then true */
static bool wait_keys(struct screen *screen, uint64_t due)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = stat_now(), left = due > now ? due - now : 0;
	char keys[16];
	ssize_t i, n;

	if (poll(&in, 1, (left + 999999) / 1000000) > 0) {
		n = read(STDIN_FILENO, keys, sizeof(keys));
		if (n <= 0)
			screen->quit = true;		/* the terminal is gone */
		for (i = 0; i < n; i++)
			take_key(screen, keys[i]);
	}
	return stat_now() >= due;
}

int screen_run(const struct stat_options *options, struct history *history)
{
	struct screen screen = {
		.by = options->by, .sort = options->sorted ? options->sort : COL_IOPS,
	};
	uint64_t step = options->interval * 1e9, due = stat_now();
	struct mem_mark base = mem_mark();
	unsigned long shown = 0;
	int ret = 0;

	if (!open_screen())
		return -1;
	while (!ret && !screen.quit) {
		struct sample sample = stat_sample(&options->dirs, history);
		struct mem_mark drawn = mem_mark();

		due = due + step > sample.ns ? due + step : sample.ns + step;
		do {
			draw(&screen, &sample);
			mem_release(drawn);
		} while (!wait_keys(&screen, due) && !screen.quit);
		ret = history_keep(history, &sample);
		mem_release(base);
		if (options->count && shown++ == options->count)
			break;
	}
	restore_terminal();
	return ret ? STATUS_FAILED : STATUS_OK;
}
