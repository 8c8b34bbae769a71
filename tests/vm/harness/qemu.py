# SPDX-License-Identifier: GPL-2.0
"""QEMU's command line, the virtual wire, its monitor.

The wire runs over Unix sockets in a directory of the run's own, so runs that
go on at once cannot meet. With two guests it is one cable. With more, the
first guest's QEMU holds a hub, and each other guest has a cable to it.
"""

import json
import os
import shutil
import socket

from . import HarnessError
from .accel import tsc_khz
from .kernels import watches
from .options import size_bytes

# norandmaps: QEMU translates code by its address, and would translate that of each program
# recreated whenever it is started elsewhere: a third of a guest's total
APPEND = ("console=ttyS0 norandmaps panic=-1 oops=panic mitigations=off nokaslr "
          "tsc=reliable net.ifnames=0 printk.devkmsg=on log_buf_len=4M "
          "loglevel=7 rdinit=/init")


def binary():
    """QEMU's path."""
    path = shutil.which("qemu-system-x86_64")
    if not path:
        raise HarnessError("'qemu-system-x86_64' is not installed "
                           "(package qemu-system-x86)")
    return path


# --iommu. The IOMMU comes before all devices that are to be behind it, pci-testdevs are what
# devices of vrnic map memory for: a guest has two, as a rule. By lazy unmapping an address does
# not become another's at once, so that a use after unmap meets nothing there.
IOMMU = ["-machine", "q35,sata=off,smbus=off", "-device", "intel-iommu,intremap=off",
         *["-device", "pci-testdev"] * 2]
IOMMU_APPEND = ["intel_iommu=on,sm_off", "iommu.strict=0", "iommu.passthrough=0", "vrnic.iommu=Y"]


def _accel(guest, accel):
    if guest.icount:
        return ["-accel", "tcg,thread=single", "-cpu", "max",
                "-icount", "shift=0,sleep=off"]
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    # QEMU 7.2 loses the flags of a cmpxchg16b that several processors make it step
    # over: a guest has debug exceptions and double faults where SLUB uses it
    return ["-accel", "tcg,thread=multi", "-cpu", "max,cx16=off" + SLOW_PARTS * guest.lean]


# Operations that emulation makes slow and that have a faster replacement: string instructions,
# carry-less products, a fifth level of page tables
SLOW_PARTS = ",erms=off,fsrm=off,pclmulqdq=off,la57=off"
# Clearing memory on each allocation is slow under emulation
LEAN_APPEND = ["init_on_alloc=0"]


def _clock(guest, accel):
    """Kernel parameters: under -icount the clock is virtual, KVM tells its
    guests itself."""
    if guest.icount or accel == "kvm" or not tsc_khz():
        return []
    return [f"tsc_early_khz={tsc_khz()}"]


def _quoted(path):
    """A path as a value among QEMU's options, where commas part them."""
    return path.replace(",", ",,")


