#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma-ha where things are not as they should be: DRBD not up or not connected, both primary, its device busy, the export gone, killed at each of its steps, two at a time; moved back and forth under I/O
# check:   none
# mem:     1024
# timeout: 900
. "$(dirname "$0")/lib.sh"
. "$GUEST_DIR/lib/ha.sh"

export DM_DISABLE_UDEV=1	# nobody runs udev here
NQN=nqn.2026-01.test:ha
NS=$NVMET/subsystems/$NQN/namespaces/1
ANA=$NVMET/ports/1/ana_groups/2/ana_state
STEPS=/run/steps

ha() { nvmerdma-ha "$@"; }
# says WORDS COMMAND...: it fails, with these words, and leaves all as it was
says() {
	local words=$1 before
	shift
	before=$(now)
	! "$@" > /run/says 2>&1 || { echo "it succeeded"; return 1; }
	cat /run/says
	grep -q -- "$words" /run/says || return 1
	[ "$before" = "$(now)" ] || { echo "was: $before"; echo "is: $(now)"; return 1; }
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
		on a { address 127.0.0.1:7788; }
		on b { address 127.0.0.2:7789; }
	}
	RES
}
peer() { unshare --uts sh -c 'hostname b; exec drbdadm -c /run/peer.res "$@"' sh "$@"; }
up() { drbdadm up r0 && peer up peer && await 30 role_is Secondary/Secondary; }
role_is() { [ "$(drbdadm role r0)" = "$1" ]; }
dstate_is() { [ "$(drbdadm dstate r0)" = "$1" ]; }
policy() { resource r0 0 "$1" > /etc/drbd.d/r0.res && drbdadm adjust r0; }
drbd() {
	hostname a
	mkdir -p /run/lock /var/lib/drbd
	ip addr add 127.0.0.2/8 dev lo && ip link set lo up && null_disk nullb0 12 &&
		null_disk nullb1 12 && modprobe drbd && resource r0 0 > /etc/drbd.d/r0.res &&
		resource peer 1 > /run/peer.res && drbdadm create-md --force r0 &&
		peer create-md --force peer
}
fence_says() {
	printf '#!/bin/sh\nexit %d\n' "$1" > /usr/local/sbin/fence-peer
	chmod +x /usr/local/sbin/fence-peer
}
left() { peer disconnect peer && await 30 role_is "$1/Unknown"; }
back() { peer connect peer && drbdadm connect r0; await 60 dstate_is UpToDate/UpToDate; }

# ---- the export ----

