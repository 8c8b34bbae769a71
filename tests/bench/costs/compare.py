# SPDX-License-Identifier: GPL-2.0
"""A run against a saved one."""

from .attribution import GROUPS
from .results import AGREE
from .tables import EVENT_ROWS, LATER_ROWS, number, overhead, table, words
from .workloads import PAIR_WORDS


# What two runs have to share, of the entries of a file of results
HOW = ("preempt", "placed", "delay", "moderated")


def _change(was, now):
    return f"{(now - was) / was * 100:+.1f} %" if was else "—"


def _groups(was, now):
    """The groups that have changed most, in words."""
    by = {g: now["groups"].get(g, 0) - was["groups"].get(g, 0) for g in GROUPS}
    most = sorted((g for g in by if abs(by[g]) >= 10), key=lambda g: -abs(by[g]))
    return ", ".join(f"{g} {by[g]:+,.0f}" for g in most[:4])


def _often(was, now):
    """What is done more or less often than it was by 2 % and by 0.02, in words"""
    found = []
    for name, get in (*EVENT_ROWS, *LATER_ROWS):
        a, b = get(was), get(now)
        if None not in (a, b) and abs(b - a) > max(0.02, abs(a) / 50):
            found.append(f"{name} {a:.2f} to {b:.2f}")
    return "; ".join(found)


def _missing(old, new):
    """What the saved run has and the new one has not, as lines"""
    gone = [f"{PAIR_WORDS.get(pair, pair)}, {words(job)}"
            for pair, jobs in old["results"].items() for job in jobs
            if job not in new["results"].get(pair, {})]
    return ["", "not in this run: " + "; ".join(gone)] if gone else []


def _rows(old, new):
    for pair, jobs in new["results"].items():
        for job, now in jobs.items():
            was = old["results"].get(pair, {}).get(job)
            if not was:
                continue
            a, b = was["instructions"], now["instructions"]
            noise = max(a["spread"], b["spread"], AGREE)
            changed = abs(b["median"] - a["median"]) / a["median"] * 100 > noise
            over = overhead(old, pair, job), overhead(new, pair, job)
            modules = pair not in ("raw", "loop") and None not in over
            yield [PAIR_WORDS.get(pair, pair), words(job), number(a["median"]),
                   number(b["median"]), _change(a["median"], b["median"])
                   + ("" if changed else f" (noise: {noise:.1f} %)"),
                   _change(*over) if modules else "", _groups(was, now),
                   _often(was, now)]


def compare(old, new):
    """Lines of Markdown: what has changed. A difference that is not larger than
    the spread of either run is said to be noise."""
    lines = []
    for run in new["runs"]:
        before = next((r for r in old["runs"] if r["device"] == run["device"]
                       and r["series"] == run["series"]
                       and all((r.get(how) or None) == (run.get(how) or None) for how in HOW)
                       ), None)
        lines += ["", f"{run['kernel']}, {run['device']}, against "
                  f"{old['commit'] or 'a saved run'} of {old['date']}:", ""]
        if not before:
            lines.append("the saved run has nothing of this kernel, device, placement, wire, "
                         "moderation and --preempt")
            continue
        lines += table(["", "job", "was", "is", "change", "overhead",
                        "where, instructions", "how often"],
                       list(_rows(before, run)), 2)
        lines += _missing(before, run)
    return lines
