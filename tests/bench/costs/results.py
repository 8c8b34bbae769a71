# SPDX-License-Identifier: GPL-2.0
"""A guest's files to figures, medians and their spread.

A file of results is JSON:

  format        "nvme-rdma-bench 2"
  version, commit, date, command, qemu, fio
                what was measured, when, and by what
  runs          one for each kernel and device:
    series, kernel, device, rounds
    placed      none: one processor. Of two: apart, one for each side
                (guest/apart.sh), or together, each with a queue (guest/together.sh)
    preempt     whether a task that wakes may take the processor from fio
    delay       nanoseconds of the virtual device's wire, one way; older files have none
    moderated   whether the core adapts the moderation of interrupts; likewise
    clock       what the plugin counted in a stretch of code, and what the guest's
                clock says of it: they have to agree
    missing     what went wrong, in words: what was not measured, what the kernel
                complained of
    results     {pair: {job: figures}}, see workloads.py for the names

Figures are of one I/O. Each round counts thousands of I/Os of each pair and job, of
large ones fewer (workloads.py); between the rounds everything is disconnected and
loaded anew; of the rounds, the one with the median number of instructions, of two the
lower, is taken for all figures.

  instructions  {median, spread, samples}: spread is the distance of the largest
                sample from the smallest, in percent of the median
  groups        {group: instructions} (attribution.GROUPS), which sum up to that
  behalf        {group: {owner: instructions}}
  events        {event: {owner: times}} (split.EVENTS, "locked"), owner being the
                caller's
  latency       {p50, p99, spread, p99_spread} in nanoseconds of the guest, the
                median of the rounds; spread is that of the p50, in percent. fio's
                percentiles are good to 1.5 %
  device        {side: {counter: number}} (counters.py), of the whole of fio's run
  cpus          with two processors, [{instructions, groups, events} of each]
  lines         if they were counted, [of each processor: {moves: {owner: number},
                takes, functions: {function: number}, data: {name: number}}], cache
                lines that it got from another processor

A run of tests/bench/target has "fed": true, pairs "kernel", "ours" and "threads", and jobs
of target.py. Its instructions are the target's alone: those of the groups without
"device", "feeder" and "idle". With --apart, all figures are of the target's processor.

A run of tests/bench/scale has labels "JOB@CONTROLLERS-POLICY" in place of jobs, and

    grown       list of {pair, had, has, instructions, kib}: connecting from had
                to has controllers took all that
"""

import glob
import json
import os
import re
import subprocess
import time
from collections import Counter, defaultdict
from statistics import median

from . import REPO, BenchError, counters
from .attribution import OWNERS
from .split import EVENTS, Split
from .symbols import Counts, Data, Symbols

FORMAT = "nvme-rdma-bench 2"
# The largest difference of two runs that is not reported; percent
AGREE = 0.5


def spread(samples):
    """How far they are apart, in percent of their median."""
    middle = median(samples)
    return (max(samples) - min(samples)) / middle * 100 if middle else 0.0


def fio_jobs(text):
    """The jobs of fio's JSON, which may have words before it"""
    try:
        return json.loads(text[text.index("{"):])["jobs"]
    except (ValueError, KeyError):
        return []


def latency(job):
    """{p50, p99} of a job of fio; None if it has none"""
    for kind in ("mixed", "read", "write"):
        found = job.get(kind, {}).get("lat_ns", {}).get("percentile", {})
        if job.get(kind, {}).get("total_ios") and found:
            return {"p50": found["50.000000"], "p99": found["99.000000"]}
    return None


def _moved(counts, symbols, data):
    """What moved to a processor: {moves, takes, functions, data}"""
    found = {"moves": Counter(), "takes": Counter(), "functions": Counter(),
             "data": Counter()}
    for what in ("moves", "takes"):
        for address, numbers in getattr(counts, what):
            for owner, times in zip(OWNERS, numbers):
                if times:
                    found[what][owner] += times
            found["functions"][symbols.at(address)[0]] += sum(numbers)
    for address, times in counts.lines:
        if times:
            found["data"][data.line(address)] += times
    return found


class Sample:
    """One round of a pair and a job. @job: what fio says of it, None if it had a fio of its
    own. @fed: which processor of several is the target's, if it is alone; otherwise None"""

    def __init__(self, files, name, symbols, data, ios, all_ios, *, job=None, fed=None):
        try:
            counts = Counts(f"{files}/{name}.counts")
            each = [] if counts.cpus == 1 else [
                Counts(f"{files}/{name}.counts", cpu) for cpu in range(counts.cpus)]
            if each and fed is not None:
                counts, each = each[fed], []
            self.split, self.ios, self.fed = Split(counts, symbols), ios, fed is not None
            self.cpus = [Split(c, symbols) for c in each]
            self.lines = [_moved(c, symbols, data) for c in each] if counts.lines else []
        except FileNotFoundError as e:
            raise BenchError("nothing was counted") from e
        jobs = [job] if job else fio_jobs(read(f"{files}/{name}.fio"))
        self.latency = latency(jobs[0]) if jobs else None
        self.device = None
        before, after = (read(f"{files}/{name}.{w}") for w in ("before", "after"))
        if before and after:
            self.device = {
                side: {k: v / all_ios for k, v in c.items()}
                for side, c in counters.between(
                    counters.parse(before), counters.parse(after)).items()}

    def instructions(self):
        """Instructions of one I/O; of a target that is fed (target.py), without those
        of the feeder and the device, which are those of no side, and looks in vain"""
        groups = self.split.groups
        less = sum(groups[g] for g in ("feeder", "device", "idle")) if self.fed else 0
        return (self.split.total - less) / self.ios


