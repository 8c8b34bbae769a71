# SPDX-License-Identifier: GPL-2.0
"""How fast this machine is, now: deadlines are scaled by that.

All processors do the same piece of work at once. How long that takes, against the machine
that the deadlines were chosen on, is how many times as slow this one is: because it is
slower, or because somebody else uses it. What becomes of it later, the guests are told
by what they wait for a processor (harness/guest.py).
"""

import os
import signal
import time

# On the machine that the deadlines were chosen on, with nothing beside it
REFERENCE_SECONDS = 0.30
# A loop in Python, which resembles the work of an emulator
STEPS = 6_000_000
MOST = 20


def _work():
    total = 0
    for n in range(STEPS):
        total += n & 3
    return total


def measure():
    """The seconds that the work takes, on all processors at once."""
    begun = time.monotonic()
    children = []
    for _ in os.sched_getaffinity(0):
        pid = os.fork()
        if not pid:
            try:
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                _work()
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    return time.monotonic() - begun


def slowness(seconds):
    """The factor of the deadlines where the work took so many seconds: a whole number, as
    shells calculate with it. What is not half as slow again still counts as 1."""
    return min(MOST, max(1, round(seconds / REFERENCE_SECONDS)))
