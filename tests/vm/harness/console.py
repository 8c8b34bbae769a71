# SPDX-License-Identifier: GPL-2.0
"""Which kernel lines are faults.

The serial console and the kernel's own log are the only texts looked at: what
a command prints goes another way (/vm/NAME/out), so that a test which writes
"WARNING" fails nobody. A line counts only with the kernel's time stamp before
it, and each pattern is held against the beginning of the message, where the
kernel puts its own words, unless it is marked as one that may stand anywhere.
"""

import re

_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d{6}\](?:\[\s*[TC]\d+\])?\s?(.*)$")

# At the beginning of a message.
_START = [
    r"BUG\b",                       # BUG:, BUG kmalloc-64 (slab), KASAN
    r"kernel BUG at ",
    r"WARNING: ",                   # WARN_ON and most of lockdep
    r"Oops\b",
    r"general protection fault",
    r"Unable to handle kernel",
    r"unable to handle ",
    r"invalid opcode:",
    r"divide error:",
    r"stack segment:",
    r"double fault:",
    r"Kernel panic - not syncing",
    r"KASAN:|KCSAN:|KFENCE:|KMSAN:",
    r"UBSAN:",
    r"refcount_t:",
    r"INFO: task .* blocked for more than",
    r"INFO: possible ",
    r"INFO: inconsistent lock",
    r"INFO: trying to register non-static key",
    r"INFO: suspicious RCU usage",
    r"INFO: rcu_",
    r"rcu: INFO:",
    r"rcu: .*(?:detected stalls|self-detected stall)",
    r"watchdog: BUG:",
    r"kmemleak: \d+ new suspected memory leaks",
    r"DMA-API: (?!preallocated|debugging enabled)",
    r"ODEBUG: ",
    r"(?:list_add|list_del|list_add_tail) corruption",
    r"slab error in ",
    r"Objects remaining in ",
    r"unregister_netdevice: waiting for ",
    r"restrack: .*(?:BUG|is not freed)",
    r"\S+: violation: ",           # a consumer of vrnic breaks a rule
    r"Call Trace:",
]

# Anywhere in a message.
_ANYWHERE = [
    r"possible recursive locking detected",
    r"possible circular locking dependency detected",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"sleeping function called from invalid context",
    r"scheduling while atomic",
    r"blocked for more than \d+ seconds",
    r"\bleaked\b",
    r"leak of resources",
    r"(?<!double-/)use-after-free",
    r"slab-out-of-bounds",
    r"soft lockup - CPU",
    r"hard LOCKUP",
    r"workqueue lockup",
]

_FAULT = re.compile("^(?:%s)|(?:%s)" % ("|".join(_START),
                                        "|".join(_ANYWHERE)))

# Faults of the kernels themselves, with any transport:
# - nvme-core sets a flag of the controller with each completion, and nvmet with each command,
#   on any processor; no other race of these two functions has been seen
# - soft-RoCE queues a packet with its only reference to the queue pair, and only then
#   schedules the queue pair's work (rxe_resp_queue_pkt(), 6.12)
# The second element of a pair names functions. One of them has to be in the report's first
# trace, or its caller if it left no frame.
_KERNELS_OWN = [
    (re.escape("KCSAN: data-race in nvme_complete_rq [nvme_core] / "
               "nvme_complete_rq [nvme_core]"), None),
    (re.escape("KCSAN: data-race in nvmet_req_init [nvmet] / nvmet_req_init [nvmet]"), None),
    (r"BUG: KASAN: slab-use-after-free in rxe_sched_task\+", r" (rxe_resp_queue_pkt|rxe_rcv)\+"),
    (r"WARNING: .*\b(rxe_sched_task|__reserve_if_idle)\+", r" (rxe_resp_queue_pkt|rxe_rcv)\+"),
]
# The lines after a report's first trace, and their maximum number
_TRACE_END = re.compile(r"Allocated by|Freed by|---\[ end trace|</TASK>")
_TRACE_LINES = 60


def _first_trace(lines):
    """The lines up to the end of the report's first trace."""
    for n, line in enumerate(lines[:_TRACE_LINES]):
        if _TRACE_END.search(line):
            return lines[:n]
    return lines[:_TRACE_LINES]


# Lines that belong to the line before them
_DETAILS = ("Call Trace:", "DMA-API: Mapped at:")


def message(line):
    """The kernel's message in a console line, None for any other text."""
    m = _STAMP.match(line.rstrip("\r\n"))
    return m[1] if m else None


