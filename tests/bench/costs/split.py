# SPDX-License-Identifier: GPL-2.0
"""Counts to instructions by part and owner, and to events.

Events are calls of functions: that of a provider of verbs that posts, the
allocators of the kernel, the entries of interrupts. Locked instructions of the kernel
are an event, too. A function of a list may
call another one of it (dma_map_page_attrs() calls dma_map_phys() since 6.19,
__alloc_pages_noprof() __alloc_frozen_pages_noprof() since 6.14); then only the
innermost is counted, which is the list's first one of those that the kernel has.
"""

import re
from collections import Counter, defaultdict

from .attribution import OWNERS, group_of, part_of

DEVICES = "(?:vrnic|rxe)"

# event: patterns of names of functions whose calls are that event
EVENTS = {
    "posts_send": [rf"{DEVICES}_post_send"],
    "posts_recv": [rf"{DEVICES}_post_(?:srq_)?recv"],
    "polls": [rf"{DEVICES}_poll_cq"],
    "arms": [rf"{DEVICES}_(?:req_notify|arm)_cq"],
    "slab": [r"kmem_cache_alloc(?:_node|_lru|_bulk)?(?:_noprof)?",
             r"__kmalloc(?:_node|_cache|_cache_node|_large|_large_node"
             r"|_node_track_caller)?(?:_noprof)?",
             r"kmalloc(?:_node)?_trace", r"kmalloc_large(?:_node)?(?:_noprof)?"],
    "pages": [r"__alloc_(?:frozen_)?pages(?:_noprof)?",
              r"(?:__)?alloc_pages_bulk(?:_array|_list)?(?:_noprof)?"],
    "dma_pages": [r"dma_map_(?:phys|page_attrs)"],
    "dma_lists": [r"__dma_map_sg_attrs|dma_map_(?:sg_attrs|sgtable)"],
    "dma_syncs": [r"(?:__)?dma_sync_(?:single|sg)_for_(?:cpu|device)"],
    "interrupts": [r"asm_sysvec_\w+|asm_common_interrupt"],
    "irq_works": [r"asm_sysvec_irq_work"],
    "ticks": [r"asm_sysvec_apic_timer_interrupt"],
    "softirqs": [r"handle_softirqs|__do_softirq"],
    "switches": [r"__switch_to_asm"],
    "works": [r"process_one_work"],
    "wakeups": [r"try_to_wake_up"],
    # of a task that did sleep
    "woken": [r"ttwu_do_activate"],
    "ipis": [r"native_smp_send_reschedule",
             r"native_send_call_func_(?:single_)?ipi"],
}
_PATTERNS = {event: re.compile("|".join(f"(?:{p})" for p in patterns))
             for event, patterns in EVENTS.items()}
# of functions that call each other: (outer, inner), the outer one is not counted
_OUTER = {"dma_map_page_attrs": "dma_map_phys",
          "dma_map_sgtable": "__dma_map_sg_attrs",
          "dma_map_sg_attrs": "__dma_map_sg_attrs",
          "dma_sync_single_for_cpu": "__dma_sync_single_for_cpu",
          "dma_sync_single_for_device": "__dma_sync_single_for_device",
          "__do_softirq": "handle_softirqs",
          "__alloc_pages_noprof": "__alloc_frozen_pages_noprof"}


class Split:
    """The instructions of a phase and its events, of all its I/Os together."""

    def __init__(self, counts, symbols):
        self.total = counts.total()
        self.groups = Counter()
        self.behalf = Counter()         # (group, owner): instructions
        self.functions = Counter()      # (function, module, owner): instructions
        self.calls = Counter()          # (function, module, owner): calls
        names = list(OWNERS)
        for address, n, executions, string in counts.blocks:
            function, module = symbols.at(address)
            user = not address >> 63
            part = ("user space" if user else "string moves" if string
                    else part_of(function, module))
            for owner, times in zip(names, executions):
                if times:
                    self.groups[group_of(part, owner)] += n * times
                    self.behalf[group_of(part, owner), owner] += n * times
                    self.functions[function, module, owner] += n * times
        for address, callers in counts.calls:
            for owner, times in zip(names, callers):
                if times:
                    self.calls[(*symbols.at(address), owner)] += times
        self.events = events(self.calls)
        self.events["locked"] = dict(_locked(counts))


def _locked(counts):
    """Counter of owners: the locked instructions executed on their behalf"""
    found = Counter()
    for _, n, executions in counts.locked:
        for owner, times in zip(OWNERS, executions):
            if times:
                found[owner] += n * times
    return found


def events(calls):
    """{event: {owner: times}} of the calls of functions"""
    seen = {function for function, _, _ in calls}
    found = defaultdict(Counter)
    for (function, _, owner), times in calls.items():
        if _OUTER.get(function) in seen:
            continue
        for event, pattern in _PATTERNS.items():
            if pattern.fullmatch(function):
                found[event][owner] += times
    return {event: dict(owners) for event, owners in found.items()}
