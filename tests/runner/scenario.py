# SPDX-License-Identifier: GPL-2.0
"""The jobs of guest scenarios: whose modules run on which kernels."""

import glob
import itertools
import os
import re

from harness import HarnessError
from harness.console import worth_another
from harness.guest import Starved
from harness.kernels import LARGE, SLOW, watches

from . import REPO, TESTS
from .head import MEM, Head
from .job import Job, file_name

HOST, TARGET = "nvme-rdma", "nvmet-rdma"
# Share of its processors that a guest keeps busy, if it was not measured: one of several guests
# often waits for another
BUSY = {1: 0.85, 2: 0.6}


class Scenario(Job):
    """A scenario on certain kernels with certain modules, or several one after the other in
    one guest."""

    threads = False     # with I/O threads in all targets
    iommu = False       # with all devices of vrnic behind an IOMMU

    def __init__(self, heads, tag, sides, short, env=()):
        head = heads[0] if len(heads) == 1 else Head.together(heads)
        name = f"guest/{head.name} {tag}"
        self.heads, self.tag = heads, tag
        self.names = head.guests()
        self.results = os.path.join(Job.logs, file_name(name))
        self.sides = sides
        self.extra = head.words("with")
        if self.threads:
            self.extra = sorted({*self.extra, "memdisk"})
            env = [*env, "IO_THREADS=yes"]
        cpus = head.cpus(short)
        command = ["tests/vm/run", "--results", self.results, "--timeout",
                   head.get("timeout"), "--cpus", str(cpus), "--lean"]
        for key in ("mem", "append", "allow", "qemu"):
            if head.get(key):
                command += [f"--{key}", head.get(key)]
        if self.threads:
            command += ["--append", "nvmet_rdma.io_threads=Y"]
        if head.get("icount"):
            command += ["--icount"]
        if self.iommu or head.get("iommu") == "yes":
            command += ["--iommu"]
        for module in self.extra:
            command += ["--with", module]
        disks = [d if "=" in d.split(":")[0] else f"{self.names[0]}={d}"
                 for d in head.words("disks")]
        for guest in self.names:
            kver, modules = sides[guest]
            command += ["--guest", guest, "--kver", kver,
                        "--modules", modules] + _wanted(kver, modules)
            for disk in disks:
                owner, size = disk.split("=", 1)
                command += ["--disk", size] if owner == guest else []
        for variable in [*env, *["SHORT=yes"] * short]:
            command += ["--env", variable]
        command += ["--", "bash"]
        if len(heads) == 1:
            command += [head.path]
        else:
            command += ["tests/guest/lib/several.sh",
                        *(f"{h.path}={h.get('timeout')}" for h in heads)]
        watched = any(watches(kver) for kver, _ in sides.values())
        timeout = float(head.get("timeout")) * (SLOW if watched else 1)
        # tests/vm/run ends it before, even if its guests get no more than they have to
        super().__init__(name, command, timeout=timeout / (1 - Starved.MOST) + 120,
                         weight=len(self.names) * BUSY[min(2, len(self.names))],
                         seconds=timeout / 6)
        self.cpus = cpus
        self.alone = bool(head.get("alone"))
        self.mem = int(head.get("mem", MEM)) * len(self.names) * (LARGE if watched else 1)

    def modules(self):
        """(name, kernel) of each module that has to be made for its guests."""
        return {(m, self.sides[guest][0]) for m in self.extra for guest in self.names}

    def builds(self):
        """The kernels that our modules are built for; guest/install takes them for in-tree
        guests."""
        return {kver for kver, modules in self.sides.values()
                if modules.partition(":")[0] in ("auto", "none")}

    def known_as(self):
        """One with another number of processors is another job."""
        return f"{self.name}, {self.cpus} CPU"

    def run(self):
        """Run it, twice if the machine starved it or its emulator failed."""
        super().run()
        reason = worth_another(self.text())
        if self.failed and reason and not self._failed_before() and not Job.ending:
            os.replace(self.log, self.log + ".first")
            self.note = (f"failed before ({reason}; "
                         f"{os.path.relpath(self.log, REPO)}.first)")
            self.passed = self.failed = 0
            self.twice = True
            super().run()

        if self.threads and not re.search("# I/O threads: [1-9]", self.text()):
            self.note = "; ".join(filter(None, [self.note, "no I/O thread ran in it"]))
        # of two guests, one usually works while the other waits
        self.starved = max(map(self._starved, self.names)) / len(self.names)

    def _failed_before(self):
        """Whether, of several scenarios, one had failed before the last that ran."""
        *before, _ = re.split(r"^=== ", self.text(), flags=re.M)
        return any("not ok - " in part for part in before)

    def _starved(self, guest):
        """Seconds that the guests of the last run waited for a processor, all together
        (harness/guest.py)."""
        try:
            with open(os.path.join(self.results, guest, "starved"), encoding="ascii") as f:
                return int(f.read()) / 1000
        except (OSError, ValueError):
            return 0.0

    def _guests(self):
        return len(self.names) * len(self.heads)


