# SPDX-License-Identifier: GPL-2.0
"""What is generated: the summary on Documentation/performance.md, and tests/bench/results."""

import glob
import os

from . import BENCH, REPO, BenchError, plots, results, sides, tables
from .results import AGREE
from .target import WEIGHTS, model_summary, polling_summary
from .target import section as target_section, summary as target_summary
from .workloads import FULL

PAGE = os.path.join(REPO, "Documentation/performance.md")
# The files of results, TABLES with all their figures, and PLOTS
RESULTS = os.path.join(BENCH, "results")
TABLES = "tables.md"
PLOTS = "plots"
TITLE = """# All figures of what an I/O costs

Written by `tests/bench/write` from the JSON files beside this page. How they are measured,
and what they say of real hardware, is in
[performance.md](../../../Documentation/performance.md).
"""
BEGIN = "<!-- begin: tests/bench/write -->"
END = "<!-- end: tests/bench/write -->"

# Above the tables of the summary
USUAL = ("A whole I/O without the device's instructions, on a disk that interrupts, and with "
         "64 queues of one host in turn:")
TARGET = ("The target alone, without string moves: what a command costs a target that always has "
          "others to do. A real one is between this and one that finds a command at a time:")
SINGLE = "The same with one command at a time:"
EASY = "A disk that completes at once, and one queue. Overhead is what is beyond nvme-loop:"
# The jobs and the kernel whose table by_side() the summary has
USUAL_JOBS = ("4k-read-qd32@timer", "4k-read-qd32-queues64")
SIDES_OF = "6.12"
APART_JOBS = ("4k-read-qd32", "4k-read-qd32@timer", "4k-read-qd32@softirq",
              "4k-read-qd32-queues64", "4k-write-qd32", "4k-write-qd32@timer")
THREADS = ("The target with threads that poll (io_threads), on a processor of its own. Looks in vain "
           "are not counted, as an idle processor's instructions are not:")
POLLING = ("The target alone on a processor of its own, busy all the time. It finds what has come "
           "meanwhile:")
MODEL = ("The same by a model of a core, in nanoseconds a command, and how many times as many commands "
         "a core takes. Its weights: " + ", ".join(f"{name} {ns}" for name, ns in WEIGHTS.items())
         + ". Misses of the cache and what the device's driver executes are not in it:")
APART = "Each side on a processor of its own"
APART_TERMS = ("The target mostly finds one command at a time. Instructions of each side, and what "
               "happens on the target's processor for a command")
BY_SIDE = ("What weighs more on hardware than an instruction does, by side. All is more than both "
           "sides: interrupts of disks and the clock, and what runs for neither side alone, as "
           "the kernel's polling of in-tree CQs")
# The jobs whose split and events are shown, in a table for each line
SHOWN = (("4k-read-qd1", "4k-read-qd32", "4k-write-qd32"),
         ("4k-read-qd32-batch8", "128k-read-qd8", "128k-write-qd8"),
         ("4k-read-qd1@timer", "4k-read-qd32@timer", "4k-write-qd32@timer"),
         ("4k-read-qd32-queues64", "4k-write-qd32-queues64",
          "4k-read-qd32-queues64@timer"))
# Those whose overhead is drawn
OVERHEADS = SHOWN[0] + SHOWN[1]


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


def section(data, run, directory):
    """A kernel and a device, as lines."""
    lines = [f"## {run['kernel']}, {run['device']}", "", *_measured(data)]
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
            (f"{BY_SIDE}:", tables.by_side(run, [j for line in SHOWN for j in line])),
            ("Latency, in the guest's time, whose nanosecond is an instruction:",
             tables.latencies(run))):
        if table:
            lines += ([words, ""] if words else []) + table + [""]
    lines += _pictures(run, directory) + _clock(run)
    return lines + tables.wrong(run["missing"])


def _measured(data):
    """When, what and by what, as a line; the command"""
    return [f"Version {data['version']} ({data['commit']}), {data['date']}, QEMU "
            f"{data['qemu']}, {data['fio']}"
            + (f", [all figures]({data['file']})" if "file" in data else "") + ":",
            "", f"    {data['command']}", ""]


