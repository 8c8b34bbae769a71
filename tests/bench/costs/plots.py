# SPDX-License-Identifier: GPL-2.0
"""Figures as SVG, by gnuplot."""

import os
import subprocess

from . import BenchError
from .attribution import GROUPS
from .tables import but_device, overhead, words
from .workloads import PAIR_WORDS, Job, job_named

# Stacked from below, in colours that also differ in print
COLOURS = dict(zip(GROUPS, (
    "#b2182b", "#ef8a62", "#fddbc7", "#d9d9d9", "#2166ac", "#4393c3", "#67a9cf",
    "#92c5de", "#d1e5f0", "#1b7837", "#5aae61", "#a6dba0", "#762a83", "#9970ab",
    "#c2a5cf", "#bdbdbd", "#737373", "#252525")))
HEAD = """\
set terminal svg noenhanced size {width},{height} font "sans-serif,11" \\
  background "#ffffff"
set output "{path}"
set title "{title}"
set grid ytics lc rgb "#dddddd"
set format y "%'.0f"
set ylabel "instructions per I/O"
set yrange [0:*]
"""


def _quoted(text):
    return '"' + text.replace('"', "'") + '"'


def _block(name, rows):
    lines = [f"${name} << EOD"]
    lines += [" ".join(_quoted(c) if isinstance(c, str) else
                       "NaN" if c is None else f"{c:.1f}" for c in row)
              for row in rows]
    return "\n".join([*lines, "EOD", ""])


def split_script(run, jobs, path):
    """Where the instructions are: bars of nvme-loop, in-tree and ours."""
    pairs = [p for p in ("loop", "kernel", "ours") if p in run["results"]]
    jobs = [j for j in jobs if all(j in run["results"][p] for p in pairs)]
    if not jobs or not pairs:
        return ""
    # the device is not compared, and dominates over soft-RoCE
    groups = [g for g in GROUPS if g != "device" and any(
        run["results"][p][j]["groups"].get(g) for p in pairs for j in jobs)]
    script = HEAD.format(width=960, height=480, path=path, title="Instructions of "
                         f"an I/O without the device's, {run['series']}, "
                         f"{run['device']}")
    script += ("set style data histograms\nset style histogram rowstacked gap 1\n"
               "set style fill solid border rgb '#ffffff'\nset boxwidth 0.8\n"
               "set key outside right reverse Left invert\n"
               "set xtics rotate by -20 nomirror font ',9'\n")
    parts = []
    for n, job in enumerate(jobs):
        rows = [[PAIR_WORDS[p]] + [run["results"][p][job]["groups"].get(g, 0)
                                   for g in groups] for p in pairs]
        script += _block(f"job{n}", rows)
        label = words(job).replace(", ", "\\n", 1)
        parts.append(f'newhistogram "{label}" font ",9" offset 0,-1')
        for i, group in enumerate(groups):
            title = f'title "{group}"' if n == 0 else "notitle"
            parts.append(f"$job{n} using {i + 2}:xtic(1) lc rgb "
                         f"'{COLOURS[group]}' {title}")
    return (script + "set bmargin 6\nplot " + ", \\\n  ".join(parts) + "\n")


# Where the axis of overheads begins
LEAST = 100


def overhead_script(run, jobs, path):
    """The overhead, in-tree and ours side by side."""
    rows = [[words(j).replace(", ", "\\n", 1), overhead(run, "kernel", j),
             overhead(run, "ours", j)] for j in jobs]
    rows = [r for r in rows if None not in r]
    if not rows:
        return ""
    # values that a logarithmic axis cannot show
    low = any(value < LEAST for row in rows for value in row[1:])
    rows = [[row[0]] + [max(value, LEAST) for value in row[1:]] for row in rows]
    return (HEAD.format(width=960, height=400, path=path, title="Overhead: without "
                        f"the floor and the device, {run['series']}, "
                        f"{run['device']}" + (
                            f" (a line at {LEAST}: that or less)" if low else ""))
            + "set style data histograms\nset style histogram clustered gap 1\n"
            "set style fill solid border rgb '#ffffff'\nset key top left\n"
            "set xtics nomirror font ',8'\nset bmargin 4\n"
            f"set logscale y\nset yrange [{LEAST - 1}:*]\n"
            + _block("data", rows)
            + "plot $data using 2:xtic(1) lc rgb '#b2182b' title 'in-tree', "
            "'' using 3 lc rgb '#2166ac' title 'ours'\n")


def depth_script(run, path):
    """Against queue depth."""
    found = {}
    for pair in ("raw", "loop", "kernel", "ours"):
        for name, figures in run["results"].get(pair, {}).items():
            job = job_named(name)
            if job and job == Job(job.rw, 4096, job.depth):     # nothing else of it differs
                found.setdefault((job.rw, pair), {})[job.depth] = but_device(figures)
    depths = sorted({d for line in found.values() for d in line})
    if len(depths) < 3:
        return ""
    script = HEAD.format(width=960, height=400, path=path, title="4 KiB by queue "
                         f"depth, without the device, {run['series']}, "
                         f"{run['device']}")
    script += ("set key outside right\nset xlabel 'queue depth'\nset logscale x 2\n"
               "set style data linespoints\n")
    parts = []
    colours = {"raw": "#737373", "loop": "#1b7837", "kernel": "#b2182b",
               "ours": "#2166ac"}
    for n, ((rw, pair), line) in enumerate(found.items()):
        script += _block(f"line{n}", [[d, line.get(d)] for d in depths])
        dash = {"read": 1, "write": 2, "mixed": 3}[rw]
        parts.append(f"$line{n} using 1:2 lc rgb '{colours[pair]}' dt {dash} pt 7 "
                     f"ps 0.5 title '{PAIR_WORDS[pair]}, {rw}'")
    return script + "plot " + ", \\\n  ".join(parts) + "\n"


def scale_script(points, series, device, path):
    """The cost of an I/O by connected queues. @points: {pair: [(queues,
    instructions)]}"""
    if not points:
        return ""
    script = HEAD.format(width=640, height=360, path=path,
                         title=f"4 KiB random read by connected queues, {series}, "
                         f"{device}")
    script += "set key top left\nset xlabel 'queues'\nset logscale x 2\n"
    parts = []
    for n, (pair, line) in enumerate(points.items()):
        script += _block(f"line{n}", line)
        parts.append(f"$line{n} using 1:2 with linespoints pt 7 title "
                     f"'{PAIR_WORDS[pair]}'")
    return script + "plot " + ", \\\n  ".join(parts) + "\n"


def draw(script, path):
    """Run gnuplot; whether there is a picture now."""
    if not script:
        return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        done = subprocess.run(["gnuplot"], input=script, capture_output=True,
                              text=True, check=False)
    except FileNotFoundError as e:
        raise BenchError("there is no gnuplot (package gnuplot-nox)") from e
    if done.returncode:
        raise BenchError(f"gnuplot: {done.stderr.strip()}")
    return True
