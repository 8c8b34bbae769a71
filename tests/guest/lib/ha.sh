# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Several targets, which the host's guest tells what to do, and the commands of
# Documentation/ha.md, which are run as they stand there.

HA_PAGE=$VM_REPO/Documentation/ha.md
HA_BOOTS=$SYNC/boots-$VM_NAME

# recipe NAME...: the blocks of the page that begin with "```sh NAME", as one script
recipe() {
	local name
	for name; do
		grep -qx "\`\`\`sh $name" "$HA_PAGE" || { echo "no $name in $HA_PAGE"; return 1; }
		sed -n "/^\`\`\`sh $name\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" "$HA_PAGE"
	done > /run/recipe
	(cd "$VM_REPO" && bash -eux /run/recipe)
}

# on GUEST COMMAND...: runs it in that guest, and returns its status; its output is in $HA_SAID.
# Not in a subshell, which would keep the number to itself.
declare -A HA_TOLD
HA_SAID=/run/ha-said
on() {
	local guest=$1 n
	shift
	n=$((${HA_TOLD[$guest]:-0} + 1))
	HA_TOLD[$guest]=$n
	signal_peers "do-$guest-$n" "$*"
	await 200 test -e "$SYNC/at-did-$guest-$n" || { echo "no answer of $guest"; return 1; }
	cp "$SYNC/said-$guest-$n" $HA_SAID
	cat $HA_SAID
	[ "$(cat "$SYNC/at-did-$guest-$n")" = 0 ]
}

# on_refuses GUEST WORDS COMMAND...: the command has to fail there, with that message
on_refuses() {
	local guest=$1 words=$2
	shift 2
	! on "$guest" "$@" || { echo "it succeeded"; return 1; }
	grep -q -- "$words" $HA_SAID
}

# ha_serve: do what the host requests, until it requests the end
ha_serve() {
	local n=1
	# One that was reset has done some before
	while [ -e "$SYNC/at-did-$VM_NAME-$n" ]; do n=$((n + 1)); done
	while wait_for "do-$VM_NAME-$n" 900 && [ "$VALUE" != no-more ]; do
		_kmsg "the host asks for: $VALUE"
		eval "$VALUE" > "$SYNC/said-$VM_NAME-$n" 2>&1
		signal_peers "did-$VM_NAME-$n" $?
		n=$((n + 1))
	done
}
ha_no_more() { signal_peers "do-$1-$((${HA_TOLD[$1]:-0} + 1))" no-more; }

# ha_boots: how often this guest has booted, this time included
ha_boots() {
	echo >> "$HA_BOOTS"
	wc -l < "$HA_BOOTS"
}

# ha_off BOOTS: for a guest that lost power: waits until it is switched on. Its card takes
# packets meanwhile and drops them. Only the first guest may be reset: the wire is in its QEMU,
# which waits for the others to take their packets, and they do not while they boot.
ha_off() {
	ip link set eth0 up
	signal_peers "booted-$VM_NAME-$1"
	wait_for "on-$VM_NAME-$1" 600
	ip link set eth0 down
}

# ha_booted GUEST: it has, and can be switched on: ha_on GUEST. All that other guests send
# goes through the first one's QEMU: with I/O beside it these may take minutes.
declare -A HA_BOOTS_OF
ha_booted() {
	HA_BOOTS_OF[$1]=$((${HA_BOOTS_OF[$1]:-1} + 1))
	wait_for "booted-$1-${HA_BOOTS_OF[$1]}" 300
}
ha_on() {
	signal_peers "on-$1-${HA_BOOTS_OF[$1]}"
	wait_for "ready-$1-${HA_BOOTS_OF[$1]}" 300
}

# ha_io: I/O on $DISK, from its first sector on. ha_io_end CASE [KEY=VALUE...]: all of it has
# succeeded, and no acknowledged write is lost
ha_io() { must "I/O" acked_start "$DISK" "${ACKED_GENTLE[@]}" && nap 2; }
ha_io_end() {
	local name=$1 outcome=ok
	shift
	acked_now
	ACKED_DONE=${ACKED_OK:-0}
	check_await 60 "$name: I/O goes on" acked_moves || outcome=stuck
	nap 2
	check "$name: all I/O has succeeded, what was acknowledged is there" acked_clean ||
		outcome=bad
	echo "result $name outcome=$outcome stall_ms=$(acked_value longest_stall_ms)" \
		"slowest_ms=$(acked_value slowest_io_ms) io_errors=$(acked_value io_errors)" \
		"bytes_verified=$(acked_found bytes_verified) $*"
}
