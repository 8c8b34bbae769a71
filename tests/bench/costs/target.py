# SPDX-License-Identifier: GPL-2.0
"""The target alone: its plan and its tables.

The feeder (tests/bench/feeder) sends commands in place of a host. It is told apart as
an owner, so that all other instructions but the device's are the target's: its module,
the core, the block layer, the disk, its interrupts and tasks. The figure
"instructions" of a file of results is these (results.Sample). With --apart, it is all that
the target's processor executes, but for the device's work and looks in vain.

A job's label is 4k-RW-qdDEPTH[-queuesN|-hostsN][-everyUS][@DISK]: DEPTH commands in flight,
of all queues together, which take turns; on the disk "inline" unless it is named. Queues are of
one host, or each of another one (by its address, of which there are 128 in turn; up to 64
queues belong to one controller). Commands
are sent back to back, or one each US microseconds while fewer than DEPTH are in flight.
"""

from dataclasses import dataclass

from . import guest
from .tables import apart, goal, goal_rows, number, ratio, table, wrong
from .workloads import PAIR_WORDS, PATH_IOS, Pair

TARGETS = (Pair("kernel", "feeder", "kernel"), Pair("ours", "feeder", "ours"))
# With --apart only: a thread that polls would take the processor from the feeder
POLLING = Pair("threads", "feeder", "threads")
# Numbers of namespaces (guest/target.sh), and words
DISKS = {"inline": "at once", "timer": "interrupt", "polled": "polled"}
QUEUES = (1, 8, 64)
HOSTS = (64, 512)
ADDRESSES = 128
# Microseconds: the target idles between commands, or is near what it can do
EVERY = (50, 20)
COUNT = 2048


