# SPDX-License-Identifier: GPL-2.0
"""What the first lines of a scenario say, and whether that makes sense.

    # about:    one line of what it shows
    # guests:   their names; several are joined by a wire (default: guest)
    # disks:    GUEST=SIZE... or SIZE, NVMe SSDs
    # variants: which kernels and whose modules (default: ours), of:
    #             ours   ours on both sides, once a kernel
    #             sides  ours on one side, the in-tree module on the other,
    #                    both ways, once a kernel
    #             cross  ours on both sides, each two kernels, both ways
    #             none   the in-tree modules, once a kernel
    # check:    which of these runs belong to 'make check': kernels (6.12),
    #           variants (sides), both in one (ours:6.12), all (the default),
    #           none. It has 20 minutes on two processors for everything.
    # kernels:  the only ones that it is for, by their series
    # debug:    no: not for kernels that watch themselves, as it measures speed, or
    #           traces functions that are inlined there
    # with:     modules that the kernels lack, made for them: siw, deaf,
    #           faulty, forger, allocfail, broken, fragment, vrnic, vrnic_test, feeder,
    #           memdisk
    # iommu:    yes: a machine with an IOMMU, and devices of vrnic behind it; no: not so with
    #           tests/run --iommu, because it measures the device, or needs one without an IOMMU
    # icount:   yes: one CPU, and guest time is instructions retired
    # timeout:  seconds, a deadline for what hangs, not a measure of speed
    # shares:   a word: in 'make check', one guest serves all scenarios with this word, and as
    #           many processors, one after the other (lib/several.sh)
    # cpus:     processors of each guest (default: 2); a second number is for the longer
    #           forms, check-all and check-debug: "1 2" needs no second one, and gets it there
    # alone:    why nothing else may run beside it: what depends on times that a busy
    #           machine breaks, such as a peer's own timer
    # mem, allow, append, qemu: as the options of tests/vm/run
"""

import os
import re

from harness import HarnessError
from harness.kernels import all_series, table

from . import REPO

# MiB that tests/vm/run gives a guest by default
MEM = 2048
REQUIRED = ("about", "timeout")
VARIANTS = ("ours", "sides", "cross", "none")
MODULES = ("siw", "deaf", "faulty", "forger", "allocfail", "broken", "fragment", "vrnic", "vrnic_test",
           "feeder", "memdisk")
_ANY = (r".+", "text")
_SIZE = r"\d+[KMGT]?(:\S+)?"
# The keys, what their values look like, and that in words
KEYS = {
    "about": _ANY, "allow": _ANY, "append": _ANY, "qemu": _ANY,
    "shares": (r"[a-z]+", "a word"),
    "alone": (r"\S+ .+", "the reason, in words"),
    "guests": (r"[a-z][a-z0-9_]{0,15}( +[a-z][a-z0-9_]{0,15})*", "lower-case names"),
    "disks": (rf"([a-z]\w*=)?{_SIZE}( +([a-z]\w*=)?{_SIZE})*", "SIZE or GUEST=SIZE"),
    "variants": (r"\w+( +\w+)*", f"some of {', '.join(VARIANTS)}"),
    "check": (r"\S+( +\S+)*", "kernels and variants"),
    "kernels": (r"\S+( +\S+)*", "kernels of tests/vm/kernels"),
    "debug": (r"no", "'no'"),
    "icount": (r"yes", "'yes'"),
    "iommu": (r"yes|no", "'yes' or 'no'"),
    "with": (r"\w+( +\w+)*", f"some of {', '.join(MODULES)}"),
    "timeout": (r"[1-9]\d{0,4}", "a whole number of seconds"),
    "mem": (r"[1-9]\d{2,5}", "a number of MiB"),
    "cpus": (r"[1-9]\d?( +[1-9]\d?)?", "one or two numbers of processors"),
}


