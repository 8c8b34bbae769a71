# SPDX-License-Identifier: GPL-2.0
"""Addresses to functions; files of counts (plugin/count.c writes them)."""

import bisect
import functools

from . import BenchError

USER = ("user space", "")
# The kernel and its modules; below are memory that it allocates, and stacks
IMAGE = 0xffffffff80000000


class Symbols:
    """The functions of a guest's kernel, from a copy of its /proc/kallsyms."""

    def __init__(self, path):
        found = []
        with open(path, encoding="ascii", errors="replace") as f:
            for line in f:
                words = line.split()
                if words[1] in "tTwW" and words[0] > "8":
                    found.append((int(words[0], 16), words[2],
                                  words[3][1:-1] if len(words) > 3 else ""))
        if not found:
            raise BenchError(f"{path} holds no addresses of functions")
        found.sort()
        self._addresses = [f[0] for f in found]
        self._functions = [f[1:] for f in found]
        self.at = functools.cache(self._at)

    def _at(self, address):
        """(function, module) at an address; module '' is the kernel itself"""
        if not address >> 63:
            return USER
        i = bisect.bisect_right(self._addresses, address)
        return self._functions[i - 1] if i else ("?", "")

    def start(self, address):
        """Where the function at an address begins."""
        return self._addresses[bisect.bisect_right(self._addresses, address) - 1]


class Data:
    """The variables of a guest's kernel, from the same file."""

    def __init__(self, path):
        found = []
        with open(path, encoding="ascii", errors="replace") as f:
            for line in f:
                words = line.split()
                if words[0] > "8":
                    found.append((int(words[0], 16), words[2]))
        found.sort()
        self._addresses = [f[0] for f in found]
        self._names = [f[1] for f in found]

    def line(self, address):
        """What is in the cache line at an address, in words"""
        if address < IMAGE:
            return "vmalloc or a stack" if 0xc9 <= address >> 40 & 0xff else "allocated"
        i = bisect.bisect_right(self._addresses, address)
        last = bisect.bisect_right(self._addresses, address + 63)
        return "/".join(self._names[max(i - 1, 0):last][:2]) or "?"


class Counts:
    """A file of counts: what was executed in one phase.

    blocks: (address, instructions, executions by owner, whether it is an
            iteration of a string instruction)
    locked: (address, locked instructions, executions by owner), of blocks of the
            kernel that have some
    calls:  (address of a function, calls by the caller's owner)
    moves, takes: (address of a block, cache lines by owner), if they were counted
    lines:  (address of data, how often its cache line moved)

    @cpu: the only processor whose counts these are; all of them without it. Several
    have their numbers one after another.
    """

    def __init__(self, path, cpu=None):
        with open(path, encoding="ascii") as f:
            lines = f.read().splitlines()
        if len(lines) < 2 or lines[-1] != "end":
            raise BenchError(f"{path} does not come to its end")
        head = lines[0].split()
        if head[0] != "owners":
            raise BenchError(f"{path} is no file of counts")
        owners, self.cpus = int(head[1]), int(head[3]) if len(head) > 3 else 1
        self.blocks, self.locked, self.calls = [], [], []
        self.moves, self.takes, self.lines = [], [], []

        def numbers(words, each=owners):
            found = [int(w) for w in words]
            if cpu is not None:
                return found[cpu * each:(cpu + 1) * each]
            if self.cpus == 1:
                return found
            return [sum(found[n::each]) for n in range(each)]

        for line in lines[1:-1]:
            words = line.split()
            locked = int(words[1]) if words[0] == "locked" else 0
            if locked:
                del words[:2]
            string = words[0] == "string"
            if string:
                del words[0]
            if words[0] in ("calls", "moves", "takes"):
                getattr(self, words[0]).append((int(words[1], 16),
                                                numbers(words[2:])))
            elif words[0] == "line":
                self.lines.append((int(words[1], 16), *numbers(words[2:], 1)))
            else:
                self.blocks.append((int(words[0], 16), int(words[1]),
                                    numbers(words[2:]), string))
                if locked:
                    self.locked.append((self.blocks[-1][0], locked,
                                        self.blocks[-1][2]))

    def total(self):
        """All instructions."""
        return sum(n * sum(c) for _, n, c, _ in self.blocks)
