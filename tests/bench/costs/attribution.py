# SPDX-License-Identifier: GPL-2.0
"""Whose a function is, and of which part of the system.

Two questions are asked of each instruction. Which part of the system is its
function of: a module, or a part of the kernel itself (PARTS, by its name)? And
on whose behalf does it run: of OWNERS, the last one in the chain of callers
(plugin/stack.c)? A function of a module answers both by its module. memcpy()
answers the first with "memory", the second with whoever called it.

A figure goes to the part, with one exception (and the feeder's, group_of()): what runs on the device's behalf
is the device's, whatever function it is. So a copy that the device has made by
memcpy() is the device's, and so are soft-RoCE's packets in the kernel's IP. What
the plugin cannot see is on whose behalf a work queue or a softirq runs: their
dispatch is part "scheduler" or "interrupts", the device's own, too.

"string moves" are iterations of instructions such as rep stosb. QEMU counts each
byte or word as an instruction, a processor all of them as one; clearing a page is
4,096 of them.
"""

import re

# Owners in the order of their numbers; True: yields to a weak claim. The idle task's loop
# runs for nobody, and would hide what a processor does for an I/O.
OWNERS = {
    "nobody": True,
    "interrupts": True,
    "host": False,
    "target": False,
    "device": True,
    "feeder": False,
    "core": False,
    "verbs": False,
    "loop": False,
    "backing": False,
    "idle": True,
}

# module: (owner, whether its claim is weak, part). What ib_core does for the host
# or the target is on their behalf; what the device makes it do is its own.
MODULES = {
    "nvme_rdma": ("host", False, "host"),
    "nvmet_rdma": ("target", False, "target"),
    "feeder": ("feeder", False, "feeder"),
    "vrnic": ("device", False, "device"),
    "rdma_rxe": ("device", False, "device"),
    "nvme_core": ("core", False, "nvme core"),
    "nvme_fabrics": ("core", False, "nvme core"),
    "nvmet": ("core", False, "nvme core"),
    "nvme_loop": ("loop", False, "nvme-loop"),
    "ib_core": ("verbs", True, "verbs"),
    "rdma_cm": ("verbs", True, "verbs"),
    "ib_cm": ("verbs", True, "verbs"),
    "iw_cm": ("verbs", True, "verbs"),
    "null_blk": ("backing", False, "null_blk"),
    "nvme": ("backing", False, "nvme driver"),
}

# Functions that start work of their own, whatever calls them.
FUNCTIONS = {
    "net_rx_action": "device",      # over soft-RoCE, all packets are its
    "net_tx_action": "device",
    "do_idle": "idle",
    "__schedule": "nobody",         # whoever it was that had to wait
    "__do_softirq": "interrupts",
    "handle_softirqs": "interrupts",
}

# The same if the virtual device has timers: then their interrupts do what hardware does at the
# other end of a wire with a delay, or at the end of a period of moderation (wire.c and moder.c
# of tests/vrnic/driver). A disk's timer is not told apart from them; the clock's ticks are few.
DEVICE_TIMER = "sysvec_apic_timer_interrupt"

# Of tasks that poll, a thread of the target and a program at the host: it looks, and nothing has
# been found. What it executes in between, and in the second function but for the device's, is
# the idle task's. The driver of the in-tree host has a function of the same name. Where host and
# target share a processor, all that the program executes is the host's.
VAIN = (("nvmet_rdma_thread_look", "nvmet_rdma_thread_nothing"),
        ("nvme_rdma_poll", "vrnic_poll_nothing"))

# Prefixes of the functions by which the kernel enters interrupts and exceptions.
ENTRIES = ("asm_exc_", "asm_sysvec_", "asm_common_interrupt",
           "asm_spurious_interrupt")

