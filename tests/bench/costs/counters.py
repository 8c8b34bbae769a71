# SPDX-License-Identifier: GPL-2.0
"""The virtual device's own counters, /sys/kernel/debug/vrnic/vrnic0/counters.

Lines "KEY VALUE" are totals of the device. A line of a queue pair begins with
"qp NUMBER", one of a completion queue with "cq NUMBER", one of a shared receive queue
with "srq NUMBER"; words "key=value" follow, one of which is owner=MODULE. What counts
nothing (NO_COUNTS) is left out; what is not known is kept, and what is gone by the time
of the second reading (a queue pair of a connection that ended) is not counted.
"""

from collections import Counter, defaultdict

from . import BenchError

SIDES = {"nvme_rdma": "host", "nvmet_rdma": "target", "feeder": "feeder"}
NO_COUNTS = ("state", "to", "cpu")


def parse(text):
    """{("device",) or ("qp", "cq" or "srq", number, owner): {key: value}}"""
    found = defaultdict(dict)
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        try:
            if words[0] in ("qp", "cq", "srq"):
                pairs = dict(w.split("=", 1) for w in words[2:])
                owner = pairs.pop("owner", "?")
                found[words[0], int(words[1]), owner] = {
                    k: int(v) for k, v in pairs.items()
                    if v.isdigit() and k not in NO_COUNTS}
            else:
                totals = found[("device",)]     # of all devices, if there are several
                totals[words[0]] = totals.get(words[0], 0) + int(words[1])
        except (ValueError, IndexError) as e:
            raise BenchError(f"the device's counters: what is '{line}'?") from e
    return dict(found)


def between(before, after):
    """What was counted from one reading to another, {side: {key: number}}: side
    is host, target, feeder, other (queues of other users), or device (its totals)."""
    sums = defaultdict(Counter)
    for queue, values in after.items():
        side = ("device" if queue[0] == "device"
                else SIDES.get(queue[2], "other"))
        then = before.get(queue, {})
        for key, value in values.items():
            # a new queue's counters began with 0
            sums[side][key] += value - then.get(key, 0)
    return {side: dict(c) for side, c in sums.items()}
