#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the manual pages: each parameter and option is listed, the log lines are those of the modules, and each example works
# check:   none
# timeout: 800
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:manual
host_load
wire_up
must "a disk" memory_disk nullb0 16
simple_target $N /dev/nullb0

page() { echo "$VM_REPO/Documentation/$1.4"; }

for m in nvme-rdma nvmet-rdma; do
	step "$m(4)"
	check "the page is well formed" mandoc -T lint -W warning "$(page $m)"
	equal "its parameters are those of the module" \
		"$(modinfo -F parm $m | sed 's/:.*//' | sort)" \
		"$(sed -n '/^\.Sh PARAM/,/^\.Sh [^P]/s/^\.It Va //p' \
			"$(page $m)" | sort)"
	equal "and no other are in sysfs" \
		"$(modinfo -F parm $m | sed 's/:.*//' | sort)" \
		"$(modprobe $m && ls "/sys/module/${m//-/_}/parameters" | sort)"
done
equal "each of a port's attributes is in nvmet-rdma(4)" "" \
	"$(for a in "$NVMET"/ports/1/addr_* "$NVMET"/ports/1/param_*; do
		grep -q "^\.It Ic ${a##*/}\$" "$(page nvmet-rdma)" ||
			echo "${a##*/}"; done)"

step "options"
# The options that the core knows, also those of other transports: names, followed by % if a
# value is required
KNOWN=$(tr ',' '\n' < /dev/nvme-fabrics |
	grep -vE '^(instance|cntlid|transport)=' | sed 's/=.*/%/')
KEY=$(nvme gen-dhchap-key -n "$HOSTNQN")
value_for() {
	case $1 in
	nqn) echo "$N" ;;
	traddr) echo 203.0.113.1 ;;
	trsvcid) echo 4420 ;;
	hostnqn) echo "$HOSTNQN" ;;
	hostid) echo "$HOSTID" ;;
	host_traddr) echo "$MY_IP4" ;;
	host_iface) echo eth0 ;;
	dhchap_*) echo "$KEY" ;;
	queue_size) echo 64 ;;
	*) echo 1 ;;
	esac
}
# taken NAME[%]: nothing answers at the address, so that an accepted option ends with another
# error than a refused one
taken() {
	local o options=
	for o in nqn traddr hostnqn hostid; do
		[ "$o%" = "$1" ] || options+=$o=$(value_for $o),
	done
	case $1 in *%) options+=${1%\%}=$(value_for "${1%\%}") ;; *) options+=$1 ;; esac
	echo "$options" >> /run/taken.out
	fabrics "$options" > /run/fabrics.out 2>&1
	tee -a /run/taken.out < /run/fabrics.out |
		grep -Eq "unreachable|No route to host|timed out|No such device"
}
check "the core knows some" at_least 20 "$(wc -w <<< "$KNOWN")"
equal "those that the transport takes are in the page, and no other" \
	"$(for o in $KNOWN; do taken "$o" && echo "${o%\%}"; done | sort)" \
	"$(sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/s/^\.It Ic //p' \
		"$(page nvme-rdma)" | sed 's/ , /\n/g' | sort)" ||
	cat /run/taken.out

# explained PAGE: the log lines that it explains. A comma that belongs to one is
# written \&, there.
explained() {
	sed -n '/^\.Sh DIAG/,/^\.Sh [^D]/s/^\.It //p' "$(page "$1")" |
		sed 's/\\(dq/"/g; s/\\&,/\r/g; s/, /\n/g; s/\r/,/g'
}
# says MODULE LINE: the module's file contains it. In the page, ... stands for variable parts.
says() {
	LC_ALL=C grep -aq -- "$(sed 's/ *\.\.\.$//; s/[][*.^$\]/\\&/g
		s/\\.\\.\\./.*/g' <<< "$2")" "$(modinfo -n "$1")"
}
step "log lines"
for m in nvme-rdma nvmet-rdma; do
	check "$m(4) explains some" at_least 20 "$(explained $m | wc -l)"
	equal "each is one of the module's" "" "$(explained $m |
		while read -r line; do says $m "$line" || echo "$line"; done)"
done

# examples PAGE: sets EXAMPLES to the commands in the page's section
examples() {
	local line text='' in_display=
	EXAMPLES=()
	while IFS= read -r line; do
		case $line in
		".Dl "*) EXAMPLES+=("${line#.Dl }") ;;
		".Bd -literal"*) in_display=1 text= ;;
		.Ed) EXAMPLES+=("${text%$'\n'}") in_display= ;;
		*) [ -z "$in_display" ] || text+=$line$'\n' ;;
		esac
	done < <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/p' "$(page "$1")" |
		sed 's/\\e/\\/g; s/\\&//g')
}

