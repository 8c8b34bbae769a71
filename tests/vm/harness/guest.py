# SPDX-License-Identifier: GPL-2.0
"""One guest: started, watched, judged.

Its directory in the run, which it sees as /vm/NAME:

    command, env        what it runs, and the variables for that
    console             the serial console: the kernel's words alone
    out                 what the command printed
    dmesg, tainted, lockdep     the kernel's log, taint, and what lockdep had seen, at
                        the end
    registers           of its processors, if it did not come to its end
    booted, rc          written when the command starts, and when it has ended
    starved             milliseconds that it and the others of the run have waited for a
                        processor of this machine; deadlines are longer by that
    qemu                what QEMU itself had to say

A guest has done well only if all of it is there: it booted, its command came
to an end with status 0, and the kernel complained of nothing.
"""

import glob
import os
import re
import shlex
import signal
import subprocess
import sys
import time

from . import REPO, HarnessError, console, qemu
from .kernels import root_of

EXIT_FAULTS, EXIT_DEADLINE, EXIT_DIED = 123, 124, 125
# The kernel's reports of one run; the first ones matter most
SHOWN_FAULTS = 30


# Seconds in which a guest should have ended a scenario that is over its deadline
HANGS = 60


class Starved:
    """How long the guests of a run have waited for a processor of the machine that they run
    on, which they cannot see themselves.

    The kernel counts it for each thread of their QEMUs. Of a guest the thread counts that
    waited longest in an interval; and what one guest waits for, the others wait for, too,
    so that they add up. A deadline is for what guests do with their time; time that nobody
    gave them does not count. Each guest has it in a file, which has always the same length,
    so that one write replaces it.
    """

    INTERVAL = 0.25
    # Of the time that passes; a deadline comes, however slow the machine is
    MOST = 0.8

    def __init__(self, paths):
        self.paths = paths
        self._threads = {}
        self._sum = 0
        self._last = None

    def seconds(self):
        """In all, since the first look."""
        return self._sum / 1e9

    @staticmethod
    def waited(pid):
        """{thread: nanoseconds that it has waited} of a process, as far as the kernel
        counts that."""
        found = {}
        for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
            try:
                with open(path, encoding="ascii") as f:
                    found[path] = int(f.read().split()[1])
            except (OSError, IndexError, ValueError):
                pass    # the thread has ended
        return found

    def look(self, pids):
        """Read it anew, now and then, for the processes of all guests."""
        now = time.monotonic()
        if self._last is not None and now - self._last < self.INTERVAL:
            return
        passed, self._last = now - (self._last or now), now
        total = 0
        for pid in pids:
            threads = self.waited(pid)
            total += max((n - self._threads.get(t, n) for t, n in threads.items()), default=0)
            self._threads.update(threads)
        self._sum += min(total, int(passed * 1e9 * self.MOST))
        for path in self.paths:
            with open(path, "r+" if os.path.exists(path) else "w", encoding="ascii") as f:
                f.write(f"{self.seconds() * 1000:12.0f}\n")


