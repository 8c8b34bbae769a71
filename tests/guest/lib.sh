# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The functions that scenarios use; each scenario sources this file inside a guest.
#
#   lib/report.sh   steps, checks, counts; the exit status
#   lib/wait.sh     waiting with a deadline; barriers between guests
#   lib/wire.sh     network cards and software RDMA on them
#   lib/backing.sh  what namespaces are exported from
#   lib/target.sh   the target, by configfs
#   lib/host.sh     discover, connect, devices, disconnect
#   lib/io.sh       data written, read, compared
#   lib/peer.sh     a peer that does not behave
#   lib/acked.sh    I/O whose acknowledged writes have to be there afterwards
#   lib/clean.sh    modules, and what must be gone at the end
#   lib/feature.sh  options, counts of commands; what a kernel lacks
#
# A scenario ends with 'finish'. Leaving it in any other way is a failure.
set -u
GUEST_DIR=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
for _part in report wait wire backing target host io peer acked clean feature; do
	. "$GUEST_DIR/lib/$_part.sh"
done
unset _part
