#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   what nvmerdma export refuses, with which message: disks in use, wrong addresses, names that exist
# shares:  tool
# check:   6.12
# timeout: 400
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

host_load
plain_card eth9 192.0.2.9/24 || die "no card without RDMA"
wire_up
modprobe nvmet
for n in 0 1 2 3 4 5; do must "disk $n" memory_disk nullb$n 40; done

# no_export PATTERN WORDS ARGUMENTS...: refused, with words like the pattern
no_export() {
	local pattern=$1 what=$2
	shift 2
	unchanged "$what" nvmerdma export "$@" && words "$pattern" "$what: in words"
}

step "disks in use"
must "a file system" mkfs.ext4 -q /dev/nullb0
must "mounted" file_disks /dev/nullb0
no_export "/dev/nullb0 is mounted at /mnt/files" "a mounted disk" /dev/nullb0
must "swap" mkswap /dev/nullb1
must "in use" swapon /dev/nullb1
no_export "/dev/nullb1 is used as swap" "swap" /dev/nullb1
swapoff /dev/nullb1
must "a loop device on a disk" modprobe loop
LOOP=$(losetup -f --show -o 1M /dev/nullb1)
no_export "/dev/nullb1 is used by $LOOP" "a disk below a loop device" /dev/nullb1
must "a file system on it" mkfs.ext4 -q "$LOOP"
mkdir -p /mnt/loop && must "mounted" mount "$LOOP" /mnt/loop
no_export "/dev/nullb1 is the device of a file system: $LOOP is on it, and mounted at /mnt/loop" "and mounted" /dev/nullb1
umount /mnt/loop
losetup -d "$LOOP"
must "md" bash -c "modprobe raid1; mdadm --create /dev/md0 --run --metadata=1.2 --level=1 --raid-devices=2 /dev/nullb2 missing"
no_export "/dev/nullb2 is used by the md RAID /dev/md0" "a leg of md" /dev/nullb2
check "the array itself is free" nvmerdma export /dev/md0 --dry-run
LVM='devices { types = [ "nullb", 16 ] } activation { udev_sync = 0 udev_rules = 0 }'
must "LVM" bash -c "modprobe dm-mod; pvcreate --config '$LVM' -ff -y /dev/nullb3 && vgcreate --config '$LVM' vg0 /dev/nullb3 &&
	lvcreate --config '$LVM' -y -Wn -Zn -l 2 -n lv0 vg0"
no_export "/dev/nullb3 is used by LVM: the logical volume /dev/mapper/vg0-lv0" "a physical volume" /dev/nullb3
check "the logical volume is free" nvmerdma export /dev/mapper/vg0-lv0 --dry-run
must "a partition table" bash -c "echo 'size=8M' | sfdisk -q /dev/nullb4; partx -u /dev/nullb4; ls /dev/nullb4p1 || mknod /dev/nullb4p1 b \$(tr : ' ' < /sys/class/block/nullb4p1/dev)"
must "a file system on its partition" mkfs.ext4 -q /dev/nullb4p1
mkdir -p /mnt/part && must "mounted" mount /dev/nullb4p1 /mnt/part
no_export "/dev/nullb4: its partition nullb4p1 is mounted at /mnt/part" "a disk with a mounted partition" /dev/nullb4
umount /mnt/part
no_export "/dev/nullb4p1 is on /dev/nullb4.; export only one of them" "a disk and its partition" /dev/nullb4 /dev/nullb4p1
if drbd_here; then
	must "DRBD" drbd_on /dev/nullb5
	no_export "/dev/nullb5 is used by DRBD: export /dev/drbd0" "below DRBD" /dev/nullb5
	drbd_r0 down r0
else
	not_here "DRBD: drbd.ko and drbdadm"
fi
if command -v cryptsetup > /dev/null && modprobe dm-crypt 2> /dev/null; then
	must "an encrypted device" env DM_DISABLE_UDEV=1 cryptsetup open --type plain --cipher aes-cbc-plain \
		--key-size 128 --key-file /dev/zero /dev/nullb5 secret
	no_export "/dev/nullb5 is used by the encrypted device /dev/mapper/secret" "below dm-crypt" /dev/nullb5
	DM_DISABLE_UDEV=1 cryptsetup close secret
