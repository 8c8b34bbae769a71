#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma stat: what it says is what fio did, through a reconnect; plain, JSON, full screen
# check:   6.12
# timeout: 300
. "$(dirname "$0")/lib.sh"

N=nqn.2026-01.test:stat
TOOL=$VM_REPO/build/tools/nvmerdma
SCREEN=$GUEST_DIR/lib/screen.py
KERNELS=/lib/modules/$VM_KVER/kernel/drivers/nvme/host

stat() { "$TOOL" stat "$@"; }
# says REGEX: what the last refused command printed
says() { check "it says '$1'" grep -Eq -- "$1" "$CHECK_OUT"; }
# json FILE EXPRESSION: of its objects, a list L of dicts, and the rows R of the last one by name
json() {
	python3 - "$@" <<-'END'
		import json, sys
		L = [json.loads(line) for line in open(sys.argv[1])]
		R = {row["name"]: row for row in L[-1]["rows"]}
		print(eval(sys.argv[2]))
	END
}
# once FILE [OPTION...]: one report of a short interval
once() { stat --once --json 0.1 "${@:2}" > "$1"; }
# holds WORDS FILE EXPRESSION
holds() {
	local got
	got=$(json "$2" "$3" 2>&1)
	[ "$got" = True ] && { pass "$1"; return; }
	fail "$1: '$3' is $got in"
	tail -n 1 "$2"
}

step "without modules, and with others"
refuse 20 "no module is loaded" "$TOOL" stat
says "nvme-rdma is not loaded: .*'modinfo -n nvme-rdma' says .*/updates/.*, which is ours"
says "nvmet-rdma is not loaded: "
refuse 20 "only the target is asked for" "$TOOL" stat --target
equal "and told" 0 "$(grep -c 'nvme-rdma is' "$CHECK_OUT")"
refuse 20 "not root" setpriv --reuid 65534 --clear-groups --inh-caps=-all "$TOOL" stat
says "takes root"
refuse 20 "debugfs is not mounted" unshare -m bash -c \
	'umount -R /sys/kernel/debug && "$1" stat' - "$TOOL"
says "mount -t debugfs"
for args in 0 0.05 3601 nan 1x "1 2" "--by disk" "--host --by port" "--sort colour" \
	"--count 0" --nonsense; do
	# shellcheck disable=SC2086
	refuse 5 "arguments $args" "$TOOL" stat $args
done
host_load
must "what the kernel's own module needs" modprobe -a nvme-fabrics rdma_cm
must "the kernel's own module" insmod "$(echo "$KERNELS"/nvme-rdma.ko*)"
refuse 20 "it shows nothing" "$TOOL" stat --host
says "nvme-rdma is loaded, but it is the kernel's own, .*/updates/.*'modprobe -r nvme-rdma'"
must "it goes" rmmod nvme-rdma

step "a host and a target"
modprobe nvme-fabrics
wire_up
must "a disk" null_disk nullb0 16
must "load" modprobe nvmet-rdma response_tmo=4
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2 -c 1
get_disk $N 1
HOST=$HOSTNQN
check "a report" once /run/idle
equal "a controller and a host" "['$CTRL', '$HOST']" "$(json /run/idle 'list(R)')"
holds "what they are" /run/idle "R['$CTRL']['subsystem'] == '$N' and
	R['$CTRL']['state'] == 'live' and 'traddr=$MY_IP4' in R['$CTRL']['address'] and
	R['$CTRL']['sq_slots'] > 0 and R['$HOST']['state'] == 'live'"
holds "idle" /run/idle "R['$CTRL']['iops'] == 0 and R['$CTRL']['p99_us'] is None and
	R['$CTRL']['in_flight'] == 0 and R['$CTRL']['errors'] == 0"
for by in queue port controller host; do
	check "a report by $by" once /run/by-$by --by $by
done
holds "queues of both sides" /run/by-queue "sorted(R)[-3:] == ['$CTRL/queue%d' % i
	for i in range(3)] and sum(r['side'] == 'target' for r in R.values()) == 3"
holds "a port" /run/by-port "R['1']['address'] == '$MY_IP4:4420' and len(R) == 1"
holds "one side" /run/by-host "list(R) == ['$HOST']"

