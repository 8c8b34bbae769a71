# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A hostile peer beside a well-behaved one: tests/hostile.

HOSTILE_HOST=$VM_REPO/build/tools/hostile-host
# in the results, where it stays if the kernel does not
HOSTILE_OUT=/vm/$VM_NAME/hostile
HOSTILE_NQN=nqn.2026-01.test:hostile
HOSTILE_HOSTNQN=nqn.2026-01.test:hostile-host
# options of $HOSTILE_HOST for what target_pair has made
HOSTILE_TARGET=(--other 4421)

# target_pair NQN: two subsystems on one port: one for the host that follows the rules, and one
# for the host that does not, which also has another port, 4421. Each has a disk of its own that
# is already full, because memory that a disk allocates would count as a leak of a case. A third
# subsystem without a disk requires a key of the second host, if the kernel can.
target_pair() {
	local h=$NVMET/hosts/$HOSTILE_HOSTNQN

	must "a disk" full_disk nullb0 64
	must "another" full_disk nullb1 64
	must "a subsystem" subsys "$1"
	must "its namespace" namespace "$1" 1 /dev/nullb0
	must "one for the hostile host" subsys $HOSTILE_NQN
	must "its namespace" namespace $HOSTILE_NQN 1 /dev/nullb1
	must "a port" port 1 "$MY_IP4"
	must "for one" expose 1 "$1"
	must "and the other" expose 1 $HOSTILE_NQN
	must "another port" port 2 "$MY_IP4" 4421
	must "for the hostile host" expose 2 $HOSTILE_NQN
	must "one that lets in no other host" subsys $HOSTILE_NQN-locked $HOSTILE_HOSTNQN
	[ -e "$h/dhchap_key" ] || return 0
	must "nor this one without a key" _put "$h/dhchap_key" \
		"$(nvme gen-dhchap-key -m 1 -n $HOSTILE_HOSTNQN)"
	must "on the port" expose 1 $HOSTILE_NQN-locked
	HOSTILE_TARGET+=(--locked $HOSTILE_NQN-locked)
}

# path_stat: the statistics of the path below $DISK, or of the disk itself
path_stat() {
	local name=${DISK##*/} p
	for p in /sys/block/"${name%n*}"c*n"${name##*n}"/stat; do
		[ -e "$p" ] && { echo "$p"; return; }
	done
	echo "/sys/block/$name/stat"
}

_io_count() {
	local r w
	read -r r _ _ _ w _ < "$(path_stat)" && echo $((r + w))
}

# io_speed: I/Os in 5 s, relative to the turns of a loop in the same time, so that other users
# of the machine do not count
io_speed() {
	local n turns=0 from=${EPOCHREALTIME/./}
	n=$(_io_count)
	while [ $((${EPOCHREALTIME/./} - from)) -lt 5000000 ]; do
		turns=$((turns + 1))
	done
	echo $((($(_io_count) - n) * 1000000 / turns))
}

# best_speed: of three
best_speed() {
	local i n best=0
	for i in 1 2 3; do
		n=$(io_speed)
		[ "$n" -le $best ] || best=$n
	done
	echo $best
}

# as_fast BEFORE: at least half of BEFORE, because other programs share the machine and its
# clock. A permanent slowdown shows in each attempt. guest/dos counts instructions.
as_fast() {
	local i n
	for i in {1..8}; do
		n=$(io_speed)
		echo "$((n * 100 / $1)) %"
		[ $((n * 2)) -lt "$1" ] || return 0
	done
	return 1
}

# hostile_results: a line for each outcome that a script can read, and a check for
# each that was wrong; NUMBER of outcomes is in OUTCOMES
hostile_results() {
	local line
	sed -n 's/^case \(.*\): expected \(.*\); got \(.*\); \(ok\|BAD\)$/result \1 expected="\2" got="\3" \4/p' \
		$HOSTILE_OUT
	grep -v '^try \|^case ' $HOSTILE_OUT
	while read -r line; do fail "$line"; done < <(grep '; BAD$' $HOSTILE_OUT)
	OUTCOMES=$(grep -c '^case ' $HOSTILE_OUT)
}
