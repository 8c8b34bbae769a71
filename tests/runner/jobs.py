# SPDX-License-Identifier: GPL-2.0
"""Which jobs a run has, and which of them come before which."""

import glob
import os
import re

from harness.kernels import watches

from . import REPO, since
from .job import Job
from .head import MEM
from .scenario import Scenario, scenarios, shared, together

CPUS = len(os.sched_getaffinity(0))


class Build(Job):
    """Both modules for one kernel, as W=1 wants them, and sparse if it is to look. Objects that
    are up to date are not built again, unless something was said of the build before."""

    # Not ours: make about clocks and job servers, and the kernel's build about
    # a compiler that differs from the kernel's own.
    WARNING = re.compile(r"^(?!make\b|warning: the compiler differs)"
                         r".*\bwarning:.*", re.M | re.I)

    def __init__(self, short, kver, cpus, sparse):
        sparse = ["C=1", "CF=-Wsparse-error"] if sparse else []
        super().__init__(f"build {short}",
                         ["make", f"-j{cpus}", f"KVER={kver}", "W=1", "KCFLAGS=-Werror",
                          *sparse], counts=False, weight=cpus, seconds=40)
        self.kver = kver
        self.sparse = bool(sparse)

    def run(self):
        """Build them; all of them, if sparse is to look and has not seen each that is there."""
        seen = os.path.join(REPO, "build", self.kver, ".sparse")
        if self.sparse and not (os.path.exists(seen) and all(
                os.stat(o).st_mtime <= os.stat(seen).st_mtime for o in self._objects())):
            self._unmake()
        super().run()
        if self.sparse and not self.failed:
            with open(seen, "w", encoding="ascii"):
                pass

    def _objects(self):
        directory = glob.escape(os.path.join(REPO, "build", self.kver))
        return glob.glob(f"{directory}/**/*.o", recursive=True)

    def _unmake(self):
        for path in self._objects():
            os.unlink(path)

    def _count(self, status):
        bad = self.WARNING.findall(self.text())
        super()._count(status or len(bad))
        if self.failed:
            # modpost and objtool report once, for files that are up to date afterwards
            self._unmake()
        if bad:
            with open(self.log, "a", encoding="utf-8") as f:
                f.write(f"not ok - {len(bad)} warnings\n")

    def complaints(self, limit=25):
        """The warnings, or else the end of the log."""
        return (self.WARNING.findall(self.text())
                or super().complaints(limit))[:limit]


def _tools(cpus):
    """The programs that builds and guests run and no package has."""
    return Job("test tools", ["make", f"-j{cpus}", "test-tools"], counts=False,
               weight=cpus, seconds=10)


def _runner():
    """The tests of what runs the tests."""
    return Job("runner", ["tests/runner/selftest"], seconds=10)


def _module(name, kver):
    """A module that guests of some scenario need and their kernel lacks."""
    return Job(f"{name} for {kver}", ["tests/vm/module", name, kver], counts=False,
               seconds=5)


# What 'make check-quick' boots. Scenarios that share a guest are together, those that need
# a second processor apart from those that do not
QUICK = (("connect", "commands", "data-path", "connecting"),
         ("events", "removal", "observe-host"), ("recovery",), ("vrnic-faults",),
         ("nvmerdma",))


def _quick(kernel, builds, args):
    """What is worth a few minutes between two changes."""
    series, _ = kernel
    return builds + [
        _runner(), Job("unit", ["tests/unit/run"], seconds=60),
        Job("fuzz corpus", ["tests/fuzz/run", "--corpus"], seconds=30),
        Job("core-abi golden", ["env", f"CORE_ABI_KERNELS={series}", "tests/core-abi/run",
                                "golden"], seconds=20),
        *(together(names, kernel, args.modules, args.keep_going) for names in QUICK)]


