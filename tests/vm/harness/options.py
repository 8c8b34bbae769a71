# SPDX-License-Identifier: GPL-2.0
"""What can be asked of a run and of each guest."""

import argparse
import os
import re
import shlex
from dataclasses import dataclass, field

from . import REPO, HarnessError
from .kernels import LARGE, SLOW, find_kernel, made_from_source, watches

USAGE = """\
tests/vm/run [OPTIONS] -- COMMAND...
       tests/vm/run [OPTIONS] --shell
       tests/vm/run [OPTIONS] --guest A [OPTIONS] --guest B [OPTIONS] [-- COMMAND...]"""

EPILOG = """\
Options before the first --guest hold for every guest, those after it for that
guest alone. Guests are joined by one virtual wire (eth0 in each); a command
knows its guest from $VM_NAME. Inside, /vm is the run directory: /vm/$VM_NAME
comes back as that guest's results, /vm/sync holds the barriers.

examples:
  tests/vm/run --kver 6.12 -- uname -a
  tests/vm/run --kver 6.1 --modules auto --shell
  tests/vm/run --guest target --kver 6.1 --disk 1G --guest host --kver 6.12 \\
               -- bash tests/guest/connect/interop.sh

exit status: that of the command (of the first that failed); 123 kernel fault
lines on a console, 124 a deadline passed, 125 a guest died or said nothing,
2 wrong usage or something missing on this machine.
"""


@dataclass
class GuestOptions:
    """One guest, as asked for."""

    name: str
    kver: str
    cpus: int
    mem: int
    timeout: float
    boot_timeout: float
    command: str
    modules: str
    only: list
    extra: list = field(default_factory=list)
    disks: list = field(default_factory=list)
    icount: bool = False
    lean: bool = False
    iommu: bool = False
    qemu: list = field(default_factory=list)
    append: list = field(default_factory=list)
    allow: list = field(default_factory=list)
    env: list = field(default_factory=list)
    shell: bool = False
    # how many times as long deadlines are
    slow: int = 1


@dataclass
class RunOptions:
    """The whole run, as asked for."""

    results: str
    keep: bool
    quiet: bool
    accel: str
    guests: list


