# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Modules, and what must be gone at the end.

# resources: what the RDMA stack holds, in the shape "pd N qp N ...". The CQs of
# the device's common pool stay until the device goes, so they are not counted:
# all_down takes the device away, which shows that nobody keeps them.
resources() {
	rdma resource show rxe0 | sed 's/.*rxe0: //;s/cq [0-9]* //;s/ *$//'
}

remember_resources() { RESOURCES=$(resources); }
resources_back() { [ "$(resources)" = "$RESOURCES" ]; }

module_loaded() { [ -d "/sys/module/$1" ]; }
module_idle() { [ "$(cat "/sys/module/$1/refcnt")" = 0 ]; }

# is_ours MODULE: whether an installation of ours is what modprobe finds
is_ours() {
	case $(modinfo -n "$1") in */updates/*) ;; *) return 1 ;; esac
}

# check_module MODULE: what is loaded is what modprobe finds; says whose it is
check_module() {
	local name=${1//-/_} file want got whose=in-tree
	file=$(modinfo -n "$1") || { fail "no module $1"; return 1; }
	is_ours "$1" && whose=ours
	want=$(modinfo -F srcversion "$1")
	got=$(cat "/sys/module/$name/srcversion" 2> /dev/null)
	equal "$1 is $whose: srcversion of $file" "$want" "$got"
}

# unload MODULE: modprobe -r, which has to succeed
unload() {
	local m
	for m; do
		module_loaded "${m//-/_}" || continue
		check "module $m can be unloaded" modprobe -r "$m"
	done
}

_no_kmemleak() {
	local k=/sys/kernel/debug/kmemleak
	[ -e $k ] || return 0
	echo scan > $k && [ ! -s $k ] || { cat $k; return 1; }
}

# nothing_left: no controller, no target, no verbs object, no reference
nothing_left() {
	check_await 20 "no controller is left" no_controllers
	if ! check_await 20 "no RDMA object is left ($RESOURCES)" resources_back
	then
		rdma resource show
		rdma resource show qp
		rdma resource show cm_id
	fi
	local m
	for m in nvme_rdma nvmet_rdma; do
		module_loaded $m || continue
		check_await 20 "nobody holds $m" module_idle $m
	done
	[ ! -e /sys/kernel/debug/kmemleak ] ||
		check "kmemleak finds nothing" _no_kmemleak
}

# all_down: disconnect, tear down the target, look, unload both modules
all_down() {
	step "down"
	disconnect_all > /dev/null 2>&1
	if [ -d $NVMET ]; then
		check "the target is taken down" target_teardown
		equal "nobody listens" 0 "$(listeners)"
	fi
	nothing_left
	unload nvme-rdma nvmet-rdma
	check "rxe0 can be taken away" timeout 30 rdma link delete rxe0
	_no_kmemleak || fail "kmemleak after unloading"
}
