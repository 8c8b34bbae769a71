# SPDX-License-Identifier: GPL-2.0
"""Several jobs on several processors, by the clock (guest/parallel.sh).

The figures of one run say little, as the machine does other things, too. The
ratio of two that were taken one after the other says more: of each round, ours to
in-tree, and of those the median. "parallel" in a file of results is
{pair: {job: {ratio, low, high, iops: [of each round], base: [in-tree's]}}}.
"""

import json
from statistics import median

from . import guest
from .results import read

JOBS = ("4k-read", "4k-write", "4k-mixed", "128k-read")
BASE = "kernel"


def run(directory, kver, device, pairs, rounds, seconds, cpus, placed):
    """One guest, without -icount. Return: what is not as it should be"""
    return guest.run_script(
        directory, kver, "bench/guest/parallel.sh",
        300 + rounds * len(pairs) * (60 + len(JOBS) * (30 + 3 * seconds)),
        *(["--with", "vrnic"] if device == "vrnic" else []),
        "--cpus", str(cpus), "--mem", "3072", "--append", guest.APPEND,
        "--env", f"BENCH_DEVICE={device}",
        "--env", f"BENCH_ROUNDS={rounds}",
        "--env", f"BENCH_SECONDS={seconds}",
        "--env", f"BENCH_PLACED={placed}",
        "--env", f"BENCH_PAIRS={' '.join(pairs)}")


def iops(text):
    """All I/Os of a second in fio's JSON; None if it has none"""
    try:
        jobs = json.loads(text[text.index("{"):])["jobs"]
        return sum(j[kind]["iops"] for j in jobs for kind in ("read", "write"))
    except (ValueError, KeyError):
        return None


def ratios(mine, base):
    """{ratio, low, high} of rounds that both have; None if there are none"""
    found = [a / b for a, b in zip(mine, base) if a and b]
    if not found:
        return None
    return {"ratio": round(median(found), 3), "low": round(min(found), 3),
            "high": round(max(found), 3)}


def results(directory, pairs, rounds):
    """What the guest has measured."""
    def of(pair, job):
        return [iops(read(f"{directory}/guest/{pair}.{n}.{job}.fio"))
                for n in range(rounds)]

    out = {}
    for pair in pairs:
        if pair == BASE:
            continue
        out[pair] = {}
        for job in JOBS:
            mine, base = of(pair, job), of(BASE, job)
            found = ratios(mine, base)
            if found:
                out[pair][job] = {**found, "iops": mine, "base": base}
    return out
