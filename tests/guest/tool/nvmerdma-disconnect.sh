#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma does not disconnect hosts without being asked, where the kernel does not report which hosts are connected
# check:   none
# variants: ours none
# timeout: 300
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

host_load
wire_up
for n in 0 1; do must "disk $n" memory_disk nullb$n 32; done
A=nqn.2026-01.test:a
B=nqn.2026-01.test:b

# not_known PORT WORDS COMMAND...: refused, because the hosts of that port are not known
not_known() {
	local port=$1 what=$2
	shift 2
	unchanged "$what" "$@" && words "by port $port is not known" "$what: why is said"
}
json() { python3 -c "import json, sys; d = json.load(open(sys.argv[1])); $1; print(json.dumps(d))" "$2"; }

step "a host that comes by TCP"
must "NVMe over TCP" modprobe -a nvmet-tcp nvme-tcp
must "a target" nvmerdma export /dev/nullb0 --nqn $A --host "$HOSTNQN"
must "another" nvmerdma export /dev/nullb1 --nqn $B
P=$NVMET/ports/2
# The kernel reports every host, hosts connected by RDMA (with our module), or none
if [ -d /sys/kernel/debug/nvmet ]; then KNOWN=all; elif is_ours nvmet-rdma; then KNOWN=rdma; else KNOWN=none; fi
echo "known: $KNOWN"
must "a port" mkdir $P
for a in trtype=tcp adrfam=ipv4 traddr="$MY_IP4" trsvcid=4421; do _put "$P/addr_${a%%=*}" "${a#*=}"; done
must "which offers it" ln -s "$NVMET/subsystems/$A" "$P/subsystems/$A"
nvmerdma save /run/full.json > /dev/null
must "connect" nvme connect -t tcp -n $A -a "$MY_IP4" -s 4421 -i 1
get_disk $A 1
check "a disk" round_trip "$DISK" 65536
check "list" nvmerdma list
cat "$CHECK_OUT"
case $KNOWN in
all) words "connected: $HOSTNQN" "who is connected is listed" ;;
*) words "connected by port 2: not known" "that it is not known is listed" ;;
esac
nvmerdma list --json > /run/list.json
declare -A THEN=([all]="True True" [rdma]="False True" [none]="False False")
equal "and as JSON, by subsystem" "${THEN[$KNOWN]}" "$(python3 -c '
import json
print(*(s["connected_known"] for s in json.load(open("/run/list.json"))["subsystems"]))')"

step "is not cut off unasked"
json "d['subsystems'] = [s for s in d['subsystems'] if s['nqn'] != '$A']; [p['subsystems'].remove('$A') for p in d['ports']]" \
	/run/full.json > /run/without.json
json "d['subsystems'][0].update(allowed_hosts=[])" /run/full.json > /run/shut-out.json
if [ $KNOWN = all ]; then
	unchanged "its disk" nvmerdma unexport $A
	unchanged "nor by a file" nvmerdma restore /run/without.json
	unchanged "nor let in no more" nvmerdma restore /run/shut-out.json
else
	not_known 2 "its disk" nvmerdma unexport $A
	not_known 2 "nor by a file" nvmerdma restore /run/without.json
	not_known 2 "nor let in no more" nvmerdma restore /run/shut-out.json
	unchanged "a dry run neither" nvmerdma unexport $A --dry-run
	words "by port 2 is not known" "says so"
	check "but with --force" nvmerdma unexport $A --dry-run --force
fi
json "[p['subsystems'].remove('$A') for p in d['ports'] if p['portid'] == 1]" /run/full.json > /run/by-tcp.json
case $KNOWN in
none) not_known 1 "the port that it does not use" nvmerdma restore /run/by-tcp.json ;;
*) check "the port that it does not use goes" nvmerdma restore /run/by-tcp.json ;;
esac
case $KNOWN in
none) not_known 1 "what nobody uses, which nobody knows" nvmerdma unexport $B ;;
*) check "what nobody uses goes" nvmerdma unexport $B ;;
esac
check "the host has its disk" round_trip "$DISK" 65536
check "with --force it goes" nvmerdma unexport $A --force
must "disconnect" disconnect $A
check "and all" nvmerdma unexport --all --force
configured_is "nothing is left" ""
all_down
finish
