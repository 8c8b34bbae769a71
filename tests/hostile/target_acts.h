/* SPDX-License-Identifier: GPL-2.0 */
/* What a twist can do with a command; target_acts.c explains each */
#ifndef HOSTILE_TARGET_ACTS_H
#define HOSTILE_TARGET_ACTS_H

#include "target.h"

/* The answer that is ready */
act_fn act_len, act_cid, act_cid_xor, act_again, act_drop, act_delay, act_status;
act_fn act_status_next, act_result, act_sqhd, act_fill, act_count, act_immediate;
act_fn act_not_invalidated, act_invalidate, act_invalidate_kept, act_keep, act_replay;
act_fn act_keep_plain, act_elsewhere, act_hold, act_abort;
/* The connection */
act_fn act_leave, act_answer_and_leave, act_silent;
/* Asynchronous events */
act_fn act_event, act_event_now, act_event_invalidate, act_firmware, act_firmware_keep;
act_fn act_leave_io, act_delay_ana;
/* Before everything else: the data */
act_fn act_no_data, act_half, act_early, act_fetch_twice, act_write_beside;
act_fn act_read_beside, act_write_across, act_read_across, act_wrong_way, act_atomic;
act_fn act_wrong_key, act_stale_key;
act_fn act_write_immediate, act_only_immediate;
/* target_keys.c: keys where they were not given to */
act_fn act_by_other, act_stale_by_admin, act_old_key, act_companion;
act_fn act_companion_key, act_cancelled_key;

/* Bytes of an access that the host must refuse */
#define PROBE_LEN	16

uint64_t disk_offset(const struct command *cmd);

const char *act_name(act_fn *run);

#endif /* HOSTILE_TARGET_ACTS_H */
