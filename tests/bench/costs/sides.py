# SPDX-License-Identifier: GPL-2.0
"""What each side costs, where each has a processor of its own (guest/apart.sh), and
which cache lines move between two processors.

All that a side's processor executes is the side's, with two exceptions: the device's
work, which hardware does, and the loop of the idle task, which runs because there is
nothing to do.
"""

from collections import Counter

from .tables import goal, goal_rows, number, table, words
from .workloads import PAIR_WORDS, THREADS

SIDES = ("host", "target")      # processors 0 and 1
# Those compared; the last one where it was measured
PAIRS = ("kernel", "ours", THREADS.name)
NO_WORK = ("device", "idle")
# What is counted of each side: words, and events (split.EVENTS)
EVENTS = (("interrupts", ["interrupts"], ["ticks"]),
          ("softirqs", ["softirqs"], []),
          ("works", ["works"], []),
          ("wake-ups", ["woken"], []),
          ("IPIs sent", ["ipis"], []),
          ("switches of context", ["switches"], []),
          ("posts of sends", ["posts_send"], []),
          ("posts of receives", ["posts_recv"], []),
          ("arms of CQs", ["arms"], []),
          ("locked instructions", ["locked"], []))


def work(figures, *less):
    """Instructions of a processor for an I/O, without the device's, idle loops, and the
    groups @less"""
    return sum(n for group, n in figures["groups"].items()
               if group not in (*NO_WORK, *less))


def often(figures, events, less=()):
    """How often the events are, of an I/O, except for those of @less. The device's own IPIs
    are its interrupts, and its locked instructions are work of hardware."""
    def total(names):
        return sum(n for name in names
                   for owner, n in figures["events"].get(name, {}).items()
                   if owner != "device" or name not in ("ipis", "locked"))
    return total(events) - total(less)


def _measured(run):
    """(words of the job, words of the pair, its processors) of all figures"""
    jobs = dict.fromkeys(j for by in run["results"].values() for j in by)
    for job in jobs:
        for pair, by in run["results"].items():
            if "cpus" in by.get(job, {}):
                yield words(job), PAIR_WORDS.get(pair, pair), by[job]["cpus"]


def instructions(run):
    """Instructions of an I/O by side."""
    head = ["instructions per I/O", "", "host", "target", "both",
            "target without string moves", "host without user space",
            "device, host's processor", "target's", "idle loops, host", "target"]
    return table(head, [
        [job, pair, number(work(host)), number(work(target)),
         number(work(host) + work(target)), number(work(target, "string moves")),
         number(work(host, "user space")),
         *(number(c["groups"].get(group, 0)) for group in NO_WORK
           for c in (host, target))]
        for job, pair, (host, target, *_) in _measured(run)], 2)


# What a thread that is awake causes none of, but for what the clock does
UNWANTED = [event for event in EVENTS if event[0] in (
    "interrupts", "wake-ups", "switches of context")]
# Those of EVENTS that usual() has, of the target
OFTEN = [event for event in EVENTS if event in UNWANTED or event[0] in (
    "posts of sends", "locked instructions")]


def usual(run, jobs):
    """What a side costs, and what weighs more on the target's, in-tree / ours / ours with
    threads"""
    rows = []
    pairs = [pair for pair in PAIRS if pair in run["results"] or pair != THREADS.name]
    for job in jobs:
        found = [_cpus(run, pair, job) for pair in pairs]
        if not all(found):
            continue
        hosts, targets = zip(*(cpus[:2] for cpus in found))
        cells = [[number(work(c)) for c in hosts],
                 [number(work(c, "string moves")) for c in targets]]
        cells += [[f"{often(c, of, less):.2f}" for c in targets]
                  for _, of, less in OFTEN]
        rows.append([words(job)] + [" / ".join(cell) for cell in cells])
    head = " / ".join(["in-tree", "ours", "threads"][:len(pairs)])
    return table([head, "host", "target without string moves",
                  *(name for name, *_ in OFTEN)], rows) if rows else []


def _cpus(run, pair, job):
    """Figures of the processors; None if there are none"""
    return run["results"].get(pair, {}).get(job, {}).get("cpus")


# The most instructions of the target with threads for a job, without string moves
THREAD_GOALS = {"4k-read-qd1": 4700, "4k-read-qd32-queues64@timer": 3600,
                "4k-read-qd32@polled": 3300, "4k-write-qd32@polled": 3000}
# For these jobs, UNWANTED is at most so often
NONE_OF, NONE = ("4k-read-qd1", "4k-read-qd32"), .05
# How long these jobs take at most, of in-tree's time
LATENCY, LATENCY_RATIO = "4k-read-qd1", .6
LATENCIES = (LATENCY, "4k-read-qd1-polled")


def _latency(run, job):
    """A cell: how long the whole I/O takes. One clock counts what both processors execute, a
    nanosecond for each instruction. So looks in vain and idle loops of one are in the time
    of the other, and are subtracted."""
    found = [run["results"].get(pair, {}).get(job, {}) for pair in PAIRS]
    if not all("cpus" in f for f in found):
        return None
    times = [f["latency"]["p50"] - sum(c["groups"].get("idle", 0) for c in f["cpus"])
             for f in found]
    return goal(f"at most {LATENCY_RATIO}", LATENCY_RATIO, times[0], times[-1],
                words=[number(t) for t in times])


