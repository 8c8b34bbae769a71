#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the virtual RDMA NIC's own tests: each verb, its rules followed and broken, signatures, iWARP, injected faults, limits, removal
# variants: none
# check:   none
# with:     vrnic vrnic_test
# allow:    vrnic[01]: violation:
# timeout:  900
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic.sh"

# over GROUP...: runs each group over two devices, created for it alone (a device reports 200
# violations and then only counts); a group must release all that it used
over() {
	local g before
	must "vrnic0 is made" vrnic_add 0
	must "vrnic1 is made" vrnic_add 1
	before="$(vrnic_objects 0)$(vrnic_objects 1)"
	for g; do
		vrnic_group "$g" vrnic0 vrnic1
		equal "$g: all objects are gone" "$before" \
			"$(vrnic_objects 0)$(vrnic_objects 1)"
	done
	check "vrnic0 goes" vrnic_del 0
	check "vrnic1 goes" vrnic_del 1
}

# is PARAMETER VALUE: so are the devices that are made from now on
is() { echo "$2" > "/sys/module/vrnic/parameters/$1"; }

# refuse_line LINE: the file of faults does not take it
refuse_line() {
	if echo "$1" 2> /dev/null > $VRNIC/vrnic0/faults; then
		fail "faults: '$1' was taken"
	else
		pass "faults: '$1' is refused"
	fi
}

must "the first card" vrnic_card 0
must "the second card" vrnic_card 1
must "the modules" vrnic_load
# Violations that are reported here on purpose are read from the log; a console is slow.
echo 3 > /proc/sys/kernel/printk
refuse 10 "a group that is not there" sh -c "echo nonsense vrnic0 > $VRNIC_TEST/run"
refuse 10 "a device that is not there" sh -c "echo data vrnic0 > $VRNIC_TEST/run"

if [ -n "${VRNIC_ONLY-}" ]; then
	for p in ${VRNIC_LIKE-}; do
		must "the parameter $p" is "${p%%=*}" "${p#*=}"
	done
	over $VRNIC_ONLY
	finish
fi

over data data-mr completion slots states rnr keys reg
over refuse inval srq ud load faults events counters
over sig sig-err sig-rules at-once moderation

step "one device at both ends, and lines that are no faults"
must "vrnic0 is made" vrnic_add 0
while read -r line; do
	refuse_line "$line"
done << E
nonsense
wr
wr send
wr send 1
wr send 0 flush
wr send -1 flush
wr send x flush
wr send 1 nonsense
wr nonsense 1 flush
wr send 1 flush nonsense
wr send 1 flush qp=x
cqe read 1 twice
cqe send 1 delay
cqe send 1 delay x
cqe send 1 again
cqe send 1 nonsense
cqe send 1 twice after
post send 1
post send 1 x
post send 1 0
post send 1 5000
corrupt recv 1 0
corrupt send 1
corrupt send 0 1
make nonsense 1 5
make qp 1
make qp 1 0
make qp 1 5 from=vrnic_test
make qp 1 5 qp=300
qp
qp 300
qp x die
qp 300 nonsense
qp 300 die
device
device nonsense
port
port nonsense
port down now
pkey 0
pkey 0 0x10000
pkey 9 0xffff
pkey 0 0xffff 0
qpn x
qpn 0
qpn 0x100000
qpn 300 301
clear all
E
equal "none of them is to come" "" "$(< $VRNIC/vrnic0/faults)"
vrnic_group data vrnic0
vrnic_group keys vrnic0
check "vrnic0 goes" vrnic_del 0

step "acknowledgments that take time"
must "the parameter" is ack_lag 4
over lag
must "the parameter" is ack_lag 0

step "a wire that takes time"
must "the parameter" is delay_ns 100000000
over wire wire-fail
must "the parameter" is ack_lag 4
over wire-lag
must "the parameter" is ack_lag 0
must "the parameter" is delay_ns 50000
over data data-mr load keys reg inval ud states events sig sig-err sig-rules
must "the parameter" is delay_ns 0

step "moderation that the core adapts, and none"
must "the parameter" is use_cq_dim Y
over dim
must "the parameter" is use_cq_dim N
must "the parameter" is cq_moderation N
over moderation-none
must "the parameter" is cq_moderation Y

step "what was executed is flushed, too"
must "the parameter" is flush_done Y
over flush-done
must "the parameter" is flush_done N

step "an IOMMU"
if [ "$(< /sys/module/vrnic/parameters/iommu)" = Y ]; then
	over iommu
	must "vrnic0 is made" vrnic_add 0
	must "vrnic1 is made" vrnic_add 1
	vrnic_group iommu-leave vrnic0 vrnic1
	mark
	check "vrnic1 goes" vrnic_del 1
	said 20 "what is still mapped is found" \
		"vrnic1: violation: 1 pages are still mapped in the IOMMU"
	vrnic_group iommu-clear vrnic0
	check "vrnic0 goes" vrnic_del 0
else
	must "the parameter" is iommu Y
	mark
	refuse 10 "a device behind an IOMMU that is not there" \
		rdma link add vrnic0 type vrnic netdev eth0
	said 10 "why" "vrnic: iommu=Y: there is no PCI function for it"
	must "the parameter" is iommu N
fi

step "the first vector elsewhere"
must "the parameter" is first_cpu 1
over first-cpu
must "the parameter" is first_cpu 0

step "iWARP"
must "the parameter" is link iwarp
over iwarp
must "the parameter" is link roce

step "InfiniBand"
must "the parameter" is link ib
over data rnr keys refuse
must "the parameter" is link roce

step "limits"
must "vrnic0 is made" vrnic_add 0 vectors=1 max_qp=5 max_qp_wr=600 \
	max_send_sge=3 max_recv_sge=2 max_sge_rd=1 max_inline=40 max_cq=8 \
	max_cqe=1000 max_srq=2 max_srq_wr=30 max_mr=6 max_mr_errno=28 \
	max_mr_pages=8 max_rd_atom=3 sg_gaps=N remote_inv=N local_dma_lkey=N
vrnic_group limits vrnic0
check "vrnic0 goes" vrnic_del 0
must "vrnic0 is made" vrnic_add 0 max_srq=0 max_inline=0
vrnic_group limits-none vrnic0
check "vrnic0 goes" vrnic_del 0
must "the test goes" vrnic_unload
must "and the parameters of before with the module" rmmod vrnic
must "the modules" vrnic_load

step "devices that go"
must "vrnic0 is made" vrnic_add 0
must "vrnic1 is made" vrnic_add 1
vrnic_group die vrnic0 vrnic1
check "a dead device can be taken away" vrnic_del 1
check_await 20 "it is gone" vrnic_gone 1
must "vrnic1 is made anew" vrnic_add 1
vrnic_group removal-link vrnic0 vrnic1
check_await 20 "vrnic1 is gone" vrnic_gone 1
must "vrnic1 is made anew" vrnic_add 1
vrnic_group removal-card vrnic0 vrnic1
check_await 20 "vrnic1 is gone with its card" vrnic_gone 1
check "its card is gone" gone /sys/class/net/eth1

step "the end"
must "a second card" vrnic_card 1
must "vrnic1 is made" vrnic_add 1
check "vrnic_test can be unloaded" vrnic_unload
check "vrnic can be unloaded with its devices" rmmod vrnic
check "they are gone" vrnic_gone 0
check "both" vrnic_gone 1
check "debugfs holds nothing of them" gone $VRNIC $VRNIC_TEST
finish
