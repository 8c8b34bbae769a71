# SPDX-License-Identifier: GPL-2.0
"""Figures as Markdown.

Overhead is what RDMA costs beyond the floor: all instructions of an I/O, less
those of the same I/O by nvme-loop (by null_blk itself where the kernel has no
nvme-loop), less those of the device. It is given without string moves, too
(attribution.py).
"""

from .attribution import GROUPS, OWNERS
from .connecting import WHAT
from .parallel import JOBS as TIMED
from .results import AGREE
from .workloads import FULL, PAIR_WORDS, PAIRS, job_named

FLOORS = ("loop", "raw")
SIDES = ("host", "target")
# Owners but the two sides and the device
OTHERS = tuple(o for o in OWNERS if o not in (*SIDES, "device"))


def number(value):
    """12,345"""
    return f"{value:,.0f}"


def words(job):
    """A job's name for people."""
    known = job_named(job)
    return known.words if known else job


def apart(spread):
    """How far off a figure is of rounds that do not agree; @spread in percent"""
    return f" (±{spread / 2:.1f} %)" if spread > AGREE else ""


def instructions(figures):
    """A cell: the median, and the spread where two runs would not agree."""
    if not figures:
        return "—"
    i = figures["instructions"]
    return number(i["median"]) + apart(i["spread"])


def but_device(figures):
    """Instructions of an I/O without the device's"""
    return figures["instructions"]["median"] - figures["groups"].get("device", 0)


def floor_of(run, job=None):
    """The pair that is the floor in this run, None if it was not measured. nvme-loop
    has no queues that are polled, so that it may be another one of a @job."""
    return next((f for f in FLOORS if f in run["results"]
                 and (job is None or job in run["results"][f])), None)


def overhead(run, pair, job, strings=True):
    """What RDMA costs beyond the floor; None if something was not measured.
    @strings: with the iterations of string instructions"""
    floor = run["results"].get(floor_of(run, job), {}).get(job)
    mine = run["results"].get(pair, {}).get(job)
    if not floor or not mine:
        return None
    less = () if strings else ("string moves",)

    def cost(figures, without):
        return figures["instructions"]["median"] - sum(
            figures["groups"].get(g, 0) for g in without)
    return cost(mine, ("device", *less)) - cost(floor, less)


def overhead_cell(run, pair, job):
    """The overhead, and how far off it may be: half of what lies between the rounds
    of both that it is the difference of, if that is over 2 % of it."""
    value = overhead(run, pair, job)
    if value is None:
        return "—"
    off = sum(i["median"] * i["spread"] / 200 for i in (
        run["results"][p][job]["instructions"]
        for p in (pair, floor_of(run, job))))
    return number(value) + (f" (±{number(off)})" if off > abs(value) / 50 else "")