# Parts of the kernel itself, by the names of functions; the first match holds.
PARTS = tuple((part, re.compile(rf"_*(?:{pattern})")) for part, pattern in (
    ("memory", r"kmem_|kmalloc|kfree|kzalloc|slab_|put_cpu_partial|get_partial"
     r"|deactivate_slab|alloc_from_pcs|free_to_pcs|free_from_pcs|refill_"
     r"|memcg_|obj_cgroup|mod_memcg|mod_objcg|drain_obj"
     r"|alloc_pages|alloc_frozen|free_pages|free_unref|free_frozen|rmqueue"
     r"|get_page_from|prep_new_page|free_the_page|free_one_page|mempool_"
     r"|page_frag|clear_page|mem(?:cpy|set|move|cmp)|rep_movs|copy_(?:to|from)"
     r"|copy_user|dma_|swiotlb|iommu|sg_|sgl_|gup_|pin_user|unpin_user|gup$"
     r"|try_grab|folio_|page_pool|get_user_pages|internal_get_user|vmalloc|put_page"
     r"|check_heap_object|check_object_size|try_get_folio|bad_page|bulk_|mod_node"
     r"|mod_zone|mod_lruvec|zone_|lru_|virt_addr_valid|pfn_|fault_in|policy_node"
     r"|get_pfnblock|cond_accept|free_pcp|should_fail(?:slab|_alloc)|cache_from_obj"
     r"|cmpxchg_double|post_alloc|clear_high|is_vmalloc|pcs_|pte_|pmd_|pud_"
     r"|want_pages|is_valid_gup|nr_to_section|check_spread|pkru_allows"
     r"|mt_|mas_"),
    ("block layer", r"blk_|blkdev_|bio_|bioset|bvec|bdev_|submit_bio|elv_|dd_"
     r"|sbitmap|disk_|part_|wbt_|ioc_|iov_|import_|dio_|req_|rq_"
     r"|update_io_ticks|get_max_io_size|block_|scsi_|integrity_"
     r"|deadline_|should_fail_bio|I_BDEV|get_task_ioprio|kblockd"),
    ("system calls", r"io_|iopoll|entry_|syscall_|x64_sys|se_sys|ia32_"
     r"|x86_|do_sys|sys_|ksys_|vfs_|rw_verify|fget|fput|fdget|file_|security_"
     r"|apparmor|aa_|bpf_lsm|tomoyo|landlock|kiocb|exit_to_user|arch_exit"
     r"|prepare_exit|do_io_|touch_atime|generic_|inode_|atime_|fsnotify|mark_"
     r"|task_work|current_time|rw_copy|__fsnotify"
     r"|filemap_|invalidate_inode|fpregs_assert|rseq_|mem_cgroup_handle|blkcg_maybe"
     r"|timestamp_trunc|strncpy_from|amd_clear|want_init"),
    ("network", r"ip_|ip4|ip6|ipv[46]|udp|inet|skb|alloc_skb|kfree_skb"
     r"|dev_|netif|napi_|neigh|dst_|fib_|eth_|net_|netdev|sock_|sk_|xfrm|nf_"
     r"|qdisc|sch_|loopback|process_backlog|enqueue_to_backlog|icmp|tcp_|csum"
     r"|rt_|rps_|gro_|validate_xmit|siphash|crc32|crypto_"),
    ("scheduler", r"schedule|sched_|try_to_wake|ttwu|wake_|enqueue_|dequeue_"
     r"|pick_|put_prev|set_next|update_(?:curr|load|rq|min|cfs|sd|se|entity"
     r"|process|irqtime|deadline)|place_entity|check_preempt|wakeup_preempt|resched"
     r"|select_task|select_idle|available_idle|finish_task|switch_|prepare_task"
     r"|context_switch|queue_work|insert_work|process_one|process_sched|worker_"
     r"|kick_pool|work_|pwq_|set_work|try_to_grab|get_work|kthread|psi_|cpuacct"
     r"|rb_|avg_vruntime|vruntime|entity_|reweight|hrtick|account_|native_sched"
     r"|task_|sugov|cpufreq|autoremove|finish_wait|prepare_to_wait|add_wait"
     r"|remove_wait|swake|complete$|complete_|wait_for_comp|mutex|rwsem|up_|down_"
     r"|cpu_util|calc_|perf_|get_nohz|cpu_idle|do_idle|default_idle|idle_|fpu_"
     r"|x86_fpu|save_fpregs|xsave|x86_task_fpu|raw_spin_rq|update_other|min_vrun"
     r"|eevdf|pelt|sync_runq|nr_iowait|delayacct|move_linked|mod_delayed"
     r"|cond_resched|queue_delayed|dl_|clear_buddies|requeue_|record_times"
     r"|assign_work|propagate_|migrate_disable|clear_pending_if|native_load_tls"
     r"|arch_scale|mm_cid|(?:rd|wr)gsbase"),
    ("interrupts", r"asm_|irq_|irqentry|do_softirq|handle_softirqs|raise_softirq"
     r"|softirq|ksoftirqd|tick_|hrtimer|timer|run_timer|clockevents|sysvec_|apic"
     r"|native_apic|lapic|x2apic|do_IRQ|common_interrupt|handle_irq|handle_edge"
     r"|error_|rcu_|note_gp|invoke_rcu|run_posix|run_rebal|scheduler_tick"
     r"|ktime|timekeeping|read_tsc|rdtsc|clocksource|call_timer|mod_timer|get_next"
     r"|calc_wheel|lock_timer|enter_from|do_error|exc_|tasklet|getnstime"
     r"|restore_regs|sync_regs|local_bh|native_iret|paranoid|update_wall|jiffies"
     r"|vmstat|call_on_irq|itimer|trigger_load|native_write_msr|profile_"
     r"|update_vsyscall|update_fast|remove_hrtimer|early_xen_iret|native_irq_return"
     r"|msecs_to"),
    ("locks", r"raw_|rwlock|spin_|queued_|lock_|native_queued|preempt|srcu"
     r"|percpu_|refcount|radix|xa_|xas_|idr_|ida_|find_|bitmap|hweight|list_"
     r"|llist|debug_|warn_|x86_indirect|x86_return|fentry|static_call"),
))

