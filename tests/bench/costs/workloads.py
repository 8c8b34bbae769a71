# SPDX-License-Identifier: GPL-2.0
"""What is measured: pairs of modules, jobs of fio."""

from dataclasses import dataclass

from . import BenchError

KIB = 1024


@dataclass(frozen=True)
class Pair:
    """What a disk is reached by: whose host and whose target."""

    name: str
    host: str
    target: str

    @property
    def modules(self):
        """Whether it is made of host and target over RDMA."""
        return self.host not in ("raw", "loop")


RAW = Pair("raw", "raw", "-")
LOOP = Pair("loop", "loop", "-")
PAIRS = (RAW, LOOP,
         Pair("kernel", "kernel", "kernel"), Pair("ours", "ours", "ours"),
         Pair("our-host", "ours", "kernel"), Pair("our-target", "kernel", "ours"))
RDMA_PAIRS = tuple(p for p in PAIRS if p.modules)
# Ours without the permanent counters (common/hist.h)
UNCOUNTED = Pair("uncounted", "uncounted", "uncounted")
# Ours with threads that poll at the target (io_threads=Y)
THREADS = Pair("threads", "ours", "threads")
# Those that are measured only if they are named
SPECIAL = (UNCOUNTED, THREADS)
PAIR_WORDS = {"raw": "null_blk", "loop": "nvme-loop", "kernel": "in-tree",
              "ours": "ours", "our-host": "our host, in-tree target",
              "our-target": "in-tree host, our target",
              "uncounted": "ours that does not count",
              "threads": "ours, I/O threads"}


# I/Os of a queue after which work that is done once for several I/Os has been done: receives
# are posted and responses signaled in eights
PATH_IOS = 16


# The disks behind the target (guest/lib.sh), and what tells jobs on them from others.
# "inline" completes a command before the function that submits it returns. "softirq" does
# the same with one processor (Job.two_processors).
DISKS = {"inline": "", "softirq": "a disk that completes in a softirq",
         "timer": "a disk that interrupts", "nvme": "QEMU's NVMe disk",
         "polled": "a disk that can be polled",
         "beside": "beside another queue whose disk is full"}


