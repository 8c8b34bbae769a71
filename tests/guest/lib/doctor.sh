# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# 'nvmerdma doctor' in scenarios: each check has to find a fault, and no longer find it after
# the printed command was run.

NVMERDMA=$VM_REPO/build/tools/nvmerdma
DOCTOR_OUT=/run/doctor.out
FAKE=/run/fake		# a root, and programs in its bin, for what a guest cannot have
declare -A DOCTOR_FOUND=()
PATH=$FAKE/bin:$VM_REPO/build/tools:$PATH

# doctor ARGUMENT...: runs the doctor; sets DOCTOR_OUT to its output and DOCTOR_RC to its status
doctor() {
	timeout 60 "$NVMERDMA" doctor "$@" > $DOCTOR_OUT 2>&1
	DOCTOR_RC=$?
}

# The doctor waits 8 s for a connection and 5 s for the answer to Connect, so that on a busy machine it may
# report a temporary state. A permanent state, right or wrong, is seen once in three attempts.

# doctor_well ARGUMENT...: as doctor, until nothing is wrong, three times at most
doctor_well() {
	for _ in 1 2 3; do
		doctor "$@"
		[ $DOCTOR_RC != 0 ] || return 0
	done
}

_judged() { echo "status $DOCTOR_RC"; cat $DOCTOR_OUT; return 1; }
_severity() { sed -n "s/^\([a-z]*\) *\[$1\].*/\1/p" $DOCTOR_OUT; }

# _mends CHECK WHERE: the commands of its first finding that is not ok; WHERE is "" or
# " on the target"
_mends() {
	awk -v check="[$1]" -v key="fix$2: " '
		/^[a-z]/ { on = !done && $2 == check && $1 != "ok" && $1 != "skipped"
			done = done || on }
		on && (i = index($0, key)) == 11 { print substr($0, i + length(key)) }' \
		$DOCTOR_OUT
}

# finds CHECK SEVERITY REGEX [ARGUMENT...]: the doctor reports a finding of that severity that
# matches REGEX, explains it, and prints a command. MEND has the commands for this machine,
# MEND_THERE those for the target; the arguments are kept for mended.
finds() {
	DOCTOR_CHECK=$1 DOCTOR_SEVERITY=$2
	local regex=$3
	shift 3
	DOCTOR_ARGS=("$@")
	for _ in 1 2 3; do
		doctor --only "$DOCTOR_CHECK" "$@"
		mapfile -t MEND < <(_mends "$DOCTOR_CHECK" "")
		mapfile -t MEND_THERE < <(_mends "$DOCTOR_CHECK" " on the target")
		! _found "$regex" > /dev/null || break
	done
	DOCTOR_FOUND[$DOCTOR_CHECK]=1
	check "[$DOCTOR_CHECK] $DOCTOR_SEVERITY: ${regex:0:60}" _found "$regex"
}
_found() {
	local want=0
	[ "$DOCTOR_SEVERITY" != warning ] || want=3
	[ "$DOCTOR_SEVERITY" != error ] || want=4
	grep -Eq "^$DOCTOR_SEVERITY *\[$DOCTOR_CHECK\] .*$1" $DOCTOR_OUT &&
		[ "$DOCTOR_RC" = $want ] && grep -q "^ *why: " $DOCTOR_OUT &&
		[ $((${#MEND[@]} + ${#MEND_THERE[@]})) -gt 0 ] || _judged
}

# clean_now [WORDS]: it finds that no more
clean_now() {
	check "[$DOCTOR_CHECK] ${1:-mended}" _clean
}
_clean() {
	doctor_well --only "$DOCTOR_CHECK" "${DOCTOR_ARGS[@]}"
	[ "$DOCTOR_RC" = 0 ] && [ "$(_severity "$DOCTOR_CHECK" | sort -u)" = ok ] || _judged
}

# mended [COMMAND]: run COMMAND, or the first printed command for this machine; the finding is
# gone afterwards
mended() {
	local command=${1-${MEND[0]-false}}
	if check "[$DOCTOR_CHECK] fix: $command" bash -c "$command"; then clean_now; fi
}

# net_state: addresses, routes, and the rules of each firewall, in lines
net_state() {
	{
		ip -o addr | sed 's/valid_lft.*//'
		ip -4 route show table all
		ip -6 route show table all
		ip neigh | grep PERMANENT
		nft list ruleset 2> /dev/null
		iptables-legacy-save 2> /dev/null | grep -v '^#' | sed 's/ \[.*//'
	} | sed 's/^[ \t]*//; s/[ \t]*$//' | sort
}

# mended_by_adding REGEX [COMMAND]: as mended; in addition net_state loses no line, and each new
# line matches REGEX
mended_by_adding() {
	local regex=$1 before
	shift
	before=$(net_state)
	mended "$@"
	equal "nothing is taken away" "" "$(comm -23 <(echo "$before") <(net_state))"
	check "and no more is added" _only_such "$regex" \
		"$(comm -13 <(echo "$before") <(net_state))"
}
_only_such() { echo "$2"; [ -n "$2" ] && ! grep -Evq -- "$1" <<< "$2"; }

# fake_program NAME: what stdin has, in place of a program
fake_program() {
	mkdir -p $FAKE/bin
	{ echo "#!/bin/bash"; cat; } > "$FAKE/bin/$1" && chmod +x "$FAKE/bin/$1"
}
# fake_file PATH: what stdin has, below the root
fake_file() { mkdir -p "$FAKE/root/$(dirname "$1")" && cat > "$FAKE/root/$1"; }
fake_none() { rm -rf $FAKE; }

# ---- two guests whose nftables rules are changed (lib/fault.sh) ----

# firewalled_target NQN: the target's part, until the host has no more requests
firewalled_target() {
	wire_up
	WIRE_HARMED=yes
	must "a disk" memory_disk nullb0 16
	simple_target "$1" /dev/nullb0
	must "a firewall without rules" nft -f - <<< 'table inet filter {
		chain input { type filter hook input priority filter; }
	}'
	signal_peers ready "$MY_IP4"
	fault_serve
	nft flush ruleset
	all_down
	finish
}

# host_of_target: the start of the host's part; sets PEER, the target's address
host_of_target() {
	host_load
	wire_up
	WIRE_HARMED=yes
	must "RDMA for programs" modprobe rdma_ucm
	wait_for ready 100
	PEER=$VALUE
}
