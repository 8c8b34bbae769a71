# SPDX-License-Identifier: GPL-2.0
"""Memory of an idle connected I/O queue on each side (guest/memory.sh).

A file of results has "format", "kernel", and what results.py says of when and by
what; "memory" is {setup: {side: {pair: {queues, median, samples}}}}, KiB of a queue.
"""

from collections import defaultdict
from statistics import median

from . import BenchError, guest

SIDES = ("host", "target")
DEADLINE = 900


def run(directory, kver):
    """Two guests and a wire. Return: what is not as it should be"""
    return guest.run_script(
        directory, kver, "bench/guest/memory.sh", DEADLINE,
        "--env", "BENCH_DEVICE=rxe",
        "--guest", "target", "--cpus", "2", "--mem", "2048",
        "--guest", "host", "--cpus", "16", "--mem", "3072")


def per_queue(text):
    """{setup: {pair: (queues, [KiB of a queue, of each round])}} of a file 'memory':
    lines "PAIR SETUP QUEUES KIB-FREE", after "few" of a round its other setups"""
    found, few = defaultdict(dict), {}
    for line in text.splitlines():
        pair, setup, queues, free = line.split()
        queues, free = int(queues), int(free)
        if setup == "few":
            few[pair] = queues, free
            continue
        if pair not in few or queues <= few[pair][0]:
            raise BenchError(f"memory: nothing to compare '{line}' with")
        found[setup].setdefault(pair, (queues, []))[1].append(
            (few[pair][1] - free) / (queues - few[pair][0]))
    return dict(found)


def results(directory):
    """What the guests have measured, {setup: {side: {pair: {...}}}}."""
    out = defaultdict(dict)
    for side in SIDES:
        with open(f"{directory}/{side}/memory", encoding="ascii") as f:
            for setup, pairs in per_queue(f.read()).items():
                out[setup][side] = {
                    pair: {"queues": queues, "median": round(median(s), 1),
                           "samples": [round(x, 1) for x in s]}
                    for pair, (queues, s) in pairs.items()}
    return dict(out)
