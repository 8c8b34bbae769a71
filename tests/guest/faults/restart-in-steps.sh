#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    a target is torn down and set up again in steps, or by nvmerdma restore of 50 subsystems, under I/O; the host retries each second and never loses its controller
# variants: ours none
# check:    ours:6.12
# timeout:  900
# cpus:     1 2
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

N=nqn.2026-01.test:steps
OTHER=nqn.2026-01.test:other
ROUNDS=${ROUNDS:-${SHORT:+3}}
ROUNDS=${ROUNDS:-20}
RESTORES=${RESTORES:-${SHORT:+2}}
RESTORES=${RESTORES:-10}
S=$NVMET/subsystems/$N
FIRST=nqn.2026-01.test:many.01
LAST=nqn.2026-01.test:many.50
REFUSED=0

# down: as scripts do, with the host connected
down() {
	conceal 1 $N && rm "$S"/allowed_hosts/* && namespace_remove $N 1 && rmdir "$S"
}

# the_namespace: the same disk as before, so with its name
the_namespace() {
	mkdir "$S/namespaces/1" && _put "$S/namespaces/1/device_path" /dev/nullb0 &&
		_put "$S/namespaces/1/device_uuid" 5f1f0c5e-8c6b-4a54-9c9c-0d4e3c0f7a01 &&
		_put "$S/namespaces/1/enable" 1
}

# A port listens from its first subsystem on, so that a host that reconnects is answered at
# once: the subsystem does not exist yet, does not allow the host, or has no disk yet. Each step
# takes longer than the pause between the host's attempts.
up_host_last() {
	subsys $N nqn.2026-01.test:nobody && nap 1.2 && expose 1 $N && nap 1.2 &&
		the_namespace && nap 1.2 &&
		ln -s "$NVMET/hosts/$HOSTNQN" "$S/allowed_hosts/$HOSTNQN"
}
up_namespace_last() {
	subsys $N "$HOSTNQN" && nap 1.2 && expose 1 $N && nap 1.2 && the_namespace
}

# rounds ORDER: sets REMOVED if the controller was
rounds() {
	local i
	step "the $1 last"
	for ((i = 1; i <= ROUNDS && !REMOVED; i++)); do
		must "round $i: it goes" down
		check_await 20 "the host notices" not state_is "$CTRL" live
		must "it comes, step by step" "up_$1_last"
		await 60 state_is "$CTRL" live || REMOVED=1
	done
	echo "result restart-in-steps.$1 removed=$REMOVED rounds=$((i - 1))"
	! is_ours nvme-rdma || equal "controllers removed" 0 $REMOVED
}

# many_file: 50 subsystems on one port, the last of them on a disk that keeps its data
many_file() {
	mkdir -p /run/many && for ((i = 1; i < 50; i++)); do truncate -s 1M /run/many/$i || return; done
	python3 - "$MY_IP4" <<- 'END' > /run/many.json
		import json, sys, uuid
		nqns = ["nqn.2026-01.test:many.%02d" % i for i in range(1, 51)]
		json.dump({"subsystems": [{"nqn": nqn, "attr": {"allow_any_host": "1"}, "namespaces": [{
			"nsid": 1, "enable": 1, "device": {"uuid": str(uuid.uuid4()),
			"path": "/dev/nullb0" if nqn == nqns[-1] else "/run/many/%d" % (i + 1)}}]}
			for i, nqn in enumerate(nqns)], "ports": [{"portid": 1, "subsystems": nqns,
			"addr": {"trtype": "rdma", "adrfam": "ipv4", "traddr": sys.argv[1], "trsvcid": "4420"}}]},
			sys.stdout)
	END
}

refusals() { dmesg | grep -c "connect request for invalid subsystem $LAST"; }
refused_since() { [ "$(refusals)" -gt "$1" ]; }

# restored: a restore that stands still between the first of its 50 links, from which on the
# port listens, and the last, which is this host's, until the host was refused; in REFUSED
# how often that was so. It takes 0.2 s otherwise, and hardly ever meets the host.
restored() {
	local was restore links=$NVMET/ports/1/subsystems
	was=$(refusals)
	nice -n 5 nvmerdma restore /run/many.json > /run/restore.out 2>&1 &
	restore=$!
	until [ -e "$links/$FIRST" ] || ! runs $restore; do :; done
	kill -STOP $restore
	[ -e "$links/$LAST" ] || { await 20 refused_since "$was" && REFUSED=$((REFUSED + 1)); }
	kill -CONT $restore
	wait $restore || { cat /run/restore.out; return 1; }
}

restores() {
	local i
	step "50 subsystems are restored"
	# some more if none was slow enough for the host to come in between
	for ((i = 1; (i <= RESTORES || (REFUSED == 0 && i <= RESTORES + 10)) && !REMOVED; i++)); do
		must "round $i: all go" nvmerdma unexport --all --force
		check_await 20 "the host notices" not state_is "$CTRL" live
		must "they are restored" restored
		await 60 state_is "$CTRL" live || REMOVED=1
	done
	echo "result restart-in-steps.restore removed=$REMOVED rounds=$((i - 1)) refused=$REFUSED"
	check "the host was refused meanwhile" [ $REFUSED -gt 0 ]
	! is_ours nvme-rdma || equal "controllers removed" 0 $REMOVED
}

host_load
wire_up
must "a disk" memory_disk nullb0 32
must "this host" eval "modprobe nvmet-rdma && mkdir $NVMET/hosts/$HOSTNQN"
must "a subsystem that stays" subsys $OTHER
must "a port" port 1 "$MY_IP4"
must "which listens all the time" expose 1 $OTHER
must "the target" up_namespace_last
must "connect" connect $N "$MY_IP4" 4420 -i 2 -c 1 -l 600 -k 1
get_disk $N 1
REMOVED=0
must "I/O" acked_start "$DISK" --size $((4 << 20)) --pace 20
rounds host
if is_ours nvme-rdma; then
	check_await 30 "I/O goes on" acked_moves
	check "no I/O has failed, and all that was acknowledged is there" acked_clean
else
	acked_end > /dev/null
fi
# The core takes a disk away that it does not find, and finds it again: no I/O here
[ $REMOVED = 1 ] || rounds namespace
[ $REMOVED = 1 ] || check_await 30 "the disk is there again" has_disk $N 1
disconnect $N
must "nothing is exported" target_teardown
must "a file" many_file
must "is restored" nvmerdma restore /run/many.json
must "connect" connect $LAST "$MY_IP4" 4420 -i 1 -c 1 -l 600 -k 1
get_disk $LAST 1
REMOVED=0
must "I/O" acked_start "$DISK" --size $((4 << 20)) --pace 20
restores
if is_ours nvme-rdma; then
	check_await 30 "I/O goes on" acked_moves
	check "no I/O has failed, and all that was acknowledged is there" acked_clean
else
	acked_end > /dev/null
fi
all_down
finish
