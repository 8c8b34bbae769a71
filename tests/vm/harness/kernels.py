# SPDX-License-Identifier: GPL-2.0
"""Which kernels there are: the machine's own, and those with a root of their
own, which tests/vm/kernel-root has made for a line of tests/vm/kernels: of
another release, or from source, which watch themselves and are slow."""

import functools
import os
import re
import subprocess

from . import REPO, HarnessError

KERNEL_ROOT = os.path.join(REPO, "tests/vm/kernel-root")


def table(path=os.path.join(REPO, "tests/vm/kernels")):
    """{series: where it comes from} of tests/vm/kernels, oldest first."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words and not line.startswith("#"):
                found[words[0]] = words[1]
    return found


# How much longer everything may take on a kernel from source, and how much more
# memory it takes
SLOW = 5
LARGE = 2


def all_series(rooted):
    """The series of the machine's own packages and, if @rooted, those of other
    releases."""
    return [s for s, where in table().items()
            if where == "machine" or rooted and where == "root"]


def watching_series():
    """Those from source."""
    return [s for s, where in table().items() if where == "source"]


def watches(kver):
    """Whether a kernel, by its full name, is one from source."""
    return any(_rooted(s)[1] == kver for s in watching_series())


@functools.cache
def _rooted(wanted):
    """(root, kernel) that @wanted names, ("", "") if there is no such root."""
    done = subprocess.run([KERNEL_ROOT, "--find", wanted], check=False,
                          capture_output=True, text=True)
    return tuple(done.stdout.split()) if not done.returncode else ("", "")


def root_of(kver):
    """The directory that a kernel's /boot and /lib/modules are in: that of a
    root, or "" for the machine's own."""
    if os.path.exists(f"/boot/vmlinuz-{kver}"):
        return ""
    return _rooted(kver)[0]


def made_from_source(name, kver):
    """The file of a module that @kver lacks, made if need be."""
    program = os.path.join(REPO, "tests/vm/module")
    done = subprocess.run([program, name, kver], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        raise HarnessError(f"--with {name}: no such module for {kver}")
    return done.stdout.strip()


# Modules without which no test here can run. Debian's cloud kernels, for example, have RDMA but
# no soft-RoCE.
NEEDED = ("nvme_fabrics", "rdma_rxe")


def _lacks(directory, build):
    """What the kernel with this directory of modules lacks, '' if nothing."""
    try:
        with open(f"{directory}/modules.dep", encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        return "modules.dep"
    have = {n.replace("-", "_")
            for n in re.findall(r"^[^:]*/([^/:]+)\.ko[^:/]*:", text, re.M)}
    for name in NEEDED:
        if name not in have:
            return f"the module {name}"
    if build and not os.path.exists(f"{directory}/build/Makefile"):
        return "headers"
    return ""


def _age(name):
    """Sorts kernels, older first; of two flavours of one version the plain
    one, which has the shorter name, comes last and so is preferred."""
    return [int(x) for x in re.findall(r"\d+", name)], -len(name), name


def installed_kernels(build=False, modules="/lib/modules", boot="/boot"):
    """Kernels that guests can use, oldest first, and what others lack.

    @build: only those that modules can be built for, too

    Return: names in order, and {name: what it lacks} of those left out.
    """
    names, lacking = [], {}
    for name in sorted(os.listdir(modules), key=_age):
        if not os.path.exists(f"{boot}/vmlinuz-{name}"):
            continue
        lacks = _lacks(f"{modules}/{name}", build)
        if lacks:
            lacking[name] = lacks
        else:
            names.append(name)
    return names, lacking


def find_kernel(wanted, build=False, **where):
    """The kernel that @wanted names in full or by its beginning.

    @wanted: "" for the newest
    @build, @where: see installed_kernels()
    """
    have, lacking = installed_kernels(build, **where)
    left_out = "".join(f"; {n} is installed without {what}"
                       for n, what in lacking.items())
    if not have:
        raise HarnessError("no kernel installed: /boot/vmlinuz-* with "
                           "/lib/modules/* (packages linux-image-amd64, "
                           f"linux-headers-amd64){left_out}")
    if not wanted:
        return have[-1]
    if wanted in have:
        return wanted
    near = [n for n in have if re.match(re.escape(wanted) + r"(\D|$)", n)]
    rooted = "" if near else _rooted(wanted)[1]
    if rooted:
        return rooted
    if not near:
        if table().get(wanted) in ("root", "source"):
            raise HarnessError(f"kernel {wanted} has no root here yet: "
                               f"'tests/vm/kernel-root {wanted}' makes it")
        raise HarnessError(f"kernel '{wanted}' is not installed; "
                           f"there are: {', '.join(have)}{left_out}")
    return near[-1]
