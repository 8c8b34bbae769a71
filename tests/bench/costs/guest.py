# SPDX-License-Identifier: GPL-2.0
"""One guest for a kernel and a device: its plan, its run, its files.

The guest has one processor, or one for each side, and a clock that counts
instructions; all pairs are measured in it, one after another, so that what differs
between boots is in all of them. Its plan is a list of calls of the functions of guest/lib.sh.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace

from . import BENCH, REPO, BenchError, attribution, tools
from .workloads import DISKS, LOOP, RAW, needed

sys.path.insert(0, os.path.join(REPO, "tests/vm"))
from harness import HarnessError  # noqa: E402
from harness.console import worth_another  # noqa: E402
from harness.kernels import find_kernel  # noqa: E402

# Less that happens by itself. Without the last one, a kernel that has one processor takes
# the prefix lock away from its instructions, so that none would be counted.
APPEND = "nowatchdog audit=0 random.trust_cpu=on noreplace-smp"
MEM = 3072

# Deadlines, for a machine that has other things to do, too: alone, it boots in 10
# seconds, a pair is connected in 4, a job takes 2, a controller a half.
BOOT_SECONDS, PAIR_SECONDS, JOB_SECONDS, CONTROLLER_SECONDS = 240, 90, 60, 5

# One that answers at once, for the jobs on QEMU's NVMe disk
NVME_DISK = ("-blockdev null-co,node-name=nvme-null,size=1073741824 "
             "-device nvme,serial=bench,drive=nvme-null")


def kernel(series):
    """A kernel's full name."""
    try:
        return find_kernel(series, build=True)
    except HarnessError as e:
        raise BenchError(str(e)) from e


def has_loop(kver):
    """Whether the kernel has nvme-loop (Debian's 6.1 has not)."""
    done = subprocess.run(
        [os.path.join(REPO, "tests/vm/kernel"), "--root", kver],
        capture_output=True, text=True, check=False)
    path = f"{done.stdout.strip()}/lib/modules/{kver}/modules.dep"
    with open(path, encoding="ascii") as f:
        return "/nvme-loop.ko" in f.read()


def floor(kver):
    """What RDMA is compared with: nvme-loop if the kernel has it, otherwise null_blk"""
    return LOOP if has_loop(kver) else RAW


def survives(kver, job):
    """Whether the kernel can do a job: 6.1 panics in bio_poll() when it polls for NVMe
    commands, with its own modules, too."""
    return not (job.polled and job.command and kver.startswith("6.1."))


def run_guests(command, out):
    """Run tests/vm/run; its status. Whatever ends this ends the guests, too."""
    def interrupted(*unused):
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                          stderr=subprocess.STDOUT) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()     # it takes its guests away
            process.wait()
            raise BenchError("interrupted") from None


def tried(directory, attempt):
    """@attempt(file), which runs guests, whose files are in @directory and whose words go to
    the file, @directory.log. If they failed for what is below them, it gets a second one.

    Return: the last status.
    """
    log = f"{directory}.log"
    for first in (True, False):
        shutil.rmtree(directory, ignore_errors=True)
        with open(log, "w", encoding="utf-8") as f:
            status = attempt(f)
        with open(log, encoding="utf-8", errors="replace") as f:
            reason = status and worth_another(f.read())
        if not first or not reason:
            return status
        for name in (directory, log):
            shutil.rmtree(f"{name}.first", ignore_errors=True)
            os.replace(name, f"{name}.first")
        print(f"once more, for it failed: {reason}; {log}.first", flush=True)


def run_script(directory, kver, script, deadline, *options):
    """Guests that run a script of tests/ with our modules for the kernel at hand, and
    tests/vm/run's @options (tried()).

    Return: what they said is not ok, if they came to their end.
    """
    log = f"{directory}.log"
    command = [os.path.join(REPO, "tests/vm/run"), "--results", directory,
               "--kver", kver, "--modules", build(kver),
               "--timeout", str(deadline), "--boot-timeout", "300", *options,
               "--", "bash", os.path.join(REPO, "tests", script)]
    status = tried(directory, lambda out: run_guests(command, out))
    if not status:
        return []
    with open(log, encoding="utf-8", errors="replace") as f:
        text = f.read()
    wrong = re.findall(r"^ *(?:\w+: )?not ok - (.*)", text, re.M)
    if status != 1 or not wrong:
        raise BenchError(f"guests failed, status {status}; their words are in {log}")
    return wrong


