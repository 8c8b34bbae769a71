#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma restore where kernels differ: missing attributes, lowered values, TLS on the way back, a name that is still in use
# check:   none
# variants: ours none
# timeout: 400
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

A=nqn.2026-01.test:a
P=$NVMET/ports/1
# Here every attribute is given, and also what the port may support
file() { # TRTYPE SERIAL PARAMS [TSAS TREQ]
	cat <<END
{ "discovery": { "nqn": "nqn.2026-01.test:discovery" },
  "ports": [ { "portid": 1, "addr": { "trtype": "$1", "adrfam": "ipv4", "traddr": "$MY_IP4",
      "trsvcid": "4420", "treq": "${5:-not specified}", "tsas": "${4:-connected}" },
    "param": { $3 }, "subsystems": [ "$A" ] } ],
  "subsystems": [ { "nqn": "$A", "attr": { "allow_any_host": "yes", "serial": "$2 ",
      "version": "1.4.0", "cntlid_min": "${MIN:-1}", "cntlid_max": "${MAX:-65519}" },
    "namespaces": [ { "nsid": 1, "enable": true, "device": { "path": "/dev/nullb0",
      "uuid": "568329b9-ca04-57e6-a714-6c3c9ef5d012" } } ] } ] }
END
}
has() { [ -e "$NVMET/$1" ]; }
# left_out ATTRIBUTE: it is configured, or a message says that it is not
left_out() {
	if has "$1"; then
		equal "${1##*/} is there" "$2" "$(cat "$NVMET/$1")"
	else
		words "${1##*/} $2 is ignored: this kernel has no such attribute" "${1##*/} is left out"
	fi
}

host_load
wire_up
must "a disk" memory_disk nullb0 32

step "a file of a newer kernel"
file rdma ONE '"max_queue_size": "64", "mdts": "5"' > /run/newer.json
check "is restored" nvmerdma restore /run/newer.json
cat "$CHECK_OUT"
left_out discovery_nqn nqn.2026-01.test:discovery
left_out ports/1/param_max_queue_size 64
left_out ports/1/param_mdts 5
equal "a blank at its end is no part of a serial number" ONE "$(xargs < $NVMET/subsystems/$A/attr_serial)"
check "again" nvmerdma restore /run/newer.json
words "nothing to change" "changes nothing"
check "what it prints without doing it" nvmerdma restore /run/newer.json --dry-run
must "connect" connect $A "$MY_IP4" 4420 -i 1
get_disk $A 1
check "a disk" round_trip "$DISK" 65536
must "disconnect" disconnect $A
must "away" nvmerdma unexport --all --force
check "a shell does it" bash -e -c "$(nvmerdma restore /run/newer.json --dry-run 2> /dev/null)"
check "and it is the same" nvmerdma restore /run/newer.json
words "nothing to change" "in words"

step "what is lowered"
# ours refuses too large a value, and the in-tree module lowers it
inline=16384; is_ours nvmet-rdma || inline=65536
file rdma ONE "\"max_queue_size\": \"8\", \"pi_enable\": \"on\", \"inline_data_size\": \"$inline\"" > /run/low.json
check "is restored" nvmerdma restore --force /run/low.json
has ports/1/param_max_queue_size &&
	words "param_max_queue_size: 8 was requested, 16 is in force" "it is said at once"
must "connect" connect $A "$MY_IP4" 4420 -i 1
equal "no protection information" 0 "$(cat $P/param_pi_enable)"
LOST=$(times_lost "$CTRL")
check "again, although a host is connected" nvmerdma restore /run/low.json
words "nothing to change" "changes nothing"
words "param_pi_enable stays 0, 1 was requested" "and says what is not as wanted"
equal "the host lost nothing" "$LOST live" "$(times_lost "$CTRL") $(state_of "$CTRL")"
must "disconnect" disconnect $A
must "away" nvmerdma unexport --all --force
must "export --pi --save" nvmerdma export /dev/nullb0 --nqn $A --pi --uuid "$(cat /proc/sys/kernel/random/uuid)" --save
saved_pi() { python3 -c "import json; print(json.load(open('/etc/nvmet/config.json'))['ports'][0]['param']['pi_enable'])"; }
must "connect" connect $A "$MY_IP4" 4420 -i 1
must "disconnect" disconnect $A
equal "it is not there" 0 "$(cat $P/param_pi_enable)"
equal "and saved" 1 "$(saved_pi)"
check "save" nvmerdma save
words "param_pi_enable is 0 now; 1 is saved" "says so"
equal "keeps it" 1 "$(saved_pi)"
must "another disk" memory_disk nullb1 32
check "goes on the same port, with the same option" nvmerdma export /dev/nullb1 --nqn ${A}2 --pi
must "away" nvmerdma unexport --all --force

step "controllers that still go"
MIN=100 MAX=200 file rdma ONE "" > /run/one.json
MIN=50 MAX=100 file rdma TWO "" > /run/two.json
check "one" nvmerdma restore /run/one.json
must "connect" connect $A "$MY_IP4" 4420 -i 1
check "another serial number, controller IDs that touch" nvmerdma restore --force /run/two.json
equal "is there" TWO "$(xargs < $NVMET/subsystems/$A/attr_serial)"
must "disconnect" disconnect $A
MIN=100 MAX=200 file rdma TWO "" > /run/two.json
check "and controller IDs back" nvmerdma restore --force /run/two.json
equal "are there" "100 200" "$(cat $NVMET/subsystems/$A/attr_cntlid_min $NVMET/subsystems/$A/attr_cntlid_max | paste -sd' ')"

step "TLS"
file tcp TWO "" tls1.3 required > /run/tls.json
if has ports/1/addr_tsas; then
	check "a port with TLS" nvmerdma restore --force /run/tls.json
	equal "it has it" "tls1.3 required" "$(cat $P/addr_tsas $P/addr_treq | paste -sd' ')"
	check "again" nvmerdma restore /run/tls.json
	words "nothing to change" "changes nothing"
	file rdma TWO "" | sed 's/"traddr": "[^"]*"/"traddr": "not-an-address"/' > /run/fails.json
	unchanged "to RDMA at an address that there is not" nvmerdma restore --force /run/fails.json
	equal "it has TLS, and is linked" "tcp tls1.3 required $A" \
		"$(cat $P/addr_trtype $P/addr_tsas $P/addr_treq | paste -sd' ') $(ls $P/subsystems)"
	equal "and all could be undone" 0 "$(grep -c "undoing a step failed" "$CHECK_OUT")"
else
	not_here "a port that can have TLS"
	unchanged "it is not left out" nvmerdma restore --force /run/tls.json
	words "addr_tsas cannot be tls1.3: this kernel has no such attribute" "in words"
fi

step "an mdts that came too early"
if has ports/1/param_mdts; then
	must "a port without" nvmerdma restore --force /run/two.json
	chosen=$(< $P/param_mdts)	# -1, or what the transport made of it
	file rdma TWO '"mdts": "5"' | sed 's/"traddr": "[^"]*"/"traddr": "not-an-address"/' > /run/fails.json
	unchanged "one with, at an address that there is not" nvmerdma restore --force /run/fails.json
	equal "it is as it was" "$chosen" "$(cat $P/param_mdts)"
	equal "and all could be undone" 0 "$(grep -c "undoing a step failed" "$CHECK_OUT")"
else
	not_here "param_mdts"
fi
all_down
finish
