#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma restore --late: what is missing at boot takes nothing else down, and comes when it is there
# disks:   64M
# variants: ours none
# check:   none
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib/nvmerdma.sh"

OUT=/run/late.out
A=nqn.2026-01.test:a
B=nqn.2026-01.test:b
P=nqn.2026-01.test:passthru
enabled() { [ "$(cat "$NVMET/subsystems/$1/enable")" = "${2:-1}" ]; }
late() { nvmerdma restore --late /run/late.json > $OUT 2>&1 & LATE=$!; }
late_says() { grep -qE -- "$1" $OUT; }
late_ended() { ! kill -0 $LATE 2> /dev/null; }
offered() { [ -e "$NVMET/ports/1/subsystems/$A" ]; }

host_load
wire_up
for n in 0 1; do must "disk $n" null_disk nullb$n 32; done
must "an SSD" ssd 0
CHAR=${SSD%n[0-9]*}

step "a disk and a passthru that come late"
must "a target" nvmerdma export /dev/nullb0 --nqn $A
must "with another disk" nvmerdma export /dev/nullb1 --nqn $B
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
words "there is no /dev/late1, which namespace 1 of $B is on.*--without-missing" "in words"
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

step "it ends when it is told to, as at shutdown"
must "the disk goes" rm /dev/late1
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
all_down
finish
