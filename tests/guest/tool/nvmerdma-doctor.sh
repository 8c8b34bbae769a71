#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: finds each fault of one machine, and the printed command repairs it
# shares:  tool
# check:   6.12
# timeout: 600
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:doctor
S=$NVMET/subsystems/$N
host_load
wire_up
must "RDMA for programs" modprobe rdma_ucm
must "a disk" memory_disk nullb0 16
must "a target for this host alone" eval "modprobe nvmet-rdma && subsys $N $HOSTNQN &&
	namespace $N 1 /dev/nullb0 && port 1 $MY_IP4 && expose 1 $N"

step "all is well"
doctor_well "$MY_IP4" -n $N
equal "status 0" 0 $DOCTOR_RC
equal "no error, no warning" "0 errors, 0 warnings" "$(grep -o '^0 errors, 0 warnings' $DOCTOR_OUT)"
cat $DOCTOR_OUT
equal "checked, all the way" "4" "$(for c in connect subsystem host-allowed authentication; do _severity $c; done | grep -cx ok)"
equal "in JSON, too" 0 "$("$NVMERDMA" doctor "$MY_IP4" --only connect,gid --json |
	python3 -c 'import json, sys; r = json.load(sys.stdin)
assert [f["severity"] for f in r["findings"]] == ["ok", "ok"], r
print(r["status"])')"
check "no controller stays" no_controllers
doctor --only target-port --root /nowhere
equal "a check that cannot be made is not well" 3 $DOCTOR_RC
refuse 30 "a check that is none" "$NVMERDMA" doctor --only nothing
refuse 30 "a port that is none" "$NVMERDMA" doctor "$MY_IP4" -p 65536

step "modules"
find_in_tree() { ls "/lib/modules/$VM_KVER/kernel/drivers/nvme/$1/$2".ko*; }
check "the kernel's own host" eval 'modprobe -r nvme-rdma && modprobe nvme-fabrics &&
	insmod $(find_in_tree host nvme-rdma)'
finds module-host warning "loaded is not the one that is installed"
mended
check "nothing that connects" modprobe -r nvme-rdma nvme-fabrics
finds module-fabrics error "nvme-fabrics is not loaded" "$MY_IP4"
mended
check "the target's port closes" conceal 1 $N
check "the kernel's own target" eval 'modprobe -r nvmet-rdma &&
	insmod $(find_in_tree target nvmet-rdma)'
finds module-target warning "loaded is not the one that is installed"
mended

step "RDMA device, link, interface"
check "no device" rdma link delete rxe0
finds rdma-device error "no RDMA device"
check "the adapter is looked for first" grep -q "^ *fix: lspci" $DOCTOR_OUT
mended "${MEND[1]-false}"
must_await 30 "it is active" rxe_ready rxe0
check "the interface goes down" ip link set eth0 down
finds link-state error "interface eth0, of the RDMA device rxe0, is down"
check "fix: ${MEND[0]-}" bash -c "${MEND[0]-false}"
must_await 30 "it is active again" rxe_ready rxe0
clean_now
check "the cable is pulled" ip link set eth0 carrier off
finds link-state error "port 1 of rxe0 is DOWN"
check "it is plugged" ip link set eth0 carrier on
clean_now "so it is well"

step "the host's name"
check "none" rm /etc/nvme/hostnqn
finds host-name error "no name" "$MY_IP4"
mended "${MEND[0]}; ${MEND[1]}"
check "one of many" eval "echo nqn.2014-08.org.nvmexpress:uuid:\
00000000-0000-0000-0000-000000000000 > /etc/nvme/hostnqn"
finds host-name warning "one that others may have"
mended "${MEND[0]}; ${MEND[1]}"
check "no identifier" rm /etc/nvme/hostid
finds host-name warning "no /etc/nvme/hostid" "$MY_IP4"
mended
host_ids

step "the target of this machine"
finds target-port warning "no subsystem is linked to port 1"
finds target-subsystem warning "$N is linked to no port"
mended
DOCTOR_CHECK=target-port
clean_now "that, too"
check "a port whose address is not there" eval "port 2 10.77.0.98 && expose 2 $N"
finds target-port error "port 2, 10.77.0.98 4420, does not listen: it waits for its address"
check "fix: ${MEND[0]-}" bash -c "${MEND[0]/PREFIX dev IFACE/24 dev eth0}"
check_await 30 "[target-port] mended" _clean
check "a namespace is disabled" _put "$S/namespaces/1/enable" 0
check "and its disk mounted" eval "mkfs.ext4 -qF /dev/nullb0 && mount /dev/nullb0 /mnt"
finds target-namespace warning "namespace 1 of $N is not enabled"
check "it is not to be enabled: no command does" eval \
	"grep -q 'not to be enabled.*/dev/nullb0 is mounted at /mnt' $DOCTOR_OUT &&
		! grep -q 'fix:.*enable' $DOCTOR_OUT"