def _other_boot(run, costs):
    """Whether the figures of @run, of another boot, are those of @costs"""
    worst = [0.0]
    for pair, jobs in run["results"].items():
        for job, figures in jobs.items():
            was = costs["results"].get(pair, {}).get(job)
            if was:
                old, new = (f["instructions"]["median"] for f in (was, figures))
                worst.append(abs(new - old) / old * 100)
    most = round(max(worst), 2)
    return [f"Measured in another boot than the tables above, these instructions differ "
            f"from those by {most:.2f} % at most"
            + (f", which is more than {AGREE} %." if most > AGREE else "."), ""]


def counting_section(data, costs):
    """Ours with its counters and without. @costs: the runs above, by kernel"""
    lines = []
    for run in data["runs"]:
        lines += [f"## What counting costs: {run['kernel']}, {run['device']}", "",
                  *_measured(data), *tables.totals(run), "",
                  *tables.counting(run), ""]
        if run["kernel"] in costs:
            lines += _other_boot(run, costs[run["kernel"]])
        lines += tables.wrong(run["missing"])
    return lines


def _totals_section(data, name, further):
    """The totals of each run, and @further: tables of a run and the names of its jobs"""
    lines = []
    for run in data["runs"]:
        jobs = [j.name for j in FULL if j.name in run["results"].get("ours", {})]
        lines += [f"## {name}: {run['kernel']}, {run['device']}", "", *_measured(data)]
        for table in (tables.totals(run), *further(run, jobs)):
            lines += [*table, ""]
        lines += tables.wrong(run["missing"])
    return lines


def preempt_section(data):
    """Where workers take the processor from fio at once"""
    return _totals_section(data, "Workers that run at once",
                           lambda run, jobs: [tables.split(run, jobs)])


def sides_section(data):
    """Host and target on processors of their own, or queues. A run that counts cache lines
    has one round, and its other figures are another run's."""
    lines = []
    for run in data["runs"]:
        moved = sides.lines(run)
        lines += [f"## {'Cache lines of two' if moved else 'Two'} processors, queues "
                  f"{run['placed']}{sides.wire(run)}: {run['kernel']}, {run['device']}", "",
                  *_measured(data), *(moved or [sides.show(run)]), "",
                  *tables.wrong(run["missing"])]
    return lines


def moderated_section(data):
    """Where the device's interrupts are moderated by the load"""
    return _totals_section(data, "Interrupts moderated by the load",
                           lambda run, jobs: [tables.by_side(run, jobs), tables.latencies(run)])


def scale_section(data, directory):
    """By number of controllers."""
    run = data["runs"][0]
    lines = [f"## More queues: {run['kernel']}, {run['device']}", "",
             *_measured(data), *tables.scale(run), ""]
    points = tables.scale_points(run, "round-robin")
    file = f"scale-{run['series']}-{run['device']}.svg"
    path = os.path.join(directory, PLOTS, file)
    if plots.draw(plots.scale_script(points, run["series"], run["device"], path),
                  path):
        lines += [f"![by queues]({PLOTS}/{file})", ""]
    return lines + tables.wrong(run["missing"])


def _one_table(data, heading, table):
    """What has no more to show"""
    return [f"## {heading}", "", *_measured(data), *table, "",
            *tables.wrong(data.get("missing", []))]


def _kind(data):
    """What a file of results is of."""
    if any(run.get("fed") for run in data["runs"]):
        return "target"
    if "memory" in data:
        return "memory"
    if "parallel" in data:
        return "parallel"
    if "connect" in data:
        return "connect"
    if any("grown" in run for run in data["runs"]):
        return "scale"
    if any(run.get("placed") for run in data["runs"]):
        return "sides"
    if any(run.get("moderated") for run in data["runs"]):
        return "moderated"
    if "uncounted" in data["command"]:
        return "counting"
    if any(run["preempt"] for run in data["runs"]):
        return "preempt"
    return "costs"


def _by_kernel(files, kind, device="vrnic"):
    """The runs of a kind on a device, by kernel."""
    return {run["kernel"]: run for data in files if _kind(data) == kind
            for run in data["runs"] if run["device"] == device}


def _alone(files, busy, placed=None):
    """The runs of the target alone, whose queues take turns. @busy: it finds its commands
    together. @placed: "apart", if it has a processor of its own"""
    return [run for data in files if _kind(data) == "target" for run in data["runs"]
            if run["preempt"] != busy and not run.get("random") and run["placed"] == placed]