def complaints_of(log, status):
    """What a guest of the bench that has ended with @status said that is not ok"""
    if not status:
        return []
    with open(log, encoding="utf-8") as f:
        bad = [line.strip() for line in f
               if line.startswith(("not ok", "vm: guest: kernel"))]
    return [f"the guest ended with status {status}", *bad[:20]]


def build(kver, counts=True):
    """Our modules for the kernel, built if need be; their directory. @counts: with
    what is counted all the time, as users have them"""
    directory = os.path.join(REPO, "build" if counts else "build/uncounted")
    options = [] if counts else ["COUNTS=0", f"BUILD={directory}"]
    done = subprocess.run(["make", "-C", REPO, "-s", f"-j{os.cpu_count()}",
                           f"KVER={kver}", *options], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise BenchError(f"our modules do not compile for {kver}:\n"
                         + "\n".join(done.stdout.splitlines()[-20:]))
    return os.path.join(directory, kver)


@dataclass
class Plan:
    """What a guest is to do: calls of functions of guest/lib.sh, and what it
    measures, {(pair, label, round): Measured}."""

    lines: list = field(default_factory=list)
    measured: dict = field(default_factory=dict)

    def call(self, *words):
        """One more line."""
        self.lines.append(shlex.join(str(w) for w in words))

    def pair(self, pair, number, polled=False):
        """From now on this pair is measured; its tag in names of files"""
        tag = f"{pair.name}{'+polled' if polled else ''}.{number}"
        self.call("pair", tag, pair.host, pair.target,
                  *(["-P", "1"] if polled and pair.modules else []))
        return tag

    def job(self, pair, number, tag, job, label=None):
        """One job."""
        label = label or job.name
        self.call("job", label, job.warm, job.count, *job.fio())
        self.measured[pair.name, label, number] = Measured(tag, label)

    def jobs(self, pair, number, tag, jobs):
        """Jobs, each with its number of controllers and on its disk"""
        paths, on = 1, ("inline",)
        for job in jobs:
            to = (job.disk, *(["commands"] if job.command else []))
            if to != on:
                self.call("disk", *to)
            if job.paths != paths:
                self.call("queues", job.paths)
            paths, on = job.paths, to
            self.job(pair, number, tag, job)


@dataclass
class Measured:
    """Where a measurement is found."""

    tag: str
    label: str

    @property
    def name(self):
        """The beginning of the names of its files."""
        return f"{self.tag}.{self.label}"


def planned(directory):
    """What a guest was told that has its files there: {name: (I/Os that are
    counted, all of them)}."""
    found, tag = {}, None
    with open(os.path.join(directory, "plan"), encoding="ascii") as f:
        for line in f:
            words = shlex.split(line)
            if words[0] in ("pair", "fed_target"):
                tag = words[1]
            elif words[0] == "fed":
                found[f"{tag}.{words[1]}"] = int(words[3]), int(words[4])
            elif words[0] == "job":
                ios = next(w for w in words if w.startswith("--number_ios="))
                found[f"{tag}.{words[1]}"] = (
                    int(words[3]), int(ios.partition("=")[2]))
    return found


def has(pair, job, number):
    """Whether a job is measured on a pair in round @number. nvme-loop has no queues that
    are polled, null_blk takes no NVMe commands, and neither has paths. To connect
    many controllers takes long, so that those jobs have one round."""
    if job.paths > 1:
        return pair.modules and number == 0
    if pair.host == "loop":
        return not job.polled
    return pair.modules or not job.command


def costs_plan(pairs, jobs, rounds, thin=False):
    """Each pair in turn with all jobs, in rounds; @thin: only with those that it is needed
    for. Those on further disks come last, and after them those over further controllers,
    which stay."""
    plan = Plan()
    for n in range(rounds):
        for pair in pairs:
            for polled in (False, True):
                mine = sorted(
                    (j for j in jobs if j.polled == polled and has(pair, j, n)
                     and (not thin or needed(pair, j, pairs))),
                    key=lambda j: (j.paths, list(DISKS).index(j.disk), j.command))
                if not mine:
                    continue
                tag = plan.pair(pair, n, polled)
                plan.call("preemption", "on" if polled else "off")
                plan.jobs(pair, n, tag, mine)
    return plan


def scale_plan(pairs, jobs, counts):
    """Each pair with more and more controllers, one I/O queue each. Where one path takes all
    I/O, there is as much of it as of a job on one path."""
    plan = Plan()
    for pair in pairs:
        tag = plan.pair(pair, 0)
        for count in counts:
            plan.call("grow", count)
            for policy in ("round-robin", "numa"):
                plan.call("policy", policy)
                for job in jobs:
                    paths = count if policy == "round-robin" else 1
                    plan.job(pair, 0, tag, replace(job, paths=paths),
                             f"{job.name}@{count}-{policy}")
    return plan


class BenchRun:
    """A guest of the bench and the directory of its files."""

    fed = None      # see results.Sample

    def __init__(self, directory, kver, device, plan, preempt=False, mem=MEM,
                 append="", placed=None, lines=False, delay=0, moderated=False):
        self.kver, self.device, self.plan = kver, device, plan
        self.placed, self.lines = placed, lines
        self.delay, self.moderated = delay, moderated
        self.cpus = 2 if placed else 1
        self.preempt, self.mem = preempt, mem
        # modprobe takes a module's parameters from here
        self.append = " ".join([APPEND, *filter(None, (
            append, f"vrnic.delay_ns={delay}" if delay else "",
            "vrnic.use_cq_dim=Y" if moderated else ""))])
        self.dir = os.path.realpath(directory)
        self.files = os.path.join(self.dir, "guest")

    def planned(self):
        """See planned(); of what it did, if that was another time"""
        try:
            return planned(self.dir)
        except FileNotFoundError as e:
            raise BenchError(f"there are no files of a guest in {self.dir}") from e

    def deadline(self):
        """Seconds that it may take."""
        seconds = BOOT_SECONDS
        for line in self.plan.lines:
            words = line.split()
            if words[0] in ("grow", "queues"):
                seconds += CONTROLLER_SECONDS * int(words[1])
            else:
                seconds += {"pair": PAIR_SECONDS, "disk": JOB_SECONDS,
                            "job": JOB_SECONDS}.get(words[0], 0)
        return seconds

    def command(self):
        """tests/vm/run with what it takes."""
        counting = (f"-plugin {tools.plugin()},out={self.files},"
                    f"rules={self.dir}/rules,cpus={self.cpus},"
                    f"lines={'yes' if self.lines else 'no'}")
        script = f"{self.placed or 'costs'}.sh"
        return [os.path.join(REPO, "tests/vm/run"), "--results", self.dir,
                "--kver", self.kver, "--modules", build(self.kver), "--icount",
                "--icount-cpus", str(self.cpus),
                *(["--with", "vrnic"] if self.device == "vrnic" else []),
                "--mem", str(self.mem), "--timeout", str(self.deadline()),
                "--boot-timeout", str(BOOT_SECONDS), "--append", self.append,
                "--env", f"BENCH_DEVICE={self.device}",
                "--env", f"BENCH_PREEMPT={'1' if self.preempt else ''}",
                "--qemu", counting,
                *(["--qemu", NVME_DISK] if any(
                    line.startswith("disk nvme") for line in self.plan.lines) else []),
                "--exec", f"cp {shlex.quote(self.dir)}/plan /vm/guest/plan && "
                f"exec bash {shlex.quote(BENCH)}/guest/{script}"]

    def run(self):
        """Run it (tried()); what the guest prints is in @dir.log."""
        if "," in self.dir or " " in self.dir:
            raise BenchError(f"'{self.dir}': QEMU's options part at commas and "
                             "blanks; choose another directory")
        tools.check_qemu()
        tools.mark()
        status = tried(self.dir, self._attempt)
        if status and not os.path.exists(f"{self.files}/rc"):
            raise BenchError(f"the guest did not come to its end, status "
                             f"{status}; its files are in {self.dir}")
        return status

    def _attempt(self, out):
        os.makedirs(self.dir, exist_ok=True)
        for name, text in (
                ("rules", attribution.rules(self.delay or self.moderated,
                                            self.placed == "apart")),
                ("plan", "\n".join([*self.plan.lines, ""]))):
            with open(os.path.join(self.dir, name), "w", encoding="ascii") as f:
                f.write(text)
        return run_guests(self.command(), out)

    def complaints(self):
        """What the plugin complained of."""
        try:
            with open(f"{self.files}/complaints", encoding="utf-8") as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []
