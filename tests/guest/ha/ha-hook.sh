#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma-ha: refusals, promote and demote, an idle disk is demoted without a wait, promote waits for the peer, a move under I/O
# shares:  tool
# check:   6.12
# mem:     1024
# timeout: 400
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/ha.sh"
. "$GUEST_DIR/lib/ha-hook.sh"

hook_there

step "words"
check "what it does not know" says usage ha move r0
check "not in seconds" says usage ha promote r0 --wait 1m
check "all" says usage ha promote all

step "DRBD is not up"
check "not promoted" says "drbdadm up r0" ha promote r0
check "not prepared" says "drbdadm up r0" ha prepare r0
check "no status" says "drbdadm up r0" ha status r0
check "demoted it is" ha demote r0

step "promoted and demoted"
must "DRBD is up" up
must "with new disks that are alike" alike
check "prepared" ha prepare r0
check "not promoted" says "no enabled namespace" ha promote r0
must "exported, by another name" export_disk /dev/dm-0
check "prepared again" ha prepare r0
check "stands by" stands_by
check "promoted" ha promote r0
check "served" served
check "again" ha promote r0
check "served" served

step "a disk whose host has done something a while ago"
must "connect" connect $NQN "$MY_IP4" 4420
get_disk $NQN 1
check "a host writes a little" dd if=/dev/zero of="$DISK" bs=4096 count=3 oflag=direct status=none
# programs take seconds here; old responses are checked every 150 s
check "demoted without a wait" within 60 ha demote r0
check "stands by" stands_by

step "moved under I/O"
check "promoted" ha promote r0
ha_io
check "demoted" ha demote r0
nap 0.5
check "promoted" ha promote r0
ha_io_end ha-hook-move
check "disconnect" disconnect $NQN

step "DRBD's configuration is broken"
check "a mistake in a file" eval 'echo "resource {" > /etc/drbd.d/wrong.res && ! drbdadm dump'
check "demoted" ha demote r0
check "stands by" stands_by
rm /etc/drbd.d/wrong.res

step "the peer is primary"
check "it is" peer primary peer
check "not promoted" says "the peer is primary" ha promote r0
check "nor by force" says "the peer is primary" ha promote r0 --force
check "nor after three seconds" says "the peer is primary" ha promote r0 --wait 3
waiting "it waits" ha promote r0 --wait 60
check "the peer is not any more" peer secondary peer
check "promoted" waited
check "served" served

step "the end"
hook_gone
finish