step "a known rate"
stat --json 0.5 > /run/all 2> /run/all.err &
STAT=$!
check "fio: 150 reads and 50 writes of 4 KiB in a second, for 6 s" fio --name=k \
	--filename="$DISK" --direct=1 --ioengine=libaio --iodepth=8 --rw=randrw --rwmixread=75 \
	--bs=4k --rate_iops=150,50 --time_based --runtime=6 --output-format=json \
	--output=/run/fio
# of_fio EXPRESSION: of its job
of_fio() { python3 -c "import json; j = json.load(open('/run/fio'))['jobs'][0]; print($1)"; }
sleep 1.5
check "a report" once /run/after
for side in host target; do
	[ $side = host ] && row=$CTRL || row=$HOST
	for dir in read written; do
		key=bytes_$dir
		equal "$side: $key are fio's" "$(of_fio "j['${dir/written/write}']['io_bytes']")" \
			$(($(json /run/after "R['$row']['counters']['$key']") -
			   $(json /run/idle "R['$row']['counters']['$key']")))
	done
	equal "$side: the intervals' commands are fio's" \
		"$(of_fio "j['read']['total_ios'] + j['write']['total_ios']")" "$(json /run/all \
		"sum(sum(r['latency_log2_us']) for l in L for r in l['rows'] if r['name'] == '$row')")"
	json /run/all "[(round(r['iops']), round(r['p50_us'] or 0), round(r['p99_us'] or 0),
		r['in_flight']) for l in L for r in l['rows'] if r['name'] == '$row']"
	holds "$side: IOPS are within a tenth of 200, over the middle 4 s" /run/all \
		"180 < sum(r['iops'] for l in L[3:11] for r in l['rows']
			if r['name'] == '$row') / 8 < 220"
	holds "$side: a quarter of the bytes is written" /run/all \
		"0.2 < sum(r['written_bytes_per_second'] for l in L[3:11] for r in l['rows']
			if r['name'] == '$row') / 8 / (200 * 4096) < 0.3"
	holds "$side: p99 is no less than p50, and there is no error" /run/all \
		"all(r['p99_us'] >= r['p50_us'] > 1 and r['errors'] == 0 for l in L[3:11]
			for r in l['rows'] if r['name'] == '$row')"
	equal "$side: all errors" 0 "$(json /run/after "R['$row']['errors']")"
done

step "plain rows in a pipe"
piped() { stat 0.1 "$@" 2> /run/err; }
piped | head -n 30 > /run/plain
equal "ends without a word when the pipe closes" "" "$(cat /run/err)"
equal "30 lines" 30 "$(wc -l < /run/plain)"
check "a header first" grep -q '^TIME  *CONTROLLER .*IOPS .*P99 .*SUBSYSTEM$' \
	<(head -n 1 /run/plain)
check "a row" grep -Eq "^[0-9:]{8} $CTRL +live +0 .* $N\$" /run/plain
piped --host --count 30 > /run/plain
equal "30 reports of the host: 30 rows, 2 headers" "30 2" \
	"$(grep -c "^[0-9:]* $CTRL " /run/plain) $(grep -c ^TIME /run/plain)"
long_wait() { timeout 5 "$TOOL" stat 3600 | sleep 1; return "${PIPESTATUS[0]}"; }
check "it sees that nobody reads before the hour is over" long_wait