@dataclass(frozen=True)
class Fed:
    """A job of the feeder; its commands are of 4 KiB."""

    rw: str
    queues: int
    depth: int
    disk: str
    hosts: bool = False
    every: int = 0      # microseconds
    polled = False

    @property
    def name(self):
        """The label."""
        return (f"4k-{self.rw}-qd{self.depth}"
                + (f"-{'hosts' if self.hosts else 'queues'}{self.queues}"
                   if self.queues > 1 else "")
                + (f"-every{self.every}" if self.every else "")
                + (f"@{self.disk}" if self.disk != "inline" else ""))

    @property
    def warm(self):
        """How many are not counted before the others: each queue has used all that it
        uses in turn."""
        return max(COUNT // 4, PATH_IOS * self.queues)

    def words(self, order):
        """Arguments of the guest's function"""
        words = (order, f"every={1000 * self.every}" if self.every else "")
        return (self.name, self.warm, COUNT, self.warm + COUNT + self.depth + 32,
                self.rw, 1 + list(DISKS).index(self.disk), self.depth, *filter(None, words))


SIMPLE = ("inline", "timer")
# By queues, as each number of them is connected anew
FULL = tuple(Fed(rw, queues, depth, disk)
             for queues in QUEUES for disk in SIMPLE for depth in (1, 32)
             for rw in ("read", "write")) + (
                 Fed("write-keyed", 1, 32, "inline"),
                 *(Fed(rw, hosts, 32, disk, hosts=True) for hosts in HOSTS
                   for disk in SIMPLE for rw in ("read", "write")),
                 *(Fed("read", 1, 32, disk, every=every) for every in EVERY
                   for disk in SIMPLE))
QUICK = tuple(Fed(rw, queues, 32, disk) for rw, queues in (
    ("read", 1), ("write", 1), ("read", 64)) for disk in SIMPLE)
# With --apart. Without threads, a disk that can be polled completes at once
APART = tuple(Fed(rw, queues, 32, disk) for queues in (1, 64)
              for disk in ("polled", "timer") for rw in ("read", "write"))
ALL = FULL + tuple(j for j in APART if j not in FULL)


def fed_named(name):
    """The job of that name; None if there is none"""
    return next((j for j in ALL if j.name == name), None)


# The most instructions of ours for a job, without string moves; for others on a disk that
# interrupts, the largest ratio to in-tree's
GOALS = {"4k-read-qd32": 3700, "4k-write-qd32": 3200, "4k-read-qd32-queues64": 4200}
GOAL_RATIO = .75
# With threads, on a processor of its own
POLLING_GOALS = {"4k-read-qd32@polled": 3300, "4k-write-qd32@polled": 3000,
                 "4k-read-qd32-queues64@timer": 3600}
# What a command takes of a core on hardware, ns: a model. Instructions are not weighed by their
# misses of the cache, and what the device's driver executes is not in it.
WEIGHTS = {"instruction": .3, "byte moved": .02, "locked instruction": 6, "doorbell": 100,
           "interrupt": 1000, "wake-up": 1200}
# Commands a second and core by it, to in-tree's
MODEL_GOAL = 2.5
# Of shown()
SHOWN = (*GOALS, *(f"{name}@timer" for name in GOALS))


def shown(run):
    """The jobs whose parts are shown"""
    return [j.name for j in APART] if run["placed"] else SHOWN


def plan(targets, jobs, rounds, order=""):
    """Each target in turn with all jobs, in rounds. @order: "random", if queues do not
    take turns."""
    made = guest.Plan()
    made.call(".", f"{guest.BENCH}/guest/target.sh")
    made.call("fed_begin")
    for number_of in range(rounds):
        for target in targets:
            tag = f"{target.name}.{number_of}"
            made.call("fed_target", tag, target.target)
            for queues, hosts in sorted({(j.queues, j.hosts) for j in jobs}):
                made.call("fed_queues", queues, *["hosts"] * hosts)
                for job in (j for j in jobs if (j.queues, j.hosts) == (queues, hosts)):
                    made.call("fed", *job.words(order))
                    made.measured[target.name, job.name, number_of] = (
                        guest.Measured(tag, job.name))
    made.call("fed_end")
    return made


class FedRun(guest.BenchRun):
    """The guest of a plan of plan()."""

    # The target's processor, if it has its own (guest/apart.sh)
    fed = 1

    def deadline(self):
        """Seconds that it may take."""
        words = [line.split()[0] for line in self.plan.lines]
        return super().deadline() + guest.JOB_SECONDS * words.count("fed") + (
            guest.PAIR_SECONDS * sum(map(words.count, ("fed_target", "fed_queues"))))

    def command(self):
        """tests/vm/run with what it takes."""
        first, *others = super().command()
        return [first, "--with", "feeder", *others]


def _targets(run):
    return TARGETS + ((POLLING,) if POLLING.name in run["results"] else ())


def _figures(run, job_name):
    """Those of each target; None of one that was not measured"""
    return [run["results"].get(t.name, {}).get(job_name) for t in _targets(run)]


def _rows(run):
    """(job, figures of each target) of all that was measured"""
    for job in ALL:
        found = _figures(run, job.name)
        if any(found):
            yield job, found


def _head(job):
    return [job.rw, str(job.queues) + (
        f" of {min(job.queues, ADDRESSES)} hosts" if job.hosts else ""),
            str(job.depth) + (f", one each {job.every} µs" if job.every else ""),
            DISKS[job.disk]]


HEAD = ["4 KiB", "queues", "commands in flight", "disk completes"]


def _strings(figures):
    return figures["groups"].get("string moves", 0)


def _bare(figures):
    """Instructions without string moves"""
    return figures and figures["instructions"]["median"] - _strings(figures)


def instructions(run):
    """Instructions of the target for a command."""
    rows = []
    words = [PAIR_WORDS[t.name] for t in _targets(run)]
    for job, found in _rows(run):
        row = _head(job)
        for f in found:
            row += [number(f["instructions"]["median"])
                    + apart(f["instructions"]["spread"]), number(_bare(f))
                    ] if f else ["—", "—"]
        both = [(f and f["instructions"]["median"], _bare(f)) for f in found]
        for some in both[1:]:
            row += map(ratio, some, both[0])
        rows.append(row)
    head = [cell for name in words for cell in (name, "without string moves")]
    head += [cell for name in words[1:]
             for cell in (f"ratio, {name}", "without string moves")]
    return table(HEAD + head, rows, 4)


def _device(figures, key):
    return figures.get("device", {}).get("target", {}).get(key)


def _event(name):
    """Of all owners: that of an interrupt is whatever it interrupted"""
    def get(figures):
        return sum(figures["events"].get(name, {}).values())
    return get


def _locked(figures):
    """Those of the device stand for work of hardware, and the feeder's are a host's"""
    found = figures["events"].get("locked")
    return None if found is None else sum(
        n for owner, n in found.items() if owner not in ("device", "feeder", "host"))


# The device's counters of the target's queues, then calls of functions
EVENTS = (("interrupts of its CQs", lambda f: _device(f, "events")),
          ("arms", lambda f: _device(f, "arms")),
          ("posts of sends", lambda f: _device(f, "posts_send")),
          ("CQEs", lambda f: _device(f, "cqes")),
          ("all interrupts", _event("interrupts")),
          ("softirqs", _event("softirqs")),
          ("works", _event("works")),
          ("wake-ups", _event("wakeups")),
          ("task switches", _event("switches")),
          ("locked instructions", _locked))


def events(run):
    """How often something is done for a command, in-tree / ours"""
    def cell(get, found):
        return " / ".join("—" if not f or get(f) is None else f"{get(f):.2f}"
                          for f in found)

    return table(HEAD + [name for name, _ in EVENTS],
                 [_head(job) + [cell(get, found) for _, get in EVENTS]
                  for job, found in _rows(run)], 4)


def parts(run, jobs):
    """Where the target's instructions are, in-tree / ours, in columns of jobs"""
    found = [(job, f) for job, f in _rows(run) if job.name in jobs]
    groups = {g for _, both in found for f in both if f for g in f["groups"]}
    groups -= {"device", "feeder", "host", "idle"}

    def cell(both, group):
        return " / ".join(number(f["groups"].get(group, 0)) if f else "—" for f in both)

    rows = [[g] + [cell(both, g) for _, both in found] for g in sorted(
        groups, key=lambda g: -max((f["groups"].get(g, 0) for _, both in found
                                    for f in both if f), default=0))
            if any(f and f["groups"].get(g, 0) >= .5 for _, both in found for f in both)]
    return table([_side_by_side(run)] + [job.name for job, _ in found], rows)


def _side_by_side(run):
    return " / ".join(["in-tree", "ours", "threads"][:len(_targets(run))])


def _each(job):
    n = -(-job.queues // ADDRESSES)
    return "a queue" if n == 1 else f"{n} queues"


def _words(job):
    """A job's name for people"""
    queues = ("one queue" if job.queues == 1
              else f"{min(job.queues, ADDRESSES)} hosts with {_each(job)} each in turn" if job.hosts
              else f"{job.queues} queues in turn")
    return f"{job.rw}, {queues}, " + (
        f"one each {job.every} µs" if job.every else f"QD {job.depth}") + (
        ", disk interrupts" if job.disk == "timer" else "")


def _goal_of(job, aimed):
    """What is aimed at for it, as a cell of a table, and a function that makes the cell of
    a run. @aimed: if not, nothing is"""
    most = GOALS.get(job.name) if aimed else None
    within = aimed and job.disk == "timer" and job.name.partition("@")[0] in GOALS

    def cell(run):
        found = _figures(run, job.name)
        if not all(found):
            return None
        theirs, ours, *_ = map(_bare, found)
        if within:
            return goal(f"at most {GOAL_RATIO}", GOAL_RATIO, theirs, ours)
        return (f"{number(theirs)} / {number(ours)}: {ratio(ours, theirs)}"
                + (f", **missed** (at most {number(most)})" if most and ours > most else ""))

    return f"{most:,}" if most else str(GOAL_RATIO) if within else "", cell


def _often(job_name, name, most):
    """A row of how often something is done for a command: its name, its goal, a function
    that makes the cell of a run"""
    get = dict(EVENTS)[name]

    def cell(run):
        found = _figures(run, job_name)
        if not all(found) or None in map(get, found):
            return None
        return goal(f"at most {most}", most, *map(get, found[:2]), fmt="{:.2f}",
                    relative=False)

    return f"{name}, {_words(fed_named(job_name))}", f"{most:.2f}", cell


def summary(runs, busy=True):
    """The rows of a target: a disk that interrupts and many queues first. A column for each
    run, in the form of tables.goals(). @busy: it finds its commands together. What is aimed
    at is that, and one command at a time is the same at any depth."""
    jobs = sorted((j for j in FULL if j.rw in ("read", "write")
                   and (j.depth > 1 or j.queues == 1 and busy)
                   and (busy or not j.every)),
                  key=lambda j: (j.every, -j.depth, j.disk == "inline", not j.hosts, -j.queues,
                                 j.rw))
    rows = [(_words(job), *_goal_of(job, busy)) for job in jobs]
    if busy:
        rows += [_often("4k-read-qd32", "interrupts of its CQs", .1),
                 _often("4k-read-qd32@timer", "posts of sends", .2)]
    return goal_rows(runs, rows)


def _with_threads(runs, measure, aim, verdict):
    """What @measure makes of a target on a processor of its own, with threads beside works.
    @aim: what is aimed at, of a job; @verdict: words on a job's three figures"""
    def row(job):
        def cell(run):
            found = _figures(run, job.name)
            if len(found) < 3 or not all(found):
                return None
            values = [measure(f) for f in found]
            return f"{' / '.join(map(number, values))}: {verdict(job, *values)}"

        return (_words(job) + (", disk is polled" if job.disk == "polled" else ""), aim(job),
                cell)

    return goal_rows(runs, [row(job) for job in sorted(
        APART, key=lambda j: (j.disk == "polled", -j.queues, j.rw))],
        "in-tree / ours / threads")


def polling_summary(runs):
    """Instructions of a target with threads"""
    def most(job):
        return POLLING_GOALS.get(job.name)

    return _with_threads(
        runs, _bare, lambda job: f"{most(job):,}" if most(job) else "",
        lambda job, kernel, _, threads: ratio(threads, kernel) + (
            f", **missed** (at most {number(most(job))})"
            if most(job) and threads > most(job) else ""))


def _modelled(figures):
    """Nanoseconds of a core for a command, by WEIGHTS"""
    often = {"instruction": _bare(figures), "byte moved": figures["groups"].get("string moves", 0),
             "locked instruction": _locked(figures) or 0,
             "doorbell": _event("posts_send")(figures) + _event("posts_recv")(figures),
             "interrupt": _event("interrupts")(figures), "wake-up": _event("wakeups")(figures)}
    return sum(WEIGHTS[name] * times for name, times in often.items())


def model_summary(runs):
    """Nanoseconds of it by the model, and how many times as many commands a core takes"""
    return _with_threads(
        runs, _modelled, lambda job: str(MODEL_GOAL),
        lambda job, kernel, _, threads: f"{kernel / threads:.2f}" + (
            f", **missed** (at least {MODEL_GOAL})" if kernel / threads < MODEL_GOAL else ""))


def section(data, measured):
    """A part of the generated tables, as lines. @measured: when, what and by what"""
    lines = []
    for run in data["runs"]:
        how = ((", on a processor of its own" if run["placed"] else "")
               + (", one command at a time" if run["preempt"] else "")
               + (", queues at random" if run.get("random") else ""))
        lines += [f"## Target alone{how}: {run['kernel']}", "", *measured,
                  *instructions(run), "", f"How often, for a command, {_side_by_side(run)}:",
                  "", *events(run), "", *parts(run, shown(run)), "", *wrong(run["missing"])]
    return lines
