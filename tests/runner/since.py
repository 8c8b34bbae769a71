# SPDX-License-Identifier: GPL-2.0
"""What a change can break: the jobs of 'tests/run --since REF', by the table tests/breaks."""

import os
import re
import subprocess

from harness import HarnessError

from . import REPO, TESTS

TABLE = os.path.join(TESTS, "breaks")
# What matches no job
NONE = "$^"


def _git(*args):
    done = subprocess.run(["git", *args], cwd=REPO, check=False, text=True,
                          capture_output=True)
    if done.returncode:
        raise HarnessError(f"--since: git {' '.join(args)}: {done.stderr.strip()}")
    return [p for p in done.stdout.split("\0") if p]


def changed(ref):
    """The paths that differ from a commit, also what is not committed or not even added."""
    # the merge base of the present branch and that one
    try:
        _git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    except HarnessError:
        raise HarnessError(f"--since {ref}: git knows no such commit") from None
    try:
        base = _git("merge-base", ref, "HEAD")[0].strip()
    except HarnessError:
        raise HarnessError(f"--since {ref}: it has no commit in common with HEAD here; in a "
                           "shallow clone, 'git fetch --unshallow' first") from None
    return sorted({*_git("diff", "--name-only", "-z", "--no-renames", base),
                   *_git("ls-files", "-z", "--others", "--exclude-standard")})


def table(path=TABLE):
    """[(paths, jobs, more)] of the table, as regular expressions."""
    rules = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            words = re.split(r"\t+", line.rstrip("\n"))
            try:
                if len(words) not in (2, 3) or not all(words):
                    raise re.error("expected PATHS, tabs, JOBS, and maybe tabs and MORE")
                left, *rights = words
                rules.append((re.compile(left), rights[0], rights[1] if rights[1:] else NONE))
                for right in rights:
                    if "\\1" in right and not rules[-1][0].groups:
                        raise re.error("\\1 without a group in PATHS")
                    re.compile(right.replace("\\1", "x"))
            except re.error as e:
                raise HarnessError(f"{path}:{number}: {e}") from e
    return rules


def jobs_of(path, rules):
    """Regular expressions of what a path can break: of jobs, '' for all of them, and of
    scenarios that 'make check' has no run of."""
    for pattern, *rights in rules:
        m = pattern.fullmatch(path)
        if m:
            first = re.escape(m[1]) if m.groups() and m[1] else ""
            return tuple(NONE if r == "nothing" else r.replace("\\1", first) for r in rights)
    return "", NONE


def _names(job):
    """A job's name; of scenarios that share a guest, each one's."""
    heads = getattr(job, "heads", [])
    return [f"guest/{h.name} {job.tag}" for h in heads] or [job.name]


def chosen(paths, jobs, say=print):
    """Those of @jobs that the paths can break."""
    rules = table()
    wanted = {p: jobs_of(p, rules) for p in paths}
    for path in sorted(p for p, w in wanted.items() if not w[0]):
        say(f"tests: {path} is in no line of tests/breaks: it can break everything")

    def breaks(path, job):
        return any(re.search(wanted[path][job.beyond], n) for n in _names(job))

    for path in paths:
        if wanted[path] != (NONE, NONE) and not any(breaks(path, j) for j in jobs):
            say(f"tests: {path}: no job of 'make check' looks at it, 'make check-debug' may")
    return [j for j in jobs if any(breaks(p, j) for p in paths)]
