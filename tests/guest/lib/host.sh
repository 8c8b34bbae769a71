# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Discover, connect, devices, disconnect.

HOSTNQN=nqn.2014-08.org.nvmexpress:uuid:$(< /proc/sys/kernel/random/uuid)
HOSTID=${HOSTNQN##*:}

# host_ids: nvme-cli wants these files; a new host in each guest
host_ids() {
	mkdir -p /etc/nvme && echo "$HOSTNQN" > /etc/nvme/hostnqn &&
		echo "$HOSTID" > /etc/nvme/hostid
}

host_load() {
	host_ids && modprobe nvme-fabrics
}

# discover ADDRESS [SERVICE [options]]: prints the log page
discover() {
	local addr=$1 svc=${2:-4420}
	shift $(($# < 2 ? $# : 2))
	nvme discover -t rdma -a "$addr" -s "$svc" "$@"
}

# _connect NQN ADDRESS SERVICE [options]: nvme connect; nothing is checked
_connect() {
	local nqn=$1 addr=$2 svc=$3
	shift 3
	nvme connect -t rdma -n "$nqn" -a "$addr" -s "$svc" "$@"
}

# controllers [NQN]: names of the fabrics controllers there are (of NQN)
controllers() {
	local c
	for c in $(_each "/sys/class/nvme-fabrics/ctl/nvme*"); do
		[ $# -eq 0 ] || [ "$(cat "$c/subsysnqn" 2> /dev/null)" = "$1" ] ||
			continue
		echo "${c##*/}"
	done
}

no_controllers() { [ -z "$(controllers "$@")" ]; }

# connect NQN ADDRESS [SERVICE [options]]: connects; sets CTRL to its name
connect() {
	local nqn=$1 addr=$2 svc=${3:-4420} before after
	shift $(($# < 3 ? $# : 3))
	before=$(controllers | sort)
	_connect "$nqn" "$addr" "$svc" "$@" || return 1
	after=$(controllers | sort)
	CTRL=$(comm -13 <(echo "$before") <(echo "$after") | tail -n 1)
	[ -n "$CTRL" ] || { echo "no new controller in sysfs"; return 1; }
}

# commands_may_take SECONDS: set the timeout of nvme-core for commands
commands_may_take() {
	modprobe nvme-core && echo "$1" > /sys/module/nvme_core/parameters/io_timeout
}

# times_lost CONTROLLER: number of lines in the log about its lost connections and reconnects
times_lost() { dmesg | grep -c "nvme $1: \(starting error recovery\|reconnected\)"; }

state_of() { cat "/sys/class/nvme/$1/state"; }
state_is() { [ "$(state_of "$1" 2> /dev/null)" = "$2" ]; }

# round_robin: set the path policy: I/O uses all paths in turn
round_robin() {
	local p
	for p in /sys/class/nvme-subsystem/*/iopolicy; do
		echo round-robin > "$p" || return 1
	done
}

# path_count CONTROLLER: reads and writes that have gone by its path to namespace 1
path_count() {
	local r w
	read -r r _ _ _ w _ < "/sys/block/$(basename /sys/class/nvme/"$1"/nvme*c*n1)/stat" &&
		echo $((r + w))
}

# both_move CONTROLLER CONTROLLER: I/O continues over both paths
both_move() {
	local one two
	one=$(path_count "$1") && two=$(path_count "$2") || return 1
	nap 1
	[ "$(path_count "$1")" -gt "$one" ] && [ "$(path_count "$2")" -gt "$two" ]
}

# disk_of NQN NSID: prints the block device of a namespace
disk_of() {
	local s d
	for s in $(_each "/sys/class/nvme-subsystem/nvme-subsys*"); do
		[ "$(cat "$s/subsysnqn")" = "$1" ] || continue
		for d in $(_each "$s/nvme*n*"); do
			[ "$(cat "$d/nsid" 2> /dev/null)" = "$2" ] || continue
			[ -b "/dev/${d##*/}" ] && { echo "/dev/${d##*/}"; return; }
		done
	done
	# without native multipath the disks are below the controller
	for s in $(controllers "$1"); do
		for d in $(_each "/sys/class/nvme/$s/nvme*n*"); do
			[ "$(cat "$d/nsid" 2> /dev/null)" = "$2" ] || continue
			[ -b "/dev/${d##*/}" ] && { echo "/dev/${d##*/}"; return; }
		done
	done
	return 1
}

has_disk() { disk_of "$@" > /dev/null; }

# get_disk NQN NSID [SECONDS]: waits for the disk; sets DISK. nvmet notifies hosts of a
# namespace before it lists it (nvmet_ns_enable(), 6.1 to 7.2): a host that looks at once does
# not find it, and is not notified again.
get_disk() {
	local c
	await 10 has_disk "$1" "$2" || for c in $(controllers "$1"); do
		echo "$c asks again for its namespaces"
		echo 1 > "/sys/class/nvme/$c/rescan_controller"
	done
	must_await "${3:-20}" "namespace $2 of $1 has a block device" \
		has_disk "$1" "$2"
	DISK=$(disk_of "$1" "$2")
}

# simple_disk NQN DEVICE [options]: simple_target, and a connection to it; sets CTRL and DISK
simple_disk() {
	local nqn=$1
	simple_target "$nqn" "$2"
	shift 2
	must "connect" connect "$nqn" "$MY_IP4" 4420 "$@"
	get_disk "$nqn" 1
}

# queue_set ATTRIBUTE VALUE: of $DISK and, with multipath, of its path, where it is there
queue_set() {
	local q
	for q in /sys/block/"${DISK##*/}" /sys/block/nvme*c*n1; do
		[ ! -e "$q/queue/$1" ] || echo "$2" > "$q/queue/$1" || return 1
	done
}

disconnect() { nvme disconnect -n "$1"; }
disconnect_all() { nvme disconnect-all; }