class Head:
    """The head of one scenario."""

    def __init__(self, path):
        self.name = os.path.basename(path)[:-3]
        self.path = os.path.relpath(path, REPO)
        self.values = {}
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if not line.startswith("#"):
                    break
                m = re.match(r"# ([a-z]+): +(.*\S)", line)
                # without the colon only one word: else it is a sentence
                near = re.match(r"#+\s*(\w+)(?:\s*:|\s+\S+$)", line)
                if m:
                    self._take(f"{path}:{number}", m[1], m[2])
                elif near and near[1].lower() in KEYS:
                    raise HarnessError(f"{path}:{number}: '{line.strip()}': expected "
                                       f"'# {near[1].lower()}: ...'")
        for key in REQUIRED:
            if key not in self.values:
                raise HarnessError(f"{path}: its head has no line '# {key}: ...', which "
                                   "each scenario has")
        self._agree(path)

    def _take(self, where, key, value):
        """Keep a value that looks right."""
        if key not in KEYS:
            raise HarnessError(f"{where}: unknown word '{key}' in a scenario's head "
                               f"(expected one of {', '.join(sorted(KEYS))})")
        if key in self.values:
            raise HarnessError(f"{where}: a second line '# {key}:'")
        pattern, words = KEYS[key]
        if not re.fullmatch(pattern, value):
            raise HarnessError(f"{where}: '# {key}: {value}': expected {words}")
        self.values[key] = value

    def _agree(self, path):
        """Refuse words that nothing is known by."""
        check = ("all", "none", "ours", "sides", "cross", *table())
        for key, known in (("variants", VARIANTS), ("with", MODULES),
                           ("kernels", tuple(table())), ("check", check)):
            for word in self.words(key):
                if any(part not in known for part in
                       (word.split(":") if key == "check" else [word])):
                    raise HarnessError(
                        f"{path}: '# {key}: {word}': expected some of {', '.join(known)}" +
                        (", or two of them as in ours:6.12" if key == "check" else ""))
            for word in self.words(key):
                if self.words(key).count(word) > 1:
                    raise HarnessError(f"{path}: '# {key}: {self.get(key)}': '{word}' twice")
        self._agree_on_runs(path)
        try:
            re.compile(self.get("allow", ""))
        except re.error as e:
            raise HarnessError(f"{path}: '# allow: {self.get('allow')}': no regular "
                               f"expression: {e}") from None
        if self.get("shares"):
            self._share()
        for word in self.words("disks"):
            owner = word.split(":")[0].split("=")[0]
            if "=" in word.split(":")[0] and owner not in self.guests():
                raise HarnessError(f"{path}: '# disks: {word}': there is no guest "
                                   f"'{owner}' (expected {', '.join(self.guests())})")

    def _agree_on_runs(self, path):
        """Refuse a word of 'check' that no run of the scenario has."""
        words, variants = self.words("check"), self.words("variants", "ours")
        if "none" in words and "none" not in variants and len(words) > 1:
            raise HarnessError(f"{path}: '# check: {self.get('check')}': 'none' stands alone")
        has = {"all", "none", *variants}
        for series in set(self.words("kernels") or table()) & set(all_series(False)):
            has |= {f"{v}:{series}" for v in variants if v != "cross"}
            has |= {series} if set(variants) - {"cross"} else set()
        for word in words:
            if word not in has:
                raise HarnessError(f"{path}: '# check: {word}': no run of this scenario is "
                                   f"that (expected some of {', '.join(sorted(has))})")

    def _share(self):
        """Refuse what a guest of several scenarios cannot have."""
        for key in "disks", "guests", "append", "qemu", "icount", "iommu", "alone":
            if self.get(key):
                raise HarnessError(f"{self.name}.sh: '# {key}: {self.get(key)}': such a "
                                   "scenario cannot share a guest with others")

    @classmethod
    def together(cls, heads):
        """One head for scenarios that share a guest, one after the other."""
        new = cls.__new__(cls)
        new.name = "+".join(h.name for h in heads)
        new.values = {"cpus": str(max(h.cpus(True) for h in heads)),
                      "mem": str(max(int(h.get("mem", MEM)) for h in heads)),
                      "timeout": str(sum(int(h.get("timeout")) for h in heads)),
                      "with": " ".join(sorted({w for h in heads for w in h.words("with")}))}
        allowed = [h.get("allow") for h in heads if h.get("allow")]
        if allowed:
            new.values["allow"] = "|".join(allowed)
        for head in heads:
            head._share()
        return new

    def get(self, key, default=None):
        """The value of a key."""
        return self.values.get(key, default)

    def words(self, key, default=""):
        """The words of a value."""
        return self.values.get(key, default).split()

    def guests(self):
        """Their names."""
        return self.words("guests", "guest")

    def behind_iommu(self):
        """Whether it makes sense with all devices of vrnic behind an IOMMU."""
        return "vrnic" in self.words("with") and self.get("iommu") != "no"

    def cpus(self, short):
        """Processors of each guest, in 'make check' (@short) or the longer forms."""
        if self.get("icount"):
            return 1
        numbers = [int(n) for n in self.words("cpus", "2")]
        return numbers[0 if short else -1]