def summary(files):
    """What most users have, then the goals of easier cases, and which runs it is of."""
    full = _by_kernel(files, "costs")
    if not full:
        return ""
    of = sorted({(data["date"], data["commit"]) for data in files
                 if _kind(data) in ("costs", "target", "memory", "counting", "preempt")})
    runs = list(full.values())
    usual = tables.usual(runs)
    table = [USUAL, "", *usual, ""] if usual else []
    for words, busy in ((TARGET, True), (SINGLE, False)):
        found = _alone(files, busy)
        table += [words, "", *target_summary(found, busy), ""] if found else []
    apart = [run for data in files if _kind(data) == "sides" for run in data["runs"]
             if not sides.lines(run)]
    threads = sides.thread_goals(apart)
    table += [THREADS, "", *threads, ""] if threads else []
    busy = _alone(files, True, "apart")
    polling = polling_summary(busy)
    table += [POLLING, "", *polling, ""] if polling else []
    table += [MODEL, "", *model_summary(busy), ""] if polling else []
    table += [EASY, ""] if usual else []
    table += tables.goals(
        runs,
        {d["kernel"]: d["memory"] for d in files if _kind(d) == "memory"},
        _by_kernel(files, "counting"), _by_kernel(files, "preempt"),
        soft=_by_kernel(files, "costs", "rxe"),
        together={d["kernel"]: d["parallel"] for d in files
                  if _kind(d) == "parallel" and d["placed"] == "together"},
        targets={run["kernel"]: run for run in _alone(files, True)})
    if usual:
        run = next((r for r in runs if r["series"] == SIDES_OF), runs[0])
        table += ["", f"{BY_SIDE}, {run['kernel']}:", "", *tables.by_side(run, USUAL_JOBS)]
        for run in (r for r in apart if r["series"] == SIDES_OF):
            found = sides.usual(run, APART_JOBS)
            table += ["", f"{APART}{sides.wire(run)}, {run['kernel']}. {APART_TERMS}:", "",
                      *found] if found else []
    return "\n".join(table + ["", "Measured: " + ", ".join(
        f"{date} (commit {commit})" for date, commit in of) + "."])


def generated(files, directory):
    """All tables. @files: results of run, target, scale, scale --memory, parallel,
    connect"""
    full = _by_kernel(files, "costs")
    lines = []
    for data in files:
        kind = _kind(data)
        if kind == "memory":
            lines += _one_table(
                data, f"Memory of a queue: {data['kernel']}, two guests, rxe",
                tables.memory(data["memory"]))
        elif kind == "parallel":
            lines += _one_table(
                data, f"By the clock, queues {data['placed']}: {data['kernel']}, "
                f"{data['device']}", tables.parallel(data))
        elif kind == "connect":
            lines += _one_table(
                data, f"How long connecting takes: {data['kernel']}, two guests, rxe",
                tables.connecting(data))
        elif kind == "scale":
            lines += scale_section(data, directory)
        elif kind == "sides":
            lines += sides_section(data)
        elif kind == "counting":
            lines += counting_section(data, full)
        elif kind == "preempt":
            lines += preempt_section(data)
        elif kind == "moderated":
            lines += moderated_section(data)
        elif kind == "target":
            lines += target_section(data, _measured(data))
        else:
            for run in data["runs"]:
                lines += section(data, run, directory)
    return "\n".join(lines)


def _publish(paths, directory):
    """Put files of results there and no others; what is in them."""
    files = [results.load(path) for path in paths]
    for old in glob.glob(os.path.join(directory, "*.json")):
        os.remove(old)
    for path, data in zip(paths, files):
        file = os.path.basename(path)
        results.save(data, os.path.join(directory, file))
        data["file"] = file
    return files


def _put(path, text):
    """Replace a page."""
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(path + ".new", path)


def write(paths, page=PAGE, directory=RESULTS):
    """Put the summary of files of results on the page; them, their tables and pictures into
    the directory."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    files = _publish(paths, directory)
    new = replaced(text, summary(files))
    _put(os.path.join(directory, TABLES), f"{TITLE}\n{generated(files, directory).strip()}\n")
    _put(page, new)
