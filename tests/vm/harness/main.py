# SPDX-License-Identifier: GPL-2.0
"""Command line, the run directory, the loop that watches."""

import os
import shutil
import signal
import sys
import tempfile
import time

from . import REPO, HarnessError, accel, image, options
from .control import Control
from .guest import Guest, Starved, wait_for_sockets

# How long the others may continue once one guest has failed.
GRACE = 20.0


class Run:
    """A run: its directory and its guests."""

    def __init__(self, opt):
        self.opt = opt
        self.temporary = opt.results is None
        self.dir = os.path.realpath(opt.results or
                                    tempfile.mkdtemp(prefix="vm-run."))
        self.sockets = tempfile.mkdtemp(prefix="vm.", dir="/tmp")
        self.starved = Starved([os.path.join(self.dir, g.name, "starved")
                                for g in opt.guests])
        self.guests = [Guest(g, i, len(opt.guests), self.dir, self.sockets, self.starved)
                       for i, g in enumerate(opt.guests)]

    def prepare(self):
        """Make the run directory and the images that the guests boot."""
        sync = os.path.join(self.dir, "sync")
        for guest in self.guests:
            shutil.rmtree(guest.dir, ignore_errors=True)
        shutil.rmtree(sync, ignore_errors=True)
        os.makedirs(sync)
        shutil.copy(os.path.join(REPO, "tests/vm/guest-init"),
                    os.path.join(self.dir, "guest-init"))
        names = [g.name for g in self.guests]
        for guest in self.guests:
            guest.prepare(self._modules(guest.opt), names,
                          accel.choose(self.opt.accel, guest.opt.kver))
        self.control = Control(sync, self.guests)

    def _modules(self, opt):
        """The name under /vm/modules of the guest's module index."""
        if (not opt.modules and not opt.extra
                and not image.installed(opt.kver)):
            return None
        index = image.modules(opt.modules, opt.only, opt.kver, opt.extra)
        name = os.path.basename(index)
        mine = os.path.join(self.dir, "modules", name)
        if not os.path.exists(mine):
            shutil.copytree(index, mine, copy_function=_link_or_copy)
        return name

    def start(self):
        """Power on all guests, the one that holds the wire first."""
        for guest in self.guests:
            guest.start(image.kernel(guest.opt.kver), image.initramfs(guest.opt.kver))
            wait_for_sockets(guest)

    def watch(self):
        """Until every guest has ended."""
        grace = None
        while any(g.running() for g in self.guests):
            time.sleep(0.05)
            self.starved.look([g.process.pid for g in self.guests if g.running()])
            self.control.serve()
            for guest in self.guests:
                if not guest.running():
                    continue
                guest.poll(grace)
                self._show(guest)
                if not guest.running() and guest.status:
                    self._mark_failed(guest)
                    grace = grace or time.monotonic() + GRACE

    def _mark_failed(self, guest):
        """Barriers stop waiting when they see this file."""
        path = os.path.join(self.dir, "sync", "failed")
        with open(path, "a", encoding="utf-8") as f:
            f.write(f"{guest.name}\n")

    def _show(self, guest):
        data = guest.new_output()
        if self.opt.quiet or not data:
            return
        text = data.decode("utf-8", "replace")
        if len(self.guests) > 1:
            pad = max(len(g.name) for g in self.guests)
            text = "".join(f"{guest.name:>{pad}}: {line}"
                           for line in text.splitlines(True))
        sys.stdout.write(text)
        sys.stdout.flush()

    def stop(self, why):
        """Leave no QEMU behind, whatever has happened."""
        try:
            for guest in self.guests:
                guest.stop(why)
        finally:
            # also where its directory has gone, or the disk is full
            for guest in self.guests:
                guest.kill()
            shutil.rmtree(self.sockets, ignore_errors=True)

    def died_booting(self):
        """Whether a guest died before its command started. What it ran until
        then is Debian's kernel and the emulator, of which QEMU 7.2 sometimes
        runs into a breakpoint that the kernel has just taken away from the
        code that it patches ("Oops: int3")."""
        return any(g.died_booting() for g in self.guests)

    def verdict(self):
        """Report, clean up, and the exit status."""
        for guest in self.guests:
            guest.report()
        bad = [g.status for g in self.guests if g.status]
        self._drop_bulk()
        if self.temporary and not self.opt.keep and not bad:
            shutil.rmtree(self.dir, ignore_errors=True)
        elif bad or self.temporary:
            print(f"vm: consoles and results: {self.dir}", file=sys.stderr)
        return bad[0] if bad else 0

    def _drop_bulk(self):
        """Disk images and modules are no results."""
        shutil.rmtree(os.path.join(self.dir, "modules"), ignore_errors=True)
        for guest in self.guests:
            for n in range(len(guest.opt.disks)):
                try:
                    os.unlink(guest.path(f"disk{n}.img"))
                except FileNotFoundError:
                    pass


def _link_or_copy(src, dst):
    try:
        os.link(src, dst)
    except OSError:
        shutil.copy2(src, dst)


def _interrupted(*unused):
    raise KeyboardInterrupt


def main(argv):
    """tests/vm/run; returns its exit status."""
    run, again = None, False
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        opt = options.parse(argv)
        while True:
            run = Run(opt)
            run.prepare()
            run.start()
            run.watch()
            run.stop("")
            if again or not run.died_booting():
                return run.verdict()
            again = True
            run.verdict()
            print("vm: nothing of the run had begun; starting anew",
                  file=sys.stderr, flush=True)
    except HarnessError as e:
        print(f"vm: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        # of a cache, a log or a disk's image: no room, no right
        print(f"vm: {e.filename or 'a file of the run'}: {e.strerror}; the run's files are "
              f"in {run.dir if run else tempfile.gettempdir()}, what guests boot is in "
              f"{image.CACHE}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("vm: interrupted", file=sys.stderr)
        return 130
    finally:
        if run:
            run.stop("the run was interrupted")
