#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   features: reconnect_delay, ctrl_loss_tmo (also -1 and 0), fast_io_fail_tmo, keep_alive_tmo; changes through sysfs while connected
# check:   none
# timeout: 400
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:timers
host_load
wire_up
must "a disk" memory_disk nullb0 64
simple_target $N /dev/nullb0

away() { state_is "$CTRL" connecting; }

# port_closes: the host's connections end, and its reconnect is refused
port_closes() {
	mark
	check "the port closes" conceal 1 $N
}
port_opens() { check "the port opens" expose 1 $N; }

# attempts: seconds at which the kernel said that one has failed
attempts() {
	_log_since_mark |
		sed -n 's/^\[ *\([0-9.]*\)\] .*attempt [0-9]* .*to reconnect failed.*/\1/p'
}
attempts_are() { [ "$(attempts | wc -l)" -ge "$1" ]; }

# apart LEAST MOST: no two attempts are nearer, or farther from each other
apart() {
	attempts | awk -v least="$1" -v most="$2" '
		NR > 1 && ($1 - last < least || $1 - last > most) {
			print $1 - last " s between attempts"
			bad = 1
		}
		{ last = $1 }
		END { exit bad || NR < 2 }'
}

step "reconnect_delay of 2 s, ctrl_loss_tmo of 6 s: three attempts"
must "connect" connect $N "$MY_IP4" 4420 -i 1 -c 2 -l 6
equal "reconnect_delay, ctrl_loss_tmo" "2 6" \
	"$(ctrl_attr reconnect_delay) $(ctrl_attr ctrl_loss_tmo)"
port_closes
check_await 20 "the host tries to come back" away
check_await 60 "and gives up" no_controllers $N
equal "after three attempts" 3 "$(attempts | wc -l)"
check "two seconds apart" apart 1.9 8
said 5 "the kernel's words" "nvme $CTRL: .*removing the controller"
port_opens

step "a controller that says Do Not Retry"
S=$NVMET/subsystems/$N
must "this host is known" mkdir "$NVMET/hosts/$HOSTNQN"
# not_allowed_again CTRL_LOSS_TMO: this host connects, and is reset when it may not any more
not_allowed_again() {
	must "only who is named is allowed" _put "$S/attr_allow_any_host" 0
	must "this host is" ln -s "$NVMET/hosts/$HOSTNQN" "$S/allowed_hosts/$HOSTNQN"
	must "connect" connect $N "$MY_IP4" 4420 -i 1 -c 1 -l "$1"
	mark
	check "it is not any more" rm "$S/allowed_hosts/$HOSTNQN"
	_put "/sys/class/nvme/$CTRL/reset_controller" 1 > /dev/null 2>&1
}
not_allowed_again 600
said 20 "the kernel's words" "nvme $CTRL: the connection was rejected .*the controller set Do Not Retry.*; retrying in 1 s"
said 20 "again, after a longer pause" "nvme $CTRL: the connection was rejected .*; retrying in [2-4] s"
equal "ctrl_loss_tmo is far, so the controller is there" connecting "$(state_of "$CTRL")"
must "all are allowed again" _put "$S/attr_allow_any_host" 1
check_await 30 "the host is back" state_is "$CTRL" live
check "disconnect" disconnect $N

step "the same, and ctrl_loss_tmo of 4 s"
not_allowed_again 4
begin from
check_await 30 "the host gives up" no_controllers $N
check "when ctrl_loss_tmo is over" at_most 12000 "$(ms_since "$from")"
said 5 "the kernel's words" "nvme $CTRL: not reconnecting after [0-9]* attempts \(ctrl_loss_tmo\)"
must "all are allowed again" _put "$S/attr_allow_any_host" 1

