# SPDX-License-Identifier: GPL-2.0
"""How long connecting takes (tests/guest/connect-time.sh).

"connect" in a file of results is {target: {"far", "near": {queues: {what: [in-tree
host, ours]}}, "trips": {what: [in-tree host, ours]}}}: milliseconds with a round trip
of 10 ms and without, and round trips that each queue more adds.
"""

import os
import shutil
from collections import defaultdict

from . import REPO, BenchError, guest
from .results import read

TARGETS = ("kernel", "ours")
WHAT = ("connect", "reset", "disconnect")
DEADLINE = 1500


def run(directory, kver, target, out):
    """Two guests and a wire."""
    ours = guest.build(kver)
    shutil.rmtree(directory, ignore_errors=True)
    command = [os.path.join(REPO, "tests/vm/run"), "--results", directory,
               "--kver", kver, "--timeout", str(DEADLINE), "--boot-timeout", "300",
               "--guest", "target", "--modules", ours if target == "ours" else "none",
               "--cpus", "2", "--mem", "1024",
               "--guest", "host", "--modules", ours, "--cpus", "16", "--mem", "2048",
               "--", "bash", os.path.join(REPO, "tests/guest/connect-time.sh")]
    status = guest.run_guests(command, out)
    if status:
        raise BenchError(f"the guests failed, status {status}; their "
                         f"words are in {directory}.log")


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
