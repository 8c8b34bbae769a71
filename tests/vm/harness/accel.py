# SPDX-License-Identifier: GPL-2.0
"""Whether KVM truly works here.

/dev/kvm may be there and still not run a kernel (nested, or provided by
something that is no processor). So: the processor's flag first, then the
device, then a boot that really comes to its end, once for each boot of this
machine.
"""

import os
import re
import subprocess

from . import HarnessError, image

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
             "-serial", "stdio", "-kernel", f"/boot/vmlinuz-{kver}",
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
