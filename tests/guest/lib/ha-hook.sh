# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# nvmerdma-ha in one guest: both machines of DRBD are it.

export DM_DISABLE_UDEV=1	# nobody runs udev here
NQN=nqn.2026-01.test:ha
NS=$NVMET/subsystems/$NQN/namespaces/1
ANA=$NVMET/ports/1/ana_groups/2/ana_state

ha() { nvmerdma-ha "$@"; }
# fails WORDS COMMAND...: it fails, with these words
fails() {
	local words=$1
	shift
	! "$@" > /run/says 2>&1 || { echo "it succeeded"; return 1; }
	cat /run/says
	grep -q -- "$words" /run/says
}
# says WORDS COMMAND...: as fails, and the command leaves everything unchanged
says() {
	local before
	before=$(now)
	fails "$@" || return
	[ "$before" = "$(now)" ] || { echo "was: $before"; echo "is: $(now)"; return 1; }
}
# within SECONDS COMMAND...: it succeeds, in that time
within() {
	local limit=$(($1 * SLOW * 1000)) from ms
	begin from
	shift
	"$@" || return
	ms=$(ms_since "$from")
	echo "after $ms ms"
	[ "$ms" -lt "$limit" ]
}
# waiting WORDS COMMAND...: starts it in the background; it must not end within some seconds
waiting() {
	local words=$1
	shift
	"$@" > /run/waits 2>&1 &
	waits=$!
	nap 4
	check "$words" runs "$waits"
}
# waited: prints its output, and returns its status
waited() {
	wait "$waits"
	local rc=$?
	cat /run/waits
	return $rc
}
# now: ROLE TABLE ANA
now() {
	local line role='' table ana=''
	while read -r line; do
		[[ ! $line =~ ^0:.*\ ro:([A-Za-z]*)/ ]] || role=${BASH_REMATCH[1]}
	done 2> /dev/null < /proc/drbd
	read -r _ _ table _ < <(dmsetup table nvmerdma-r0 2> /dev/null)
	read -r ana 2> /dev/null < "$ANA"
	echo "$role $table $ana"
}
is() { [ "$(now)" = "$*" ] || { now; return 1; }; }
served() { is Primary linear optimized && ha status r0; }
stands_by() { is Secondary error inaccessible && { ha status r0; [ $? = 3 ]; }; }

# ---- two machines of DRBD in one: the other one is minor 1, and has its own configuration ----

resource() { # NAME MINOR [POLICY]
	cat <<- RES
	resource $1 {
		device    /dev/drbd$2;
		disk      /dev/nullb$2;
		meta-disk internal;
		net { protocol C; allow-two-primaries ${TWO:-no}; }
		disk { fencing ${3:-dont-care}; }
		handlers { fence-peer "/usr/local/sbin/fence-peer"; }
		$(ha_page_startup)
		on a { address 127.0.0.1:7788; }
		on b { address 127.0.0.2:7789; }
	}
	RES
}
# That of the recipe
ha_page_startup() { sed -n '/^\tstartup {$/,/^\t}$/p' "$HA_PAGE"; }
peer() { unshare --uts sh -c 'hostname b; exec drbdadm -c /run/peer.res "$@"' sh "$@"; }
up() { drbdadm up r0 && peer up peer && await 30 role_is Secondary/Secondary; }
role_is() { [ "$(drbdadm role r0)" = "$1" ]; }
dstate_is() { [ "$(drbdadm dstate r0)" = "$1" ]; }
policy() { resource r0 0 "$1" > /etc/drbd.d/r0.res && drbdadm adjust r0; }
drbd() {
	hostname a
	mkdir -p /run/lock /var/lib/drbd
	ip addr add 127.0.0.2/8 dev lo && ip link set lo up && memory_disk nullb0 12 &&
		memory_disk nullb1 12 && modprobe drbd && resource r0 0 > /etc/drbd.d/r0.res &&
		resource peer 1 > /run/peer.res && drbdadm create-md --force r0 &&
		peer create-md --force peer
}
alike() {
	drbdadm new-current-uuid --clear-bitmap r0 && await 30 dstate_is UpToDate/UpToDate
}
left() { peer disconnect peer && await 30 role_is "$1/Unknown"; }
back() { peer connect peer && drbdadm connect r0; await 60 dstate_is UpToDate/UpToDate; }

# ---- the export ----

export_disk() { # DEVICE
	subsys $NQN && mkdir $NS && echo "$1" > $NS/device_path && port 1 "$MY_IP4" &&
		mkdir ${ANA%/*} && echo inaccessible > $ANA && echo 2 > $NS/ana_grpid &&
		echo 1 > $NS/enable && expose 1 $NQN
}

# hook_there: the target's module looks for old responses each 150 s only
hook_there() {
	host_load
	wire_up
	must "the hook" install -m 755 "${HOOK:-$VM_REPO/tools/ha/nvmerdma-ha}" \
		/usr/local/sbin/nvmerdma-ha
	must "nvmet-rdma" modprobe nvmet-rdma response_tmo=600
	check_module nvmet-rdma
	must "DRBD's disks" drbd
}
hook_gone() {
	check "demoted" ha demote r0
	check "the target is taken down" target_teardown
	check "no table" dmsetup remove nvmerdma-r0
	check "DRBD is down" eval 'drbdadm down r0; peer down peer; rmmod drbd'
	all_down
}