step "full screen"
check "rows, keys, sizes, q" python3 "$SCREEN" 24 80 "$TOOL" stat 0.5 <<-END
	see 10 ^CONTROLLER +STATE +IOPS.*INFL
	see 5 ^$CTRL +live
	see 5 ^HOST +STATE
	see 5 ^q quit
	see 5 over 0.5 s .*all by iops
	full
	keys s
	see 5 by read
	keys r
	see 5 reversed
	keys u
	see 5 ^$CTRL/queue2 +live
	see 5 ^[0-9]+:c[0-9]+q1 +live
	keys p
	see 5 ^1 +listening
	not 5 $CTRL
	keys c
	see 5 ^$CTRL +live
	keys \x20
	see 5 PAUSED
	keys \x20
	not 5 PAUSED
	size 40 160
	see 5 ^CONTROLLER .*CREDITS.*SUBSYSTEM$
	full
	size 6 50
	see 5 ^$CTRL
	full
	keys u
	see 5 \(1-3 of 6\)
	keys \x1bOB
	see 5 \(2-4 of 6\)
	keys \x1b[6~
	see 5 \([4-6]-6 of 6\)
	keys \x1bOA
	see 5 \([3-5]-
	keys \x1bOC
	not 5 STATE
	size 24 80
	full
	keys q
	end 5 0
	END
check "^C" python3 "$SCREEN" 24 80 "$TOOL" stat <<-END
	see 10 ^$CTRL
	keys \x03
	end 5 -2
	END
check "another signal" python3 "$SCREEN" 24 80 "$TOOL" stat 60 <<-END
	see 10 the first interval runs
	signal TERM
	end 5 -15
	END
check "two reports" python3 "$SCREEN" 24 80 "$TOOL" stat 0.3 --count 2 <<-END
	see 10 ^$CTRL
	end 10 0
	END

step "the connection is lost, and comes back"
check "the port closes" conceal 1 $N
check_await 20 "the controller connects" state_is "$CTRL" connecting
check "a report" once /run/lost
holds "it says so, and the errors" /run/lost "R['$CTRL']['state'] == 'connecting' and
	R['$CTRL']['errors'] > 0 and R['$CTRL']['in_flight'] == 0 and
	R['$HOST']['state'] == 'gone' and R['$HOST']['queues_ended'] == 3"
check "rows that vanish, and come back" python3 "$SCREEN" 24 80 "$TOOL" stat 0.3 --by queue <<-END
	see 10 ^$CTRL/queue0
	not 1 :c[0-9]+q1
	sh ln -s $NVMET/subsystems/$N $NVMET/ports/1/subsystems/
	see 20 :c[0-9]+q1 +live
	see 5 ^$CTRL/queue1 +live
	keys q
	end 5 0
	END
check_await 20 "live again" state_is "$CTRL" live
check "a report" once /run/back
holds "it has reconnected" /run/back "R['$CTRL']['reconnects'] == 1 and
	R['$CTRL']['state'] == 'live' and R['$HOST']['state'] == 'live'"
check "data" round_trip "$DISK" 4096
check "disconnect" disconnect $N
sleep 1
kill $STAT
wait $STAT 2> /dev/null
equal "the stat that ran all the while had nothing to complain of" "" "$(cat /run/all.err)"
holds "no rate was negative" /run/all "all(r[k] >= 0 for l in L for r in l['rows'] for k in r
	if k.endswith('_second'))"
holds "it saw the controller connecting, live again, and gone" /run/all \
	"{'connecting', 'live'} <= {r['state'] for l in L for r in l['rows']} and
	all(r['side'] == 'target' for r in L[-1]['rows'])"

step "many queues"
must "connect" connect $N "$MY_IP4" 4420 -i 2
many() {
	local i
	mkdir -p /run/real /run/many/nvme0 &&
		mount --bind /sys/kernel/debug/nvme_rdma /run/real || return 1
	for ((i = 0; i < 128; i++)); do
		ln -s "/run/real/$CTRL/queue1" /run/many/nvme0/queue$i || return 1
	done
	mount --bind /run/many /sys/kernel/debug/nvme_rdma
}
must "128 files of queues" many
TIMEFORMAT="%U %S"
used=$({ time stat --host --json --by queue 0.5 --count 10 > /run/many.json; } 2>&1)
holds "all of them, ten times" /run/many.json "len(L) == 10 and len(R) == 128"
echo "10 reports of 128 queues: user and system seconds $used"
holds "each interval is half a second" /run/many.json \
	"all(l['seconds'] < 0.75 for l in L)"
check "and less than half of a CPU, emulated, was used" \
	awk '{ exit !($1 + $2 < 2.5) }' <<< "$used"
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
stat --host --json --by queue 0.1 > /run/many.json &
STAT=$!
lines_are() { [ "$(wc -l < /run/many.json)" -ge "$1" ]; }
check_await 20 "5 reports" lines_are 5
before=$(rss $STAT)
check_await 30 "25 more" lines_are 30
check "it does not grow" at_most $((before + 100)) "$(rss $STAT)"
kill $STAT
wait $STAT 2> /dev/null
check "as it was" umount /sys/kernel/debug/nvme_rdma /run/real
all_down
finish
