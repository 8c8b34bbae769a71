#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma restore --late: a disk missing at boot does not affect others, and is exported when it appears
# disks:   64M
# variants: ours none
# check:   none
# timeout: 500
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

OUT=/run/late.out
A=nqn.2026-01.test:a
B=nqn.2026-01.test:b
P=nqn.2026-01.test:passthru
enabled() { [ "$(cat "$NVMET/subsystems/$1/enable")" = "${2:-1}" ]; }
STATUS=/run/late.status
late() { NOTIFY_SOCKET=/run/late.socket nvmerdma restore --late "${1:-/run/late.json}" > $OUT 2>&1 & LATE=$!; }
# what systemd would be told: the last is its status
status_is() { tail -n 1 $STATUS | grep -qE -- "$1"; }
late_says() { grep -qE -- "$1" $OUT; }
late_ended() { ! kill -0 $LATE 2> /dev/null; }
offered() { [ -e "$NVMET/ports/1/subsystems/$A" ]; }

host_load
wire_up
python3 -u -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('/run/late.socket')
while True: print(s.recv(65536).decode().replace('\n', ' '))" > $STATUS &
SYSTEMD=$!
check_await 10 "somebody listens as systemd" [ -S /run/late.socket ]
for n in 0 1; do must "disk $n" memory_disk nullb$n 32; done
must "an SSD" ssd 0
CHAR=${SSD%n[0-9]*}

step "a disk and a passthru that come late"
must "a target" nvmerdma export /dev/nullb0 --nqn $A
must "with another disk" nvmerdma export /dev/nullb1 --nqn $B --uuid "$(cat /proc/sys/kernel/random/uuid)"
if [ -d $NVMET/subsystems/$A/passthru ]; then
	must "a passthru" mkdir $NVMET/subsystems/$P
	must "on the SSD" _put $NVMET/subsystems/$P/passthru/device_path "$CHAR"
	must "enabled" _put $NVMET/subsystems/$P/passthru/enable 1
else
	not_here "a passthru"
fi
must "save" nvmerdma save
sed "s,/dev/nullb1,/dev/late1,; s,$CHAR\",/dev/late-nvme\"," /etc/nvmet/config.json > /run/late.json
check "the file names others" grep -q /dev/late1 /run/late.json
must "all goes" nvmerdma unexport --all --force
unchanged "without --late" nvmerdma restore /run/late.json
words "namespace 1 of $B cannot be enabled: there is no /dev/late1" "in words"
late
check_await 10 "what is there is exported" enabled $A/namespaces/1
check_await 10 "what is not is said" late_says "namespace 1 of $B is left disabled until it can be enabled: there is no /dev/late1"
check "and disabled" enabled $B/namespaces/1 0
must "connect" connect $A "$MY_IP4" 4420 -i 1
get_disk $A 1
check "what is there works" round_trip "$DISK" 65536
must "disconnect" disconnect $A
cp /run/late.json /etc/nvmet/config.json
check "save, while it waits" nvmerdma save
words "namespace 1 of $B is saved as enabled, as it was: there is no /dev/late1" "keeps it enabled, and says so"
check "in the file, too" python3 -c "import json; s = json.load(open('/etc/nvmet/config.json'))['subsystems']; assert all(n['enable'] == 1 for d in s for n in d['namespaces']), s"
must "it comes" ln -s nullb1 /dev/late1
check_await 10 "and is exported" enabled $B/namespaces/1
check "that is said" late_says "namespace 1 of $B"
if [ -d $NVMET/subsystems/$P ]; then
	check "the passthru's device is said" late_says "passthru of $P is left disabled until it can be enabled: there is no /dev/late-nvme"
	check "and it is disabled" enabled $P/passthru 0
	must "it comes" ln -s "${CHAR#/dev/}" /dev/late-nvme
	check_await 10 "and is exported" enabled $P/passthru
fi
check_await 10 "there is nothing to wait for any more" late_ended
check_await 5 "which systemd is told" status_is "STATUS=All is exported"
wait $LATE
equal "the status is 0" 0 $?
cat $OUT

step "what is changed meanwhile is left alone"
rm -f /dev/late1
must "all goes" nvmerdma unexport --all --force
late
check_await 10 "it waits" late_says "there is no /dev/late1"
check_await 10 "the other is there" enabled $A/namespaces/1
check "the administrator takes it away" nvmerdma unexport $B --force
must "the disk comes" ln -s nullb1 /dev/late1
check_await 10 "it is said" late_says "/dev/late1 is there, but .* was changed meanwhile"
check_await 10 "it ends" late_ended
check "it stays away" [ ! -e $NVMET/subsystems/$B ]