GROUPS = ("host", "target", "verbs", "device", "nvme core", "nvme-loop",
          "block layer", "null_blk", "nvme driver", "interrupts", "scheduler", "memory",
          "string moves", "locks", "system calls", "user space", "rest", "idle")
# Owners whose figures are their own group, whatever function it is. What runs for the
# bench's own feeder (feeder/) is in none of GROUPS.
OWN_GROUPS = ("device", "idle", "feeder")


def part_of(function, module):
    """The part of the system that a function is of. @module: '' for the
    kernel itself"""
    if module:
        return MODULES[module][2] if module in MODULES else "rest"
    for part, pattern in PARTS:
        if pattern.match(function):
            return part
    return "rest"


def group_of(part, owner):
    """The group of GROUPS that a figure goes to: the part's, or that of an owner that
    has one."""
    if owner in OWN_GROUPS:
        return owner
    return part if part in GROUPS else "rest"


def rules(timers=False, apart=False):
    """The same, for the plugin (plugin/symbols.c). @timers: the device has some. @apart: host and
    target have a processor each"""
    lines = [f"owner {name}{' yields' if yields else ''}"
             f"{' dma' if name == 'device' else ''}" for name, yields in OWNERS.items()]
    # before its module's, as the first rule holds
    lines += [f"function {VAIN[0][1]} idle"]
    lines += [f"module {name} {owner}{' weak' if weak else ''}"
              for name, (owner, weak, _) in MODULES.items()]
    lines += [f"function {name} {owner}" for name, owner in FUNCTIONS.items()]
    lines += [f"function {DEVICE_TIMER} device"] if timers else []
    lines += [f"interrupt {prefix}" for prefix in ENTRIES]
    lines += [f"vain {looks} {nothing} idle" for looks, nothing in VAIN[:2 if apart else 1]]
    return "\n".join(lines) + "\n"