@dataclass(frozen=True)
class Job:
    """A job of fio: what it does, and how much of it is counted. @paths: of the
    disk, which take turns, each with a queue of its own. @command: NVMe commands
    through the character device, from buffers that are registered."""

    rw: str
    size: int
    depth: int
    batch: int = 0
    polled: bool = False
    paths: int = 1
    command: bool = False
    disk: str = "inline"

    @property
    def name(self):
        """Its name in files and on command lines, such as 4k-read-qd32."""
        size = (f"{self.size // KIB}k" if self.size < KIB * KIB
                else f"{self.size // KIB // KIB}m")
        return (f"{size}-{self.rw}-qd{self.depth}"
                + (f"-batch{self.batch}" if self.batch else "")
                + ("-polled" if self.polled else "")
                + ("-command" if self.command else "")
                + (f"-queues{self.paths}" if self.paths > 1 else "")
                + (f"@{self.disk}" if self.disk != "inline" else ""))

    @property
    def two_processors(self):
        """Whether it needs them: blk_mq_complete_request_remote() raises its softirq only if
        several processors use the hardware queue; with one, it completes at once."""
        return self.disk == "softirq"

    @property
    def words(self):
        """Its name for people."""
        size = (f"{self.size // KIB} KiB" if self.size < KIB * KIB
                else f"{self.size // KIB // KIB} MiB")
        rw = {"read": "random read", "write": "random write",
              "mixed": "70/30 read/write"}[self.rw]
        return (f"{size} {rw}, QD {self.depth}"
                + (f", batches of {self.batch}" if self.batch else "")
                + (", polled" if self.polled else "")
                + (", NVMe commands" if self.command else "")
                + (f", {self.paths} queues in turn" if self.paths > 1 else "")
                + (f", {DISKS[self.disk]}" if self.disk != "inline" else ""))

    @property
    def count(self):
        """How many I/Os are counted at a time: whole batches, and of large
        ones fewer, so that no job takes much longer than others. Of many
        paths as many as what is done once for several I/Os of a queue takes."""
        count = next(n for limit, n in ((4, 2048), (16, 1024), (128, 512),
                                        (1024, 64)) if self.size <= limit * KIB)
        return max(count, PATH_IOS * self.paths // 32 * 32)

    @property
    def warm(self):
        """How many are not counted before that: all tags have been used once,
        all memory has been got."""
        return max(2 * self.depth, self.count // 4,
                   PATH_IOS * self.paths) // 32 * 32 + 32

    def fio(self):
        """Its options. The last I/Os are not counted: the queue is full until
        the counting has come to its end."""
        ios = self.warm + self.count + self.depth + 32
        rw = {"read": ["--rw=randread"], "write": ["--rw=randwrite"],
              "mixed": ["--rw=randrw", "--rwmixread=70",
                        "--unified_rw_reporting=1"]}[self.rw]
        # the engine's own options come after it
        engine = (["--ioengine=io_uring_cmd", "--cmd_type=nvme", "--fixedbufs=1"]
                  if self.command else ["--ioengine=io_uring", "--direct=1"])
        options = [*rw, *engine, f"--bs={self.size}", f"--iodepth={self.depth}",
                   f"--number_ios={ios}"]
        if self.batch:
            options += [f"--iodepth_batch_submit={self.batch}",
                        f"--iodepth_batch_complete_min={self.batch}",
                        f"--iodepth_batch_complete_max={self.batch}"]
        if self.polled:
            options += ["--hipri=1"]
        return options


def _full():
    """The jobs of 'make bench'."""
    for depth in (1, 8, 32, 128):
        for rw in ("read", "write", "mixed"):
            yield Job(rw, 4 * KIB, depth)
    for rw in ("read", "write"):
        yield Job(rw, 16 * KIB, 32)
    for size, depth in ((128 * KIB, 8), (1024 * KIB, 4)):
        for rw in ("read", "write"):
            yield Job(rw, size, depth)
    for rw in ("read", "write"):
        for batch in (8, 32):       # fio's own is 1
            yield Job(rw, 4 * KIB, 32, batch=batch)
    yield Job("read", 4 * KIB, 1, polled=True)
    yield Job("read", 4 * KIB, 32, polled=True)
    for polled in (False, True):
        yield Job("read", 4 * KIB, 32, polled=polled, command=True)
    for disk in ("softirq", "timer", "nvme"):
        yield Job("read", 4 * KIB, 1, disk=disk)
        for rw in ("read", "write"):
            yield Job(rw, 4 * KIB, 32, disk=disk)
    for paths, disk in ((8, "inline"), (64, "inline"), (64, "timer")):
        for rw in ("read", "write"):
            yield Job(rw, 4 * KIB, 32, paths=paths, disk=disk)
    for rw in ("read", "write"):
        yield Job(rw, 4 * KIB, 32, disk="polled")
    yield Job("read", 4 * KIB, 1, disk="beside")


FULL = tuple(_full())
# Those of 'make bench' whose other side is in-tree, beside our host or our target
MIXED = tuple(Job(rw, size, depth) for size, depth in (
    (4 * KIB, 1), (4 * KIB, 32), (128 * KIB, 8)) for rw in ("read", "write"))
# The jobs of 'make bench-quick': those of the goals
QUICK = (Job("read", 4 * KIB, 1), Job("read", 4 * KIB, 32),
         Job("write", 4 * KIB, 32), Job("read", 4 * KIB, 32, batch=8),
         Job("read", 128 * KIB, 8), Job("write", 128 * KIB, 8),
         Job("read", 4 * KIB, 32, disk="softirq"),
         Job("read", 4 * KIB, 32, disk="timer"),
         Job("write", 4 * KIB, 32, disk="timer"),
         Job("read", 4 * KIB, 32, paths=64))
# With THREADS, these as well
THREADED = (Job("read", 4 * KIB, 1, polled=True),
            Job("read", 4 * KIB, 32, paths=64, disk="timer"),
            Job("read", 4 * KIB, 32, disk="polled"),
            Job("write", 4 * KIB, 32, disk="polled"),
            Job("read", 4 * KIB, 1, disk="beside"))


def needed(pair, job, pairs):
    """Whether 'make bench' measures a job on a pair, of the @pairs of a run: on null_blk only
    where nvme-loop is not the floor, on mixed pairs only MIXED, and what shows threads only
    with threads."""
    if job.disk in ("polled", "beside") and THREADS not in pairs:
        return False
    if pair == RAW:
        return job.polled or LOOP not in pairs
    return pair.name not in ("our-host", "our-target") or job in MIXED


def chosen(text, known, what):
    """The members of @known that a comma list names."""
    by_name = {k.name: k for k in known}
    for name in text.split(","):
        if name not in by_name:
            raise BenchError(f"there is no {what} '{name}', but "
                             + ", ".join(by_name))
    return [by_name[name] for name in text.split(",")]


def job_named(name):
    """The job of that name, of all that there are; None if there is none."""
    return next((j for j in FULL + QUICK if j.name == name), None)