step "what is there and cannot be enabled yet"
saved() { # NQN: whether namespace 1 is enabled in what is saved
	python3 -c "import json, sys; print([n['enable'] for d in json.load(open('/etc/nvmet/config.json'))['subsystems'] if d['nqn'] == sys.argv[1] for n in d['namespaces']])" "$1"
}
must "the disk" ln -sf nullb1 /dev/late1
must "all goes" nvmerdma unexport --all --force
must "a file system" mkfs.ext4 -q /dev/nullb1
mkdir -p /mnt/busy && must "mounted at boot" mount /dev/nullb1 /mnt/busy
late
check_await 10 "it is said" late_says "namespace 1 of $B is left disabled until it can be enabled: /dev/late1 is mounted at /mnt/busy"
check_await 10 "the other is there" enabled $A/namespaces/1
check_await 10 "systemd is told what is waited for" status_is "STATUS=Waiting: namespace 1 of $B: /dev/late1 is mounted at /mnt/busy"
check "list" nvmerdma list
words "namespace 1: /dev/late1, 32.0 MiB, disabled by a restore: /dev/late1 is mounted at /mnt/busy" "says it, too"
cp /run/late.json /etc/nvmet/config.json
check "save, while it waits" nvmerdma save
words "namespace 1 of $B is saved as enabled, as it was: /dev/late1 is mounted" "keeps it, and says so"
equal "in the file" "[1]" "$(saved $B)"
must "another one is disabled by hand" _put $NVMET/subsystems/$A/namespaces/1/enable 0
mkdir -p /mnt/own && mkfs.ext4 -q /dev/nullb0 && must "and mounted" mount /dev/nullb0 /mnt/own
check "save" nvmerdma save
equal "keeps to that" "[0] [1]" "$(saved $A) $(saved $B)"
umount /mnt/own
must "it is unmounted" umount /mnt/busy
check_await 40 "and exported" enabled $B/namespaces/1
check_await 10 "nothing is waited for" late_ended
check "what was disabled by hand is not" enabled $A/namespaces/1 0
check_await 5 "systemd is told" status_is "STATUS=All is exported"
equal "nothing was said twice" 1 "$(grep -c 'is mounted at' $OUT)"
must "by hand it goes, too" _put $NVMET/subsystems/$B/namespaces/1/enable 0
must "mounted" mount /dev/nullb1 /mnt/busy
check "save" nvmerdma save
equal "keeps to that" "[0] [0]" "$(saved $A) $(saved $B)"
must "unmount" umount /mnt/busy

step "busy just when it comes, and without a size"
must "all goes" nvmerdma unexport --all --force
must "the disk is not there" rm /dev/late1
must "a loop device" modprobe loop
truncate -s 16M /run/image
LOOP=$(losetup -f)
# without a UUID, which would be that of another disk
python3 -c "
import json, sys
d = json.load(open('/run/late.json'))
[n.update(device={'path': '$LOOP'}) for s in d['subsystems'] if s['nqn'] == '$A' for n in s['namespaces']]
json.dump(d, sys.stdout)" > /run/loop.json
late /run/loop.json
check_await 10 "no size is said" late_says "namespace 1 of $A is left disabled until it can be enabled: $LOOP has 0 bytes"
check_await 10 "both are waited for" status_is "$LOOP has 0 bytes.*there is no /dev/late1"
unchanged "another restore" nvmerdma restore /run/loop.json
must "it has one" losetup "$LOOP" /run/image
check_await 20 "and is exported" enabled $A/namespaces/1
python3 -c "
import os, time
d = os.open('/dev/nullb1', os.O_RDONLY | os.O_EXCL)
open('/run/held', 'w').close()
time.sleep(600)" &
HOLDER=$!
check_await 20 "somebody has a disk open" [ -e /run/held ]
must "it comes" ln -s nullb1 /dev/late1
check_await 20 "that is said" late_says "namespace 1 of $B is left disabled until it can be enabled: /dev/late1 is used by somebody"
kill $HOLDER
check_await 40 "when it is free it is exported" enabled $B/namespaces/1
check_await 10 "nothing is waited for" late_ended
must "all goes" nvmerdma unexport --all --force
losetup -d "$LOOP"
cat $OUT
if drbd_here; then
	wipefs -qa /dev/nullb1
	must "DRBD" drbd_on /dev/nullb1
	must "data" drbd_r0 primary --force r0
	must "as a secondary" drbd_r0 secondary r0
	sed "s,/dev/late1,/dev/drbd0," /run/late.json > /run/drbd.json
	late /run/drbd.json
	check_await 10 "the secondary is said" late_says "namespace 1 of $B is left disabled until it can be enabled: /dev/drbd0 (cannot be opened: Wrong medium type|is read-only)"
	check_await 10 "and waited for" status_is "namespace 1 of $B: /dev/drbd0 (cannot|is)"
	must "it is made the primary" drbd_r0 primary r0
	check_await 40 "and is exported" enabled $B/namespaces/1
	check_await 10 "nothing is waited for" late_ended
	must "all goes" nvmerdma unexport --all --force
	drbd_r0 down r0