class Guest:
    """A guest of a run, from its options to its verdict."""

    def __init__(self, options, index, count, run_dir, sockets, starved=None):
        self.opt = options
        self.name = options.name
        self.index, self.count = index, count
        self.run_dir, self.sockets = run_dir, sockets
        self.dir = os.path.join(run_dir, options.name)
        self.monitor = qemu.Monitor(f"{sockets}/{options.name}.qmp")
        self.process = None
        self.started = self.ended = None
        self.status = None
        self.problems = []
        self.allowed = []
        self.accel = "tcg"
        self.killed_on_request = False
        # Since when it should be booting, and whether it does so for a second time
        self.powered, self.resetting = None, False
        # Of all guests of the run, and how much that was at power on
        self.starved, self._starved_before = starved or Starved([]), 0.0
        self._out_at = 0
        # Of several scenarios the running one, as (seconds, name), and since which age
        self.scenario, self._scenario_began = None, 0.0

    def path(self, name):
        """A file of this guest's directory."""
        return os.path.join(self.dir, name)

    def read(self, name):
        """The text of such a file, '' if it is not there."""
        try:
            with open(self.path(name), encoding="utf-8",
                      errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def prepare(self, index_name, names, accel):
        """Write what the guest reads: its command and its variables."""
        self.accel = accel
        os.makedirs(self.dir, exist_ok=True)
        variables = {
            "VM_NAME": self.name, "VM_INDEX": self.index,
            "VM_GUESTS": " ".join(names), "VM_KVER": self.opt.kver,
            "VM_ROOT": root_of(self.opt.kver),
            "VM_WITH": " ".join(os.path.basename(p).removesuffix(".ko")
                                for p in self.opt.extra),
            "VM_MODULES": index_name or "", "VM_REPO": REPO,
            "VM_CWD": os.getcwd(), "VM_TIMEOUT": int(self.opt.timeout),
            "VM_ACCEL": accel,
            "VM_ICOUNT": "1" if self.opt.icount else "",
            "VM_WIRE": "1" if self.count > 1 else "",
            "VM_SHELL": "1" if self.opt.shell else "",
            # under -icount no time passes that it is not given
            "VM_STARVED": "" if self.opt.icount else f"/vm/{self.name}/starved",
            "TERM": os.environ.get("TERM", "linux"),
        }
        variables.update(item.split("=", 1) for item in self.opt.env)
        with open(self.path("env"), "w", encoding="utf-8") as f:
            for key, value in variables.items():
                f.write(f"{key}={shlex.quote(str(value))}\n")
        with open(self.path("command"), "w", encoding="utf-8") as f:
            f.write(self.opt.command + "\n")

    def start(self, *boot):
        """Power on with a kernel and an initramfs. What QEMU prints goes to the file 'qemu'."""
        args = qemu.command(self.opt, self.index, self.count, self.run_dir,
                            self.sockets, boot, self.accel)
        with open(self.path("qemu-command"), "w", encoding="utf-8") as f:
            f.write(shlex.join(args) + "\n")
        with open(self.path("qemu"), "wb") as log:
            self.process = subprocess.Popen(
                args, stderr=log,
                stdin=None if self.opt.shell else subprocess.DEVNULL,
                stdout=None if self.opt.shell else log)
        self.started = self.powered = time.monotonic()

    def running(self):
        """Whether the guest has not been judged yet."""
        return self.process is not None and self.ended is None

    def age(self):
        """Seconds from power on to now, or to the end."""
        if self.started is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.started

    def new_output(self):
        """What the command has printed since the last call."""
        try:
            with open(self.path("out"), "rb") as f:
                f.seek(self._out_at)
                data = f.read()
        except FileNotFoundError:
            return b""
        self._out_at += len(data)
        return data

    def kill_on_request(self):
        """Power off at once; this end of the guest is no failure."""
        self.killed_on_request = True
        self.kill()

    def reset_on_request(self):
        """Power off and on at once: it boots, and its command runs anew.

        QEMU is told to end when its guest reboots, as after a panic. That has to wait
        until the guest's command has started: the firmware, finding that it has run
        before, resets the machine once more.
        """
        try:
            os.unlink(self.path("booted"))
        except FileNotFoundError:
            raise HarnessError(f"{self.name} is still booting") from None
        self.monitor.run("set-action", reboot="reset")
        self.monitor.run("system_reset")
        self.powered, self.resetting = time.monotonic(), True
        self._starved_before = self.starved.seconds()

    def _has_reset(self):
        if not self.resetting or not os.path.exists(self.path("booted")):
            return
        try:
            self.monitor.run("set-action", reboot="shutdown")
            self.resetting = False
        except HarnessError:
            pass    # QEMU is ending

    def kill(self):
        """Power off at once."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def poll(self, grace_until=None):
        """See whether the guest has come to its end; judge it if so.

        @grace_until: monotonic time at which to stop waiting, because
        another guest of this run has failed already.
        """
        if self.process.poll() is None:
            self._has_reset()
        waited = self.starved.seconds()
        if self.process.poll() is not None:
            self._judge(None)
        elif self.opt.shell:
            return
        elif self._scenario_hangs(waited):
            self._judge(f"scenario {self.scenario[1]} did not end within "
                        f"{self.scenario[0]:g} s, nor was it ended inside")
        elif self.age() - waited > self.opt.timeout:
            self._judge(f"the deadline of {self.opt.timeout:g} s passed, and {waited:.0f} s "
                        "of waiting for a processor")
        elif (time.monotonic() - self.powered - waited + self._starved_before
              > self.opt.boot_timeout
              and not os.path.exists(self.path("booted"))):
            self._judge("its command had not started within "
                        f"{self.opt.boot_timeout:g} s of power on")
        elif grace_until and time.monotonic() > grace_until:
            self._judge("stopped, as another guest had failed before")

    def _scenario_hangs(self, waited):
        """Whether the one of several scenarios that runs (tests/guest/lib/several.sh) is
        over its deadline by more than it takes to end it inside."""
        try:
            with open(self.path("scenario"), encoding="utf-8") as f:
                seconds, name = f.read().split()
            scenario = float(seconds) * self.opt.slow, name
        except (OSError, ValueError):
            return False    # there are no several, or it is just written
        if scenario != self.scenario:
            self.scenario, self._scenario_began = scenario, self.age() - waited
        return self.age() - waited - self._scenario_began > scenario[0] + HANGS * self.opt.slow

    def died_booting(self):
        """Whether its kernel gave up before its command started."""
        return (self.status == EXIT_DIED and not self.opt.shell
                and self.process.returncode == 0
                and not os.path.exists(self.path("booted")))

    def stop(self, why):
        """End the guest from outside, @why being the reason."""
        if self.running():
            self._judge(why)

    def _registers(self):
        """Where its processors are, for one that says nothing more: words; all
        registers are in the file "registers"."""
        try:
            text = self.monitor.run("human-monitor-command",
                                    **{"command-line": "info registers -a"})
        except HarnessError as e:
            return str(e)
        with open(self.path("registers"), "w", encoding="utf-8") as f:
            f.write(text)
        return "its processors were at " + ", ".join(
            f"{m[1]} with interrupts {'on' if int(m[2], 16) & 0x200 else 'off'}"
            for m in re.finditer(r"RIP=(\w+) RFL=(\w+)", text))

    def _judge(self, overdue):
        if overdue and self.process.poll() is None:
            overdue += "; " + self._registers()
        self.kill()
        self.ended = time.monotonic()
        rc = self.read("rc").strip()
        text = self.read("console")
        if not text.strip():
            self.problems.append("it printed nothing at all on its console; "
                                 f"QEMU said: {self._qemu_words()}")
        if self.killed_on_request:
            self.status = 0
        elif overdue:
            self.problems.append(overdue)
            self.status = EXIT_DEADLINE
        elif not rc.isdigit():
            self.problems.append(self._how_it_died())
            self.status = EXIT_DIED
        else:
            self.status = int(rc)
            if self.status:
                self.problems.append(
                    f"its command ended with status {self.status}")
        self._judge_kernel(text)
        self._judge_script()
        if self.problems and not self.status:
            self.status = EXIT_DIED
        if self.problems and not self.opt.shell:
            self.problems.append(self._last_words(text))

    def _judge_kernel(self, text):
        found, self.allowed = console.faults([text, self.read("dmesg")],
                                             self.opt.allow)
        for line in found[:SHOWN_FAULTS]:
            self.problems.append(f"kernel: {line}")
        if len(found) > SHOWN_FAULTS:
            self.problems.append(f"kernel: and {len(found) - SHOWN_FAULTS}"
                                 " more lines")
        tainted = self.read("tainted").strip()
        words = console.taints(int(tainted or 0), self.allowed)
        for word in words:
            self.problems.append(f"the kernel was tainted by {word}")
        off = console.lockdep_off(self.read("lockdep"), [*found, *self.allowed])
        if off:
            self.problems.append(off)
        if (found or words or off) and not self.status:
            self.status = EXIT_FAULTS

    def _judge_script(self):
        found = console.shell_errors(self.read("out"))
        self.problems += [f"its script: {line}" for line in found[:SHOWN_FAULTS]]
        if found and not self.status:
            self.status = EXIT_FAULTS

    def _qemu_words(self):
        return self.read("qemu").strip() or "nothing either"

    def _how_it_died(self):
        code = self.process.returncode
        if code:
            return (f"QEMU ended with status {code}: {self._qemu_words()}")
        if not os.path.exists(self.path("booted")):
            return "it powered off before its command started"
        return "it powered off without a result of its command"

    def _last_words(self, text):
        lines = [line for line in text.split("\n") if line.strip()][-15:]
        out = self.read("out").split("\n")[-10:]
        return "\n".join(["the last lines of its console:",
                          *("    | " + line.rstrip() for line in lines),
                          "the last lines of its command:",
                          *("    | " + line.rstrip() for line in out
                            if line.strip())])

    def report(self, to=sys.stderr):
        """Say what was wrong with the guest, if anything was."""
        for line in self.allowed:
            print(f"vm: {self.name}: allowed kernel line: {line}", file=to)
        for problem in self.problems:
            print(f"vm: {self.name}: {problem}", file=to)
        to.flush()


def wait_for_sockets(guest, deadline=15):
    """Wait until the first guest's QEMU listens for the wire's other ends."""
    end = time.monotonic() + deadline
    for path in qemu.wire_paths(guest.index, guest.count, guest.sockets):
        while not os.path.exists(path):
            if guest.process.poll() is not None:
                raise HarnessError(f"guest {guest.name}: QEMU ended at once: "
                                   f"{guest._qemu_words()}")
            if time.monotonic() > end:
                raise HarnessError(f"guest {guest.name}: the wire's socket "
                                   f"{path} did not come up")
            time.sleep(0.02)