else
	not_here "encrypted devices: dm-crypt.ko and cryptsetup"
fi
check "the same disk, once nobody uses it" nvmerdma export /dev/nullb5 --dry-run

step "files"
truncate -s 20M /mnt/files/image /mnt/files/other
: > /mnt/files/empty
must "a file system in a file" mkfs.ext4 -q /mnt/files/image
mkdir -p /mnt/image && must "mounted" mount -o loop /mnt/files/image /mnt/image
no_export "/mnt/files/image is the file of a file system: .*mounted at /mnt/image" "the file of a file system" /mnt/files/image
ln /mnt/files/image /mnt/files/hard
no_export "/mnt/files/hard is the file of a file system" "by another name" /mnt/files/hard
umount /mnt/image
no_export "no path with a control character" "a path that nvmet would cut" $'/mnt/files/other\n'
check "not any more" nvmerdma export /mnt/files/image --dry-run
dd if=/dev/zero of=/mnt/files/swap bs=1M count=2 status=none && chmod 600 /mnt/files/swap
must "a file as swap" bash -c "mkswap -q /mnt/files/swap && swapon /mnt/files/swap"
no_export "/mnt/files/swap is used as swap" "a file that is swap" /mnt/files/swap
swapoff /mnt/files/swap
no_export "has 0 bytes.*truncate -s" "an empty file" /mnt/files/empty
no_export "is a directory" "a directory" /mnt/files
no_export "is a character device" "a character device" /dev/null
no_export "No such file" "what is not there" /dev/nothing
no_export "named twice" "the same twice" /mnt/files/image /mnt/files/hard
blockdev --setro /dev/nullb1
no_export "/dev/nullb1 is read-only" "a disk that cannot be written" /dev/nullb1
blockdev --setrw /dev/nullb1

step "addresses"
no_export "192.0.2.9 is on eth9, which has no RDMA device; addresses with RDMA are $MY_IP4 .eth0, $RDMA_DEV." \
	"an address without RDMA" /dev/nullb1 --addr 192.0.2.9
no_export "not an address of this machine; those with RDMA are $MY_IP4" "of another machine" /dev/nullb1 --addr 203.0.113.5
no_export "expected an IPv4 or IPv6 address" "no address at all" /dev/nullb1 --addr eth0
must "a port at every address" port 5 0.0.0.0 4425
no_export "port 5 listens at 0.0.0.0, which is every address" "beside one that has all" /dev/nullb1 --port 4425
port_remove 5

step "the command line"
no_export "missing argument: device or file" "nothing to export"
no_export "expected an NQN" "a wrong NQN" /dev/nullb1 --nqn disk
no_export "up to 223 bytes" "a long NQN" /dev/nullb1 --nqn "nqn.2026-01.test:$(printf 'x%.0s' {1..300})"
no_export "expected 1 to 65535" "a port" /dev/nullb1 --port 70000
no_export "expected 0 to 65536" "a size" /dev/nullb1 --inline-size 1M
no_export "expected a UUID" "a UUID" /dev/nullb1 --uuid 12
no_export "up to 20 characters" "a serial number" /dev/nullb1 --serial 123456789012345678901
no_export "MIN-MAX" "controller IDs" /dev/nullb1 --cntlid 5
no_export "missing option: --host" "a key without a host" /dev/nullb1 --dhchap /run/key
echo "DHHC-1:00:secret:" > /run/key
no_export "/run/key, line 1: invalid key" "a wrong key" /dev/nullb1 --dhchap /run/key --host "$HOSTNQN"
equal "and the key is not shown" 0 "$(grep -c secret "$CHECK_OUT")"
no_export "unrecognized option" "an option that there is not" /dev/nullb1 --frobnicate
refuse 20 "a command that there is not" nvmerdma frobnicate
words "'nvmerdma --help' lists them" "what there is"
check "help" nvmerdma export --help
for c in export unexport list save restore stat metrics doctor; do
	check "help of $c" nvmerdma $c --help
