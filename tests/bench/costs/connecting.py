# SPDX-License-Identifier: GPL-2.0
"""How long connecting takes (tests/guest/connect/connect-time.sh).

"connect" in a file of results is {target: {"far", "near": {queues: {what: [in-tree
host, ours]}}, "trips": {what: [in-tree host, ours]}}}: milliseconds with a round trip
of 10 ms and without, and round trips that each queue more adds.
"""

from collections import defaultdict

from . import BenchError, guest
from .results import read

TARGETS = ("kernel", "ours")
WHAT = ("connect", "reset", "disconnect")
DEADLINE = 1500


def run(directory, kver, target):
    """Two guests and a wire. Return: what is not as it should be"""
    return guest.run_script(
        directory, kver, "guest/connect/connect-time.sh", DEADLINE,
        "--guest", "target", "--cpus", "2", "--mem", "1024",
        *(["--modules", "none"] if target == "kernel" else []),
        "--guest", "host", "--cpus", "16", "--mem", "2048")


def parsed(text):
    """What the host's guest printed: lines "table|near QUEUES WHAT MS MS" and "trips
    WHAT HUNDREDTHS HUNDREDTHS", the in-tree host's and ours"""
    out = {"far": defaultdict(dict), "near": defaultdict(dict), "trips": {}}
    for line in text.splitlines():
        kind, *rest = line.split() or [""]
        if kind in ("table", "near"):
            queues, what, *ms = rest
            out["near" if kind == "near" else "far"][queues][what] = [
                int(n) for n in ms]
        elif kind == "trips":
            what, *hundredths = rest
            out["trips"][what] = [int(n) / 100 for n in hundredths]
    if not out["far"] or not out["near"] or set(out["trips"]) != set(WHAT):
        raise BenchError("connect: the guest has not printed its figures")
    return out


def results(directory):
    """What the guests have measured."""
    return parsed(read(f"{directory}/host/out"))