def all_jobs(args, kernels):
    """Every job of a run, with what each needs."""
    # sparse reports nearly the same for each kernel; debug kernels have reports of their own
    # (tests/vm/module)
    builds = [Build(short, kver, args.jobs, not watches(kver) and (
        args.all or args.kver or kver == kernels[-1][1])) for short, kver in kernels]
    paths = since.changed(args.since) if args.since else []
    if args.quick:
        jobs = _quick(kernels[-1], builds, args)
    else:
        jobs = builds + ([] if args.debug or Scenario.iommu else _of_sources(args, kernels, builds, paths))
        jobs += scenarios(args, kernels)
    tools = _tools(args.jobs)
    if args.since:
        jobs = since.chosen(paths, [tools] + jobs)
    single = jobs
    if not (args.quick or args.all or args.debug or args.kver):
        jobs = shared(single)
    if args.only:
        # a single scenario; or several that share a guest, by their common name
        jobs = ([j for j in single if re.search(args.only, j.name)] or
                [j for j in jobs if re.search(args.only, j.name)])
    runs = [j for j in jobs if isinstance(j, Scenario)]
    for job in builds + [j for j in jobs if j.name == "unit"]:
        job.needs.append(tools)
    modules = {n: _module(*n) for n in sorted({n for j in runs for n in j.modules()})}
    for job in runs:
        job.needs += [tools] + [modules[n] for n in job.modules()]
        job.needs += [b for b in builds if b.kver in job.builds()]
    return _with_needs(jobs, [tools, *modules.values(), *builds])


def _with_needs(jobs, first):
    """@jobs, and before them what they need of @first."""
    needed, look = set(jobs), list(jobs)
    while look:
        new = set(look.pop().needs) - needed
        needed |= new
        look += new
    return ([j for j in first if j in needed] +
            [j for j in jobs if j not in first])


def _foreign(args):
    """The pure files as big-endian programs, and as those of 32 bits (tests/foreign-arch).
    'make check' replays the corpus only: the unit tests take more than a minute there."""
    names = {"unit": 70, "fuzz": 5} if args.all or args.only or args.since else {"fuzz": 5}
    return [Job(f"{name} {arch}", [f"tests/{name}/run", "--arch", arch], seconds=seconds)
            for arch in ("s390x", "i386") for name, seconds in names.items()]


def _layers(kernels, builds):
    """Which file uses which symbol is the same for each kernel, nearly: the newest's build."""
    job = Job("layers", ["tests/layers/check", "--selftest", "--objects",
                         os.path.join("build", kernels[-1][1])],
              counts=False, seconds=5)
    job.needs.append(builds[-1])
    return job


def _of_sources(args, kernels, builds, paths):
    """What needs no guest, and the harness's own."""
    jobs = []
    # checkpatch reports the same for each kernel, sparse nearly so
    lint = ["make", "lint", f"KVER={kernels[-1][1]}"]
    jobs.append(Job("style", lint + ["LINT_PARTS=style", "LINT_CHANGED=" + (
        "" if args.all else "yes")], counts=False, seconds=100))
    jobs.append(Job("unit", ["tests/unit/run"], seconds=90))
    jobs += _foreign(args)
    jobs.append(_runner())
    jobs.append(Job("docs-check", ["tests/docs-check", "check"], seconds=2))
    jobs.append(_layers(kernels, builds))
    jobs.append(Job("fuzz", ["tests/fuzz/run"]))
    jobs.append(Job("core-abi", ["env", f"CHECK_ALL={'1' if args.all else ''}",
                                 "tests/core-abi/run"], seconds=120))
    # dkms works for root alone.
    as_root = ["sudo", "-n", "env", "VM_MACHINE_SLOW=" + os.environ.get(
        "VM_MACHINE_SLOW", "1")] if os.geteuid() else []
    dkms = Job("dkms", as_root + ["tests/dkms/run"], seconds=100)
    # it installs their output
    dkms.needs += builds
    jobs.append(dkms)
    # DKMS builds for two kernels, and those of guests without KVM.
    deb = (Job("deb in guests", as_root + ["tests/deb/run"], timeout=3 * 3600,
               seconds=3600) if args.all else
           Job("deb", as_root + ["tests/deb/run", "--quick"], seconds=150))
    deb.mem = 2 * MEM * args.all
    jobs.append(deb)
    if args.all or args.only or any(re.match("debian/root-|tests/boot/", p) for p in paths):
        boot = Job("boot", as_root + ["tests/boot/run"], timeout=3 * 3600, seconds=1500)
        boot.mem = 2 * MEM
        # its target's modules
        boot.needs += builds
        jobs.append(boot)
    if args.all or args.only or any(re.match("rpm/|tests/rpm/", p) for p in paths):
        jobs.append(Job("rpm", as_root + ["tests/rpm/run"], seconds=60))
    # minutes, for files that seldom change
    if args.all or args.only or any(p.startswith("tests/vm/") for p in paths):
        jobs.append(Job("vm/selftest", ["tests/vm/selftest"]))
        jobs[-1].mem = 2 * MEM
    jobs.append(Job("bench/selftest", ["tests/bench/selftest"]))
    return jobs
