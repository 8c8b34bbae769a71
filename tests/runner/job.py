# SPDX-License-Identifier: GPL-2.0
"""One line of a run: a command that is started, watched and counted."""

import os
import re
import signal
import subprocess
import threading
import time

from . import REPO

COUNTS = re.compile(r"(?:^|: )(\d+) passed, (\d+) failed$", re.M)
# A line of another check, or of the next part of a scenario
NEXT_CHECK = re.compile(r"ok - |== ")
# Lines of a log that are shown for one failure
SHOWN_OF_ONE = 12


def file_name(name):
    """A job's name as that of a file."""
    return re.sub(r"[^\w.]+", "-", name)


class Process:
    """A command in a process group of its own, and the processor time that it takes."""

    def __init__(self, command, log):
        self._popen = subprocess.Popen(command, cwd=REPO, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        self._lock = threading.Lock()
        self.status = None
        self.cpu = 0.0      # seconds, with all descendants that somebody waited for

    def poll(self):
        """Its exit status; None while it runs."""
        with self._lock:
            if self.status is None:
                pid, status, used = os.wait4(self._popen.pid, os.WNOHANG)
                if pid:
                    self.status = os.waitstatus_to_exitcode(status)
                    self._popen.returncode = self.status
                    self.cpu = used.ru_utime + used.ru_stime
            return self.status

    def wait(self, seconds):
        """Its exit status; None if it still runs after so many seconds."""
        end = time.monotonic() + seconds
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        return self.status

    def stop(self):
        """End it with all that it has started, guests among them."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + 20
            if self._signal(number):
                while self._signal(0) and time.monotonic() < end:
                    time.sleep(0.1)

    def _signal(self, number):
        """Whether the process group was there to be signalled."""
        self.poll()
        try:
            os.killpg(self._popen.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:     # it runs by sudo
            return subprocess.run(
                ["sudo", "-n", "kill", f"-{number}", "--",
                 f"-{self._popen.pid}"], check=False,
                stderr=subprocess.DEVNULL).returncode == 0
        return True


class Job:
    """A command whose last line counts its checks, or which is one check itself (@counts
    is False).

    Before the queue starts it, it knows what that will cost (costs.py): @weight, the
    processors that it keeps busy, @seconds, how long it runs, and @mem, the MiB that its
    guests may take.
    """

    # Where the logs go; set once for a run
    logs = None
    # Set once the run is to end; no job starts after that.
    ending = False
    _starting = threading.Lock()

    # Whether nothing may run beside it
    alone = False
    # Whether 'make check' has it only for a change that it looks at (since.py)
    beyond = False
    mem = 0

    def __init__(self, name, command, counts=True, timeout=1500, weight=1.0, seconds=60.0):
        """@weight, @seconds: what it costs where no earlier run is known"""
        self.name, self.command = name, command
        self.counts, self.timeout = counts, timeout
        self.process, self.note = None, None
        self.twice = False                  # it ran a second time
        self.passed = self.failed = 0
        self.cpu = self.starved = 0.0       # seconds; see took()
        self.began = self.ended = None      # seconds after the run's begin
        self.needs = []                     # jobs that come before
        self.weight, self.seconds = weight, seconds
        self.log = os.path.join(Job.logs, file_name(name) + ".log")

    def run(self):
        """Run it; what it printed is in the log."""
        path = self.command[0]
        if path.startswith("tests/") and not os.access(path, os.X_OK):
            self.not_run(f"{path} is not there or cannot be run")
            return
        with open(self.log, "wb") as f:
            with Job._starting:
                if not Job.ending:
                    self.process = Process(self.command, f)
            if not self.process:
                self.not_run("the run was ended before")
                return
            timeout = self.timeout * int(os.environ.get("VM_MACHINE_SLOW", 1))
            status = self.process.wait(timeout)
            if status is None:
                status = 124
                self.process.stop()
                f.write(b"\nnot ok - still running after %d s\n" % timeout)
        self.cpu += self.process.cpu
        self._count(status)

    def known_as(self):
        """The name by which what it costs is known."""
        return self.name

    def took(self):
        """Seconds that it would have taken with nothing else beside it: without those in
        which it waited for a processor, as far as that is known."""
        return max(0.1, self.ended - self.began - self.starved)

    def not_run(self, why):
        """It has failed without having begun."""
        self.failed += 1
        self.note = why
        try:
            with open(self.log, "w", encoding="utf-8") as f:
                f.write(f"not ok - not run: {why}\n")
        except OSError:
            pass    # the note says it

    @staticmethod
    def stop_all(jobs):
        """Start no more jobs, and end those of @jobs that run."""
        with Job._starting:
            Job.ending = True
        for job in jobs:
            if job.ended is None and job.process:
                job.process.stop()

    def text(self):
        """The log."""
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError as e:
            return f"not ok - no log: {self.log}: {e.strerror}\n"

    def _count(self, status):
        if not self.counts:
            self.passed, self.failed = (0, 1) if status else (1, 0)
            return
        found = COUNTS.findall(self.text())
        if found and not self._guests():
            found = found[-1:]
        for passed, failed in found:
            self.passed += int(passed)
            self.failed += int(failed)
        missing = max(1, self._guests()) - len(found)
        self.failed += max(0, missing)
        if status and not self.failed:
            self.failed = 1
        if not status and not self.passed and not self.failed:
            self.failed = 1

    @staticmethod
    def _guests():
        return 0

    def complaints(self, limit=60):
        """The lines of the log that say what went wrong, each with what was shown of it."""
        lines = self.text().splitlines()
        out, shows = [], 0
        for line in lines:
            if "not ok - " in line or line.startswith("vm: "):
                shows = SHOWN_OF_ONE
            elif NEXT_CHECK.match(line):
                shows = 0
            if shows:
                shows -= 1
                out.append(line)
        return out[:limit] or lines[-limit:]