export_disk() { # DEVICE
	subsys $NQN && mkdir $NS && echo "$1" > $NS/device_path && port 1 "$MY_IP4" &&
		mkdir ${ANA%/*} && echo inaccessible > $ANA && echo 2 > $NS/ana_grpid &&
		echo 1 > $NS/enable && expose 1 $NQN
}

# ---- killed at each step ----

# stepped: programs that count the hook's steps, and end it before step $DIE
stepped() {
	local name
	mkdir -p /run/stepped
	for name in drbdadm drbdsetup dmsetup; do
		cat > /run/stepped/$name <<- SH
		#!/bin/sh
		n=\$((\$(cat $STEPS) + 1))
		echo \$n > $STEPS
		[ \$n != "\$DIE" ] || kill -9 0
		exec /usr/sbin/$name "\$@"
		SH
		chmod +x /run/stepped/$name
	done
}
# dies STEP WORD: whether it came so far
dies() {
	echo 0 > $STEPS
	DIE=$1 PATH=/run/stepped:$PATH setsid -w nvmerdma-ha "$2" r0
	[ $? = 137 ]
}
# never: what hosts may come to is served
never() { [ "$(cat $ANA)" != optimized ] || is Primary linear optimized; }
# killed WORD OPPOSITE STATE: before each step in turn; then the same word goes on, or its
# opposite takes it back
killed() {
	local n=1
	while dies $n "$1"; do
		never || { echo "$1, killed before step $n"; return 1; }
		((n % 2)) || { ha "$1" r0 && "$3"; } || { echo "$1 again, after step $n"; return 1; }
		ha "$2" r0 || { echo "$2 after step $n"; return 1; }
		n=$((n + 1))
	done
	STEPPED=$((n - 1))
	"$3"
}

moves() {
	local i
	for i in 1 2 3; do
		ha demote r0 && nap 0.5 && ha promote r0 && nap 0.5 || return 1
	done
}

host_load
wire_up
must "the hook" install -m 755 "${HOOK:-$VM_REPO/tools/ha/nvmerdma-ha}" /usr/local/sbin/nvmerdma-ha
must "nvmet-rdma" modprobe nvmet-rdma
check_module nvmet-rdma
must "DRBD's disks" drbd

step "words"
check "what it does not know" says usage ha move r0
check "nor --force there" says usage ha status r0 --force
check "all" says usage ha promote all
check "an option" says usage ha promote -d
check "no such resource" says "no such resource" ha promote r1

step "DRBD is not up"
check "not promoted" says "drbdadm up r0" ha promote r0
check "not prepared" says "drbdadm up r0" ha prepare r0
check "no status" says "drbdadm up r0" ha status r0
check "demoted it is" ha demote r0

step "not exported"
must "DRBD is up" up
must "with new disks" drbdadm new-current-uuid --clear-bitmap r0
must_await 30 "which are alike" dstate_is UpToDate/UpToDate
check "prepared" ha prepare r0
check "not promoted" says "no enabled namespace" ha promote r0
must "exported, by another name" export_disk /dev/dm-0
check "prepared again" ha prepare r0
check "stands by" stands_by
check "promoted" ha promote r0
check "served" served
check "demoted" ha demote r0
check "stands by" stands_by
echo 0 > $NS/enable
check "not enabled, not promoted" says "no enabled namespace" ha promote r0
echo /dev/mapper/nvmerdma-r0 > $NS/device_path
echo 1 > $NS/enable
check "another disk is in its ANA group" eval 'null_disk nullb2 4 && subsys nqn.2026-01.test:other &&
	namespace nqn.2026-01.test:other 1 /dev/nullb2 && expose 1 nqn.2026-01.test:other &&
	echo 2 > $NVMET/subsystems/nqn.2026-01.test:other/namespaces/1/ana_grpid'
check "which would go with it" says "group of its own" ha promote r0
check "not any more" eval 'conceal 1 nqn.2026-01.test:other'

step "served"
check "promoted" ha promote r0
check "again" ha promote r0
check "served" served
check "the peer stands by" says "the peer is primary\|Multiple primaries" peer primary peer
check "a table that was loaded and not taken" dmsetup reload nvmerdma-r0 --table "0 8 error"
check "promoted again" ha promote r0
check "it is gone" eval '[ -z "$(dmsetup table --inactive nvmerdma-r0)" ]'
check "a table that stands" dmsetup suspend nvmerdma-r0
check "promoted again" timeout 30 nvmerdma-ha promote r0
check "does not" eval 'dmsetup info -c --noheadings -o suspended nvmerdma-r0 | grep -q Active'
check "disabled meanwhile" eval 'echo 0 > $NS/enable'
check "demoted" ha demote r0
check "will not be optimized when it is enabled" eval 'echo 1 > $NS/enable && stands_by'

step "busy"
check "promoted" ha promote r0
sleep 3 < /dev/drbd0 &
check "somebody has DRBD's device open for three seconds" ha demote r0
check "stands by" stands_by
check "promoted" ha promote r0
sleep 600 < /dev/drbd0 &
holder=$!
check "and for long: not demoted" eval '! ha demote r0 2> /run/says && cat /run/says && grep -q "held open" /run/says'
check "but not served" is Primary error inaccessible
check "which is neither" eval 'ha status r0; [ $? = 1 ]'
kill $holder
check "demoted again" ha demote r0
check "stands by" stands_by

step "the export is gone"
check "promoted" ha promote r0
check "nobody exports" target_teardown
check "demoted" ha demote r0
check "nothing is served" eval 'is Secondary error ""'
check "not promoted" says "no enabled namespace" ha promote r0
check "exported" export_disk /dev/mapper/nvmerdma-r0
check "no ANA group, demoted" eval 'echo 3 > $NS/ana_grpid && ha demote r0'
check "not promoted" eval '! ha promote r0 && echo 2 > $NS/ana_grpid && ha demote r0'
check "stands by" stands_by

step "two at a time"
twice() { ha "$1" r0 & ha "$2" r0; rc=$?; wait $! && return $rc; }
check "promoted twice" twice promote promote
check "served" served
check "demoted twice" twice demote demote
check "stands by" stands_by
check "both" twice promote demote
check "one is true" eval 'served || stands_by'
check "demoted" ha demote r0

step "killed"
stepped
check "promote at each step" killed promote demote served
check "they were some" at_least 6 "${STEPPED-0}"
check "demote at each step" killed demote promote stands_by
check "they were some" at_least 6 "${STEPPED-0}"

step "the peer"
check "is primary" peer primary peer
check "not promoted" says "the peer is primary" ha promote r0
check "nor by force" says "the peer is primary" ha promote r0 --force
TWO=yes
check "two may be" eval 'resource peer 1 > /run/peer.res && peer adjust peer && policy dont-care'
check "both are" drbdadm primary r0
check "not promoted" says "both machines are primary" ha promote r0
check "neither" eval 'ha status r0; [ $? = 1 ]'
check "demoted" ha demote r0
check "stands by" stands_by
check "the peer is not" peer secondary peer
TWO=no
check "one may be" eval 'resource peer 1 > /run/peer.res && peer adjust peer && policy dont-care'
check "is not heard of" left Secondary
check "nobody knows" says "does not hear of the peer" ha promote r0
fence_says 1
check "a fencing policy" policy resource-and-stonith
check "which says no" says "fence-peer" ha promote r0
fence_says 7
check "which says yes" ha promote r0
check "served" served
check "goes on when the peer is back" eval 'back && served && ha demote r0'
check "no fencing policy" policy dont-care
check "is not heard of again" left Secondary
check "by force" ha promote r0 --force
check "served" served
check "stands by, and the peer is back" eval 'ha demote r0 && back'
check "is not heard of, has newer data" eval 'left Secondary && drbdadm outdate r0'
check "not promoted" says "Outdated" ha promote r0
check "the peer is back" back
check "amid a resync" eval 'drbdadm pause-sync r0 && drbdadm invalidate r0'
check "not even by force" says "Inconsistent" ha promote r0 --force
check "it ends" eval 'drbdadm resume-sync r0 && await 60 dstate_is UpToDate/UpToDate'

step "moved under I/O"
check "promoted" ha promote r0
must "connect" connect $NQN "$MY_IP4" 4420
get_disk $NQN 1
ha_io
check "three times back and forth" moves
ha_io_end ha-hook-moves

step "the end"
check "disconnect" disconnect $NQN
check "demoted" ha demote r0
check "the target is taken down" target_teardown
check "no table" dmsetup remove nvmerdma-r0
check "DRBD is down" eval 'drbdadm down r0; peer down peer; rmmod drbd'
all_down
finish