done

. "$VM_REPO/tools/nvmerdma/completion.bash"
completes() { # LAST-WORD WORDS...
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_nvmerdma
	echo "${COMPREPLY[*]}"
}
equal "bash completes commands" "restore reconnect" "$(completes nvmerdma re)"
equal "and options" "--queue-size" "$(completes nvmerdma export --q)"
equal "and addresses" "$MY_IP4" "$(completes nvmerdma export /dev/nullb1 --addr 10.77)"
equal "and columns" "reconnects" "$(completes nvmerdma stat --sort rec)"
equal "and what comes after --host, which has a value elsewhere" "--once" \
	"$(completes nvmerdma stat --host --on)"

step "what is there already"
check "export" nvmerdma export /dev/nullb1 --nqn nqn.2026-01.test:one --inline-size 4096
no_export "is exported already, as namespace 1 of nqn.2026-01.test:one" "the same disk" /dev/nullb1
ln -s nullb1 /dev/other-name
no_export "is exported already" "by another name" /dev/other-name
check "a partition" nvmerdma export /dev/nullb4p1 --nqn nqn.2026-01.test:part
no_export "/dev/nullb4 has /dev/nullb4p1 on it, which is exported already, as namespace 1 of nqn.2026-01.test:part" \
	"its disk" /dev/nullb4
check "unexport" nvmerdma unexport /dev/nullb4p1
check "a file" nvmerdma export /mnt/files/other --nqn nqn.2026-01.test:file
LOOP=$(losetup -f --show /mnt/files/other)
no_export "$LOOP is on /mnt/files/other, which is exported already" "a loop device on it" "$LOOP"
losetup -d "$LOOP"
no_export "nqn.2026-01.test:one exists already" "the same name" /dev/nullb5 --nqn nqn.2026-01.test:one
no_export "port 1 listens at $MY_IP4:4420 already, with param_inline_data_size 4096" "another size on the same port" \
	/dev/nullb5 --inline-size 8192
check "a second one on the same port" nvmerdma export /dev/nullb5 --nqn nqn.2026-01.test:two
equal "which is one port" "1 3" "$(ls $NVMET/ports | wc -l) $(ls $NVMET/ports/1/subsystems | wc -l)"

step "all or nothing"
# Another listener has the port: the last step fails
check "unexport" nvmerdma unexport --all
must "port 9 at the same address" port 9 "$MY_IP4" 4420
must "of another's" subsys nqn.2026-01.test:others
must "listens" expose 9 nqn.2026-01.test:others
must "a second port there" mkdir $NVMET/ports/8
for a in trtype=rdma adrfam=ipv4 traddr="$MY_IP4" trsvcid=4420; do _put "$NVMET/ports/8/addr_${a%%=*}" "${a#*=}"; done
refuse 20 "two listen at one address" nvmerdma restore - < <(nvmerdma save - | python3 -c '
import json, sys
d = json.load(sys.stdin)
for p in d["ports"]:
    if p["portid"] == 8: p["subsystems"] = ["nqn.2026-01.test:others"]
d["subsystems"].append({"nqn": "nqn.2026-01.test:new", "attr": {"allow_any_host": "1"},
	"namespaces": [{"nsid": 1, "device": {"path": "/dev/nullb1"}, "enable": 1}]})
json.dump(d, sys.stdout)')
words "port 8 .rdma $MY_IP4:4420. cannot offer nqn.2026-01.test:others: .*the kernel says: \"nvmet" \
	"what failed, and what the kernel says of it"
equal "and nothing came of the rest" "nqn.2026-01.test:others" "$(ls $NVMET/subsystems)"
refuse 20 "as somebody else" setpriv --reuid=65534 --clear-groups nvmerdma export /dev/nullb1
words "only root" "in words"
check "the array ends" mdadm --stop /dev/md0
check "LVM, too" vgchange --config "$LVM" -an vg0
all_down
finish
