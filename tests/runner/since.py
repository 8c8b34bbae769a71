# SPDX-License-Identifier: GPL-2.0
"""What a change can break: the jobs of 'tests/run --since REF', by the table tests/breaks."""

import os
import re
import subprocess

from harness import HarnessError

from . import REPO, TESTS

TABLE = os.path.join(TESTS, "breaks")
# A scenario of which 'make check' has no run gets one if it was changed itself
SCENARIO = re.compile(r"tests/guest/([^/]+)\.sh")


def _git(*args):
    done = subprocess.run(["git", *args], cwd=REPO, check=False, text=True,
                          capture_output=True)
    if done.returncode:
        raise HarnessError(f"--since: git {' '.join(args)}: {done.stderr.strip()}")
    return [p for p in done.stdout.split("\0") if p]


def changed(ref):
    """The paths that differ from a commit, also what is not committed or not even added."""
    # where the branch of now left that one
    try:
        _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    except HarnessError:
        raise HarnessError(f"--since {ref}: git knows no such commit") from None
    base = _git("merge-base", ref, "HEAD")[0].strip()
    return sorted({*_git("diff", "--name-only", "-z", "--no-renames", base),
                   *_git("ls-files", "-z", "--others", "--exclude-standard")})


def table(path=TABLE):
    """[(paths, jobs)] of the table, as regular expressions."""
    rules = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            left, _, right = line.rstrip("\n").partition("\t")
            right = right.lstrip("\t")
            try:
                if not left or not right:
                    raise re.error("expected PATHS, tabs, JOBS")
                rules.append((re.compile(left), right))
                if "\\1" in right and not rules[-1][0].groups:
                    raise re.error("\\1 in JOBS, but PATHS has no group")
                re.compile(right.replace("\\1", "x"))
            except re.error as e:
                raise HarnessError(f"{path}:{number}: {e}") from e
    return rules


def jobs_of(path, rules):
    """A regular expression of the jobs that a path can break; '' for all of them."""
    for pattern, right in rules:
        m = pattern.fullmatch(path)
        if m:
            first = re.escape(m[1]) if m.groups() and m[1] else ""
            return "$^" if right == "nothing" else right.replace("\\1", first)
    return ""


def scenarios_changed(paths):
    """The names of scenarios among the paths."""
    return {m[1] for m in map(SCENARIO.fullmatch, paths) if m}


def _names(job):
    """A job's name; of scenarios that share a guest, each one's."""
    heads = getattr(job, "heads", [])
    return [f"guest/{h.name} {job.tag}" for h in heads] or [job.name]


def chosen(paths, jobs, say=print):
    """Those of @jobs that the paths can break."""
    rules = table()
    wanted = {p: jobs_of(p, rules) for p in paths}
    for path in sorted(p for p, w in wanted.items() if not w):
        say(f"tests: {path} is in no line of tests/breaks: it can break everything")
    return [j for j in jobs
            if any(re.search(w, n) for w in wanted.values() for n in _names(j))]
