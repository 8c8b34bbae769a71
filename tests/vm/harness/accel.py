# SPDX-License-Identifier: GPL-2.0
"""Whether KVM truly works here; how fast the clock of emulated guests ticks.

/dev/kvm may be there and still not run a kernel (nested, or provided by
something that is no processor). So: the processor's flag first, then the
device, then a boot that really comes to its end, once for each boot of this
machine.
"""

import ctypes
import functools
import mmap
import os
import platform
import re
import subprocess
import time

from . import HarnessError, image
from .kernels import root_of

PROBE_SECONDS = 20


def _flag(cpuinfo="/proc/cpuinfo"):
    with open(cpuinfo, encoding="ascii", errors="replace") as f:
        return re.search(r"^flags\s*:.*\b(vmx|svm)\b", f.read(), re.M)


def _boots(kver):
    """Boot @kver under KVM with an init that says one line and powers off."""
    init = b"""#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox echo VM-KVM-WORKS
/bin/busybox echo o > /proc/sysrq-trigger
/bin/busybox sleep 60
"""
    with open(image._tool("busybox", "busybox-static"), "rb") as f:
        busybox = f.read()
    path = os.path.join(image.CACHE, f"kvm-probe-{os.getpid()}")
    with open(path, "wb") as f:
        f.write(image._cpio(("bin", "dev", "proc"), [
            ("bin/busybox", 0o755, busybox), ("init", 0o755, init)]))
    try:
        done = subprocess.run(
            ["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host",
             "-m", "512", "-display", "none", "-nodefaults", "-no-reboot",
             "-serial", "stdio",
             "-kernel", f"{root_of(kver)}/boot/vmlinuz-{kver}",
             "-initrd", path, "-append", "console=ttyS0 panic=-1"],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=PROBE_SECONDS)
        return b"VM-KVM-WORKS" in done.stdout
    except subprocess.TimeoutExpired:
        return False
    finally:
        os.unlink(path)


def choose(wanted, kver):
    """'kvm' or 'tcg' for @wanted, which is one of these or 'auto'."""
    if wanted == "tcg":
        return "tcg"
    if not _flag() or not os.access("/dev/kvm", os.R_OK | os.W_OK):
        if wanted == "kvm":
            raise HarnessError("--accel kvm: this processor shows no vmx or "
                               "svm flag, or /dev/kvm cannot be opened")
        return "tcg"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
        boot = f.read().strip()
    os.makedirs(image.CACHE, exist_ok=True)
    note = os.path.join(image.CACHE, f"kvm-{boot}-{kver}")
    if not os.path.exists(note):
        answer = "kvm" if _boots(kver) else "tcg"
        with open(note, "w", encoding="ascii") as f:
            f.write(answer)
    with open(note, encoding="ascii") as f:
        answer = f.read()
    if wanted == "kvm" and answer != "kvm":
        raise HarnessError("--accel kvm: /dev/kvm is there but no kernel came "
                           f"up under it in {PROBE_SECONDS} s")
    return answer


@functools.cache
def tsc_khz():
    """How fast this machine's time stamp counter ticks, in kHz; None if it is
    no x86-64.

    Emulated guests read that counter. One that has to measure it while the
    machine is slow to run it may find anything (92 MHz for 2,596), and then its
    seconds are too short for all that waits for them; so each is told.
    """
    if platform.machine() != "x86_64":
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=(mmap.PROT_READ | mmap.PROT_WRITE |
                                              mmap.PROT_EXEC))
    # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    page.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(
        ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def now():
        """(ns, ticks) at one moment: the closest of some readings"""
        readings = []
        for _ in range(50):
            before, ticks = time.monotonic_ns(), rdtsc()
            after = time.monotonic_ns()
            readings.append((after - before, (before + after) // 2, ticks))
        return min(readings)[1:]

    ns, ticks = now()
    time.sleep(0.1)
    end_ns, end_ticks = now()
    return (end_ticks - ticks) * 1000000 // (end_ns - ns)
