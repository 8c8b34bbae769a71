#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma doctor: faults between two machines: no answer, MTUs, a firewall
# guests:  target host
# check:   6.12
# timeout: 400
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/fault.sh"
. "$GUEST_DIR/lib/doctor.sh"

N=nqn.2026-01.test:doctor

target() { firewalled_target $N; }

host() {
	host_of_target

	step "all is well"
	doctor_well "$PEER" -n $N
	cat $DOCTOR_OUT
	equal "status 0" 0 $DOCTOR_RC
	equal "checked, all the way" 8 "$(for c in gid neighbour mtu-path resolve connect \
		port-blocked subsystem host-allowed; do
		_severity $c; done | grep -cx ok)"

	step "nobody answers"
	finds neighbour error "nobody answers for 10.77.0.9" 10.77.0.9
	finds resolve error "10.77.0.9 cannot be resolved to an RDMA device" 10.77.0.9
	check "a hardware address that was set" ip neigh replace "$PEER" lladdr \
		02:00:00:00:00:99 dev eth0 nud permanent
	finds neighbour warning "hardware address that somebody has set" "$PEER"
	mended

	step "a smaller MTU between"
	check "what is larger than 1500 is dropped" there \
		"nft add rule inet filter input meta length gt 1500 drop"
	finds mtu-path error "packets of 1500 bytes get to $PEER and back, and those of 9000" "$PEER"
	mended
	check "MTU of 9000 again" ip link set eth0 mtu 9000
	check "what is larger than RDMA's packets is dropped" there \
		"nft flush chain inet filter input && nft add rule inet filter input meta length gt 4200 drop"
	finds mtu-path warning "packets of 4200 bytes get to $PEER and back, and those of 9000" "$PEER"
	check "all gets through" there "nft flush chain inet filter input"
	clean_now

	step "a firewall"
	check "RoCE is dropped there" there "nft add rule inet filter input udp dport 4791 drop"
	finds connect error "does not answer the connection request" "$PEER"
	finds port-blocked error "does not answer a connection request: .* firewall" "$PEER"
	equal "with pings answered" 1 "$(grep -c "it answers pings" $DOCTOR_OUT)"
	local from
	begin from
	doctor "$PEER" -n $N
	check "all of it takes less than a minute" at_most $((60000 * SLOW)) "$(ms_since "$from")"
	equal "status 4" 4 $DOCTOR_RC
	equal "a connection that fails is named where it does" "error error" \
		"$(_severity connect) $(_severity port-blocked)"
	equal "what to look at there" "nft list ruleset; rdma link" "${MEND_THERE[0]-}"
	check "that shows the rule" there "{ ${MEND_THERE[0]-false}; } | grep -q 'udp dport 4791 drop'"
	check "one before it lets this host in" there \
		"nft insert rule inet filter input ip saddr $MY_IP4 udp dport 4791 accept"
	DOCTOR_CHECK=port-blocked
	clean_now
	check "and discovery works" discover "$PEER"
	there_is_no_more
	all_down
	finish
}

"$VM_NAME"
