# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The virtual RDMA NIC (tests/vrnic), and its own tests (tests/vrnic/test).

VRNIC=/sys/kernel/debug/vrnic
VRNIC_TEST=/sys/kernel/debug/vrnic_test

# vrnic_card NUMBER: the dummy card eth<number>, with addresses of a separate network
vrnic_card() {
	ip link add "eth$1" type dummy &&
		ip addr add "10.77.$1.1/24" dev "eth$1" &&
		ip addr add "fd7$1::1/64" dev "eth$1" nodad &&
		ip link set "eth$1" up
}

# vrnic_add NUMBER PARAMETER=VALUE...: vrnic<number> on that card
vrnic_add() {
	local p n=$1
	shift
	for p; do
		echo "${p#*=}" > "/sys/module/vrnic/parameters/${p%%=*}" || return 1
	done
	rdma link add "vrnic$n" type vrnic netdev "eth$n" &&
		await 20 rxe_ready "vrnic$n"
}

vrnic_del() { rdma link del "vrnic$1"; }
vrnic_gone() { gone "/sys/class/infiniband/vrnic$1" "$VRNIC/vrnic$1"; }

# vrnic_objects NUMBER: what there is of it, "qps N cqs N srqs N mrs N"
vrnic_objects() {
	grep -E "^(qps|cqs|srqs|mrs) " "$VRNIC/vrnic$1/counters" | tr '\n' ' '
}

# vrnic_counters_keep DEVICE: store the current counts, to be subtracted from then on
vrnic_counters_keep() { cp "$VRNIC/$1/counters" "/run/$1.counters"; }

# vrnic_counters_since DEVICE: counts since then: totals, and the lines of queues that are new
# or have changed
vrnic_counters_since() {
	awk 'NR == FNR { total[$1] = $2; line[$0]; next }
	     NF == 2 { print $1, $2 - total[$1]; next }
	     !($0 in line)' "/run/$1.counters" "$VRNIC/$1/counters"
}

# vrnic_counters_are DEVICE TEXT: the whole text since is this, '|' for line ends
vrnic_counters_are() {
	diff <(tr '|' '\n' <<< "${2%|}") <(vrnic_counters_since "$1")
}

# vrnic_load: the modules, and a shell that runs the commands that tests want
vrnic_load() {
	modprobe -a vrnic vrnic_test ib_uverbs || return 1
	: > /run/vrnic_test.said
	_vrnic_serve >> /run/vrnic_test.said 2> /dev/null &
	VRNIC_SERVER=$!
}

_vrnic_serve() {
	local command
	trap - EXIT
	while read -r command < $VRNIC_TEST/command; do
		eval "$command"
		echo $? > $VRNIC_TEST/answer
	done
}

# vrnic_unload: vrnic_test; vrnic stays
vrnic_unload() {
	kill $VRNIC_SERVER
	wait $VRNIC_SERVER
	rmmod vrnic_test
}

# vrnic_group GROUP DEVICE...: a group of tests; each of its checks is a check here
vrnic_group() {
	local line counted=
	step "$@"
	must "the group $1 runs" eval "echo $* > $VRNIC_TEST/run"
	while read -r line; do
		case $line in
		"ok - "*) pass "$1: ${line#ok - }" ;;
		"not ok - "*) fail "$1: ${line#not ok - }" ;;
		"# "*) echo "$line" ;;
		*" passed, "*" failed") counted=yes ;;
		esac
	done < $VRNIC_TEST/results
	sed 's/^/# /' /run/vrnic_test.said	# by commands that it wanted
	: > /run/vrnic_test.said
	equal "the group $1 came to its end" yes "$counted"
}