# Something for them to see: commands, connections, one that is slow
busy() {
	while :; do
		nvme connect -t rdma -n "$N" -a "$MY_IP4" -s 4420 -i 1
		await 10 has_disk "$N" 1 && DISK=$(disk_of "$N" 1)
		dd if=/dev/zero of="$DISK" bs=4096 count=20 oflag=direct
		dd if="$DISK" of=/dev/null bs=65536 count=20 iflag=direct
		nap 1
		nvme disconnect -n "$N"
	done > /dev/null 2>&1
}

# For examples that do not end by themselves: they are interrupted after their output
saw() { grep -Eq -- "$1" /run/example.out; }

# example REGEX COMMAND: it has to print what matches, and no error
example() {
	local words=${2%%$'\n'*} pid rc=0
	echo "# $2"
	# as from a terminal: a program started with & would ignore ^C
	env --default-signal=INT setsid bash -c "$2" > /run/example.out 2>&1 &
	pid=$!
	# maps are printed at the end
	case $2 in *hist\(*) await 60 saw Attaching && nap 15 ;;
	*) await 90 saw "$1" ;; esac
	kill -INT -$pid 2> /dev/null
	await 60 not runs $pid || kill -9 -$pid
	wait $pid || rc=$?
	head -n 4 /run/example.out | cut -c1-150 | sed 's/^/    /'
	if saw "$1"; then pass "prints '$1': ${words:0:60}"
	else
		fail "expected '$1' (status $rc): $2"
		sed 's/^/    /' /run/example.out | head -n 30
	fi
}

# The host stays while a controller of it goes, with what that counted
must "connect" connect $N "$MY_IP4" 4420 -i 1
must "once more" fabrics "nqn=$N,traddr=$MY_IP4,trsvcid=4420,nr_io_queues=1,hostnqn=$HOSTNQN,hostid=$HOSTID,duplicate_connect"
must "and leave" nvme disconnect -d "$CTRL"
get_disk $N 1
for m in nvme-rdma nvmet-rdma; do
	step "examples of $m(4)"
	examples $m
	check "there are some" at_least 4 ${#EXAMPLES[@]}
	for e in "${EXAMPLES[@]}"; do
		case $e in
		*wait_no_slot*) example 'queue[01]:wait_no_slot [0-9]' "$e" ;;
		*"(error|short)"*) example 'error_flush [1-9]' "$e" ;;
		*refused_\ *) example 'ports/1:refused_host_pending 0' "$e" ;;
		*"^host nqn"*) example 'queues/[0-9]+' "$e" ;;
		*) LATER+=("$e") ;;
		esac
	done
done
check "disconnect" disconnect $N

busy &
BUSY=$!
for e in "${LATER[@]}"; do
	step "${e:0:60}"
	case $e in
	"perf trace"*nvmet_rdma:*)
		example "nvmet_rdma_connect.*peer=$MY_IP4:[0-9]+ host=nqn" "$e" ;;
	"perf trace"*)
		example 'nvme_rdma_queue_state.*qid=1 connected -> live' "$e" ;;
	trace-cmd*) example 'nvmet_rdma_connect: .*host=nqn' "$e" ;;
	*printf*) LATE=$e ;;
	*nvme_rdma_send*)
		example '^@us\[[0-9]+, [12]\]:' "$e"
		check "and nothing but reads and writes" \
			not grep -E '^@us\[[0-9]+, ([^12]|[12][0-9])' /run/example.out ;;
	*hist*) example '^@us\[[0-9]+, [12]\]:' "$e" ;;
	*interval*) example '^@bytes\[[0-9]+\]: [1-9]' "$e" ;;
	*) fail "an example that this test does not know: $e" ;;
	esac
done
kill $BUSY
wait $BUSY 2> /dev/null
disconnect_all > /dev/null 2>&1

step "${LATE:0:60}"
must "a slow disk" timer_disk slow 8 300000000
must "on the target" bash -c \
	"cd $NVMET/subsystems/$N/namespaces && mkdir 2 &&
	 echo /dev/slow > 2/device_path && echo 1 > 2/enable"
must "connect" connect $N "$MY_IP4" 4420 -i 1
get_disk $N 2
slow_reads() {
	while :; do
		dd if="$DISK" of=/dev/null bs=4096 count=1 iflag=direct
	done > /dev/null 2>&1
}
slow_reads &
BUSY=$!
example 'nvme[0-9]+ queue 1 cid [0-9a-f]+: [3-9][0-9]+ ms' "$LATE"
kill $BUSY
wait $BUSY 2> /dev/null

all_down
finish
