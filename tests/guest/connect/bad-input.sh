#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   invalid parameters and options: the message, the errno, the deadline, and nothing left behind
# disks:   64M
# check:   none
# timeout: 600
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:bad-input
host_load
wire_up
# a card with an address and no RDMA device
must "a plain card" plain_card eth1 10.88.0.1/24
must "an NVMe SSD" ssd 0
simple_target $N "$SSD"
remember_resources port
must "connect, for both modules to be there" connect $N "$MY_IP4"
check "disconnect" disconnect $N
must_await 20 "only the port is left" resources_back port

# Our host fails within seconds; the in-tree host waits for the timeout of the RDMA CM.
LIMIT=150
is_ours nvme-rdma && LIMIT=60

# host_words OURS IN-TREE: the message that the host must log, by module
host_words() {
	if is_ours nvme-rdma; then echo "$1"; else echo "$2"; fi
}

# The in-tree host has few words for many faults.
IN_TREE_FAILS="nvme nvme[0-9]+: (rdma connection establishment failed|rdma_resolve_addr failed)"

# write_options ADDRESS SERVICE: writes the options that nvme-cli would write if it did not
# check the address itself; plus those in host_options
write_options() {
	local what="transport=rdma,nqn=$N,traddr=$1,trsvcid=$2,hostnqn=$HOSTNQN"
	what+=",hostid=$HOSTID${host_options:+,$host_options}"
	dd of=/dev/nvme-fabrics bs=4096 status=none <<< "$what"
}
export -f write_options
export N HOSTNQN HOSTID

# kernel_refuses WORDS REGEX ADDRESS SERVICE: the same without nvme-cli
kernel_refuses() {
	step "host: $1"
	refuse 20 "$1: nvme-cli" nvme connect -t rdma -n "$N" -a "$3" -s "$4"
	mark
	refuse 20 "$1: the kernel" bash -c "write_options $3 $4"
	said 5 "the kernel's words" "$2"
	check "no controller is left" no_controllers
	check_await 20 "no RDMA object is left" resources_back port
	check_await 10 "nobody holds nvme_rdma" module_idle nvme_rdma
}

# host_refuses WORDS REGEX ADDRESS SERVICE [options]: a connect that must fail,
# with an errno among ERRNO (a regex of their words) if that is set
host_refuses() {
	local words=$1 regex=$2 addr=$3 svc=$4
	shift 4
	step "host: $words"
	mark
	refuse $LIMIT "$words" nvme connect -t rdma -n "${NQN:-$N}" -a "$addr" \
		-s "$svc" "$@"
	[ -z "${ERRNO-}" ] || ! is_ours nvme-rdma ||
		check "it says '$ERRNO'" grep -Eq "$ERRNO" <<< "$(< "$CHECK_OUT")"
	said 5 "the kernel's words" "$regex"
	check "no controller is left" no_controllers
	check_await 20 "no RDMA object is left" resources_back port
	check_await 10 "nobody holds nvme_rdma" module_idle nvme_rdma
}

ERRNO="Connection refused" host_refuses "a port where nobody listens" \
	"$(host_words "rejected: nothing listens for NVMe/RDMA on port 4444" \
		"nvme nvme[0-9]+: .*[Rr]eject")" "$MY_IP4" 4444
NQN=nqn.2026-01.test:nobody host_refuses "an NQN that is not there" \
	"connect request for invalid subsystem nqn.2026-01.test:nobody" \
	"$MY_IP4" 4420
# ARP, or CM requests without an answer: in either case the deadline ends the attempt
silence=$(host_words "queue 0 to .*:4420: (not connected: still connecting after 10 s|the address cannot be resolved to an RDMA device)" \
	"$IN_TREE_FAILS")
host_refuses "an address that nobody has" "$silence" 10.77.0.99 4420
host_refuses "an address behind a card without RDMA" \
	"$(host_words "10.88.0.1:4420: the address cannot be resolved to an RDMA device" \
		"$IN_TREE_FAILS")" 10.88.0.1 4420
kernel_refuses "a port number out of range" "nvme.*70000" "$MY_IP4" 70000
kernel_refuses "an address that is none" "nvme.*10\.77\.0\.777" 10.77.0.777 4420
host_refuses "an IPv6 address that nobody has" "$silence" fd77::99 4420
host_refuses "a source address that is not ours" \
	"$(host_words "address resolution did not start .* host_traddr" \
		"$IN_TREE_FAILS")" \
	"$MY_IP4" 4420 -w 10.99.9.9
step "host: refused again and again, nothing leaks"
unreclaimable() { awk '/^SUnreclaim/ { print $2 }' /proc/meminfo; }
# Wait for memory that is freed late; a leaked controller is tens of KiB.
grew_less() {
	[ $(($(unreclaimable) - SLAB)) -lt "$1" ]
}
refused=0 other=0
for i in {1..40}; do
	# the first ones fill caches
	[ "$i" -ne 11 ] || { nap 1; SLAB=$(unreclaimable); }
	words=$(write_options "$MY_IP4" 4444 2>&1) || refused=$((refused + 1))
	[[ $words == *"Connection refused"* ]] || other=$((other + 1))
