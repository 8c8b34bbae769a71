#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the nftables rules of security.md admit only the storage network: not another IPv4 network, not IPv6, not TCP
# guests:  target host
# check:   none
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/guide.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

N=nqn.2026-01.test:firewall
# TCP, as software iWARP would use it: which sources are admitted
tcp_listens() {
	python3 - <<- 'END' > /dev/null 2>&1 &
		import socket
		s = socket.create_server(("::", 4420), family=socket.AF_INET6, dualstack_ipv6=True)
		while True:
		    s.accept()
	END
}
tcp_in() { timeout 3 bash -c "exec 3<> /dev/tcp/$1/4420"; }

wire_up
# the storage network of the page, and one beside it on the same wire
must "addresses" eval "ip addr add 192.0.2.$((VM_INDEX + 1))/24 dev eth0 &&
	ip addr add 198.51.100.$((VM_INDEX + 1))/24 dev eth0"
if [ "$VM_NAME" = target ]; then
	must "a disk" memory_disk nullb0 64
	must "a subsystem" subsys $N
	must "a namespace" namespace $N 1 /dev/nullb0
	n=0
	for a in 192.0.2.1 198.51.100.1 "$MY_IP6"; do
		n=$((n + 1))
		must "port $n" port $n "$a" 4420
		must "it is open" expose $n $N
	done
	tcp_listens
	signal_peers ready
	wait_for tried 200
	must "the pages' blocks" "$VM_REPO/tests/docs-check" blocks $BLOCKS
	block=$(grep -l '^nft add rule' $BLOCKS/*.sh)
	equal "one block has rules" 1 "$(wc -w <<< "$block")"
	check "the page's rules" run_block "$(basename "$block" .sh)" -
	sed 's/^/    /' "$CHECK_OUT"
	signal_peers ruled
	wait_for done 250
	all_down
	finish
fi

in_by() { # ADDRESS YES|NO
	if [ "$2" = yes ]; then
		check "RDMA: $1 lets in" connect $N "$1" 4420 -i 1
		check "disconnect" disconnect $N
		check "TCP: $1 lets in" tcp_in "$1"
	else
		refuse 40 "RDMA: $1 does not" nvme connect -t rdma -n $N -a "$1" -s 4420 -i 1
		check "TCP: $1 does not" eval "! tcp_in $1"
	fi
}
host_load
wait_for ready 200
step "no rules"
for a in 192.0.2.1 198.51.100.1 fd77::1; do in_by $a yes; done
signal_peers tried
wait_for ruled 200
step "the page's rules"
in_by 192.0.2.1 yes
for a in 198.51.100.1 fd77::1; do in_by $a no; done
signal_peers done
all_down
finish
