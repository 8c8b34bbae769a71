#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma export, unexport and list: a disk is exported and removed again
# shares:  tool
# check:   6.12
# timeout: 300
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

# Is it known that no host is connected any more, which it is for ours?
no_peers() { [ -z "$(_each "$SHOWN/queues/*")" ]; }

host_load
plain_card eth9 192.0.2.9/24 || die "no card without RDMA"

step "on a machine without RDMA"
must "a disk" memory_disk nullb0 32
ip link set eth9 down
unchanged "without an RDMA device" nvmerdma export /dev/nullb0
words "no RDMA device.*rdma link add" "what to do is said"
check "nothing is listed" nvmerdma list
words "nothing is exported" "in words"
check "a plan needs no RDMA stack, and no module" nvmerdma unexport --all --dry-run
ip link set eth9 up
wire_up

step "from nothing to a mounted disk"
check "export" nvmerdma export /dev/nullb0
NQN=$(name_of_export)
CONNECT=$(grep -o 'nvme connect .*' "$CHECK_OUT")
cat "$CHECK_OUT"
words "^nqn.2014-08.org.nvmexpress:uuid:" "its name"
words "at $MY_IP4 port 4420 .eth0, $RDMA_DEV." "the address with RDMA, not that of eth9"
words "any host" "that any host may connect is said"
must "what it says to type connects" bash -c "$CONNECT"
get_disk "$NQN" 1
check "a file system" mkfs.ext4 -q "$DISK"
mkdir -p /mnt/remote
check "is mounted" mount "$DISK" /mnt/remote
check "and written to" dd if=/dev/urandom of=/mnt/remote/file bs=64k count=40 status=none conv=fsync
equal "serial number" 16 "$(tr -d ' \n' < "/sys/class/nvme/$(controllers "$NQN")/serial" | wc -c)"

step "what is there"
check "list" nvmerdma list
cat "$CHECK_OUT"
words "$NQN  serial [0-9a-f]{16}" "the subsystem"
words "namespace 1: /dev/nullb0, 32.0 MiB" "its disk"
words "port 1: rdma $MY_IP4 port 4420" "its port"
words "lets in any host" "who may"
words "connected: $HOSTNQN" "who is"
if is_ours nvmet-rdma; then
	words "port 4420, listening" "that it listens"
	words "connected: $HOSTNQN from $MY_IP4, controller [0-9]+, [0-9]+ queues" "from where, with how many queues"
fi
nvmerdma list --json > /run/list.json
equal "and as JSON" "1 True $HOSTNQN /dev/nullb0 33554432" "$(python3 -c '
import json
d = json.load(open("/run/list.json"))
s = d["subsystems"][0]
n = s["namespaces"][0]
print(len(d["ports"]), s["any_host"], s["connected"][0]["host"], n["device"], n["bytes"])')"

step "off the network again"
unchanged "not while a host is connected" nvmerdma unexport /dev/nullb0 || die "its disk is gone"
words "$HOSTNQN.* is connected to $NQN" "who would lose it is said"
words "nothing was changed.*--force" "and what to do"
umount /mnt/remote
check "disconnect" disconnect "$NQN"
# The target learns of it by the connection's end
await 20 no_peers || fail "the target still has queues"
check "unexport" nvmerdma unexport /dev/nullb0
words "^- subsystem $NQN" "what went is said"
configured_is "nothing is left in configfs" ""

step "the same disk is the same again"
check "export" nvmerdma export /dev/nullb0
equal "the name" "$NQN" "$(name_of_export)"
# the commands that --dry-run prints, without nvmerdma
SAME=$(configured)
check "unexport" nvmerdma unexport "$NQN"
nvmerdma export /dev/nullb0 --dry-run > /run/plan.sh || fail "a dry run"
configured_is "a dry run changes nothing" ""
check "what it prints, a shell does" bash -e /run/plan.sh
configured_is "and the same comes of it" "$SAME"
nvmerdma unexport --all --dry-run > /run/plan.sh || fail "a dry run of unexport"
check "and of unexport" bash -e /run/plan.sh
configured_is "nothing is left" ""

step "one after the other"
flock $NVMET bash -c 'until [ -e /run/free ]; do sleep 0.1; done' &
is_locked() { ! flock -n $NVMET true; }
await 20 is_locked || die "the lock is not taken"
nvmerdma export /dev/nullb0 > /run/export.out 2>&1 &
EXPORT=$!
nap 1
check "a change waits for another one" runs $EXPORT
configured_is "nothing is done meanwhile" ""
touch /run/free
check "and is done then" wait $EXPORT
wait
check "unexport" nvmerdma unexport --all

step "hosts, keys, sizes"
must "another disk" memory_disk nullb1 16
nvme gen-dhchap-key -n "$HOSTNQN" > /run/key 2> /dev/null
nvme gen-dhchap-key -n "$HOSTNQN" >> /run/key 2> /dev/null
chmod 600 /run/key
OTHER=nqn.2026-01.test:other
check "for two hosts, on two addresses" nvmerdma export /dev/nullb0 /dev/nullb1 \
	--nqn nqn.2026-01.test:two --addr "$MY_IP4,$MY_IP6" --port 4421 --inline-size 8192 \
	--host "$HOSTNQN" --host $OTHER --serial TWO-DISKS --cntlid 100-199
cat "$CHECK_OUT"
equal "serial, controller IDs, hosts" "TWO-DISKS 100 199 0 2" "$(cd $NVMET/subsystems/nqn.2026-01.test:two &&
	echo $(cat attr_serial attr_cntlid_min attr_cntlid_max attr_allow_any_host) "$(ls allowed_hosts | wc -l)")"
equal "ports" "ipv4 $MY_IP4 4421 8192 ipv6 $MY_IP6 4421 8192" "$(cd $NVMET/ports && for p in 1 2; do
	cat $p/addr_adrfam $p/addr_traddr $p/addr_trsvcid $p/param_inline_data_size; done | paste -sd' ')"
must "connect" connect nqn.2026-01.test:two "$MY_IP6" 4421 -i 1
equal "by a controller ID of those" 100 "$(cat "/sys/class/nvme/$CTRL/cntlid")"
equal "in-capsule data of that size" $(((64 + 8192) / 16)) \
	"$(nvme id-ctrl "/dev/$CTRL" | sed -n 's/^ioccsz *: *//p')"
get_disk nqn.2026-01.test:two 2
check "the second disk" round_trip "$DISK" 65536
check "disconnect" disconnect nqn.2026-01.test:two
refuse 60 "a host that is not let in" nvme connect -t rdma -n nqn.2026-01.test:two -a "$MY_IP4" -s 4421 \
	--hostnqn=nqn.2026-01.test:stranger --hostid="$(cat /proc/sys/kernel/random/uuid)"
check "a disk of two goes alone" nvmerdma unexport /dev/nullb1
equal "the other one stays" 1 "$(ls $NVMET/subsystems/nqn.2026-01.test:two/namespaces)"
check "and then all of it" nvmerdma unexport nqn.2026-01.test:two
configured_is "nothing is left, hosts neither" ""

step "files"
must "a file system" file_disks /dev/nullb1
truncate -s 10M /mnt/files/image /run/image
check "a file, and one of a file system without direct I/O" nvmerdma export /mnt/files/image /run/image
NQN=$(name_of_export)
# tmpfs has direct I/O from 6.6 on
dd if=/dev/zero of=/run/image bs=4096 count=1 oflag=direct conv=notrunc 2> /dev/null
equal "each as it can be used" "0 $?" "$(cd "$NVMET/subsystems/$NQN/namespaces" && cat 1/buffered_io 2/buffered_io | paste -sd' ')"
must "connect" connect "$NQN" "$MY_IP4" 4420 -i 1
for nsid in 1 2; do
	get_disk "$NQN" $nsid
	check "file $nsid" round_trip "$DISK" 65536
done
check "disconnect" disconnect "$NQN"
await 20 no_peers || fail "the target still has queues"
rm /run/image
check "a file that is gone is unexported by its name" nvmerdma unexport /run/image
check "and the other one" nvmerdma unexport /mnt/files/image
configured_is "nothing is left" ""
umount /mnt/files

if [ "$(uname -r | cut -d. -f1-2)" != 6.1 ]; then
	check "with keys" nvmerdma export /dev/nullb0 --host "$HOSTNQN" --dhchap /run/key
	words "^KEY is the first key in /run/key, CTRL_KEY the second one" "which key is which"
	NQN=$(name_of_export)
	CONNECT=$(grep -o 'nvme connect .*' "$CHECK_OUT")
	CONNECT=${CONNECT/=KEY/=$(sed -n 1p /run/key)}
	refuse 60 "without the key" nvme connect -t rdma -n "$NQN" -a "$MY_IP4" -s 4420
	refuse 60 "another key of the controller's" bash -c \
		"${CONNECT/=CTRL_KEY/=$(sed -n 1p /run/key)}"
	check "what it says to type connects" bash -c "${CONNECT/=CTRL_KEY/=$(sed -n 2p /run/key)}"
	check "disconnect" disconnect "$NQN"
	check "list" nvmerdma list
	words "$HOSTNQN, which has to prove it" "that a host has a key is said, and no key"
	await 20 no_peers || fail "the target still has queues"
	check "unexport" nvmerdma unexport --all
fi
all_down
finish