def _wanted(kver, modules):
    """Options that tell a guest which modules its checks must find loaded:
    the directory that ours come from, or 'in-tree'."""
    path, _, names = modules.partition(":")
    if path == "auto":
        path = os.path.join(REPO, "build", kver)
    options = []
    for name in (HOST, TARGET):
        in_tree = path == "none" or (names and name not in names.split(","))
        whose = "in-tree" if in_tree else os.path.realpath(path)
        options += ["--env", f"WANT_{name.replace('-', '_')}={whose}"]
    return options


def _sides(names, kvers, modules):
    """{guest: (kernel, modules)}; one guest alone is both sides."""
    if len(names) == 1:
        return {names[0]: (kvers[TARGET], modules[None])}
    return {n: (kvers[HOST if n == "host" else TARGET],
                modules[HOST if n == "host" else TARGET]) for n in names}


def _whose(both, ours):
    """What --modules says for each side, and for one guest that is both."""
    if ours is None:
        return {HOST: both, TARGET: both, None: both}
    return {HOST: both if ours == HOST else "none",
            TARGET: both if ours == TARGET else "none",
            None: f"{both}:{ours}" if both != "none" else both}


def variants(head, kernels, which):
    """(variant, series, tag, sides) of every run that a scenario asks for."""
    names, words = head.guests(), head.words("variants", "ours")
    for word in words:
        if word == "cross":
            for t, h in itertools.permutations(kernels, 2):
                yield (word, [t[0], h[0]], f"{t[0]} target, {h[0]} host",
                       _sides(names, {TARGET: t[1], HOST: h[1]},
                              _whose(which, None)))
            continue
        for short, kver in kernels:
            kvers = {TARGET: kver, HOST: kver}
            if word in ("ours", "none"):
                what = which if word == "ours" else "none"
                # beside a run of ours it needs a separate name and log
                beside = word == "none" and "ours" in words
                yield (word, [short], f"in-tree, {short}" if beside else short,
                       _sides(names, kvers, _whose(what, None)))
            else:
                for ours in (HOST, TARGET):
                    what = "our host" if ours == HOST else "our target"
                    yield (word, [short], f"{what}, {short}",
                           _sides(names, kvers, _whose(which, ours)))


def in_check(head, variant, series):
    """Whether a scenario's head names this run as one of 'make check'."""
    words = head.words("check", "all")
    if "none" in words:
        return False
    names = {"all", variant}
    if len(series) == 1:
        names |= {series[0], f"{variant}:{series[0]}"}
    return bool(names & set(words))


def scenario_files():
    """{name: path} of every scenario. Its group, the folder, is no part of the name."""
    paths = {}
    for path in glob.glob(os.path.join(TESTS, "guest/*/*.sh")):
        group, name = path[:-3].split(os.sep)[-2:]
        if group == "lib":
            continue
        if name in paths:
            raise HarnessError(f"{path}: {paths[name]} has this name, too")
        paths[name] = path
    return paths


def together(names, kernel, which="auto", keep_going=False):
    """Scenarios of one guest in the short form of 'make check-quick'."""
    series, kver = kernel
    paths = scenario_files()
    heads = [Head(paths[n]) for n in names]
    sides = _sides(heads[0].guests(), {TARGET: kver, HOST: kver}, _whose(which, None))
    return Scenario(heads, series, sides, True,
                    ["QUICK=" + ("yes" if keep_going else "stop")])


def shared(jobs):
    """@jobs of 'make check', in which scenarios that say so share a guest: one job, at the
    place of the first of them."""
    guests = {}
    for job in jobs:
        word = isinstance(job, Scenario) and job.heads[0].get("shares")
        guests.setdefault((word, str(job.sides), job.cpus) if word else job, []).append(job)
    return [its[0] if len(its) == 1 else
            Scenario([j.heads[0] for j in its], its[0].tag, its[0].sides, True)
            for its in guests.values()]


def scenarios(args, kernels):
    """The runs of every scenario that belong to this run of all."""
    short = not (args.all or args.debug or args.kver)
    for path in sorted(scenario_files().values(), key=os.path.basename):
        head = Head(path)
        if args.debug and head.get("debug"):
            continue
        if Scenario.iommu and not head.behind_iommu():
            continue
        fit = [k for k in kernels
               if k[0] in head.words("kernels", k[0])]
        runs, beyond = list(variants(head, fit, args.modules)), False
        if args.debug:
            runs = [r for r in runs if r[0] == "ours"]
        elif short:
            belong = [r for r in runs if in_check(head, r[0], r[1])]
            beyond = not belong
            # one for everything that a change of it, or of its parts, can break
            runs = belong or ([r for r in runs if r[0] == runs[0][0]][-1:]
                              if args.since else [])
        for _, _, tag, sides in runs:
            job = Scenario([head], tag, sides, short)
            job.beyond = beyond
            yield job
