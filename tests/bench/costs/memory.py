# SPDX-License-Identifier: GPL-2.0
"""Memory of an idle connected I/O queue on each side (guest/memory.sh).

A file of results has "format", "kernel", and what results.py says of when and by
what; "memory" is {side: {pair: {median, samples}}}, KiB of a queue.
"""

import os
from collections import defaultdict
from statistics import median

from . import BENCH, REPO, BenchError, guest

SIDES = ("host", "target")
DEADLINE = 900


def run(directory, kver, out):
    """Two guests and a wire."""
    command = [os.path.join(REPO, "tests/vm/run"), "--results", directory,
               "--kver", kver, "--modules", guest.build(kver),
               "--timeout", str(DEADLINE), "--boot-timeout", "300",
               "--env", "BENCH_DEVICE=rxe",
               "--guest", "target", "--cpus", "2", "--mem", "2048",
               "--guest", "host", "--cpus", "16", "--mem", "3072",
               "--", "bash", os.path.join(BENCH, "guest/memory.sh")]
    status = guest.run_guests(command, out)
    if status:
        raise BenchError(f"the guests failed, status {status}; their "
                         f"words are in {directory}.log")


def per_queue(text):
    """{pair: [KiB of a queue, of each round]} of a file 'memory': lines "PAIR
    QUEUES KIB-FREE", few queues and many in turn"""
    found, few = defaultdict(list), {}
    for line in text.splitlines():
        pair, queues, free = line.split()
        queues, free = int(queues), int(free)
        if pair not in few:
            few[pair] = queues, free
            continue
        before = few.pop(pair)
        if queues == before[0]:
            raise BenchError(f"memory: {pair} was measured twice with {queues}")
        found[pair].append((before[1] - free) / (queues - before[0]))
    return dict(found)


def results(directory):
    """What the guests have measured, {side: {pair: {median, samples}}}."""
    out = {}
    for side in SIDES:
        with open(f"{directory}/{side}/memory", encoding="ascii") as f:
            out[side] = {
                pair: {"median": round(median(s), 1),
                       "samples": [round(x, 1) for x in s]}
                for pair, s in per_queue(f.read()).items()}
    return out
