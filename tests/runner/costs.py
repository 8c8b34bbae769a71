# SPDX-License-Identifier: GPL-2.0
"""What each job took last time: which jobs go together, and which come first.

One line a job, "SECONDS CPU NAME": how long it ran, not counted where its guests had to
wait for a processor, for how many seconds it kept one busy, and its name. The figures of
this machine are kept outside of the tree; jobs that have none there are guessed.
"""

import math
import os
import tempfile

from . import CACHE

FILE = os.path.join(CACHE, "test-costs")
# A job that only waits still needs some processor time
LEAST_WEIGHT = 0.1


def _line(text):
    """(name, seconds, CPU seconds) of a line; ValueError says what is wrong."""
    words = text.split(None, 2)
    if len(words) != 3:
        raise ValueError("expected SECONDS CPU NAME")
    try:
        numbers = [float(w) for w in words[:2]]
    except ValueError:
        numbers = [math.nan]
    if not all(math.isfinite(n) and 0 <= n <= 86400 for n in numbers):
        raise ValueError("expected two numbers of seconds, 0 to 86400")
    return words[2].strip(), *numbers


def read(path=FILE, say=print):
    """{name: (seconds, CPU seconds)} of a file; what makes no sense there is said, and
    left out."""
    found = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for number, text in enumerate(f, 1):
                try:
                    name, seconds, cpu = _line(text)
                    found[name] = seconds, cpu
                except ValueError as e:
                    say(f"tests: {path}:{number}: '{text.strip()[:60]}': {e}; its job's "
                        "cost is guessed")
    except FileNotFoundError:
        pass
    except OSError as e:
        say(f"tests: {path}: {e.strerror}; what jobs cost is guessed")
    return found


def apply(jobs, known, cpus):
    """Give each job the weight and time that are known of it."""
    for job in jobs:
        seconds, cpu = known.get(job.known_as(), (0, 0))
        if seconds:
            job.seconds = seconds
            job.weight = min(max(cpu / seconds, LEAST_WEIGHT), cpus)


def write(jobs, known, busy=False, path=FILE, say=print):
    """Keep what @jobs took, beside what is @known of others. What they took of a @busy
    machine says little, and counts where nothing else is known."""
    for job in jobs:
        if job.ended and job.cpu and not job.failed and not job.note and not (
                busy and job.known_as() in known):
            known[job.known_as()] = job.took(), job.cpu
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # another run may write it, too
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=os.path.dirname(path),
                                         prefix="test-costs.", delete=False) as f:
            for name, (seconds, cpu) in sorted(known.items()):
                f.write(f"{seconds:.1f} {cpu:.1f} {name}\n")
        os.rename(f.name, path)
    except OSError as e:
        say(f"tests: {path}: {e.strerror}: what the jobs took is not kept")
