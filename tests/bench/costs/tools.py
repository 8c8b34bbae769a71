# SPDX-License-Identifier: GPL-2.0
"""The counting plugin and the program 'mark', compiled where a run needs them."""

import glob
import hashlib
import os
import re
import shutil
import subprocess

from . import BENCH, REPO, BenchError

TOOLS = os.path.join(REPO, "build/tools")
CFLAGS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2", "-g")

# The first QEMU version whose plugin interface may differ from the one that the plugin uses
# (version 1 until 8.1, version 2 from then on)
QEMU = (6, 0), (8, 1)


def qemu_version(text):
    """The version that 'qemu-system-x86_64 --version' prints, as numbers."""
    m = re.search(r"version (\d+)\.(\d+)", text)
    if not m:
        raise BenchError(f"what version of QEMU is '{text.strip()}'?")
    return int(m[1]), int(m[2])


def check_qemu(binary="qemu-system-x86_64"):
    """The version of a QEMU that takes the plugin, in words; else an error."""
    path = shutil.which(binary)
    if not path:
        raise BenchError(f"there is no {binary} (package qemu-system-x86)")
    text = subprocess.run([path, "--version"], capture_output=True, text=True,
                          check=False).stdout
    version = qemu_version(text)
    if not QEMU[0] <= version < QEMU[1]:
        raise BenchError(
            f"QEMU {version[0]}.{version[1]} has another interface for plugins "
            "than the counting one is written for (that of QEMU 6.0 to 8.0; "
            "Debian 12 has 7.2); see tests/bench/plugin/qemu-plugin.h")
    words = subprocess.run([path, "-plugin", "help"], capture_output=True,
                           text=True, check=False).stderr
    if "invalid option" in words:
        raise BenchError(f"{path} is built without plugins (-plugin)")
    return f"{version[0]}.{version[1]}"


def _compile(name, sources, others, options):
    """The file build/tools/NAME, made anew if what it is made of has changed."""
    final, key = os.path.join(TOOLS, name), hashlib.sha256()
    for path in sorted(sources + others):
        with open(path, "rb") as f:
            key.update(f.read())
    key.update(" ".join(options).encode())
    stamp = final + ".made-of"
    if os.path.exists(final) and os.path.exists(stamp):
        with open(stamp, encoding="ascii") as f:
            if f.read() == key.hexdigest():
                return final
    os.makedirs(TOOLS, exist_ok=True)
    done = subprocess.run(
        [os.environ.get("HOSTCC", "gcc"), *CFLAGS, *options, "-o",
         final + ".new", *sources], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{name} does not compile:\n{done.stderr}")
    os.rename(final + ".new", final)
    with open(stamp, "w", encoding="ascii") as f:
        f.write(key.hexdigest())
    return final


def plugin():
    """The plugin's file."""
    parts = os.path.join(BENCH, "plugin")
    return _compile("count.so", sorted(glob.glob(f"{parts}/*.c")),
                    glob.glob(f"{parts}/*.h"),
                    ("-fPIC", "-fvisibility=hidden", "-shared"))


def mark():
    """The file of the program by which a guest speaks to the plugin."""
    return _compile("mark", [os.path.join(BENCH, "mark.c")],
                    glob.glob(os.path.join(BENCH, "plugin/*.h")), ("-static",))
