#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: DH-HMAC-CHAP one-way and two-way, groups and hashes; wrong and missing keys are refused; new keys while connected
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:auth
H=$NVMET/hosts/$HOSTNQN
host_load
wire_up
must "a disk" memory_disk nullb0 64
must "a subsystem for this host alone" subsys $N "$HOSTNQN"
must "a namespace" namespace $N 1 /dev/nullb0
must "a port" port 1 "$MY_IP4"
must "open it" expose 1 $N

key() { nvme gen-dhchap-key -n "$HOSTNQN" "$@"; }

# with [secrets]: connect with these
with() { connect $N "$MY_IP4" 4420 -i 2 -c 1 "$@"; }

# refused_with ERRNO-WORDS KERNEL-WORDS [secrets]
refused_with() {
	mark
	check "connect is refused" not with "${@:3}"
	equal "the errno's words" 1 "$(grep -Ec "$1" "$CHECK_OUT")" ||
		sed 's/^/    /' "$CHECK_OUT"
	said 5 "the kernel's words" "$2"
	check "no controller is left" no_controllers
}

works() {
	get_disk $N 1
	check "data" round_trip "$DISK" 65536
}

if [ ! -e "$H/dhchap_key" ]; then
	not_here "the target has no authentication (NVME_TARGET_AUTH)"
	must "connect" with
	if [ -e "/sys/class/nvme/$CTRL/dhchap_secret" ]; then
		fail "the host has authentication, and the target has not"
	else
		not_here "the host has no authentication (NVME_HOST_AUTH)"
	fi
	works
	all_down
	finish
fi

HOST_KEY=$(key -m 1)
CTRL_KEY=$(key -m 1)
OTHER_KEY=$(key -m 1)
AUTHENTICATED="qid 0: authenticated"

# The target's core ends the controller before its refusal is on the way: a host
# may see the end of the connection first.
REFUSED="Key was rejected by service|Connection reset by peer"

step "one-way: the host proves who it is"
must "the host's key on the target" _put "$H/dhchap_key" "$HOST_KEY"
mark
must "connect" with -S "$HOST_KEY"
said 5 "the kernel's words" "nvme $CTRL: $AUTHENTICATED"
works
mark
check "a reset" nvme reset "/dev/$CTRL"
check_await 20 "live again" state_is "$CTRL" live
said 5 "authenticated anew" "nvme $CTRL: $AUTHENTICATED"
works
check "disconnect" disconnect $N
refused_with "$REFUSED" "authentication failed" -S "$OTHER_KEY"
refused_with "Required key not available" "nvme nvme[0-9]+: qid 0: no key"

step "two-way: the target, too"
must "the target's key" _put "$H/dhchap_ctrl_key" "$CTRL_KEY"
mark
must "connect" with -S "$HOST_KEY" -C "$CTRL_KEY"
said 5 "the kernel's words" "nvme $CTRL: $AUTHENTICATED"
said 5 "and" "nvme $CTRL: qid 0: controller authenticated"
works
check "disconnect" disconnect $N
refused_with "Key was rejected by service" \
	"controller authentication failed" -S "$HOST_KEY" -C "$OTHER_KEY"
refused_with "$REFUSED" "authentication failed" -S "$OTHER_KEY" -C "$CTRL_KEY"

# The target ends the connection of a host that has refused it, while that host
# still sends: whatever comes first, the host must not wait for ever.
step "the target's key is wrong eight times"
for _ in 1 2 3 4 5 6 7 8; do
	check "refused, for the key" fabrics_refused \
		"traddr=$MY_IP4,nqn=$N,hostnqn=$HOSTNQN,hostid=$HOSTID,dhchap_secret=$HOST_KEY,dhchap_ctrl_secret=$OTHER_KEY" \
		"Key was rejected by service"
done

step "Diffie-Hellman group, another hash, a longer key"
LONG_KEY=$(key -m 2)
must "ffdhe2048" _put "$H/dhchap_dhgroup" ffdhe2048
must "SHA-384" _put "$H/dhchap_hash" "hmac(sha384)"
must "the host's key" _put "$H/dhchap_key" "$LONG_KEY"
mark
must "connect" with -S "$LONG_KEY" -C "$CTRL_KEY"
said 5 "the kernel's words" "nvme $CTRL: qid 0: .*hmac\(sha384\) dhgroup ffdhe2048"
said 5 "and" "nvme $CTRL: qid 0: controller authenticated"
works

step "a new key while connected"
must "on the target" _put "$H/dhchap_key" "$HOST_KEY"
mark
check "on the host, which authenticates at once" \
	_put "/sys/class/nvme/$CTRL/dhchap_secret" "$HOST_KEY"
said 20 "the kernel's words" "nvme $CTRL: re-authenticating"
said 20 "and" "nvme $CTRL: qid 0: authenticated"
equal "the controller is live" live "$(state_of "$CTRL")"
works

step "the port closes while it authenticates anew"
for _ in 1 2 3; do
	_put "/sys/class/nvme/$CTRL/dhchap_secret" "$HOST_KEY" &
	check "close" conceal 1 $N
	check "the write to sysfs ends" wait $!
	check "open" expose 1 $N
	check_await 60 "the host is back" state_is "$CTRL" live
done
works
all_down
finish
