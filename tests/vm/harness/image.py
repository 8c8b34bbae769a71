# SPDX-License-Identifier: GPL-2.0
"""What a guest boots: the kernel, the initramfs and the index of modules.

All are made once and kept under build/vm-cache, by a name that holds
everything they were made from, so that a new kernel, a new init or a rebuilt
module makes new ones and nothing stale is ever booted.
"""

import fcntl
import glob
import gzip
import hashlib
import lzma
import os
import shutil
import struct
import subprocess

from . import REPO, HarnessError
from .kernels import root_of

CACHE = os.environ.get("VM_CACHE", os.path.join(REPO, "build/vm-cache"))

# Modules to mount the machine's root, and modules that every guest needs; everything else is
# loaded from that root.
BOOT_MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "configfs",
                "virtio_net")


def _tool(name, package):
    path = shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not path:
        raise HarnessError(f"'{name}' is not installed (package {package})")
    return path


def _module_files(kver):
    """The files of BOOT_MODULES with what they need, in loading order."""
    modprobe, files = _tool("modprobe", "kmod"), []
    for name in BOOT_MODULES:
        done = subprocess.run(
            [modprobe, "-d", root_of(kver) or "/", "-S", kver,
             "--show-depends", name],
            capture_output=True, text=True, check=False)
        if done.returncode:
            raise HarnessError(f"kernel {kver}: module {name} is not there: "
                               f"{done.stderr.strip()}")
        for line in done.stdout.splitlines():
            word = line.split()
            if word[0] == "insmod" and word[1] not in files:
                files.append(word[1])
    return files


def _plain_module(path):
    """The module's bytes, uncompressed."""
    if path.endswith(".xz"):
        with lzma.open(path) as f:
            return f.read()
    if path.endswith(".gz"):
        with gzip.open(path) as f:
            return f.read()
    if path.endswith(".zst"):
        return subprocess.run([_tool("zstd", "zstd"), "-qdc", path],
                              capture_output=True, check=True).stdout
    with open(path, "rb") as f:
        return f.read()


# The magic number of a kernel's payload, and its decompressor; its size follows the payload
_PACKED = {b"\xfd7zXZ": ["xz", "-dc"], b"\x28\xb5\x2f\xfd": ["zstd", "-qdc"]}
# The note with the entry point for virtual machines: namesz, descsz, type, name
_PVH_NOTE = struct.pack("<III4s", 4, 8, 0x12, b"Xen\0")


def _unpacked(packed):
    """The ELF file in a bzImage; None if it cannot be booted as it is, or its packing is
    not known here (Documentation/arch/x86/boot.rst: setup_sects, payload_offset)."""
    offset, length = struct.unpack_from("<II", packed, 0x248)
    at = ((packed[0x1f1] or 4) + 1) * 512 + offset
    payload, size = packed[at:at + length - 4], packed[at + length - 4:at + length]
    for magic, program in _PACKED.items():
        if payload.startswith(magic):
            elf = subprocess.run(program, input=payload, check=False,
                                 capture_output=True).stdout
            if len(elf) != struct.unpack("<I", size)[0]:
                raise HarnessError(f"{program[0]} unpacks {len(elf)} bytes of the kernel, "
                                   f"which says that it has {struct.unpack('<I', size)[0]}")
            return elf if _PVH_NOTE in elf else None
    return None


def kernel(kver):
    """Path of what QEMU boots for @kver: its file unpacked, which takes an emulated
    machine up to four seconds, or that itself."""
    packed = f"{root_of(kver)}/boot/vmlinuz-{kver}"
    path = os.path.join(CACHE, f"vmlinux-{kver}-{_digest(_stat_key(packed))}")
    with _Lock():
        if not os.path.exists(path):
            with open(packed, "rb") as f:
                elf = _unpacked(f.read())
            for old in glob.glob(os.path.join(CACHE, f"vmlinux-{kver}-*")):
                os.unlink(old)
            with open(path + ".new", "wb") as f:
                f.write(elf or b"")
            os.rename(path + ".new", path)
    return path if os.path.getsize(path) else packed


def _cpio_entry(name, mode, data, ino):
    """One entry of a "newc" archive."""
    raw = name.encode() + b"\0"
    head = "070701" + "".join("%08x" % v for v in (
        ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0))
    out = head.encode() + raw
    out += b"\0" * (-len(out) % 4) + data
    return out + b"\0" * (-len(data) % 4)


def _cpio(dirs, files):
    """A "newc" archive of @dirs and @files, a list of (name, mode, bytes)."""
    out = [_cpio_entry(d, 0o40755, b"", i + 1) for i, d in enumerate(dirs)]
    out += [_cpio_entry(n, 0o100000 | m, d, len(dirs) + i + 1)
            for i, (n, m, d) in enumerate(files)]
    out.append(_cpio_entry("TRAILER!!!", 0, b"", 0))
    return b"".join(out)


