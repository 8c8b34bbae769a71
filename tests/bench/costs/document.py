# SPDX-License-Identifier: GPL-2.0
"""The generated part of Documentation/performance.md."""

import os

from . import REPO, BenchError, plots, tables

PAGE = os.path.join(REPO, "Documentation/performance.md")
PLOTS = "plots"
BEGIN = "<!-- begin: tests/bench/write -->"
END = "<!-- end: tests/bench/write -->"

# Of which jobs the split and the events are shown, a table for each line
SHOWN = (("4k-read-qd1", "4k-read-qd32", "4k-write-qd32"),
         ("4k-read-qd32-batch8", "128k-read-qd8", "128k-write-qd8"))
OVERHEADS = tuple(j for line in SHOWN for j in line)


def replaced(page, text):
    """@page with @text for what is between the two marks."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise BenchError(f"there are no lines '{BEGIN}' and '{END}' on the page")
    return f"{head}{BEGIN}\n{text.strip()}\n{END}{tail}"


def _clock(run):
    if "clock" not in run:
        return []
    counted, ns = run["clock"]["instructions"], run["clock"]["ns"]
    return [f"The plugin counted {counted:,} instructions where the guest's clock "
            f"says {ns:,} ({(counted - ns) / ns * 100:+.2f} %).", ""]


def _pictures(run, directory):
    """Draw; lines of Markdown with links."""
    lines = []
    for name, words, script in (
            ("overhead", "overhead, in-tree and ours",
             lambda path: plots.overhead_script(run, OVERHEADS, path)),
            ("split", "instructions by part",
             lambda path: plots.split_script(run, SHOWN[0] + SHOWN[1][:1], path)),
            ("depth", "instructions by queue depth",
             lambda path: plots.depth_script(run, path))):
        file = f"{name}-{run['series']}-{run['device']}.svg"
        path = os.path.join(directory, PLOTS, file)
        if plots.draw(script(path), path):
            lines += [f"![{words}]({PLOTS}/{file})", ""]
    return lines


def section(run, directory):
    """A kernel and a device, as lines."""
    lines = [f"## {run['kernel']}, {run['device']}", ""]
    for words, table in (
            ("", tables.totals(run)),
            ("Overhead of all pairs, and of in-tree on both sides:",
             tables.mixed(run)),
            *(("Where they are:" if not n else "", tables.split(run, jobs))
              for n, jobs in enumerate(SHOWN)),
            *(("On whose behalf:" if not n else "", tables.behalf(run, jobs))
              for n, jobs in enumerate(SHOWN)),
            *(("How often, for an I/O:" if not n else "", tables.events(run, jobs))
              for n, jobs in enumerate(SHOWN)),
            ("Latency, in the guest's time, whose nanosecond is an instruction:",
             tables.latencies(run))):
        if table:
            lines += ([words, ""] if words else []) + table + [""]
    lines += _pictures(run, directory) + _clock(run)
    lines += [f"Not as it should be: {line}" for line in run["missing"]]
    return lines


def _measured(data):
    """When, what and by what, as a line; the command"""
    return [f"Version {data['version']} ({data['commit']}), {data['date']}, QEMU "
            f"{data['qemu']}, {data['fio']}:", "", f"    {data['command']}", ""]


def counting_section(data):
    """Ours with its counters and without."""
    lines = []
    for run in data["runs"]:
        lines += [f"## What counting costs: {run['kernel']}, {run['device']}", "",
                  *_measured(data), *tables.totals(run), "",
                  *tables.counting(run), ""]
        lines += [f"Not as it should be: {line}" for line in run["missing"]]
    return lines


def scale_section(data, directory):
    """By number of controllers."""
    run = data["runs"][0]
    lines = [f"## More queues: {run['kernel']}, {run['device']}", "",
             *_measured(data), *tables.scale(run), ""]
    points = {p: [(c, n - f["groups"].get("device", 0)) for c, n, f in line]
              for p, line in tables.scale_points(run, "round-robin").items()}
    file = f"scale-{run['series']}-{run['device']}.svg"
    path = os.path.join(directory, PLOTS, file)
    if plots.draw(plots.scale_script(points, run["series"], run["device"], path),
                  path):
        lines += [f"![by queues]({PLOTS}/{file})", ""]
    return lines + [f"Not as it should be: {line}" for line in run["missing"]]


def generated(files, directory):
    """The whole part. @files: results of run, scale, scale --memory, parallel"""
    lines = []
    for data in files:
        if "memory" in data:
            lines += [f"## Memory of a queue: {data['kernel']}, two guests, rxe",
                      "", *_measured(data), *tables.memory(data["memory"]), ""]
        elif "parallel" in data:
            lines += [f"## By the clock: {data['kernel']}, {data['device']}", "",
                      *_measured(data), *tables.parallel(data), ""]
        elif any("grown" in r for r in data["runs"]):
            lines += scale_section(data, directory)
        elif any("uncounted" in r["results"] for r in data["runs"]):
            lines += counting_section(data)
        else:
            lines += _measured(data)
            for run in data["runs"]:
                lines += section(run, directory)
    return "\n".join(lines)


def write(files, page=PAGE):
    """Put results on the page, and pictures beside it."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    new = replaced(text, generated(files, os.path.dirname(page)))
    with open(page + ".new", "w", encoding="utf-8") as f:
        f.write(new)
    os.rename(page + ".new", page)
