# SPDX-License-Identifier: GPL-2.0
"""Which job starts when.

All jobs wait in one queue. A job may start when those that it needs have ended well, and
while the weights of all that run, its own with them, come to no more than SLACK times the
processors, and the memory of their guests fits that of the machine. Jobs that others wait
for come first, then the longest, so that nothing long is left for the end; those that are to
run alone come when nothing else is left. Where nothing runs, the first in the queue starts
whatever its weight.
"""

import concurrent.futures
import os
import threading
import time

# Weights are means: each guest is idle now and then. Two guests that keep 0.85 of a processor
# busy leave room for a third one. Time that they take from each other does not count against
# their deadlines (harness/guest.py)
SLACK = 1.3


def available_mib(path="/proc/meminfo"):
    """The machine's memory that is to be had, in MiB."""
    with open(path, encoding="ascii") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return 1024


def order(jobs):
    """@jobs, in the order in which they want to start."""
    needed = {j for job in jobs for j in job.needs}
    return sorted(jobs, key=lambda j: (j.alone, j not in needed, -j.seconds))


class Queue:
    """Runs jobs on @cpus processors; @show is called with each that has ended. Without
    @keep_going the first failure ends all others, which then have no end."""

    def __init__(self, jobs, cpus, show, keep_going=True, mem=None):
        self.jobs, self.cpus, self.show = jobs, cpus, show
        self.keep_going = keep_going
        self.mem = mem or available_mib()
        self.begun = time.monotonic()
        self._waiting = order(jobs)
        self._running = []
        self._broken, self._cut = None, False
        self._change = threading.Condition()

    def run(self):
        """Until all have ended. An interruption ends those that run, and goes on."""
        with concurrent.futures.ThreadPoolExecutor(max(1, len(self.jobs))) as pool:
            try:
                with self._change:
                    while self._waiting or self._running:
                        if self._broken:
                            raise self._broken
                        if self._cut:
                            type(self.jobs[0]).stop_all(self.jobs)
                        job = self._next()
                        if job:
                            self._start(pool, job)
                        else:
                            # a signal is taken between two waits
                            self._change.wait(1)
            except BaseException:
                self._waiting.clear()
                type(self.jobs[0]).stop_all(self.jobs)
                raise

    def fits(self, job):
        """Whether there is room for the job beside those that run."""
        if not self._running:
            return True
        if self.cpus == 1:
            return False
        if job.alone or any(j.alone for j in self._running):
            return False
        return (sum(j.weight for j in self._running) + job.weight
                <= self.cpus * SLACK
                and sum(j.mem for j in self._running) + job.mem <= self.mem)

    def _next(self):
        """The job that is to start now; None if there is none.

        One that needs what has failed ends here."""
        for job in list(self._waiting):
            bad = [j.name for j in job.needs if j in self.jobs and j.failed]
            if bad and all(j.ended is not None for j in job.needs):
                self._waiting.remove(job)
                job.not_run(f"it needs {' and '.join(bad)}, which failed")
                self._end(job)
            elif job.alone and (self._running or any(
                    not j.alone for j in self._waiting)):
                continue
            elif all(j.ended is not None for j in job.needs) and self.fits(job):
                return job
        return None

    def _start(self, pool, job):
        self._waiting.remove(job)
        self._running.append(job)
        job.began = time.monotonic() - self.begun
        pool.submit(self._one, job)

    def _one(self, job):
        try:
            job.run()
        except OSError as e:
            job.not_run(f"cannot run it: {e}{_room()}")
        except Exception as e:  # what the run itself does wrong is not the job's success
            job.not_run(f"{type(e).__name__}: {e}")
        with self._change:
            self._running.remove(job)
            try:
                if not self._cut:
                    self._end(job)
            except Exception as e:  # for run(), which has to end with it
                self._broken = e
            self._change.notify()

    def _end(self, job):
        job.ended = time.monotonic() - self.begun
        if job.began is None:
            job.began = job.ended
        self.show(job)
        if job.failed and not self.keep_going:
            self._waiting.clear()
            self._cut = True


def _room():
    """Words about the disk, if it is full."""
    free = os.statvfs(".")
    return "; the disk is full" if free.f_bavail * free.f_frsize < 1 << 20 else ""