# How much longer the slowest reads may take where another queue's disk is full
BESIDE, BESIDE_RATIO = "4k-read-qd1@beside", 1.02


def _beside(run):
    """A cell: the p99 without and with such a disk, with threads"""
    found = [run["results"].get(THREADS.name, {}).get(job, {}).get("latency")
             for job in (LATENCY, BESIDE)]
    return all(found) and goal("not the same", BESIDE_RATIO, *(f["p99"] for f in found))


def thread_goals(runs):
    """What is aimed at with threads that poll, and what came of it: a column for each run"""
    def row(job, most, get, fmt):
        def cell(run):
            found = [_cpus(run, pair, job) for pair in PAIRS]
            if not all(found):
                return None
            numbers = [get(target) for _, target, *_ in found]
            return goal(f"at most {most:,}", most, numbers[0], numbers[-1],
                        relative=False, words=[fmt.format(n) for n in numbers])
        return cell

    rows = [(f"{words(job)}: instructions", f"{most:,}",
             row(job, most, lambda c: work(c, "string moves"), "{:,.0f}"))
            for job, most in THREAD_GOALS.items()]
    rows += [(f"{words(job)}: {name}", f"{NONE:.2f}", row(
        job, NONE, lambda c, of=of, less=less: often(c, of, less), "{:.2f}"))
             for job in NONE_OF for name, of, less in UNWANTED]
    rows += [*((f"{words(job)}: p50 without what is idle, ns", str(LATENCY_RATIO),
                lambda run, job=job: _latency(run, job)) for job in LATENCIES),
             (f"{words(BESIDE)}: p99 with threads, ns, without that queue / with it",
              "the same", _beside)]
    return goal_rows(runs, rows, "in-tree / ours / threads")


def parts(run):
    """Where a side's instructions are."""
    lines = []
    for n, side in enumerate(SIDES):
        cells = [(job, pair, cpus[n]["groups"]) for job, pair, cpus in _measured(run)]
        groups = sorted({g for *_, by in cells for g in by if g not in NO_WORK},
                        key=lambda g: -sum(by.get(g, 0) for *_, by in cells))
        lines += table(
            [side, *(f"{job}: {pair}" for job, pair, _ in cells)],
            [[g, *(number(by.get(g, 0)) for *_, by in cells)] for g in groups
             if any(by.get(g, 0) >= 0.5 for *_, by in cells)]) + [""]
    return lines[:-1]


def events(run):
    """How often something happens on a side, for an I/O."""
    cells = [(job, pair, cpus) for job, pair, cpus in _measured(run)]
    rows = []
    for n, side in enumerate(SIDES):
        for name, of, less in EVENTS:
            found = [often(cpus[n], of, less) for *_, cpus in cells]
            if any(f >= 0.005 for f in found):
                rows.append([side, name, *(f"{f:.2f}" for f in found)])
    return table(["per I/O", "", *(f"{job}: {pair}" for job, pair, _ in cells)], rows, 2)


def lines(run):
    """Cache lines that move between the processors, for an I/O: on whose behalf, and
    the functions and the data of most. [] if they were not counted"""
    rows, most = [], []
    for job, pair, names, cpus in _lines(run):
        for name, found in zip(names, cpus):
            rows.append([job, pair, name, f"{sum(found['moves'].values()):.2f}",
                         f"{sum(found['takes'].values()):.2f}",
                         _most(found["moves"]), _most(found["takes"])])
            most.append([job, pair, name, _most(found["functions"], 10),
                         _most(found["data"], 10)])
    if not rows:
        return []
    return [*table(["cache lines per I/O", "", "processor", "moved here", "taken back",
                    "moved for", "taken for"], rows, 3), "",
            *table(["", "", "processor", "functions that moved or took most", "data"],
                   most, 5)]


def _lines(run):
    """(words of the job, words of the pair, names of processors, what moved to each) of
    all figures that have it; both are one where they do the same"""
    jobs = dict.fromkeys(j for by in run["results"].values() for j in by)
    for job in jobs:
        for pair, by in run["results"].items():
            cpus = by.get(job, {}).get("lines")
            if not cpus:
                continue
            names = SIDES
            if run["placed"] == "together":
                names, cpus = ["both"], [{
                    what: sum((Counter(c[what]) for c in cpus), Counter())
                    for what in cpus[0]}]
            yield words(job), PAIR_WORDS.get(pair, pair), names, cpus


def _most(numbers, limit=5):
    """The largest numbers, in words"""
    some = sorted(numbers.items(), key=lambda n: -n[1])[:limit]
    return ", ".join(f"{name} {n:.2f}" for name, n in some if n >= 0.005)


def wire(run):
    """How a run's device differs from the usual one, to be added to its name"""
    return ((f", a wire of {run['delay'] / 1000:g} µs" if run.get("delay") else "")
            + (", interrupts moderated" if run.get("moderated") else ""))


def show(run):
    """All tables of a run."""
    found = [lines(run)]
    if run["placed"] == "apart":
        found = [instructions(run), parts(run), events(run), *found]
    return "\n\n".join("\n".join(t) for t in found if t)
