# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The target, by configfs.

NVMET=/sys/kernel/config/nvmet

_put() { echo "$2" > "$1" || { echo "cannot write '$2' to $1"; return 1; }; }

# subsys NQN [allowed host NQN...]: a subsystem, open to all if none is named
subsys() {
	local s=$NVMET/subsystems/$1 h
	[ -d $NVMET ] || modprobe nvmet || return 1
	mkdir "$s" || return 1
	shift
	[ $# -gt 0 ] || { _put "$s/attr_allow_any_host" 1; return; }
	_put "$s/attr_allow_any_host" 0
	for h; do
		[ -d "$NVMET/hosts/$h" ] || mkdir "$NVMET/hosts/$h" || return 1
		ln -s "$NVMET/hosts/$h" "$s/allowed_hosts/$h" || return 1
	done
}

# namespace NQN NSID PATH [buffered]
namespace() {
	local n=$NVMET/subsystems/$1/namespaces/$2
	mkdir "$n" && _put "$n/device_path" "$3" || return 1
	[ "${4-}" != buffered ] || _put "$n/buffered_io" 1 || return 1
	_put "$n/enable" 1
}

namespace_remove() {
	local n=$NVMET/subsystems/$1/namespaces/$2
	_put "$n/enable" 0 && rmdir "$n"
}

# port ID ADDRESS [SERVICE [INLINE]]: an rdma port; a subsystem opens it
port() {
	local p=$NVMET/ports/$1 family=ipv4
	[ -d $NVMET ] || modprobe nvmet || return 1
	case $2 in *:*) family=ipv6 ;; esac
	mkdir "$p" && _put "$p/addr_trtype" rdma &&
		_put "$p/addr_adrfam" $family &&
		_put "$p/addr_traddr" "$2" &&
		_put "$p/addr_trsvcid" "${3:-4420}" || return 1
	[ -z "${4-}" ] || _put "$p/param_inline_data_size" "$4"
}

# expose PORT NQN: the first subsystem makes the port listen
expose() {
	ln -s "$NVMET/subsystems/$2" "$NVMET/ports/$1/subsystems/$2"
}

conceal() { rm "$NVMET/ports/$1/subsystems/$2"; }
port_remove() { rmdir "$NVMET/ports/$1"; }

_each() {
	local x
	for x; do compgen -G "$x"; done
	:
}

# target_teardown: everything, from the outside in, whatever there is
target_teardown() {
	local x
	[ -d $NVMET ] || return 0
	for x in $(_each "$NVMET/ports/*/subsystems/*"); do rm "$x"; done
	for x in $(_each "$NVMET/ports/*/referrals/*"); do rmdir "$x"; done
	# all but the first, which is nvmet's own
	for x in $(_each "$NVMET/ports/*/ana_groups/*"); do
		[ "${x##*/}" = 1 ] || rmdir "$x"
	done
	for x in $(_each "$NVMET/ports/*"); do rmdir "$x"; done
	for x in $(_each "$NVMET/subsystems/*/allowed_hosts/*"); do rm "$x"; done
	for x in $(_each "$NVMET/subsystems/*/namespaces/*"); do
		echo 0 > "$x/enable"
		rmdir "$x"
	done
	for x in $(_each "$NVMET/subsystems/*"); do rmdir "$x"; done
	for x in $(_each "$NVMET/hosts/*"); do rmdir "$x"; done
	x=$(_each "$NVMET/ports/*" "$NVMET/subsystems/*" "$NVMET/hosts/*")
	[ -z "$x" ] || { echo "still there: $x"; return 1; }
}

# simple_target NQN DEVICE [ADDRESS]: one namespace on one port, number 1
simple_target() {
	must "a target for $1 on $2" _simple_target "$@"
}

_simple_target() {
	subsys "$1" && namespace "$1" 1 "$2" &&
		port 1 "${3:-$MY_IP4}" && expose 1 "$1"
}

# listeners: how many addresses the RDMA stack listens on
listeners() {
	rdma resource show cm_id 2> /dev/null | grep -c 'state LISTEN'
}

listeners_are() { [ "$(listeners)" = "$1" ]; }

# rxe0_back LISTENERS: create rxe0 again; the target then listens at that many addresses
rxe0_back() {
	must "rxe0 is made anew" rdma link add rxe0 type rxe netdev eth0
	must_await 20 "rxe0 is active" rxe_ready rxe0
	check_await 30 "the target listens on $1 addresses" listeners_are "$1"
}

# What the target reports, and for files of target or host: key_sum KEY FILE...: the sum of the
# values of a key in these files
SHOWN=/sys/kernel/debug/nvmet_rdma
key_sum() {
	local key=$1
	shift
	sed -n "s/^$key //p" "$@" 2> /dev/null |
		awk '{ for (i = 1; i <= NF; i++) n += $i } END { printf "%.0f\n", n }'
}

# say_threads: before a target is taken down; tests/runner/scenario.py reads it
say_threads() {
	[ ! "${IO_THREADS-}" ] || echo "# I/O threads: $(key_sum rounds $SHOWN/threads/*) rounds"
}

# port_queues_are NUMBER: queues of port 1. A queue that ends is counted until
# nothing of it is left, and it does not count against any limit.
port_queues_are() { [ "$(key_sum queues $SHOWN/ports/1)" = "$1" ]; }