def size_bytes(text):
    """'64M' or '2G' in bytes."""
    m = re.fullmatch(r"(\d+)([KMGT]?)", text)
    if not m:
        raise HarnessError(f"size '{text}': expected a number with K, M or G")
    return int(m[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[m[2]]


def _modules(text, kver):
    """(directory, names) of --modules; directory is None for the in-tree."""
    path, _, names = text.partition(":")
    only = [n for n in names.split(",") if n]
    if path == "none":
        return None, only
    if path == "auto":
        path = os.path.join(REPO, "build", kver)
    return os.path.realpath(path), only


def _guest_parser():
    p = argparse.ArgumentParser(add_help=False)
    g = p.add_argument_group("each guest")
    g.add_argument("--kver", help="kernel, in full or its beginning "
                   "(default: the newest installed)")
    g.add_argument("--cpus", type=int, default=2)
    g.add_argument("--mem", type=int, default=2048, help="MiB (2048)")
    g.add_argument("--timeout", type=float, default=300,
                   help="deadline in seconds from power on (300)")
    g.add_argument("--boot-timeout", type=float, default=90,
                   help="deadline for the boot alone (90)")
    g.add_argument("--modules", default="none",
                   help="DIR[:NAME,...] with our *.ko, put under updates/; "
                   "'auto' is build/<kernel>; 'none' (the default) leaves "
                   "the in-tree ones")
    g.add_argument("--with", action="append", metavar="NAME", default=None,
                   dest="extra", help="a module that the kernel lacks, made "
                   "for it: siw (software iWARP), vrnic (a virtual RDMA "
                   "NIC), vrnic_test (its tests), feeder (of the bench), deaf and faulty "
                   "(faults of soft-RoCE)")
    g.add_argument("--disk", action="append", metavar="SIZE[:PROPS]",
                   default=None, help="an NVMe SSD backed by a file; PROPS "
                   "go to its namespace, QEMU's nvme-ns")
    g.add_argument("--icount", action="store_true", default=None,
                   help="one CPU, guest time is instructions retired")
    g.add_argument("--icount-cpus", type=int, default=None, metavar="N",
                   help="CPUs under --icount (1); one thread runs them in turns")
    g.add_argument("--lean", action="store_true", default=None,
                   help="without what a user's machine has and emulation makes slow: for "
                   "all that does not measure")
    g.add_argument("--iommu", action="store_true", default=None,
                   help="a machine with Intel's IOMMU, and devices of vrnic behind it "
                   "(tests/vrnic/driver/iommu.c)")
    g.add_argument("--qemu", action="append", metavar="ARGS", default=None,
                   help="more arguments for QEMU")
    g.add_argument("--append", action="append", metavar="ARGS", default=None,
                   help="more of the kernel's command line")
    g.add_argument("--allow", action="append", metavar="REGEX", default=None,
                   help="kernel lines that are no fault in this run")
    g.add_argument("--env", action="append", metavar="NAME=VALUE",
                   default=None, help="a variable for the command")
    g.add_argument("--exec", dest="command", metavar="SHELL",
                   help="what this guest runs, a shell line")
    g.add_argument("--shell", action="store_true", default=None,
                   help="an interactive shell instead of a command")
    return p


def _run_parser(guest):
    p = argparse.ArgumentParser(
        usage=USAGE, epilog=EPILOG, parents=[guest],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Boot Debian kernels over this machine's programs.")
    r = p.add_argument_group("the run")
    r.add_argument("--results", metavar="DIR",
                   help="where results and consoles go (default: a temporary "
                   "directory, removed if all went well)")
    r.add_argument("--keep", action="store_true",
                   help="keep the temporary directory in any case")
    r.add_argument("--quiet", action="store_true",
                   help="do not copy the commands' output here")
    r.add_argument("--accel", choices=("auto", "kvm", "tcg"), default="auto")
    return p


def _split(argv):
    """Common part, [(name, part)...], command after '--' (or None)."""
    command = None
    if "--" in argv:
        at = argv.index("--")
        argv, command = argv[:at], argv[at + 1:]
    common, sections, i = argv, [], 0
    cuts = [i for i, a in enumerate(argv) if a == "--guest"]
    if cuts:
        common = argv[:cuts[0]]
    for i, at in enumerate(cuts):
        end = cuts[i + 1] if i + 1 < len(cuts) else len(argv)
        if at + 1 >= end:
            raise HarnessError("--guest wants a name")
        sections.append((argv[at + 1], argv[at + 2:end]))
    return common, sections, command


# QEMU's options that choose a machine
MACHINE_OPTIONS = ("-M", "-machine", "--machine")

_LISTS = ("extra", "disk", "qemu", "append", "allow", "env")


def _merge(common, own):
    """The guest's own options over the common ones; lists add up."""
    out = dict(vars(common))
    for key, value in vars(own).items():
        if key in _LISTS:
            out[key] = (out.get(key) or []) + (value or [])
        elif value is not None:
            out[key] = value
    return argparse.Namespace(**out)


def _machine_slow():
    """How many times as slow this machine is as the one that deadlines are from, as
    tests/run has measured (runner/speed.py); 1 in a run by itself."""
    text = os.environ.get("VM_MACHINE_SLOW", "1")
    if not re.fullmatch(r"[1-9]\d?", text):
        raise HarnessError(f"VM_MACHINE_SLOW={text}: expected how many times as slow the "
                           "machine is, 1 to 99")
    return int(text)


def _one_guest(name, ns, command):
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,15}", name):
        raise HarnessError(f"guest name '{name}': expected a lower-case word")
    kver = find_kernel(ns.kver, build=ns.modules.startswith("auto"))
    modules, only = _modules(ns.modules, kver)
    text = ns.command or (shlex.join(command) if command else "")
    if not text and not ns.shell:
        raise HarnessError(f"guest {name}: no command; give '-- COMMAND', "
                           "--exec or --shell")
    if ns.icount_cpus is not None and (not ns.icount or ns.icount_cpus < 1):
        raise HarnessError(f"--icount-cpus {ns.icount_cpus}: expected a number of CPUs "
                           "from 1, and --icount; without --icount, give --cpus")
    watched, large = (SLOW, LARGE) if watches(kver) else (1, 1)
    slow = watched * _machine_slow()
    for item in ns.env or []:
        if not re.match(r"[A-Za-z_]\w*=", item):
            raise HarnessError(f"--env {item}: expected NAME=VALUE")
    qemu = [w for a in ns.qemu or [] for w in shlex.split(a)]
    other = next((w for w in qemu if w in MACHINE_OPTIONS), None)
    if ns.iommu and other:
        raise HarnessError(f"--iommu: makes the machine itself (q35); leave out --qemu {other}")
    return GuestOptions(
        name=name, kver=kver, cpus=(ns.icount_cpus or 1) if ns.icount else ns.cpus,
        mem=ns.mem * large, timeout=ns.timeout * slow,
        boot_timeout=ns.boot_timeout * slow, command=text,
        modules=modules, only=only,
        extra=[made_from_source(n, kver) for n in ns.extra or []],
        disks=ns.disk or [],
        icount=bool(ns.icount), lean=bool(ns.lean and not ns.icount),
        iommu=bool(ns.iommu), append=ns.append or [],
        qemu=qemu,
        allow=ns.allow or [],
        env=[f"VM_SLOW={slow}", f"VM_WATCHED={watched}"] + (ns.env or []),
        shell=bool(ns.shell), slow=slow)


def parse(argv):
    """RunOptions for a command line; HarnessError says what is wrong."""
    common_args, sections, command = _split(argv)
    guest_parser = _guest_parser()
    common = _run_parser(guest_parser).parse_args(common_args)
    # A guest's own part has no defaults: an absent option there must not override the one for
    # all guests.
    for action in guest_parser._actions:
        action.default = None
    guests = []
    for name, part in sections or [("guest", [])]:
        own = guest_parser.parse_args(part)
        guests.append(_one_guest(name, _merge(common, own), command))
    names = [g.name for g in guests]
    if len(set(names)) != len(names):
        raise HarnessError(f"two guests of one name: {' '.join(names)}")
    if sum(g.shell for g in guests) > 1:
        raise HarnessError("only one guest can have the terminal (--shell)")
    return RunOptions(results=common.results, keep=common.keep,
                      quiet=common.quiet, accel=common.accel, guests=guests)