done
equal "40 connects were refused" 40 $refused
! is_ours nvme-rdma || equal "none for another reason" 0 $other
check_await 20 "30 of them grew kernel memory by less than 600 KiB" \
	grew_less 600
echo "    by $(($(unreclaimable) - SLAB)) KiB"
check "no controller is left" no_controllers
check_await 20 "no RDMA object is left" resources_back port
check_await 10 "nobody holds nvme_rdma" module_idle nvme_rdma

step "discovery where nobody listens"
refuse $LIMIT "discovery" nvme discover -t rdma -a "$MY_IP4" -s 4444
check "no controller is left" no_controllers

check_await 20 "no RDMA object is left" resources_back port
check_await 10 "nobody holds nvme_rdma" module_idle nvme_rdma

step "a second connect to the same"
must "connect" connect $N "$MY_IP4"
refuse 30 "the same again: nvme-cli" \
	nvme connect -t rdma -n $N -a "$MY_IP4" -s 4420
mark
refuse 30 "the same again: the kernel" bash -c "write_options $MY_IP4 4420"
! is_ours nvme-rdma || said 5 "the kernel's words" \
	"nvme_rdma: .*$MY_IP4:4420 is already connected"
equal "one controller" 1 "$(controllers | wc -l)"
check "disconnect" disconnect $N

# the core lets any number of these through
many_queues() {
	local many
	step "more queues of a kind than there are processors"
	for many in 4000 65536 2147483647; do
		host_options="nr_io_queues=2,nr_write_queues=$many,nr_poll_queues=$many"
		must "connect, $many of two kinds" write_options "$MY_IP4" 4420
		unset host_options
		get_disk $N 1
		check "data" round_trip "$DISK" 65536
		check "disconnect" disconnect $N
	done
}
! is_ours nvme-rdma || many_queues

# target_refuses WORDS REGEX ADDRESS SERVICE [INLINE]: a port that cannot open
target_refuses() {
	local words=$1 regex=$2
	shift 2
	step "target: $words"
	mark
	must "a port in configfs" port 9 "$@"
	refuse 30 "$words" ln -s "$NVMET/subsystems/$N" \
		"$NVMET/ports/9/subsystems/$N"
	said 5 "the kernel's words" "$regex"
	check "the port can be removed" port_remove 9
	equal "only the good port listens" 1 "$(listeners)"
	check_await 20 "no RDMA object is left" resources_back port
}

# Ours wait for an address or a device: port-waits.sh
is_ours nvmet-rdma ||
	target_refuses "an address that this machine has not" \
		"nvmet_rdma: .*(10\.77\.0\.98|-99)" 10.77.0.98 4420
target_refuses "a port number out of range" "nvmet_rdma: .*70000" \
	"$MY_IP4" 70000
target_refuses "an address that is taken" "nvmet_rdma: .*(4420|-98)" \
	"$MY_IP4" 4420
if is_ours nvmet-rdma; then
	target_refuses "an inline size beyond the limit" \
		"nvmet_rdma: .*inline.*1000000" "$MY_IP4" 4430 1000000
fi

step "target: a namespace whose device is not there"
mark
must "a subsystem" subsys $N.gone
refuse 10 "enable" bash -c ". $GUEST_DIR/lib/target.sh
	namespace $N.gone 1 /dev/not-there || { echo 'it failed'; exit 1; }"
said 5 "the kernel's words" "nvmet: failed to open .*/dev/not-there"
check "the namespace can be removed" \
	rmdir "$NVMET/subsystems/$N.gone/namespaces/1"
check "the subsystem can be removed" rmdir "$NVMET/subsystems/$N.gone"

step "target: the SSD behind a namespace is pulled out under I/O"
must "connect" connect $N "$MY_IP4"
get_disk $N 1
must "I/O" io_start "$DISK"
for c in /sys/class/nvme/nvme*; do
	[ "$(cat "$c/transport")" = pcie ] && pci=$(readlink -f "$c/device")
done
mark
check "pull the SSD" timeout 60 dd of="$pci/remove" status=none <<< 1
check "fio saw the errors" io_errors
said 10 "the kernel's words" \
	"error, dev $(basename "${DISK%n*}")(c[0-9]+)?n1"
equal "the controller is live" live "$(state_of "$CTRL")"
check "disconnect" timeout 60 nvme disconnect -n $N

step "a module of another kernel"
check "close the port" conceal 1 $N
for k in /lib/modules/*; do
	[ "${k##*/}" != "$VM_KVER" ] && other=${k##*/}
done
for name in nvme-rdma nvmet-rdma; do
	file=$VM_REPO/build/$other/$name.ko
	if ! is_ours $name || [ ! -e "$file" ]; then
		file=/run/$name.ko
		src=$(modinfo -k "$other" -n $name)
		case $src in
		*.xz) xz -dc "$src" > "$file" ;;
		*) cp "$src" "$file" ;;
		esac
	fi
	unload $name
	mark
	refuse 20 "$name of $other" insmod "$file"
	said 5 "the kernel's words" "(version magic|disagrees about version|this_module section size)"
	check "it is not loaded" not module_loaded ${name//-/_}
done
all_down
finish
