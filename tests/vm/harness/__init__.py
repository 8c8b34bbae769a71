# SPDX-License-Identifier: GPL-2.0
"""Virtual machines for the tests: Debian kernels over this machine's programs.

    main.py      command line, the run directory, the loop that watches
    options.py   what can be asked of a run and of each guest
    kernels.py   which kernels there are, and where
    image.py     what a guest boots: the initramfs and the module index
    accel.py     whether KVM truly works here
    qemu.py      QEMU's command line, the virtual wire, its monitor
    guest.py     one guest: started, watched, judged
    console.py   which kernel lines are faults
    control.py   what guests may ask of the machine below, while they run
"""

import os

REPO = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


class HarnessError(Exception):
    """Something that the harness needs is not there; the text says what."""
