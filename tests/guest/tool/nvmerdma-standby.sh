#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma exports, saves and restores a disk of nvmerdma-ha: it is inaccessible to hosts until nvmerdma-ha promotes it
# check:   none
# timeout: 300
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/nvmerdma.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:moves
P=$NVMET/ports/1
FILE=/run/standby.json
ana_of() { cat "$P/ana_groups/$1/ana_state"; }
promoted() { echo optimized > $P/ana_groups/2/ana_state; }
host_load
wire_up
must "device mapper" modprobe dm-mod
must "a disk" memory_disk nullb0 16
must "another one" memory_disk nullb1 16
must "that of nvmerdma-ha" dmsetup create --noudevsync nvmerdma-r0 --table "0 32768 error"
[ -e /dev/mapper/nvmerdma-r0 ] || must "by its name" ln -s /dev/dm-0 /dev/mapper/nvmerdma-r0

step "exported beside another disk"
check "another disk" nvmerdma export /dev/nullb1 --nqn nqn.2026-01.test:stays
check "the disk" nvmerdma export /dev/mapper/nvmerdma-r0 --nqn $N
words "namespace 1 of $N is not served by port 1 here until 'nvmerdma-ha promote r0'" "it is said"
equal "in a group of its own, and inaccessible" "2 inaccessible" \
	"$(cat $NVMET/subsystems/$N/namespaces/1/ana_grpid) $(ana_of 2)"
equal "the other one is served" "1 optimized" \
	"$(cat $NVMET/subsystems/nqn.2026-01.test:stays/namespaces/1/ana_grpid) $(ana_of 1)"
check "promoted, as the hook does" promoted
check "save" nvmerdma save $FILE
check "restore" nvmerdma restore $FILE
equal "nothing changes" "nothing to change" "$(cat "$CHECK_OUT")"
equal "it is still served" optimized "$(ana_of 2)"

step "taken away, with a port that stays"
check "unexport" nvmerdma unexport $N --force
equal "its group is as it was" optimized "$(ana_of 2)"
check "restore" nvmerdma restore $FILE
words "until 'nvmerdma-ha promote r0'" "it is said"
equal "it stands by" inaccessible "$(ana_of 2)"
equal "the other one is served" optimized "$(ana_of 1)"

step "in one group with another disk"
sed '/nvmerdma-r0/,/nsid/s/"grpid": *2/"grpid":1/; s/"ana_grpid": *2/"ana_grpid":1/' $FILE > /run/shared.json
check "all goes" nvmerdma unexport --all --force
check "restore" nvmerdma restore /run/shared.json
equal "inaccessible" inaccessible "$(ana_of 1)"
words "namespace 1 of nqn.2026-01.test:stays is in the same ANA group, 1, and not served either" "it is said"

step "the module is loaded anew"
check "as it was" nvmerdma restore --force $FILE
check "promoted" promoted
fake_program modinfo <<'END'
case "$*" in "-F srcversion nvmet-rdma") echo another ;; *) exec "$(PATH=/usr/sbin:/sbin command -v modinfo)" "$@" ;; esac
END
finds module-target warning "loaded is not the one that is installed"
check "the command has it promoted" grep -q '&& nvmerdma-ha promote r0; }$' <<< "${MEND[0]-}"
fake_none
check "all goes" nvmerdma unexport --all --force
must "the disk goes" dmsetup remove --noudevsync nvmerdma-r0
all_down
finish