step "ctrl_loss_tmo of 0: not one attempt"
must "connect" connect $N "$MY_IP4" 4420 -i 1 -c 1 -l 0
equal "ctrl_loss_tmo" 0 "$(ctrl_attr ctrl_loss_tmo)"
port_closes
check_await 30 "the host gives up" no_controllers $N
equal "attempts" 0 "$(attempts | wc -l)"
port_opens

step "ctrl_loss_tmo of -1: for ever; I/O waits and is not lost"
must "connect" connect $N "$MY_IP4" 4420 -i 1 -c 1 -l -1
equal "ctrl_loss_tmo" off "$(ctrl_attr ctrl_loss_tmo)"
get_disk $N 1
must "I/O" io_start "$DISK"
port_closes
check_await 60 "four attempts" attempts_are 4
check "the host is at it" away
port_opens
check_await 20 "the host is back" state_is "$CTRL" live
check_await 20 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
check "disconnect" disconnect $N

step "fast_io_fail_tmo of 2 s: I/O fails, the controller stays"
must "connect" fabrics "traddr=$MY_IP4,nqn=$N,reconnect_delay=1,ctrl_loss_tmo=600,fast_io_fail_tmo=2"
equal "fast_io_fail_tmo" 2 "$(ctrl_attr fast_io_fail_tmo)"
get_disk $N 1
must "I/O" io_start "$DISK"
port_closes
check_await 20 "the host tries to come back" away
begin from
clock=$SECONDS
check "fio saw the errors" io_errors
ms=$(ms_since "$from")
check "not before two seconds, nor much later: $ms ms" \
	[ $((SECONDS - clock)) -ge 1 -a "$ms" -le $((20000 * SLOW)) ]
check "the controller is still reconnecting" away
check "the disk is still there" has_disk $N 1
refuse 10 "I/O fails at once" dd if="$DISK" of=/dev/null bs=4096 count=1 iflag=direct
port_opens
check_await 20 "the host is back" state_is "$CTRL" live
check "I/O works" round_trip "$DISK" 65536

step "changed in sysfs while the controller lives"
sys=/sys/class/nvme/$CTRL
check "fast_io_fail_tmo off" _put "$sys/fast_io_fail_tmo" -1
equal "it is" off "$(ctrl_attr fast_io_fail_tmo)"
check "reconnect_delay of 3 s" _put "$sys/reconnect_delay" 3
port_closes
check_await 60 "two attempts" attempts_are 2
check "three seconds apart" apart 2.9 8
check "ctrl_loss_tmo of 3 s" _put "$sys/ctrl_loss_tmo" 3
check_await 60 "the host gives up" no_controllers $N
port_opens

# keep_alives: Keep Alive commands that have arrived
keep_alives() { counted $COMMANDS "qid: *0, opcode: *24 "; }
more_keep_alives() { [ "$(keep_alives)" -ge "$1" ]; }

step "keep_alive_tmo"
must "count commands" counting $COMMANDS qid,opcode
must "connect, 2 s" connect $N "$MY_IP4" 4420 -i 1 -k 2
equal "the period" 2 "$(ctrl_attr kato)"
check_await 10 "three commands come" more_keep_alives 3
equal "the target has the period" 1 \
	"$(nvme get-feature "/dev/$CTRL" -f 15 | grep -Ec 'value:(0x)?0*7d0$')"
check "Set Features changes it" nvme set-feature "/dev/$CTRL" -f 15 -v 4000
equal "the period" 4 "$(ctrl_attr kato)"
was=$(keep_alives)
check_await 15 "commands come" more_keep_alives $((was + 2))
equal "the controller is live" live "$(state_of "$CTRL")"
check "disconnect" disconnect $N
mark
must "0" fabrics "traddr=$MY_IP4,nqn=$N,keep_alive_tmo=0"
said 5 "the kernel's words" "nvme_fabrics: keep_alive_tmo 0"
equal "the kernel takes 5 s for it" 5 "$(ctrl_attr kato)"
counted_off $COMMANDS qid,opcode
all_down
finish
