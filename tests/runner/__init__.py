# SPDX-License-Identifier: GPL-2.0
"""What runs the tests: 'make check' and its longer and shorter forms (tests/run).

    head.py       what the first lines of a scenario say, and whether that makes sense
    job.py        one command: started, watched, counted
    jobs.py       which jobs a run has
    scenario.py   the jobs of guest scenarios: whose modules on which kernels
    queue.py      which job starts when
    costs.py      what each job took last time
    speed.py      how fast this machine is
    since.py      what a change can break
    results.py    what came of it, as pages
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
TESTS = os.path.dirname(HERE)
REPO = os.path.dirname(TESTS)
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "nvme-rdma")
sys.path.insert(0, os.path.join(TESTS, "vm"))