class _Lock:
    """Runs that go on at once make an image once."""

    def __enter__(self):
        os.makedirs(CACHE, exist_ok=True)
        self.file = open(os.path.join(CACHE, "lock"), "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *unused):
        self.file.close()


def _digest(*parts):
    h = hashlib.sha256()
    for p in parts:
        h.update(p if isinstance(p, bytes) else str(p).encode())
        h.update(b"\0")
    return h.hexdigest()[:16]


def _stat_key(path):
    st = os.stat(path)
    return f"{path} {st.st_size} {st.st_mtime_ns}"


def initramfs(kver):
    """Path of the initramfs for @kver, made if need be."""
    busybox = _tool("busybox", "busybox-static")
    with open(os.path.join(REPO, "tests/vm/init"), "rb") as f:
        init = f.read()
    root = root_of(kver)
    key = _digest(_stat_key(f"{root}/boot/vmlinuz-{kver}"), _stat_key(busybox),
                  init, _stat_key(f"{root}/lib/modules/{kver}/modules.dep.bin"))
    path = os.path.join(CACHE, f"initramfs-{kver}-{key}")
    with _Lock():
        if os.path.exists(path):
            return path
        with open(busybox, "rb") as f:
            files = [("bin/busybox", 0o755, f.read()), ("init", 0o755, init)]
        for n, mod in enumerate(_module_files(kver)):
            base = os.path.basename(mod).split(".ko")[0]
            files.append((f"mod/{n:02d}-{base}.ko", 0o644,
                          _plain_module(mod)))
        dirs = ("bin", "dev", "proc", "sys", "mod", "new", "lower", "upper")
        for old in glob.glob(os.path.join(CACHE, f"initramfs-{kver}-*")):
            os.unlink(old)
        with gzip.open(path + ".new", "wb", compresslevel=1) as f:
            f.write(_cpio(dirs, files))
        os.rename(path + ".new", path)
    return path


def installed(kver):
    """Whether this machine itself has modules of ours installed for @kver."""
    return any(glob.glob(f"/lib/modules/{kver}/{d}/**/nvme*-rdma.ko*",
                         recursive=True) for d in ("updates", "extra"))


def _our_modules(directory, only, kver):
    """The *.ko of @directory, all or those named in @only."""
    if directory is None:
        return []
    found = sorted(glob.glob(os.path.join(directory, "*.ko")))
    if only:
        have = {os.path.basename(p)[:-3]: p for p in found}
        missing = [n for n in only if n not in have]
        if missing:
            raise HarnessError(f"{directory} holds no {missing[0]}.ko "
                               f"(make KVER={kver})")
        found = [have[n] for n in only]
    if not found:
        raise HarnessError(f"{directory} holds no module "
                           f"(make KVER={kver})")
    return found


def modules(directory, only, kver, extra=()):
    """An index as depmod would make it with our modules under updates/.

    @directory: where they are; None for an index of the kernel's own modules,
    which a guest needs if the machine below has ours installed.
    @extra: files of further modules

    Return: a directory with updates/*.ko and modules.*; a guest copies it
    over its /lib/modules/<kver>. depmod reads thousands of files, which takes
    a guest a minute and this machine a few seconds, once for each build; and
    nine tenths of a module are what a debugger reads, which a kernel that
    watches itself takes half a minute to copy.
    """
    ours = _our_modules(directory, only, kver) + list(extra)
    blobs = []
    for path in ours:
        with open(path, "rb") as f:
            blobs += [os.path.basename(path), f.read()]
    system = f"{root_of(kver)}/lib/modules/{kver}"
    key = _digest("stripped", kver, _stat_key(f"{system}/modules.dep.bin"), *blobs)
    final = os.path.join(CACHE, f"modules-{kver}-{key}")
    with _Lock():
        if os.path.isdir(final):
            os.utime(final)
            return final
        _forget_old(f"modules-{kver}-")
        base = final + ".new"
        shutil.rmtree(base, ignore_errors=True)
        tree = f"{base}/lib/modules/{kver}"
        os.makedirs(f"{tree}/updates")
        for name in ("kernel", "modules.order", "modules.builtin",
                     "modules.builtin.modinfo"):
            if os.path.exists(f"{system}/{name}"):
                os.symlink(f"{system}/{name}", f"{tree}/{name}")
        for path in ours:
            subprocess.run([_tool("strip", "binutils"), "--strip-debug", path,
                            "-o", f"{tree}/updates/{os.path.basename(path)}"],
                           check=True)
        done = subprocess.run([_tool("depmod", "kmod"), "-b", base, kver],
                              capture_output=True, text=True, check=False)
        if done.returncode or not os.path.exists(f"{tree}/modules.dep.bin"):
            raise HarnessError(f"depmod for {kver}: {done.stderr.strip()}")
        for name in os.listdir(tree):
            if os.path.islink(f"{tree}/{name}"):
                os.unlink(f"{tree}/{name}")
        os.rename(tree, final)
        shutil.rmtree(base)
    return final


def _forget_old(prefix, keep=6):
    """Leave only the @keep indexes used last; each is some 6 MB."""
    old = sorted(glob.glob(os.path.join(CACHE, prefix + "*")),
                 key=os.path.getmtime)
    for path in old[:-keep]:
        shutil.rmtree(path, ignore_errors=True)
