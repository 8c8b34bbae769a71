#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Instructions of an I/O. costs/guest.py writes the plan, /vm/guest/plan, a list of
# calls of functions of lib.sh. The guest has one processor, whose clock counts
# instructions.
. "$(dirname "$0")/lib.sh"

host_load
modprobe -a nvmet rdma_cm
wire_up
must "a disk" backing
quiet
tell --clock clock > "$OUT/clock.ns"
# shellcheck source=/dev/null
. "$OUT/plan"
down
finish