def faults(texts, allow):
    """Fault messages in console texts.

    @texts: whole logs; a message that stands in several counts once.
    @allow: regular expressions, searched in the message; a match is no fault, nor are
            the details of one.

    Return: (faults, allowed), lists of messages in the order of their coming.
    """
    excused = [(re.compile(a), b) for a, b in [*((a, None) for a in allow), *_KERNELS_OWN]]
    found, allowed, seen = [], [], set()
    for text in texts:
        last = found
        lines = text.split("\n")
        for n, line in enumerate(lines):
            msg = message(line)
            if msg is None or not _FAULT.search(msg):
                continue
            if not msg.startswith(_DETAILS):
                trace = "\n".join(_first_trace(lines[n + 1:]))
                last = allowed if any(
                    e.search(msg) and (not by or re.search(by, trace))
                    for e, by in excused) else found
            if line.strip() not in seen:
                seen.add(line.strip())
                last.append(msg)
    return found, allowed


# Flags that /proc/sys/kernel/tainted must not have at the end. Out-of-tree modules (O) and
# unsigned ones (E) are expected: this project's modules are both.
_TAINTS = {
    1: "a module was forced to load (F)",
    4: "a machine check (M)",
    5: "a bad page (B)",
    7: "an Oops or BUG (D)",
    9: "a WARNING (W)",
    14: "a soft lockup (L)",
}

# Lines that accompany a line of the kernel's
_SETS = {5: ("BUG: KASAN: ",),
         9: ("WARNING: ", "BUG: sleeping function", "BUG: scheduling while atomic")}


def taints(value, allowed_lines):
    """Words for the fault bits of a taint @value.

    An allowed line excuses the bit that its like sets.
    """
    out = []
    for bit, words in _TAINTS.items():
        if not value >> bit & 1:
            continue
        if any(m.startswith(_SETS.get(bit, ())) for m in allowed_lines):
            continue
        out.append(words)
    return out


# After these the kernel no longer trusts its lock graph
_UNRELIABLE = re.compile("BUG: |Oops|WARNING: (possible|inconsistent|bad)|INFO: possible")


def lockdep_off(stats, allowed_lines):
    """Words if lockdep, whose @stats these are, had stopped looking at locks at the end.

    It does so with its first report, and with what leaves a kernel in a state that
    cannot be relied on, which an allowed line has said then: not a mere WARNING.
    """
    m = re.search(r"^ *debug_locks: +(\d+)$", stats, re.M)
    if not m or m[1] != "0" or any(_UNRELIABLE.match(a) for a in allowed_lines):
        return None
    return "lockdep was off at the end, and nothing has said why"


# Errors of a scenario's own shell, which continues after them in an undefined state
# dropped: the command that started on that line, which may be a whole loop
_SHELL = re.compile(r"^\S+: line \d+: .*(?:syntax error|unbound variable|readonly variable"
                    r"|bad substitution|bad array subscript|command not found|division by 0"
                    r"|unexpected EOF|numeric argument required).*", re.M)


def shell_errors(text):
    """What a shell said of its script, in the output of a guest's command."""
    return [m[0] for m in _SHELL.finditer(text)]


_STARVED = re.compile(r"^ *\w+: (starved: .*)", re.M)
# Faults of QEMU without KVM, which no kernel can cause. It executes the breakpoint of code that
# another processor has already patched. It returns from an interrupt with EFLAGS that no
# processor has (trap flag, reserved bits), which an Oops shows. Or one of many processors does not reach the point
# where the others wait for it while the kernel starts, before a module of ours is loaded.
_EMULATOR = re.compile(r"^vm: \w+: (?:kernel: )?(Oops: int3\b.*|WARNING: .*"
                       r"\bexc_debug_kernel\+.*"
                       r"|its command had not started within [^;]*)"
                       r"|^ *\| .*\b(EFLAGS: (?!00[0-3])[0-9a-f]{8})\b", re.M)
# Findings of the harness: a report of the kernel, a guest that died.
_WORSE = re.compile(r"^vm: (?!\w+: (its command ended|the last lines|allowed)"
                    r"|consoles)", re.M)


def worth_another(text):
    """Why guests that failed, and printed @text, may do better another time: the
    machine starved them (lib/wire.sh), or its emulator failed. None if that is not why.
    """
    reason = _EMULATOR.search(text)
    if not reason and not _WORSE.search(text):
        reason = _STARVED.search(text)
    return reason and next(filter(None, reason.groups()))