check "it is free again" umount /mnt
finds target-namespace warning "namespace 1 of $N is not enabled"
mended
check "any host" eval "rm $S/allowed_hosts/* && echo 1 > $S/attr_allow_any_host"
finds target-hosts note "any host may use $N"
mended "${MEND[0]//HOSTNQN/$HOSTNQN}"
check "none is named" rm "$S/allowed_hosts/$HOSTNQN"
finds target-hosts warning "no host may use $N"
mended "${MEND[0]//HOSTNQN/$HOSTNQN}"

step "the way to the peer"
finds address error "is no address" nowhere.invalid
finds address error "link-local, and says not by which" fe80::1
finds route error "no route to 198.51.100.7" 198.51.100.7
mended_by_adding "^198.51.100.7 "
must "a card without RDMA" plain_card plain0 203.0.113.1/24
finds rdma-path error "leads over plain0, which has no RDMA device" 203.0.113.9
mended "${MEND[1]-false}"
check "without it" rdma link delete rxe1
check "an address of its network" eval "ip addr add 203.0.113.3/24 dev eth0 &&
	ip route add 203.0.113.9 dev plain0"
finds rdma-path error "leads over plain0, which has no RDMA device" 203.0.113.9
mended "${MEND[0]/IFACE/eth0}"
check "without that, too" eval "ip route del 203.0.113.9 && ip addr del 203.0.113.3/24 dev eth0"
check "a route from the wrong address" ip route add 198.51.100.8 dev eth0 src 203.0.113.1
finds gid error "rxe0 has no GID of 203.0.113.1" 198.51.100.8
mended

step "the peer"
finds connect error "nothing listens at $MY_IP4 on port 4477" "$MY_IP4" -p 4477
check "a target that refuses" eval "$VM_REPO/build/tools/hostile-target $MY_IP4 4430 \
	reject-status 6 > /run/hostile.out 2>&1 & echo \$! > /run/hostile.pid"
listens() { rdma resource show cm_id | grep -q ":4430.*LISTEN\|LISTEN.*:4430"; }
check_await 30 "it listens" listens
finds connect error "refuses the connection: it has no resources .*status 6" "$MY_IP4" -p 4430
kill "$(< /run/hostile.pid)"
finds subsystem error "no subsystem nqn.2026-01.test:other at that port" "$MY_IP4" \
	-n nqn.2026-01.test:other
rm "$S"/allowed_hosts/*
finds host-allowed error "this host, $HOSTNQN, may not use $N" "$MY_IP4" -n $N
command=${MEND_THERE[0]}
DOCTOR_CHECK=host-allowed
DOCTOR_ARGS=("$MY_IP4" -n $N)
mended "$command"
check "no identifier" rm /etc/nvme/hostid
clean_now "the kernel takes this host's name without one"
host_ids
check "the disk can be connected" connect $N "$MY_IP4"
check "disconnect" disconnect $N

step "authentication"
KEY=$(nvme gen-dhchap-key -n "$HOSTNQN")
if [ -e "$NVMET/hosts/$HOSTNQN/dhchap_key" ]; then
	must "the target wants a key" _put "$NVMET/hosts/$HOSTNQN/dhchap_key" "$KEY"
	finds authentication error "wants this host to authenticate" "$MY_IP4" -n $N
	echo "$KEY" > /run/key
	check "fix: ${MEND[0]-}" bash -c "${MEND[0]/KEYFILE//run/key}"
	check "disconnect" disconnect $N
else
	not_here "the target has no authentication (NVME_TARGET_AUTH)"
	DOCTOR_FOUND[authentication]=not-here
fi

# tests that need two machines are in nvmerdma-doctor-wire, two processors in
# nvmerdma-doctor-queues, simulated states in nvmerdma-doctor-made-up
ELSEWHERE="mtu-path neighbour port-blocked queues resolve target-refused target-threads"
"$NVMERDMA" doctor "$MY_IP4" -n $N | sed -n 's/^[a-z]* *\[\(.*\)\].*/\1/p' | sort -u > /run/all
equal "each check was seen to find something, but for some" "$ELSEWHERE" \
	"$(for c in $(< /run/all); do [ -n "${DOCTOR_FOUND[$c]-}" ] || echo "$c"; done | xargs)"
all_down
finish