def table(head, rows, left=1):
    """A Markdown table; the first @left columns are words."""
    lines = ["| " + " | ".join(head) + " |",
             "|" + "---|" * left + "--:|" * (len(head) - left)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def jobs_of(run):
    """The jobs that a run has, in the order of 'make bench'; a file of results has
    them by name."""
    seen = {}
    for jobs in run["results"].values():
        seen.update(dict.fromkeys(jobs))
    order = [job.name for job in FULL]
    return sorted(seen, key=lambda name: order.index(name) if name in order
                  else len(order))


def ratio(mine, other):
    """0.50, if that means anything"""
    if mine is None or other is None or other <= 0:
        return "—"
    return f"{mine / other:.2f}"


def bare_ratio(run, job):
    """Ours to in-tree's overhead, without string moves"""
    return ratio(*(overhead(run, p, job, strings=False) for p in ("ours", "kernel")))


def over(run, job):
    """What the table's floor is not that job's, in words"""
    return "" if floor_of(run, job) in (None, floor_of(run)) else " (over null_blk)"


def totals(run):
    """Instructions of an I/O, and the overhead."""
    pairs = [p for p in ("raw", "loop", "kernel", "ours", "uncounted")
             if p in run["results"]]
    head = ["instructions per I/O", *(PAIR_WORDS[p] for p in pairs)]
    both = floor_of(run) and {"kernel", "ours"} <= set(pairs)
    if both:
        head += ["overhead, in-tree", "ours", "ratio", "without string moves"]
    rows = []
    for job in jobs_of(run):
        row = [words(job) + over(run, job)]
        row += [instructions(run["results"][p].get(job)) for p in pairs]
        if both:
            theirs, ours = (overhead(run, p, job) for p in ("kernel", "ours"))
            row += [overhead_cell(run, "kernel", job),
                    overhead_cell(run, "ours", job), ratio(ours, theirs),
                    bare_ratio(run, job)]
        rows.append(row)
    return table(head, rows)


def mixed(run):
    """The overhead of all four pairs, in-tree alone being 1."""
    pairs = [p.name for p in PAIRS if p.modules and p.name in run["results"]]
    if floor_of(run) is None or "kernel" not in pairs or len(pairs) < 3:
        return []
    rows = []
    for job in jobs_of(run):
        base = overhead(run, "kernel", job)
        if base is None or not any(job in run["results"][p] for p in pairs
                                   if p not in ("kernel", "ours")):
            continue
        rows.append([words(job) + over(run, job)] + [
            overhead_cell(run, p, job)
            + ("" if p == "kernel" else
               f" ({ratio(overhead(run, p, job), base)})") for p in pairs])
    return table(["overhead"] + [PAIR_WORDS[p] for p in pairs], rows)


# Where counting is: in the modules, and in the clock, which is looked up as a part of
# interrupts
COUNTED_IN = ("host", "target", "interrupts")


def counted(run, job):
    """[instructions of an I/O for counting: in host, target, clock]; None if they
    were not measured"""
    ours, without = (run["results"].get(p, {}).get(job) for p in ("ours", "uncounted"))
    if not ours or not without:
        return None
    return [ours["groups"].get(g, 0) - without["groups"].get(g, 0)
            for g in COUNTED_IN]


def counting(run):
    """What counting costs: ours, and ours that does not (UNCOUNTED). What differs
    elsewhere is when tasks were switched, and no part of it."""
    rows = []
    for job in jobs_of(run):
        parts = counted(run, job)
        theirs, ours = (overhead(run, p, job) for p in ("kernel", "ours"))
        if None in (theirs, ours, parts):
            continue
        differs = (but_device(run["results"]["ours"][job])
                   - but_device(run["results"]["uncounted"][job]))
        rows.append([words(job)] + [number(n) for n in (*parts, sum(parts), differs)]
                    + [f"{sum(parts) / of * 100:.1f} %" if of > 0 else "—"
                       for of in (ours, theirs)])
    return table(["instructions for counting", "host", "target", "the clock", "an I/O",
                  "all that differs but the device", "of our overhead",
                  "of in-tree's"], rows) if rows else []


def _beside(run, jobs, wanted, first=""):
    """Jobs with their pairs beside each other: (head, figures of each cell);
    None if there are none"""
    pairs = [p for p in wanted if p in run["results"]]
    jobs = [j for j in jobs if any(j in run["results"][p] for p in pairs)]
    if not jobs:
        return None
    return ([first] + [f"{words(j)}: {PAIR_WORDS[p]}" if p == pairs[0]
                       else PAIR_WORDS[p] for j in jobs for p in pairs],
            [run["results"][p].get(j) for j in jobs for p in pairs])


def _sums(found, names, of):
    """Rows of a name and numbers, those that are nothing left out."""
    head, cells = found
    rows = [[name] + [number(of(c, name)) if c else "—" for c in cells]
            for name in names if any(c and of(c, name) >= 0.5 for c in cells)]
    return head, rows


def split(run, jobs):
    """Instructions by group."""
    found = _beside(run, jobs, ("loop", "kernel", "ours"))
    if not found:
        return []
    head, rows = _sums(found, GROUPS, lambda c, name: c["groups"].get(name, 0))
    rows.append(["all"] + [number(c["instructions"]["median"]) if c else "—"
                           for c in found[1]])
    return table(head, rows)


def behalf(run, jobs):
    """Instructions by on whose behalf they ran, whatever function they are in."""
    found = _beside(run, jobs, ("loop", "kernel", "ours"), "on behalf of")
    if not found:
        return []
    return table(*_sums(found, OWNERS, lambda c, name: sum(
        by.get(name, 0) for by in c["behalf"].values())))


def _by(figures, events, owners=None):
    """How often an event was, of an I/O; @owners: only on their behalf"""
    return sum(n for event in events for owner, n in
               figures["events"].get(event, {}).items()
               if owners is None or owner in owners)


def _device(figures, prefix, sides=SIDES):
    """The sum of the device's counters of these queues whose names begin so"""
    device = figures.get("device")
    if not device:
        return None
    known = [n for s in sides for k, n in device.get(s, {}).items()
             if k.startswith(prefix)]
    return sum(known) if known else None


def _count(value):
    return "—" if value is None else f"{value:.2f}"


def _counted(figures, event, owners=None):
    """The same as _by() of an event that older files of results do not have"""
    return _by(figures, [event], owners) if event in figures["events"] else None


def responses(figures):
    """Posts of sends by the target"""
    return _by(figures, ["posts_send"], ["target"])


def target_interrupts(figures):
    """Interrupts of the device for completion queues of the target"""
    return _device(figures, "events", ["target"])


def _all_interrupts(figures):
    """Those of the device, and others, of disks and the clock. The device makes its own of
    irq_work, of which one may be for several queues."""
    ours, irq_works = _device(figures, "events"), _counted(figures, "irq_works")
    if None in (ours, irq_works):
        return None
    return ours + _by(figures, ["interrupts"]) - irq_works


def posts(figures):
    """Posts of both sides, of sends and receives"""
    return _by(figures, ["posts_send", "posts_recv"])


def cqes(figures):
    """Completions of both sides"""
    return _device(figures, "cqe_")


def _dma(figures, events, sides):
    """How often DMA was mapped or synced. For soft-RoCE, which has no DMA, verbs do it
    in functions that are inline, and cannot be counted; nor has it counters."""
    return _by(figures, events, sides) if figures.get("device") else None


def target_maps(figures):
    """DMA maps of the target"""
    return _dma(figures, MAPS, ["target"])


def pages(figures):
    """Allocations of pages; the host has none, the core allocates for the target"""
    return _by(figures, ["pages"], (*SIDES, *OTHERS))


MAPS = ("dma_pages", "dma_lists")
# name, and its formula. "verbs" posts for nobody: it belongs to the sides.
EVENT_ROWS = (
    ("posts, host, sends", lambda f: _by(f, ["posts_send"], ["host"])),
    ("posts, host, receives", lambda f: _by(f, ["posts_recv"], ["host"])),
    ("posts, target, sends", responses),
    ("posts, target, receives", lambda f: _by(f, ["posts_recv"], ["target"])),
    ("posts, all", posts),
    ("WRs, host", lambda f: _device(f, "wr_", ["host"])),
    ("WRs, target", lambda f: _device(f, "wr_", ["target"])),
    ("CQEs, host", lambda f: _device(f, "cqe_", ["host"])),
    ("CQEs, target", lambda f: _device(f, "cqe_", ["target"])),
    ("CQEs, all", cqes),
    ("polls of CQs", lambda f: _by(f, ["polls"])),
    ("arms of CQs", lambda f: _by(f, ["arms"])),
    ("DMA maps, host", lambda f: _dma(f, MAPS, ["host"])),
    ("DMA maps, target", target_maps),
    ("DMA syncs, host and target", lambda f: _dma(f, ["dma_syncs"], SIDES)),
    ("slab allocations, host", lambda f: _by(f, ["slab"], ["host"])),
    ("slab allocations, target", lambda f: _by(f, ["slab"], ["target"])),
    ("slab allocations, others but the device", lambda f: _by(
        f, ["slab"], OTHERS)),
    ("allocations of pages, all but the device", pages),
    ("interrupts but the timer's", lambda f: _by(f, ["interrupts"])
     - _by(f, ["ticks"])),
    ("softirqs", lambda f: _by(f, ["softirqs"])),
    ("works", lambda f: _by(f, ["works"])),
    ("switches of context", lambda f: _by(f, ["switches"])),
)
# Those that files of results from before they were counted do not have
LATER_ROWS = (
    ("wake-ups", lambda f: _counted(f, "wakeups")),
    ("locked instructions, host", lambda f: _counted(f, "locked", ["host"])),
    ("locked instructions, target", lambda f: _counted(f, "locked", ["target"])),
    ("locked instructions, others but the device",
     lambda f: _counted(f, "locked", OTHERS)),
)


# Columns of by_side(), and their formulas: of a side, and of all
SIDE_COLUMNS = (
    ("posts", lambda f, side: _by(f, ["posts_send", "posts_recv"], [side]), posts),
    ("arms", lambda f, side: _device(f, "arms", [side]), lambda f: _device(f, "arms")),
    ("interrupts", lambda f, side: _device(f, "events", [side]), _all_interrupts),
    ("CQEs", lambda f, side: _device(f, "cqe_", [side]), cqes),
    ("locked instructions", lambda f, side: _counted(f, "locked", [side]),
     lambda f: _counted(f, "locked", (*SIDES, *OTHERS))),
    ("works", None, lambda f: _by(f, ["works"])),
    ("wake-ups", None, lambda f: _counted(f, "wakeups")),
    ("switches of context", None, lambda f: _by(f, ["switches"])),
)


def by_side(run, jobs):
    """What hardware weighs more than instructions, of an I/O, by side. All is more than both
    sides: interrupts of disks and of the clock, and what the core, verbs and the block
    layer do for whoever it is, such as the polling of the in-tree modules' CQs. What was
    not counted has no column."""
    lines = [(f"{words(j)}: {PAIR_WORDS[p]}", run["results"][p][j])
             for j in jobs for p in ("kernel", "ours")
             if j in run["results"].get(p, {})]
    rows = []
    for name, figures in lines:
        for side in SIDES:
            rows.append([f"{name}, {side}"] + [
                of(figures, side) if of else "" for _, of, _ in SIDE_COLUMNS])
        rows.append([f"{name}, all"] + [
            of(figures) if of else "" for _, _, of in SIDE_COLUMNS])
    head = ["per I/O", *(name for name, _, _ in SIDE_COLUMNS)]
    kept = [n for n in range(len(head))
            if any(row[n] not in ("", None) for row in rows)]
    return table([head[n] for n in kept], [
        [row[n] if isinstance(row[n], str) else _count(row[n]) for n in kept]
        for row in rows]) if rows else []


def events(run, jobs):
    """How often something was done for an I/O."""
    found = _beside(run, jobs, ("kernel", "ours"), "per I/O")
    if not found:
        return []
    head, cells = found
    later = [(name, get) for name, get in LATER_ROWS
             if any(c and get(c) is not None for c in cells)]
    return table(head, [[name] + [_count(get(c)) if c else "—" for c in cells]
                        for name, get in (*EVENT_ROWS, *later)])


def _latency(times):
    """p50 and p99, and how far those of two rounds are apart"""
    return (f"{times['p50'] / 1000:.1f}{apart(times['spread'])} / "
            f"{times['p99'] / 1000:.1f}{apart(times['p99_spread'])}")


def latencies(run):
    """p50 and p99 in microseconds of the guest."""
    pairs = [p for p in ("raw", "loop", "kernel", "ours", "our-host", "our-target")
             if p in run["results"]]
    rows = []
    for job in jobs_of(run):
        found = [run["results"][p].get(job, {}).get("latency") for p in pairs]
        if any(found):
            rows.append([words(job)] + [
                _latency(t) if t else "—" for t in found] + [
                    ratio(*(percentile(run, p, job, which=which)
                            for p in ("ours", "kernel")))
                    for which in ("p50", "p99")])
    return table(["p50 / p99, µs"] + [PAIR_WORDS[p] for p in pairs]
                 + ["p50, ours to in-tree", "p99"], rows) if rows else []


def percentile(run, pair, job, floor=None, which="p50", strings=True):
    """Nanoseconds of the guest, beyond those of the pair @floor; None if that was
    not measured. @strings: with the iterations of string instructions, of which each
    I/O has as many at QD 1"""
    found = [run["results"].get(p, {}).get(job, {}) for p in (pair, floor) if p]
    if not all(f.get("latency") for f in found):
        return None
    values = [f["latency"][which] - (0 if strings else
                                     f["groups"].get("string moves", 0))
              for f in found]
    return values[0] - sum(values[1:])


def scale_points(run, policy, rw="read"):
    """{pair: [(controllers, instructions without the device's)]} of a run of scale"""
    points = {}
    for pair, jobs in run["results"].items():
        for label, figures in jobs.items():
            job, _, rest = label.partition("@")
            count, _, which = rest.partition("-")
            if which == policy and f"-{rw}-" in job:
                points.setdefault(pair, []).append(
                    (int(count), but_device(figures)))
    return {pair: sorted(line) for pair, line in points.items()}


def scale(run):
    """By number of controllers: an I/O over all and over one of them, connecting,
    memory."""
    lines = ["Controllers of one I/O queue each, all of them paths to one disk: "
             "instructions of a 4 KiB random I/O at QD 32 without those of the "
             "device, where the paths take turns and where one takes all; then, for "
             "each controller that is connected, millions of instructions and KiB of "
             "memory of host, target and device together.", ""]
    grown = {(g["pair"], g["has"]): g for g in run.get("grown", [])
             if g["has"] > g["had"]}
    points = {(policy, rw): scale_points(run, policy, rw)
              for policy in ("round-robin", "numa") for rw in ("read", "write")}
    points = {of: by for of, by in points.items() if by}
    counts = sorted({c for by in points.values() for line in by.values()
                     for c, _ in line})
    pairs = list(run["results"])
    rows = []
    for count in counts:
        row = [str(count)]
        for by in points.values():
            for pair in pairs:
                found = dict(by.get(pair, []))
                row.append(number(found[count]) if count in found else "—")
        for key, each in (("instructions", 1000000), ("kib", 1)):
            for pair in pairs:
                g = grown.get((pair, count))
                row.append(f"{g[key] / (g['has'] - g['had']) / each:,.1f}"
                           if g else "—")
        rows.append(row)
    names = [PAIR_WORDS[p] for p in pairs]
    taken = {"round-robin": "all in turn", "numa": "one of them"}
    head = ["controllers"] + [f"{words_of}{name}" for words_of in (
        *(f"{rw}, {taken[policy]}, " for policy, rw in points),
        "connect, millions, ", "KiB, ") for name in names]
    return lines + table(head, rows)


# Of guest/memory.sh; the number of queues
SETUP_WORDS = {"one": "{} of one host", "many": "{} of twelve hosts, with their controllers"}


def memory(setups):
    """KiB of an idle queue (memory.py)."""
    rows = []
    for setup, sides in setups.items():
        for side, found in sides.items():
            rows.append(
                [f"{side}, {SETUP_WORDS[setup].format(found['ours']['queues'])}"]
                + [f"{found[p]['median']:,.0f} ({min(found[p]['samples']):,.0f} to "
                   f"{max(found[p]['samples']):,.0f})" for p in ("kernel", "ours")]
                + [ratio(found["ours"]["median"], found["kernel"]["median"])])
    return table(["KiB of an idle I/O queue", PAIR_WORDS["kernel"],
                  PAIR_WORDS["ours"], "ratio"], rows)


def wrong(lines):
    """What is not as it should be."""
    return [*(f"Not as it should be: {line}" for line in lines), ""] if lines else []


def parallel(data):
    """Ratios of I/Os a second, by the clock (parallel.py)."""
    pairs = data["parallel"]
    jobs = [j for j in TIMED if any(j in found for found in pairs.values())]
    rows = [[job] + [f"{f['ratio']:.2f} ({f['low']:.2f} to {f['high']:.2f})"
                     if f else "—" for f in (pairs[p].get(job) for p in pairs)]
            for job in jobs]
    return table([f"I/Os a second, to in-tree, {data['cpus']} processors"]
                 + [PAIR_WORDS[p] for p in pairs], rows)


def connecting(data):
    """Milliseconds by number of queues (connecting.py)."""
    def line(name, cells, fmt):
        return [name] + [
            f"{theirs:{fmt}} / {ours:{fmt}}" + (f" ({ratio(ours, theirs)})"
                                                if fmt == "," else "")
            for theirs, ours in (cells[what] for what in WHAT)]

    rows = []
    for target, found in data["connect"].items():
        rows.append(["our target" if target == "ours" else "in-tree target"]
                    + [""] * len(WHAT))
        for wire, words_of in (("far", ""), ("near", ", without delay")):
            rows += [line(queues + words_of, found[wire][queues], ",")
                     for queues in sorted(found[wire], key=int)]
        rows.append(line("round trips that a queue adds", found["trips"], ".2f"))
    return table(["I/O queues: ms, in-tree host / ours", *WHAT], rows)


def _whole(run, job):
    """A row's cell of what has no goal: an I/O without the device, and its ratio"""
    both = [run["results"].get(p, {}).get(job) for p in ("kernel", "ours")]
    if None in both:
        return None
    theirs, ours = (but_device(f) for f in both)
    bare = [but_device(f) - f["groups"].get("string moves", 0) for f in both]
    return (f"{number(theirs)} / {number(ours)}: {ratio(ours, theirs)} "
            f"[{ratio(*reversed(bare))}]")


def goal(of, most, theirs, ours, fmt="{:,.0f}", relative=True, words=None):
    """A row's cell; @words: of both, if they are more than the numbers"""
    if theirs is None or ours is None:
        return None
    met = ours <= most * theirs if relative else round(ours, 2) <= most
    text = " / ".join(words or [fmt.format(theirs), fmt.format(ours)])
    if relative:
        text += f": {ratio(ours, theirs) if theirs > 0 else '—'}"
    return text + ("" if met else f", **missed** ({of})")


def _of_events(job, get, most):
    """A row's cells of what is done for an I/O at most so often"""
    def cell(run):
        both = [run["results"].get(p, {}).get(job) for p in ("kernel", "ours")]
        return goal(f"at most {most}", most, *(get(f) if f else None for f in both),
                    fmt="{:.2f}", relative=False)
    return cell


def goal_rows(runs, rows, head="in-tree / ours"):
    """A column for each run; what no run has measured has no row"""
    cells = [(name, most, [cell(run) for run in runs]) for name, most, cell in rows]
    rows = [[name, most or "—"] + [text or "—" for text in found]
            for name, most, found in cells if any(found)]
    return table([head, "goal"] + [run["kernel"] for run in runs], rows,
                 left=2) if rows else []


def usual(runs):
    """What most users have: a disk that interrupts, more queues than one. In the form of
    goals()."""
    return goal_rows(runs, [
        *((words(f"4k-{rw}-qd32{what}"), "",
           lambda run, job=f"4k-{rw}-qd32{what}": _whole(run, job))
          for what in ("@timer", "-queues64", "-queues64@timer")
          for rw in ("read", "write")),
        ("posts of responses, 4 KiB read, QD 32, a disk that interrupts", "0.20",
         _of_events("4k-read-qd32@timer", responses, .2))])


def goals(runs, memories, countings, preempts, *, soft=None, together=None, targets=None):
    """What was aimed at, and what came of it: a column for each run over the virtual
    RNIC. @memories, @countings, @preempts, @soft (over soft-RoCE), @together (by the
    clock), @targets (alone): by kernel"""
    def of_overhead(job, most, others=None):
        def cell(run):
            if others is not None:
                run = others.get(run["kernel"])
                if not run:
                    return None
            both = ("kernel", "ours")
            text = goal(f"at most {most:.2f}", most,
                        *(overhead(run, p, job) for p in both),
                        words=[overhead_cell(run, p, job) for p in both])
            return text and f"{text} [{bare_ratio(run, job)}]"
        return cell

    def of_p50(beyond_floor):
        def cell(run):
            both, bare = (
                [percentile(run, pair, "4k-read-qd1", beyond_floor and floor_of(run),
                            strings=strings) for pair in ("kernel", "ours")]
                for strings in (True, False))
            text = goal("at most 0.75", .75, *both)
            return text and f"{text} [{ratio(*reversed(bare))}]"
        return cell

    def of_none(job, get):
        """Judged by the job of ours that has most"""
        def cell(run):
            found = [{j: get(f) for j, f in run["results"].get(p, {}).items()}
                     for p in ("kernel", "ours")]
            if None in (f.get(job) for f in found):
                return None
            most = max(n for n in found[1].values() if n is not None)
            return goal("none", 0, found[0][job], most, relative=False, words=[
                f"{found[0][job]:.2f}",
                f"{found[1][job]:.2f}, {most:.2f} at most in any job"])
        return cell

    def of_memory(setup):
        def cell(run):
            found = memories.get(run["kernel"], {}).get(setup, {}).get("target")
            return found and goal("at most 0.25", 0.25, found["kernel"]["median"],
                                  found["ours"]["median"])
        return cell

    def of_counting(job):
        def cell(run):
            found = countings.get(run["kernel"])
            parts = found and counted(found, job)
            if parts is None:
                return None
            part = sum(parts) / but_device(found["results"]["ours"][job]) * 100
            return f"{part:.1f} %" + ("" if part <= .7 else ", **missed** (at most 0.7 %)")
        return cell

    def of_soft(job, get, most, fmt):
        def cell(run):
            run = (soft or {}).get(run["kernel"], {"results": {}})
            both = [run["results"].get(p, {}).get(job) for p in ("kernel", "ours")]
            return goal(f"at most {most}", float(most), *(f and get(f) for f in both), fmt=fmt)
        return cell

    def of_host(job, fed, most):
        """All but the device's, and what a target alone takes for such a command"""
        def cell(run):
            alone = (targets or {}).get(run["kernel"], {"results": {}})
            both = [(run["results"].get(p, {}).get(job), alone["results"].get(p, {}).get(fed))
                    for p in ("kernel", "ours")]
            if not all(f for pair in both for f in pair):
                return None
            return goal(f"at most {most:,}", most,
                        *(but_device(f) - t["instructions"]["median"] for f, t in both),
                        relative=False)
        return cell

    def of_clock(job):
        def cell(run):
            found = (together or {}).get(run["kernel"], {}).get("ours", {}).get(job)
            return found and f"{found['ratio']:.2f}" + (
                "" if round(found["ratio"], 2) >= 1 else ", **missed** (at least 1.00)")
        return cell

    batched = "4k-read-qd32-batch8"
    rows = (
        ("overhead, 4 KiB read, QD 32", "0.50", of_overhead("4k-read-qd32", .5)),
        ("overhead, 4 KiB write, QD 32", "0.50", of_overhead("4k-write-qd32", .5)),
        ("read, workers that run at once", "0.50",
         of_overhead("4k-read-qd32", .5, preempts)),
        ("write, workers that run at once", "0.50",
         of_overhead("4k-write-qd32", .5, preempts)),
        ("overhead, 4 KiB read, QD 1", "0.75", of_overhead("4k-read-qd1", .75)),
        ("p50 of it beyond the floor's, ns", "0.75", of_p50(True)),
        ("the whole p50, ns", "0.75", of_p50(False)),
        ("overhead, 128 KiB read, QD 8", "0.50", of_overhead("128k-read-qd8", .5)),
        ("overhead, 128 KiB write, QD 8", "0.50", of_overhead("128k-write-qd8", .5)),
        ("host, 4 KiB read, QD 32, batches of 8", "8,400",
         of_host(batched, "4k-read-qd32", 8400)),
        ("interrupts on the target, 4 KiB read, QD 32", "0.10",
         _of_events("4k-read-qd32", target_interrupts, .1)),
        ("posts, 4 KiB read, QD 32, batches of 8", "1.0",
         _of_events(batched, posts, 1.0)),
        ("CQEs, the same", "2.2", _of_events(batched, cqes, 2.2)),
        ("DMA maps on the target, the same", "0", of_none(batched, target_maps)),
        ("allocations of pages, the same", "0", of_none(batched, pages)),
        ("soft-RoCE: the whole 4 KiB write, QD 32", "0.97", of_soft(
            "4k-write-qd32", lambda f: f["instructions"]["median"], "0.97", "{:,.0f}")),
        *((f"soft-RoCE: arms of both sides' CQs, 4 KiB {rw}, QD 32", "1.00", of_soft(
            f"4k-{rw}-qd32", lambda f: _by(f, ["arms"]), "1.00", "{:.2f}"))
          for rw in ("read", "write")),
        *((f"I/Os per second to in-tree's, both sides on the same processors, 4 KiB {rw}",
           "1.00", of_clock(f"4k-{rw}")) for rw in ("read", "write")),
        ("KiB of an idle queue on the target, twelve hosts", "0.25",
         of_memory("many")),
        ("the same, one host", "0.25", of_memory("one")),
        *((f"counting, of all but the device: {words(job)}", "0.7 %", of_counting(job))
          for job in ("4k-read-qd1", "4k-read-qd32", "4k-write-qd32", batched)))
    return goal_rows(runs, rows)
