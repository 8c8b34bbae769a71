# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Modules, and the resources that must be released at the end.

# resources: what the RDMA stack holds, in the shape "pd N qp N ...". The CQs of
# the device's common pool stay until the device goes, so only those of the transports'
# own are counted: all_down takes the device away, which shows that nobody keeps them.
resources() {
	echo "$(rdma resource show "$RDMA_DEV" |
		sed "s/.*$RDMA_DEV: //;s/cq [0-9]* //;s/ *$//")" \
		"cq $(rdma resource show cq | grep -c "dev $RDMA_DEV .*\[nvmet*_rdma\]")"
}

# remember_resources [MOMENT], and whether it is as it was then; wire_up remembers
# what there is before anything is loaded, the moment without a name.
declare -A RESOURCES
remember_resources() { RESOURCES[${1:-start}]=$(resources); }
resources_back() { [ "$(resources)" = "${RESOURCES[${1:-start}]}" ]; }

# slab_kib: the kernel's own memory, without memory that it would release at once, without freed
# objects that KASAN keeps until their cache is shrunk, and without 14 KiB of each task, because
# idle workers stay for minutes
slab_kib() {
	local s
	echo 3 > /proc/sys/vm/drop_caches
	for s in /sys/kernel/slab/kmalloc-*/shrink; do
		[ ! -w "$s" ] || echo 1 > "$s"
	done
	awk 'FILENAME == "/proc/loadavg" { split($4, tasks, "/") }
		/^SUnreclaim/ { print $2 - 14 * tasks[2] }' /proc/loadavg /proc/meminfo
}

# remember_slab: store the current size; slab_back KIB: check that it has grown by no more than
# KIB, and print the caches that have grown
remember_slab() { SLAB=$(slab_kib) && cat /proc/slabinfo > /run/slabinfo; }
slab_back() {
	SLAB_GROWN=$(($(slab_kib) - SLAB))
	[ $SLAB_GROWN -le "$1" ] || {
		awk 'NR == FNR { was[$1] = $3 * $4; next }
			$3 * $4 - was[$1] > 65536 { print $1, ($3 * $4 - was[$1]) / 1024 " KiB" }' \
			/run/slabinfo /proc/slabinfo
		return 1
	}
}

module_loaded() { [ -d "/sys/module/$1" ]; }
module_idle() { [ "$(cat "/sys/module/$1/refcnt")" = 0 ]; }

# is_ours MODULE: whether an installation of ours is what modprobe finds
is_ours() {
	case $(modinfo -n "$1") in */updates/*) ;; *) return 1 ;; esac
}

# judge WORDS COMMAND...: a check of ours, of in-tree modules only told
judge() {
	local words=$1 rc
	is_ours nvme-rdma && { check "$@"; return; }
	shift
	"$@" > "$CHECK_OUT" 2>&1
	rc=$?
	echo "in-tree: $words: status $rc"
	return $rc
}

# check_module MODULE: the loaded module is the expected one. WANT_<module>, set when the guest
# was started, is the directory of our modules, or 'in-tree'; srcversion identifies the build.
# Without it, in a run by hand, modprobe's choice is expected.
check_module() {
	local name=${1//-/_} file var whose want
	var=WANT_$name
	case ${!var-} in
	"") file=$(modinfo -n "$1") whose="what modprobe finds" ;;
	in-tree)
		file=$(echo "/lib/modules/$VM_KVER/kernel/drivers/nvme/"*"/$1.ko"*)
		whose=in-tree ;;
	*) file=${!var}/$1.ko whose=ours ;;
	esac
	[ -e "$file" ] || { fail "no module $1 in '$file'"; return 1; }
	want=$(modinfo -F srcversion "$file")
	if [ -z "$want" ]; then
		# Debian's own modules carry none; ours always do.
		case $file in
		*/kernel/*) check "$1 is $whose, without a srcversion: $file" \
			gone "/sys/module/$name/srcversion" ;;
		*) fail "$file has no srcversion" ;;
		esac
		return
	fi
	equal "$1 is $whose: srcversion of $file" "$want" \
		"$(cat "/sys/module/$name/srcversion" 2>&1)"
}

# unload MODULE: modprobe -r, which has to succeed
unload() {
	local m
	for m; do
		module_loaded "${m//-/_}" || continue
		check "module $m can be unloaded" modprobe -r "$m"
	done
}

# KNOWN_LEAKS: a regular expression of a scenario; a leak with a match in its backtrace is not
# ours. A finding that is new since the last scan, or less than 5 s old, may still be in use,
# and counts only at the next scan.
_no_kmemleak() {
	local k=/sys/kernel/debug/kmemleak leaks
	[ -e $k ] || return 0
	echo scan > $k && nap 6 && echo scan > $k || return 1
	leaks=$(awk -v known="${KNOWN_LEAKS:-^$}" 'BEGIN { RS = "unreferenced object " }
		NR > 1 && $0 !~ known { print RS $0 }' $k)
	[ -z "$leaks" ] || { echo "$leaks"; return 1; }
}

# shown: controllers, queues and ports that ours show now. Hosts are left out: what
# one had is kept for the next time.
shown() {
	find /sys/kernel/debug/nvme_rdma /sys/kernel/debug/nvmet_rdma/{queues,ports} \
		-mindepth 1 2> /dev/null
}
_shows_nothing() { [ -z "$(shown)" ] || { shown; return 1; }; }

# nothing_left: no controller, no target, no verbs object, no reference
nothing_left() {
	check_await 60 "no controller is left" no_controllers
	check_await 60 "debugfs shows none, and no queue nor port" _shows_nothing
	if ! check_await 60 "no RDMA object is left (${RESOURCES[start]})" resources_back
	then
		rdma resource show
		rdma resource show qp
		rdma resource show cm_id
	fi
	local m
	for m in nvme_rdma nvmet_rdma; do
		module_loaded $m || continue
		check_await 60 "nobody holds $m" module_idle $m
	done
	no_leak "kmemleak finds nothing"
}

# no_leak WORDS: a check, where the kernel looks for leaks
no_leak() {
	[ ! -e /sys/kernel/debug/kmemleak ] || check "$1" _no_kmemleak
}

# begin_anew: everything is removed, and both modules may be loaded with other parameters
begin_anew() {
	disconnect_all > /dev/null 2>&1
	say_threads
	check "the target is taken down" target_teardown
	check_await 30 "no RDMA object is left" resources_back
	unload nvme-rdma nvmet-rdma
	modprobe nvme-fabrics	# which went with nvme-rdma
}

# all_down: disconnect, tear down the target, look, unload both modules
all_down() {
	step "down"
	disconnect_all > /dev/null 2>&1
	say_threads
	if [ -d $NVMET ]; then
		check "the target is taken down" target_teardown
		equal "nobody listens" 0 "$(listeners)"
	fi
	nothing_left
	unload nvme-rdma nvmet-rdma
	check "nothing is left of what they showed" \
		gone /sys/kernel/debug/nvme_rdma /sys/kernel/debug/nvmet_rdma
	count_resent
	check "$RDMA_DEV can be taken away" timeout 90 rdma link delete "$RDMA_DEV"
	no_leak "nor after unloading"
}
