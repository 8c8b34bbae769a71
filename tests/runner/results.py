# SPDX-License-Identifier: GPL-2.0
"""What a run of all tests came to, as a page of Markdown."""

import re
import subprocess
import time

# "guest/interop 6.1 target, 6.12 host", "guest/interop our host, 6.1",
# "siw for 6.1.0-56-amd64", "guest/abort 6.1"
KERNEL = r"(\d+\.\d+)"
NAMES = ((re.compile(rf"^(.*) {KERNEL} target, {KERNEL} host$"),
          r"\1, target on \2", 3),
         (re.compile(rf"^(.*) (our \w+|in-tree), {KERNEL}$"), r"\1, \2", 3),
         (re.compile(rf"^(.*) for {KERNEL}\..*$"), r"module \1", 2),
         (re.compile(rf"^(.*) {KERNEL}$"), r"\1", 2))
NOT_HERE = re.compile(r"^\s*(?:\w+: )?not here - ", re.M)


def place(name):
    """(row, kernel) of a job in the table; no kernel: one that is for all."""
    for pattern, row, group in NAMES:
        m = pattern.match(name)
        if m:
            return m.expand(row), m[group]
    return name, None


def cell(job):
    """How a job ended, in a few words."""
    if job.ended is None:
        return "not run"
    words = [str(job.passed)]
    if job.failed:
        words.append(f"**{job.failed} failed**")
    missing = len(NOT_HERE.findall(job.text()))
    if missing:
        words.append(f"{missing} not here")
    if job.twice:
        words.append("2nd run")
    return ", ".join(words)


def commit():
    """What is checked out, "-dirty" if it was changed."""
    return subprocess.run(["git", "describe", "--always", "--dirty"],
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout.strip() or "unknown"


def page(jobs, kernels, minutes):
    """The page: @jobs that have ended, @kernels as (series, full name)."""
    series = [short for short, _ in kernels]
    rows = {}
    for job in jobs:
        row, kernel = place(job.name)
        rows.setdefault(row.removeprefix("guest/"), {})[kernel] = cell(job)
    lines = [
        f"{time.strftime('%Y-%m-%d')}, commit {commit()}, "
        + ", ".join(full for _, full in kernels) + ":",
        f"{sum(j.passed for j in jobs)} checks passed, "
        f"{sum(j.failed for j in jobs)} failed, in {len(jobs)} jobs and "
        f"{minutes:.0f} minutes.", "",
        "| test | all kernels | " + " | ".join(series) + " |",
        "|---" * 2 + "|--:" * len(series) + "|"]
    for row, cells in rows.items():
        lines.append(f"| {row} | " + " | ".join(
            cells.get(kernel, "") for kernel in [None] + series) + " |")
    return "\n".join(lines) + "\n"


def timetable(jobs):
    """When each job ran, in seconds after the first began; what was expected of it, and
    what it took of the processors."""
    lines = ["begin   end  took  weight expected  CPU s  CPUs  starved  job"]
    for job in sorted((j for j in jobs if j.ended is not None), key=lambda j: j.began):
        took = job.ended - job.began
        lines.append(f"{job.began:5.0f} {job.ended:5.0f} {took:5.0f}  {job.weight:6.2f} "
                     f"{job.seconds:8.0f}  {job.cpu:5.0f}  {job.cpu / max(took, 0.1):4.2f}  "
                     f"{job.starved:7.0f}  {job.name}")
    return "\n".join(lines) + "\n"