else
	not_here "DRBD"
fi

step "a passthru and the disks of its controller"
if [ -d $NVMET/subsystems ] && grep -q '"/dev/late-nvme"' /run/late.json; then
	sed "s,/dev/late-nvme,$CHAR,; s,/dev/late1,/dev/nullb1," /run/late.json > /run/passthru.json
	must "a file system on the SSD" mkfs.ext4 -q "$SSD"
	must "mounted" mount "$SSD" /mnt/busy
	unchanged "a passthru of it" nvmerdma restore /run/passthru.json
	words "passthru of $P cannot be enabled: $SSD is mounted at /mnt/busy" "in words"
	must "unmount" umount /mnt/busy
	check "nobody uses it" nvmerdma restore /run/passthru.json
	words "passthru of $P points to $CHAR, which may name another" "its name is none that stays"
	check "saved" nvmerdma save -
	words "passthru of $P points to $CHAR, which may name another" "that is said again"
	check "it is enabled" enabled $P/passthru
	echo "{\"subsystems\": [{\"nqn\": \"$P\", \"namespaces\": [{\"nsid\": 1, \"enable\": 1, \"device\": {\"path\": \"/dev/nullb0\"}}]}]}" > /run/both.json
	unchanged "a namespace beside a passthru that stays" nvmerdma restore --keep /run/both.json
	words "has a passthru and namespace 1, both enabled" "in words"
	unchanged "its disk" nvmerdma export "$SSD"
	words "$SSD is on $CHAR, which is exported already, as passthru of $P" "in words"
	must "all goes" nvmerdma unexport --all --force
	check "export the disk" nvmerdma export "$SSD" --nqn nqn.2026-01.test:ssd
	unchanged "a passthru of what is exported" nvmerdma restore --keep /run/passthru.json
	words "passthru of $P cannot be enabled: $SSD is to be namespace 1 of nqn.2026-01.test:ssd as well" "in words"
	must "all goes" nvmerdma unexport --all --force
fi

step "it ends when it is told to, as at shutdown"
must "the disk is not there" rm -f /dev/late1
late
check_await 10 "it waits" late_says "there is no /dev/late1"
check_await 10 "the other is there" enabled $A/namespaces/1
nap 1
kill $LATE
check_await 5 "it ends" late_ended
must "the disk comes" ln -s nullb1 /dev/late1

step "an address that comes late"
must "all goes" nvmerdma unexport --all --force
must "the address, too" ip addr del "$MY_IP4/24" dev eth0
late
check_await 10 "the disks are there" enabled $A/namespaces/1
check_await 10 "all of it is done" late_says "$A"
if is_ours nvmet-rdma; then
	check_await 10 "nothing is waited for" late_ended
	check "as the port waits" offered
else
	check_await 10 "the port is said" late_says "port 1 is left disabled until it can be enabled: this machine does not have the address $MY_IP4"
	check "it offers nothing" [ ! -e $NVMET/ports/1/subsystems/$A ]
fi
must "the address comes" ip addr add "$MY_IP4/24" dev eth0
check_await 20 "the port offers it" offered
check_await 20 "nothing is waited for" late_ended
cat $OUT
must "connect" connect $A "$MY_IP4" 4420 -i 1
get_disk $A 1
check "it works" round_trip "$DISK" 65536
must "disconnect" disconnect $A
must "all goes" nvmerdma unexport --all --force
kill $SYSTEMD
all_down
finish
