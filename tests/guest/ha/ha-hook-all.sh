#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma-ha in abnormal states: peer unreachable with and without fencing, DRBD frozen, both primary, device busy, export missing, killed at each step, two calls at a time; moves under I/O; the recipe's unit and keepalived
# check:   none
# mem:     1024
# timeout: 1500
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/ha.sh"
. "$GUEST_DIR/lib/nvmerdma.sh"
. "$GUEST_DIR/lib/ha-hook.sh"

STEPS=/run/steps

# The recipe's handler asks this of the machine's switch
fence_says() {
	printf '#!/bin/sh\nexit %d\n' "$1" > /usr/local/sbin/switch-off
	chmod +x /usr/local/sbin/switch-off
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
# dies STEP WORD: whether the command reached that step
dies() {
	echo 0 > $STEPS
	DIE=$1 PATH=/run/stepped:$PATH setsid -w nvmerdma-ha "$2" r0
	[ $? = 137 ]
}
# never: what hosts may come to is served
never() { [ "$(cat $ANA)" != optimized ] || is Primary linear optimized; }
# killed WORD OPPOSITE STATE: killed before each step in turn; then the same command continues,
# or its opposite undoes it
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

# a copy of the hook that waits less
short() { # NAME=SECONDS...
	local edit=()
	for edit; do printf 's/^%s=.*/%s/\n' "${edit%=*}" "$edit"; done > /run/edits
	sed -f /run/edits /usr/local/sbin/nvmerdma-ha > /run/nvmerdma-ha &&
		chmod +x /run/nvmerdma-ha
}

# unit KEY [FILE]: runs the commands of that key in the recipe's unit
UNIT=/etc/systemd/system/nvmerdma-ha@.service
unit() { sed -n "s/^$1=//p" "${2-$UNIT}" | sed 's/%i/r0/g' | bash -eux; }
# notified STATE: the same of keepalived's configuration
notified() {
	sed -n "s/^[[:space:]]*notify_$1 \"\(.*\)\"\$/\1/p" /etc/keepalived/keepalived.conf | bash -eux
}

# discards: the peer discards its writes that the forcibly promoted disk does not have
discards() {
	peer disconnect peer
	drbdadm disconnect r0
	peer connect --discard-my-data peer && drbdadm connect r0 &&
		await 60 dstate_is UpToDate/UpToDate
}
# begins PROGRAM LINE: under instead(), PROGRAM first runs LINE
begins() {
	mkdir -p /run/instead
	printf '#!/bin/sh\n%s\nexec /usr/sbin/%s "$@"\n' "$2" "$1" > "/run/instead/$1"
	chmod +x "/run/instead/$1"
}
instead() { PATH=/run/instead:$PATH "$@"; }
# log: what comes to the system's log
log() {
	python3 -u -c "
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('/dev/log')
while True: print(s.recv(4096).decode(errors='replace'))" > /run/syslog &
	LOG=$!
	await 60 test -S /dev/log
}
# at_work: an I/O queue has a command
at_work() {
	local q=/sys/kernel/debug/nvmet_rdma/queues
	grep -lE '^qid [1-9]' $q/* | xargs grep -qE '^outstanding [1-9]'
}

hook_there

step "words"
check "--force is not for all" says usage ha status r0 --force
check "nor --wait" says usage ha demote r0 --wait 5
check "for how long" says usage ha promote r0 --wait
check "an option" says usage ha promote -d

step "not exported"
must "DRBD is up" up
must "with disks of which one has data" recipe drbd-data
must_await 60 "which the other one gets" dstate_is UpToDate/UpToDate
check "prepared" ha prepare r0
check "not promoted" says "no enabled namespace" ha promote r0
waiting "it may be exported yet" ha promote r0 --wait 120
must "exported, by another name" export_disk /dev/dm-0
check "and is promoted then" waited
check "served" served
check "demoted" ha demote r0
check "prepared again" ha prepare r0
check "promoted" ha promote r0
check "served" served
check "demoted" ha demote r0
check "stands by" stands_by
echo 0 > $NS/enable
check "not enabled, not promoted" says "no enabled namespace" ha promote r0
echo /dev/mapper/nvmerdma-r0 > $NS/device_path
echo 1 > $NS/enable
check "another disk is in its ANA group" eval 'memory_disk nullb2 4 && subsys nqn.2026-01.test:other &&
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

step "two that wait for a third"
# locked: another process, $holder, holds the lock
locked() {
	{ flock 9 && exec sleep 600; } 9<> /run/nvmerdma-r0.lock &
	holder=$!
}
said_last() { grep -qx "$1 *" /run/nvmerdma-r0.lock; }
# queued FIRST SECOND: called in that order while the lock is held; the second one takes effect
queued() {
	locked
	ha "$1" r0 > /run/first 2>&1 &
	first=$!
	check_await 20 "$1 waits" said_last "$1"
	ha "$2" r0 > /run/second 2>&1 &
	second=$!
	check_await 20 "$2 waits" said_last "$2"
	kill $holder
	check "$1 gives up" eval '! wait $first; cat /run/first; grep "cancelled by a later" /run/first'
	check "$2 is done" eval 'wait $second; rc=$?; cat /run/second; [ $rc = 0 ]'
}
queued promote demote
check "stands by" stands_by
queued demote promote
check "served" served
check "demoted" ha demote r0
locked
short TURN=2
check "one that hangs does not hold up others for ever" says "another nvmerdma-ha has held the lock" /run/nvmerdma-ha demote r0
waiting "it waits" /run/nvmerdma-ha promote r0 --wait 120
kill $holder
check "nor a promote that waits" waited
check "served" served
check "demoted" ha demote r0
check "the peer is primary" peer primary peer
waiting "promote waits for the peer" ha promote r0 --wait 60
check "demoted meanwhile" ha demote r0
check "which is not primary any more" peer secondary peer
check "promote gives up" eval '! waited && grep "cancelled by a later" /run/waits'
check "stands by" stands_by

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
check "the recipe's handler" recipe drbd-fence-peer
check "is not heard of" left Secondary
check "nobody knows" says "DRBD cannot reach the peer" ha promote r0
fence_says 0
check "a fencing policy that does not stop the primary" policy resource-only
check "is none" says "no fencing policy resource-and-stonith" ha promote r0
fence_says 1
check "the one that does" policy resource-and-stonith
check "which says no" says "fence-peer" ha promote r0
fence_says 0
check "which says yes" ha promote r0
check "served" served
check "goes on when the peer is back" eval 'back && served && ha demote r0'
fence_says 1
check "is not heard of again" left Secondary
waiting "promote waits for its handler" ha promote r0 --wait 60
fence_says 0
check "which says yes then" waited
check "served" served
check "stands by" ha demote r0
check "promoted again, and nobody need ask" eval 'fence_says 1; ha promote r0 && served'
check "demoted" ha demote r0
rm /run/nvmerdma-r0.alone
check "after a boot it is no more known who served last" says "would not ask fence-peer" ha promote r0
check "the peer is back" back
check "booted alone" eval 'peer down peer; drbdadm down r0 && drbdadm up r0'
check_await 10 "it may be old" dstate_is Consistent/DUnknown
check "DRBD's start does not wait for ever" within 60 command timeout 120 drbdadm wait-con-int
check "not promoted, though the peer is off" says "the disk is Consistent" ha promote r0
check "by force" ha promote r0 --force
check "served" served
check "stands by" ha demote r0
check "the peer is back, with data of its own to DRBD" eval 'peer up peer; nap 2;
	drbdadm disconnect r0; drbdadm connect r0; nap 2; drbdadm disconnect r0; :'
check "which of the two it is, only a person knows" says "StandAlone" ha promote r0
check "who has the other one give up its own" discards
check "no fencing policy" policy dont-care
check "is not heard of again" left Secondary
check "by force" ha promote r0 --force
check "served" served
check "stands by, and the peer is back" eval 'ha demote r0 && back'
check "is not heard of, has newer data" eval 'left Secondary && drbdadm outdate r0'
check "not promoted" says "Outdated" ha promote r0
check "by force" ha promote r0 --force
check "served" served
check "stands by, and the peer is back" eval 'ha demote r0 && discards'
check "amid a resync" eval 'drbdadm pause-sync r0 && drbdadm invalidate r0'
check "not even by force" says "Inconsistent" ha promote r0 --force
waiting "it may end" ha promote r0 --wait 120
check "it ends" eval 'drbdadm resume-sync r0 && await 60 dstate_is UpToDate/UpToDate'
check "and it is promoted then" waited
check "served" served
check "stands by" ha demote r0

step "the peer goes while this one serves"
check "fencing" policy resource-and-stonith
fence_says 0
check "promoted while the peer is there" ha promote r0
check "it goes" left Primary
check_await 20 "DRBD gives its disk up" dstate_is UpToDate/Outdated
check "demoted" ha demote r0
fence_says 1
check "promoted again, and nobody need ask" ha promote r0
check "served" served
check "demoted when the peer is back" eval 'back && ha demote r0'
check "it has to be asked again" eval 'left Secondary && says "fence-peer" ha promote r0'

step "somebody has DRBD's device open just when it is to be served"
begins dmsetup '[ "$1" != reload ] || ! rm /run/busy 2> /dev/null || exit 1'
fence_says 0
touch /run/busy
check "not promoted" instead says "cannot switch .* to DRBD's disk" ha promote r0
fence_says 1
touch /run/busy
check "tried again, and nobody need ask" instead ha promote r0 --wait 60
check "served" served
check "demoted, and the peer is back" eval 'ha demote r0 && back'

step "killed while fence-peer is asked"
check "the peer goes" left Secondary
fence_says 0
sed -i '1a touch /run/asked; sleep 15' /usr/local/sbin/switch-off
setsid nvmerdma-ha promote r0 &
promoter=$!
check_await 30 "fence-peer is asked" test -e /run/asked
check "promote is killed" kill -9 -- -$promoter
check "demoted" ha demote r0
nap 20
check "which it still is when fence-peer has answered" stands_by
check "the peer is back" back

step "outdated, until the peer is back"
check "is not heard of, has newer data" eval 'left Secondary && drbdadm outdate r0'
check "not promoted" says "Outdated" ha promote r0
waiting "it waits" ha promote r0 --wait 120
check "the peer is back" back
check "promoted then" waited
check "served" served
check "demoted" ha demote r0

step "promoted as soon as the peer is not primary any more"
check "the peer is" peer primary peer
short AGAIN=300
waiting "it waits" /run/nvmerdma-ha promote r0 --wait 600
check "not any more" peer secondary peer
check_await 30 "served" served
check "demoted" ha demote r0

step "DRBD has neither disk nor peer"
check "as it begins" eval 'drbdadm disconnect r0 && drbdadm detach r0 &&
	grep "^ *0: cs:Unconfigured" /proc/drbd'
check "demoted it is" ha demote r0
check "stands by" eval 'ha status r0; [ $? = 3 ]'
check "not promoted" says "Diskless" ha promote r0
check "not there at all, and another one is primary" eval 'drbdadm down r0 && peer primary peer'
check "demoted it is" ha demote r0
check "as before" eval 'peer secondary peer && drbdadm up r0 && policy dont-care &&
	await 60 dstate_is UpToDate/UpToDate'

step "moved under I/O"
check "promoted" ha promote r0
must "connect" connect $NQN "$MY_IP4" 4420
get_disk $NQN 1
ha_io
check "three times back and forth" moves
ha_io_end ha-hook-moves

step "DRBD is frozen"
check "it stops" drbdadm suspend-io r0
dd if=/dev/zero of="$DISK" bs=4096 count=1 oflag=direct status=none &
writer=$!
check_await 10 "a write is under way" at_work
short DRAIN=2 CHANGE=2
check "not demoted" fails "commands of hosts are outstanding" /run/nvmerdma-ha demote r0
check "but not served" is Primary linear inaccessible
check "nor by force, and it does not hang" within 20 fails "do not end" \
	/run/nvmerdma-ha demote r0 --force
check "but not served" is Primary linear inaccessible
check "no table is left standing" eval \
	'dmsetup info -c --noheadings -o suspended nvmerdma-r0 | grep -q Active'
check "it goes on" drbdadm resume-io r0
check "demoted" ha demote r0
check "stands by" stands_by
check "the write has succeeded" wait $writer

step "DRBD's program is not there"
check "promoted" ha promote r0
mv /usr/sbin/drbdsetup /run/
check "not demoted" fails "inaccessible to hosts" ha demote r0
check "but not served" is Primary error inaccessible
mv /run/drbdsetup /usr/sbin/
begins drbdsetup '[ "$1" != show ] || exit 20'
check "nor where it does not tell" instead fails "may be primary" ha demote r0
check "demoted" ha demote r0
check "disconnect" disconnect $NQN

step "LVM of the target"
check "leaves hosts' volumes alone" eval 'recipe drbd-lvm &&
	fails filter pvcreate -y /dev/mapper/nvmerdma-r0'

step "the recipe's unit"
check "is one" eval 'recipe drbd-unit && systemd-analyze verify nvmerdma-ha@r0.service'
# no systemd runs here, to start anything
systemctl() { command systemctl "${@/#--now/--no-reload}"; }
export -f systemctl
check "is enabled" recipe drbd-enable
check "another disk is exported" eval 'subsys nqn.2026-01.test:other &&
	namespace nqn.2026-01.test:other 1 /dev/nullb2 && expose 1 nqn.2026-01.test:other'
check "its start" unit ExecStart
check "promoted" ha promote r0
check "saved while it is served" nvmerdma save
check "as that" grep -q optimized /etc/nvmet/config.json
check "down, as at a shutdown" eval 'unit ExecStop && stands_by && nvmerdma unexport --all --force &&
	dmsetup remove nvmerdma-r0 && drbdadm down r0'
check "its start, DRBD not up" eval '! unit ExecStart'
nvmerdma restore --late > /run/late 2>&1 &
late=$!
check_await 60 "all else is exported" grep -qx 1 \
	$NVMET/subsystems/nqn.2026-01.test:other/namespaces/1/enable
check "its start, DRBD up" eval 'drbdadm up r0 && await 60 dstate_is UpToDate/UpToDate &&
	unit ExecStart'
check_await 30 "exported then" grep -qx 1 $NS/enable
check "stands by" stands_by
check "nobody waits for anything" wait $late
check "promoted" ha promote r0
check "restored what was saved" nvmerdma restore
check "served" served
check "demoted" unit ExecStop
check "restored what was saved" nvmerdma restore
check "stands by" stands_by

step "keepalived"
check "its configuration" eval 'recipe drbd-a drbd-keepalived && keepalived --config-test'
check "the system's log" log
check "the peer is primary" peer primary peer
keepalived -n -D -l > /run/keepalived 2>&1 &
keepalived=$!
check_await 60 "what its promote waits for is in the log" \
	grep "nvmerdma-ha: .*the peer is primary" /run/syslog
check "not any more" peer secondary peer
check_await 60 "has it promoted" served
check_await 10 "which is in the log" grep "nvmerdma-ha: .*: active" /run/syslog
kill $LOG
check "it ends" eval 'kill $keepalived; wait $keepalived; unit ExecStopPost \
	/etc/systemd/system/keepalived.service.d/nvmerdma-ha.conf'
check "has it demoted" stands_by
check "each of its calls" eval 'notified master && served && notified backup && stands_by &&
	notified master && notified fault && stands_by'

step "the end"
hook_gone
finish