def read(path):
    """The text of a file, empty if it is not there"""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def figures(samples):
    """The figures of a pair and a job from its rounds."""
    values = [s.instructions() for s in samples]
    ranked = sorted(samples, key=Sample.instructions)
    middle = ranked[(len(ranked) - 1) // 2]
    split, ios = middle.split, middle.ios

    def each(counter):
        return {k: round(v / ios, 4) for k, v in sorted(counter.items())}

    behalf = defaultdict(dict)
    for (group, owner), n in split.behalf.items():
        behalf[group][owner] = round(n / ios, 2)
    out = {
        "instructions": {"median": round(middle.instructions(), 2),
                         "spread": round(spread(values), 3),
                         "samples": [round(v, 2) for v in values]},
        "groups": each(split.groups),
        "behalf": dict(behalf),
        "events": {e: each(split.events.get(e, {})) for e in sorted((*EVENTS, "locked"))},
    }
    if middle.cpus:
        out["cpus"] = [{"instructions": round(s.total / ios, 2),
                        "groups": each(s.groups),
                        "events": {e: each(c) for e, c in sorted(s.events.items())}}
                       for s in middle.cpus]
    if middle.lines:
        out["lines"] = [{what: each(c) for what, c in moved.items()}
                        for moved in middle.lines]
    times = [s.latency for s in samples if s.latency]
    if times:
        out["latency"] = {p: round(median(t[p] for t in times))
                          for p in ("p50", "p99")}
        out["latency"]["spread"] = round(spread([t["p50"] for t in times]), 3)
        out["latency"]["p99_spread"] = round(spread([t["p99"] for t in times]), 3)
    if middle.device:
        out["device"] = {side: {k: round(v, 4) for k, v in c.items()}
                         for side, c in middle.device.items()}
    return out


def _samples(run, missing):
    """{(pair, label): [Sample of each round]}"""
    symbols, samples, ios = {}, defaultdict(list), run.planned()
    jobs = {job["jobname"]: job for path in glob.glob(f"{run.files}/*.fios")
            for job in fio_jobs(read(path))}
    for (pair, label, _), one in run.plan.measured.items():
        try:
            if one.tag not in symbols:
                symbols.clear()     # they are large
                file = f"{run.files}/{one.tag}.symbols"
                symbols[one.tag] = Symbols(file), Data(file)
            sample = Sample(run.files, one.name, *symbols[one.tag], *ios[one.name],
                            job=jobs.get(one.name), fed=run.fed)
            samples[pair, label].append(sample)
        except KeyError:
            missing.append(f"{one.name}: not in the guest's plan")
        except (BenchError, FileNotFoundError) as e:
            missing.append(f"{one.name}: {e}")
    return samples


def run_results(run):
    """The entry of 'runs' for a guest that has ended (a guest.BenchRun)."""
    missing, found = [], defaultdict(dict)
    samples = _samples(run, missing)
    for (pair, label), some in samples.items():
        found[pair][label] = figures(some)
    out = {"device": run.device, "kernel": run.kver,
           "series": ".".join(run.kver.split(".")[:2]),
           "rounds": max(map(len, samples.values()), default=0),
           "preempt": run.preempt, "placed": run.placed,
           "delay": run.delay, "moderated": run.moderated,
           "missing": missing + run.complaints(), "results": dict(found)}
    grown = read(f"{run.files}/grown")
    if grown:
        out["grown"] = [grow_entry(line, run.files) for line in grown.splitlines()]
    try:
        out["clock"] = {"instructions": Counts(f"{run.files}/clock.counts").total(),
                        "ns": int(read(f"{run.files}/clock.ns"))}
    except (BenchError, FileNotFoundError, ValueError) as e:
        out["missing"].append(f"the comparison with the clock: {e}")
    return out


def grow_entry(line, files):
    """A line of the file 'grown' (guest/lib.sh), and what was counted."""
    pair, *numbers = line.split()
    had, has, free, free_then = map(int, numbers)
    return {"pair": pair.split(".")[0], "had": had, "has": has,
            "kib": free - free_then,
            "instructions": Counts(f"{files}/{pair}.grow@{has}.counts").total()}


def _output(*command):
    """The first line that a command prints, '' if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              check=False, cwd=REPO)
    except FileNotFoundError:
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()


def source(directory, again=False):
    """{commit, date} of what is measured in @directory, to be asked for before it is
    built; with @again as it was then."""
    path = directory + ".source"
    if not again:
        save({"commit": _output("git", "describe", "--always", "--dirty"),
              "date": time.strftime("%Y-%m-%d")}, path)
    try:
        return json.loads(read(path))
    except ValueError as e:
        raise BenchError(f"{path}: {e}; nothing was measured there") from e


def described(runs, command, of):
    """A file of results; @of: what source() gave"""
    with open(os.path.join(REPO, "dkms.conf"), encoding="utf-8") as f:
        version = re.search(r'^PACKAGE_VERSION="(.*)"', f.read(), re.M)
    qemu = re.search(r"version (\S+)", _output("qemu-system-x86_64", "--version"))
    return {"format": FORMAT, "version": version[1] if version else "unknown",
            **of, "command": command,
            "qemu": qemu[1] if qemu else "unknown",
            "fio": _output("fio", "--version"), "runs": runs}


def load(path):
    """A file of results, read."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
    except (OSError, ValueError) as e:
        raise BenchError(f"{path}: {e}") from e
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BenchError(f"{path} is no file of results of this bench")
    return data


def save(data, path):
    """Write a file of results, whole or not at all."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(data, f, separators=(",", ":"), sort_keys=True)
        f.write("\n")
    os.rename(path + ".new", path)
