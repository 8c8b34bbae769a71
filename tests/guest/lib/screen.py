#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs a full-screen program on a terminal of its own, presses keys and looks.

usage: screen.py ROWS COLUMNS COMMAND...      what to do comes on stdin, a line each:

  see SECONDS REGEX     a line of the screen matches, within the time
  not SECONDS REGEX     no line does
  keys TEXT             press these; \\n, \\x03, \\x1b[B as in Python
  size ROWS COLUMNS     the window changes its size
  signal NAME           send a signal
  sh COMMAND            has to succeed
  full                  something stands in the last line, and nothing beyond the last column
  end SECONDS STATUS    it ends by itself, with this status; -2 is SIGINT. The terminal is
                        then as it was before
  ends SECONDS STATUS   the same of a terminal that takes nothing: its mode is as before

The terminal is what of an xterm ncurses uses.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

SEQUENCE = re.compile(
    rb"\x1b\[([?>]?)([0-9;]*)([@A-Za-z`])|\x1b([()#].|[=>78cM])|\x1b\][^\x07]*\x07", re.S)
UNFINISHED = re.compile(rb"\x1b(\[[?>]?[0-9;]*|[()#]|\][^\x07]*)?$", re.S)


class Terminal:
    """Cells, a cursor, and the sequences that move it"""

    def __init__(self, rows, cols):
        self.rest = b""
        self.modes = {}
        self.last = " "
        self.resize(rows, cols)

    def clear(self):
        self.cells = [[" "] * self.cols for _ in range(self.rows)]

    def resize(self, rows, cols):
        self.rows, self.cols, self.bottom = rows, cols, rows
        self.clear()
        self.y = self.x = 0

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def feed(self, data):
        data, self.rest = self.rest + data, b""
        at = 0
        while at < len(data):
            if data[at] == 0x1B:
                found = SEQUENCE.match(data, at)
                if found:
                    self.sequence(found)
                    at = found.end()
                    continue
                if UNFINISHED.match(data, at):
                    self.rest = data[at:]
                    return
                raise SystemExit(f"what is {data[at:at + 12]!r} to an xterm?")
            self.char(chr(data[at]))
            at += 1

    def char(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            self.y = min(self.y + 1, self.rows - 1)
        elif c == "\b":
            self.x = max(self.x - 1, 0)
        elif c == "\t":
            self.x = min(self.x // 8 * 8 + 8, self.cols - 1)
        elif c >= " ":
            if self.x >= self.cols:
                self.x, self.y = 0, min(self.y + 1, self.rows - 1)
            self.cells[self.y][self.x] = self.last = c
            self.x += 1

    def sequence(self, found):
        private, args, what = found.group(1), found.group(2), found.group(3)
        if what is None:
            return
        n = [int(a) if a else 0 for a in args.split(b";")]
        what, one = what.decode(), max(n[0], 1)
        self.x = min(self.x, self.cols - 1)
        row = self.cells[self.y]
        if private:
            self.modes[args] = what
        elif what == "H":
            self.y = min(one, self.rows) - 1
            self.x = min(max(n[1] if len(n) > 1 else 1, 1), self.cols) - 1
        elif what == "d":
            self.y = min(one, self.rows) - 1
        elif what in "G`":
            self.x = min(one, self.cols) - 1
        elif what in "ABCD":
            dy, dx = {"A": (-1, 0), "B": (1, 0), "C": (0, 1), "D": (0, -1)}[what]
            self.y = min(max(self.y + dy * one, 0), self.rows - 1)
            self.x = min(max(self.x + dx * one, 0), self.cols - 1)
        elif what == "J":
            self.erase_screen(n[0])
        elif what == "K":
            first, last = {0: (self.x, self.cols), 1: (0, self.x + 1), 2: (0, self.cols)}[n[0]]
            row[first:last] = [" "] * (last - first)
        elif what == "X":
            last = min(self.x + one, self.cols)
            row[self.x:last] = [" "] * (last - self.x)
        elif what == "@":
            row[self.x:] = ([" "] * one + row[self.x:])[:self.cols - self.x]
        elif what == "P":
            row[self.x:] = (row[self.x:] + [" "] * one)[one:][:self.cols - self.x]
        elif what in "LM":
            self.move_lines(what, one)
        elif what == "r":
            self.bottom = n[1] if len(n) > 1 else self.rows
            self.y = self.x = 0
        elif what == "b":
            for _ in range(one):
                self.char(self.last)
        elif what not in "mhlt":
            raise SystemExit(f"what is {found.group(0)!r} to an xterm?")

    def move_lines(self, what, nr):
        """L: empty lines here, M: none of these; down to the end of the region"""
        region = self.cells[self.y:self.bottom]
        empty = [[" "] * self.cols for _ in range(min(nr, len(region)))]
        self.cells[self.y:self.bottom] = (empty + region[:len(region) - len(empty)]
                                          if what == "L" else region[len(empty):] + empty)

    def erase_screen(self, how):
        if how == 2:
            self.clear()
        elif how == 0:
            self.cells[self.y][self.x:] = [" "] * (self.cols - self.x)
            for y in range(self.y + 1, self.rows):
                self.cells[y] = [" "] * self.cols


def starved():
    """Seconds that this guest has waited for a processor (lib/wait.sh)"""
    try:
        with open(os.environ["VM_STARVED"], encoding="ascii") as f:
            return int(f.read()) / 1000
    except (KeyError, OSError, ValueError):
        return 0.0


class Session:
    def __init__(self, rows, cols, command):
        self.term = Terminal(rows, cols)
        self.master, self.slave = pty.openpty()
        self.set_size(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        env = dict(os.environ, TERM="xterm")
        env.pop("LINES", None)
        env.pop("COLUMNS", None)
        self.child = subprocess.Popen(command, stdin=self.slave, stdout=self.slave,
                                      stderr=self.slave, env=env, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def set_size(self, rows, cols):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, seconds):
        """What comes within the time; True if something did"""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.term.feed(os.read(self.master, 65536))
        return True

    def until(self, seconds, wanted):
        end = time.monotonic() - starved() + seconds * int(os.environ.get("VM_SLOW", 1))
        while not wanted():
            left = end - time.monotonic() + starved()
            if left <= 0:
                return False
            self.read(min(left, 0.1))
        return True

    def shows(self, regex):
        return any(re.search(regex, line) for line in self.term.lines())

    def fail(self, words):
        print(f"{words}; the screen is:")
        for line in self.term.lines():
            print(f"  |{line}")
        self.child.kill()
        raise SystemExit(1)

    def see(self, seconds, regex):
        if not self.until(float(seconds), lambda: self.shows(regex)):
            self.fail(f"no line matches '{regex}'")

    def see_not(self, seconds, regex):
        if not self.until(float(seconds), lambda: not self.shows(regex)):
            self.fail(f"a line still matches '{regex}'")

    def size(self, rows, cols):
        self.term.resize(int(rows), int(cols))
        self.set_size(int(rows), int(cols))
        os.killpg(self.child.pid, signal.SIGWINCH)

    def full(self):
        if not self.until(5, lambda: self.term.lines()[-1]):
            self.fail("the last line is empty")

    def ends(self, seconds, status):
        if not self.until(float(seconds), lambda: self.child.poll() is not None):
            self.fail("it has not ended")
        while self.read(0):
            pass
        if self.child.returncode != int(status):
            self.fail(f"it ended with {self.child.returncode}, not {status}")
        if termios.tcgetattr(self.slave) != self.before:
            self.fail("the terminal is not as it was")

    def end(self, seconds, status):
        self.ends(seconds, status)
        if self.term.modes.get(b"1049") != "l":
            self.fail("the screen of before is not back")
        if self.term.modes.get(b"25", "h") != "h" and self.term.modes.get(b"12;25") != "h":
            self.fail("there is no cursor")

    def do(self, line):
        what, _, rest = line.partition(" ")
        if what == "see":
            self.see(*rest.split(" ", 1))
        elif what == "not":
            self.see_not(*rest.split(" ", 1))
        elif what == "keys":
            os.write(self.master, rest.encode().decode("unicode_escape").encode("latin-1"))
        elif what == "size":
            self.size(*rest.split())
        elif what == "signal":
            os.killpg(self.child.pid, getattr(signal, "SIG" + rest))
        elif what == "sh":
            subprocess.run(["bash", "-c", rest], check=True)
        elif what == "full":
            self.full()
        elif what == "end":
            self.end(*rest.split())
        elif what == "ends":
            self.ends(*rest.split())
        else:
            raise SystemExit(f"what is '{line}'?")


def main():
    rows, cols, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    session = Session(rows, cols, command)
    for line in sys.stdin.read().splitlines():
        if line.strip():
            session.do(line.strip())
    if session.child.poll() is None:
        session.fail("it still runs")


main()
