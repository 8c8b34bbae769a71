# SPDX-License-Identifier: GPL-2.0
"""What an I/O costs: guests are run, instructions counted, figures written down.

    workloads.py     what is measured: pairs of modules, jobs of fio
    tools.py         the counting plugin and the program 'mark', compiled
    guest.py         one guest for a kernel and a device: its plan, its files
    attribution.py   whose a function is, and of which part of the system
    symbols.py       addresses to functions; files of counts
    split.py         counts to instructions by part and owner, and to events
    counters.py      the virtual device's own counters
    connecting.py    how long connecting takes: two guests and a wire with a delay
    memory.py        memory of a queue, by side: two guests
    parallel.py      I/Os a second, by the clock: a guest with several processors
    results.py       a guest's files to figures, medians and their spread
    tables.py        figures as Markdown
    plots.py         figures as SVG, by gnuplot
    document.py      the results directory's tables, the summary on Documentation/performance.md
    compare.py       a run against a saved one
"""

import os

REPO = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))
BENCH = os.path.join(REPO, "tests/bench")


class BenchError(Exception):
    """It cannot be measured; the text says why."""