def _share(tag, path, readonly):
    ro = ",readonly=on" if readonly else ""
    return ["-fsdev", f"local,id={tag},path={_quoted(path)},"
            "security_model=none,"
            f"multidevs=remap{ro}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _cable(name, path, server):
    on = "on" if server else "off"
    return ["-netdev", f"stream,id={name},server={on},addr.type=unix,"
            f"addr.path={path}"]


def wire_paths(index, count, sockets):
    """Sockets that guest @index of @count listens on, for others to wait."""
    if index or count < 2:
        return []
    return [f"{sockets}/wire{i}" for i in range(1, count)]


def _wire(index, count, sockets):
    """The network card of guest @index of @count and its end of the wire."""
    if count < 2:
        return []
    card = ["-device", "virtio-net-pci,id=nic,netdev=wire,romfile=,"
            f"mac=52:54:00:4e:56:{index + 1:02x}"]
    if index:
        return _cable("wire", f"{sockets}/wire{index}", False) + card
    if count == 2:
        return _cable("wire", f"{sockets}/wire1", True) + card
    args = ["-netdev", "hubport,id=wire,hubid=0"]
    for i, path in enumerate(wire_paths(0, count, sockets), 1):
        args += _cable(f"cable{i}", path, True)
        args += ["-netdev", f"hubport,id=port{i},hubid=0,netdev=cable{i}"]
    return args + card


def _disks(guest, directory):
    args = []
    for n, text in enumerate(guest.disks):
        size, _, props = text.partition(":")
        path = os.path.join(directory, f"disk{n}.img")
        with open(path, "wb") as f:
            f.truncate(size_bytes(size))
        args += ["-drive", f"if=none,id=disk{n},format=raw,cache=writeback,"
                 f"discard=unmap,detect-zeroes=off,file={_quoted(path)}",
                 "-device", f"nvme,id=ssd{n},serial=vm-ssd-{n}",
                 "-device", f"nvme-ns,bus=ssd{n},drive=disk{n}"
                 + (f",{props}" if props else "")]
    return args


def _for_watching(kver):
    """A kernel that watches itself takes minutes to interpret the BIOS' tables of
    interrupt lines, which nothing here uses; KCSAN waits at each 4,000th access for
    another one, which is too few to meet any; KASAN says nothing more after its first
    report, which may be one that is known."""
    return ["pci=noacpi", "kcsan.skip_watch=100",
            "kasan_multi_shot"] if watches(kver) else []


def command(guest, index, count, run_dir, sockets, boot, accel):
    """The whole command line for @guest, number @index of @count, which boots a kernel and
    an initramfs."""
    directory = os.path.join(run_dir, guest.name)
    args = [binary(), "-name", f"vm-{guest.name}", "-m", str(guest.mem),
            "-smp", str(guest.cpus), "-nodefaults", "-display", "none",
            "-no-reboot", "-no-user-config",
            "-kernel", boot[0], "-initrd", boot[1],
            "-append", " ".join([APPEND, f"vm.name={guest.name}",
                                 *_clock(guest, accel),
                                 *_for_watching(guest.kver), *LEAN_APPEND * guest.lean,
                                 *IOMMU_APPEND * guest.iommu,
                                 *guest.append]),
            "-serial", f"file:{directory}/console",
            "-qmp", f"unix:{sockets}/{guest.name}.qmp,server=on,wait=off",
            "-object", "rng-random,filename=/dev/urandom,id=rng",
            "-device", "virtio-rng-pci,rng=rng"]
    args[1:1] = IOMMU * guest.iommu
    args += _accel(guest, accel)
    args += _share("root", "/", True) + _share("vm", run_dir, False)
    args += _wire(index, count, sockets) + _disks(guest, directory)
    if guest.shell:
        args += ["-chardev", "stdio,id=term,signal=off",
                 "-device", "virtio-serial-pci",
                 "-device", "virtconsole,chardev=term"]
    return args + guest.qemu


class Monitor:
    """QEMU's monitor (QMP) over its Unix socket, opened for each command."""

    def __init__(self, path):
        self.path = path

    def run(self, name, /, **arguments):
        """Run a monitor command; HarnessError with QEMU's words if refused."""
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(10)
                s.connect(self.path)
                with s.makefile("rw", encoding="utf-8") as f:
                    self._read(f)
                    self._ask(f, "qmp_capabilities", {})
                    return self._ask(f, name, arguments)
        except (OSError, ValueError) as e:
            raise HarnessError(f"QEMU's monitor, command {name}: {e}") from e

    @staticmethod
    def _read(f):
        line = f.readline()
        if not line:
            raise HarnessError("QEMU's monitor closed the connection")
        return json.loads(line)

    def _ask(self, f, name, arguments):
        f.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        f.flush()
        while True:
            answer = self._read(f)
            if "error" in answer:
                raise HarnessError(f"QEMU refuses {name}: "
                                   f"{answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]
