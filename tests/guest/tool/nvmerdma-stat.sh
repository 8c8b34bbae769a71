#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma stat: its figures match fio's, also over a reconnect; lines, JSON; it ends when its reader does
# shares:  io
# check:   6.12
# timeout: 300
# debug:   no
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:stat
TOOL=$VM_REPO/build/tools/nvmerdma
KERNELS=/lib/modules/$VM_KVER/kernel/drivers/nvme/host

stat() { "$TOOL" stat "$@"; }
# says REGEX: the output of the last refused command matches
says() {
	if grep -Eq -- "$1" "$CHECK_OUT"; then pass "it says '$1'"
	else fail "it does not say '$1': $(cat "$CHECK_OUT")"; fi
}
# once FILE [OPTION...]: one report of a short interval
once() { stat --once --json 0.1 "${@:2}" > "$1"; }

# told FILE < WORDS: EXPRESSION...: one check a line, of reports. The expressions see all
# reports as L, the rows of the last one by name as R, its controller as C and its host as H,
# and fio's report of its job as F
told() {
	local verdict words n=0
	while IFS=' ' read -r verdict words; do
		case $verdict in
		ok) pass "$words" ;;
		end) n=1 ;;
		not)
			fail "$words"
			tail -n 1 "$1"
			;;
		*) echo "    $verdict $words" ;;
		esac
	done < <(python3 /run/told.py "$1" "$CTRL" "$HOSTNQN" 2>&1)
	[ $n = 1 ] || fail "what $1 tells could not be told"
}
cat > /run/told.py <<'END'
import itertools, json, os, sys
L = [json.loads(line) for line in open(sys.argv[1])]
R = {row["name"]: row for row in L[-1]["rows"]}
CTRL, HOST = sys.argv[2:]
C, H = R.get(CTRL), R.get(HOST)
F = json.load(open("/run/fio"))["jobs"][0] if os.path.exists("/run/fio") else None
def of(name):
    return [row for l in L for row in l["rows"] if row["name"] == name]
def busy(name):
    "the rows of the intervals in which it did something"
    return [row for row in of(name) if row["iops"]]
def timed(name):
    "its rows, and how many seconds each is of"
    return [(l["seconds"], row) for l in L for row in l["rows"] if row["name"] == name]
def all_of(name, key):
    "of a rate: what it comes to in the time of all intervals"
    return sum(seconds * (row[key] or 0) for seconds, row in timed(name))
def near(a, b):
    "but for what is rounded"
    return abs(a - b) <= 1 + b / 100
def hist(name):
    return [sum(n) for n in zip(*(row["latency_log2_us"] for row in of(name)))]
def shorter(name):
    "per bucket, how many commands took less"
    return list(itertools.accumulate(hist(name)))
if os.path.exists("/run/times"):
    T = [int(t) / 1e6 for t in open("/run/times").read().split()]
if F:
    READS, WRITES = F["read"], F["write"]
    IOS = READS["total_ios"] + WRITES["total_ios"]
for line in sys.stdin:
    words, expression = line.strip().split(": ", 1)
    try:
        got = eval(expression)
    except Exception as e:
        got = repr(e)
    print("ok " + words if got is True else f"not {words}: '{expression}' is {got}"[:400])
print("end")
END

step "without modules, and with others"
refuse 20 "no module is loaded" "$TOOL" stat
says "nvme-rdma is not loaded: 'nvme connect -t rdma' loads it, or 'modprobe nvme-rdma' does"
says "nvmet-rdma is not loaded: "
refuse 20 "only the target is asked for" "$TOOL" stat --target
equal "and told" 0 "$(grep -c 'nvme-rdma is' "$CHECK_OUT")"
refuse 20 "not root" setpriv --reuid 65534 --clear-groups --inh-caps=-all "$TOOL" stat
says "takes root"
refuse 20 "debugfs is not mounted" unshare -m bash -c \
	'umount -R /sys/kernel/debug && "$1" stat' - "$TOOL"
says "mount -t debugfs"
misused() {
	local args
	for args in 0.05 3601 nan 1x "1 2" "--by disk" "--host --by port" "--sort colour" \
		"--count 0" --nonsense; do
		# shellcheck disable=SC2086
		stat $args && return 1
		[ $? -eq 2 ] || { echo "status of '$args'"; return 1; }
	done
}
check "arguments that are wrong" misused
equal "it says of each what is, and points to --help" 20 "$(wc -l < "$CHECK_OUT")"
host_load
must "what the kernel's own module needs" modprobe -a nvme-fabrics rdma_cm
must "the kernel's own module" insmod "$(echo "$KERNELS"/nvme-rdma.ko*)"
refuse 20 "it shows nothing" "$TOOL" stat --host
says "nvme-rdma is loaded, but it is not ours, .*'modprobe -r nvme-rdma'"
must "it goes" rmmod nvme-rdma

step "a host and a target"
must "the host's module" modprobe -a nvme-fabrics nvme-rdma
wire_up
"$TOOL" stat --json 0.2 > /run/early 2> /run/early.err &
EARLY=$!
must "a disk" memory_disk nullb0 16
must "device mapper" modprobe dm-mod
must "one that can be held up" dmsetup create --noudevsync held --table "0 32768 linear /dev/nullb0 0"
must "load" modprobe nvmet-rdma response_tmo=4
simple_target $N /dev/dm-0
must "connect" connect $N "$MY_IP4" 4420 -i 2 -c 1
get_disk $N 1
# the kernel looks for partitions on a disk that is new
idle() { once /run/idle && ! grep -Eq '"iops":(0\.0*)?[1-9]' /run/idle; }
check_await 20 "a report, when nothing happens any more" idle
told /run/idle <<'END'
	a controller and a host: list(R) == [CTRL, HOST]
	whose it is: C["subsystem"] == "nqn.2026-01.test:stat"
	where: "traddr=10.77.0.1" in C["address"]
	both live: C["state"] == H["state"] == "live"
	credits: C["sq_slots"] >= C["sq_slots_free"] > 0 and H["sq_slots"] >= H["sq_slots_free"] > 0
	nothing happens: C["iops"] == H["iops"] == 0 and C["p99_us"] is None
	nothing is in flight: C["in_flight"] == 0
	nothing went wrong: C["errors"] == H["errors"] == C["reconnects"] == H["queues_ended"] == 0
END
check "a report by queue" once /run/queues --by queue
told /run/queues <<'END'
	the host's queues: list(R)[:3] == [CTRL + "/queue%d" % i for i in range(3)]
	the target's: sorted(r["counters"]["qid"] for r in R.values() if r["side"] == "target") == [0, 1, 2]
	whose they are: all(r["host_nqn"] == HOST for r in list(R.values())[3:])
END
check "a report by port" once /run/ports --by port
told /run/ports <<'END'
	the port: list(R) == ["1"] and R["1"]["address"] == "10.77.0.1:4420"
	listens: R["1"]["state"] == "listening" and R["1"]["counters"]["queues"] == 3
END

# its first samples were taken before the target was loaded
early_shows() { tail -n 2 /run/early | grep -q "\"name\":\"$1\""; }
check_await 20 "a stat that ran before has the host of the target" early_shows "$HOSTNQN"
equal "and ran all the while" "nvmerdma: note: nothing is connected" "$(cat /run/early.err)"
kill $EARLY
wait $EARLY 2> /dev/null

step "retries of the RDMA device"
C=/sys/class/infiniband/$RDMA_DEV/ports/1/hw_counters/completer_retry_err
must "a counter, in the place of the real one" eval "echo 100 > /run/retries && test -e $C &&
	mount --bind /run/retries $C"
"$TOOL" stat --json 0.3 > /run/retried &
STAT=$!
lines_are() { [ "$(wc -l < "$1")" -ge "$2" ]; }
check_await 20 "two reports" lines_are /run/retried 2
# in one write, and not cut short before it: else a sample in between finds none
echo 150 1<> /run/retries
n=$(wc -l < /run/retried)
check_await 20 "two more" lines_are /run/retried $((n + 2))
kill $STAT
wait $STAT 2> /dev/null
told /run/retried <<'END'
	all that it has counted: C["retries"] >= 150 and H["retries"] == C["retries"]
	50 in one interval: [round(r["retries_per_second"] * l["seconds"]) for l in L for r in l["rows"] if r["name"] == CTRL and r["retries_per_second"]] == [50]
	the target has the same device: [r["retries_per_second"] for r in of(HOST)] == [r["retries_per_second"] for r in of(CTRL)]
	errors they are none: C["errors"] == 0
END
check "as it was" umount $C

step "a known number of commands, whatever time they take"
# whole_lines FILE: without one that is being written
whole_lines() { head -n "$(wc -l < "$1")" "$1"; }
# all_known: of every command of fio's
all_known() {
	whole_lines /run/all > /run/rates
	after=${EPOCHREALTIME/./}
	python3 /run/told.py /run/rates "$CTRL" "$HOSTNQN" <<< \
		"all: sum(hist(CTRL)) == sum(hist(HOST)) == IOS" | grep -q '^ok'
}
before=${EPOCHREALTIME/./}
"$TOOL" stat --json 0.5 > /run/all 2> /run/all.err &
STAT=$!
check_await 20 "a report before it" lines_are /run/all 1
begun=${EPOCHREALTIME/./}
# at most 150 reads and 50 writes in a second, so that it takes many intervals
check "fio: 1,000 reads and writes of 4 KiB" fio --name=k --filename="$DISK" --direct=1 \
	--ioengine=libaio --iodepth=8 --rw=randrw --rwmixread=75 --bs=4k --rate_iops=150,50 \
	--number_ios=1000 --output-format=json --output=/run/fio
ended=${EPOCHREALTIME/./}
n=$(wc -l < /run/all)
# the first of them may have been begun before
check_await 20 "two reports after it" lines_are /run/all $((n + 2))
# the target knows of its last responses a quarter of response_tmo later
check_await 20 "the target knows of all its responses" all_known
echo "$before $begun $ended $after" > /run/times
told /run/rates <<'END'
	fio ran: IOS >= 1000 and READS["total_ios"] > 600 and WRITES["total_ios"] > 150
	host, bytes read: C["counters"]["bytes_read"] - of(CTRL)[0]["counters"]["bytes_read"] == READS["io_bytes"]
	host, bytes written: C["counters"]["bytes_written"] - of(CTRL)[0]["counters"]["bytes_written"] == WRITES["io_bytes"]
	target, bytes read: H["counters"]["bytes_read"] - of(HOST)[0]["counters"]["bytes_read"] == READS["io_bytes"]
	target, bytes written: H["counters"]["bytes_written"] - of(HOST)[0]["counters"]["bytes_written"] == WRITES["io_bytes"]
	host, commands of all intervals: sum(hist(CTRL)) == IOS
	target, commands of all intervals: sum(hist(HOST)) == IOS
	the intervals are the time that has passed: T[2] - T[1] - 0.1 <= sum(l["seconds"] for l in L[1:]) <= T[3] - T[0] + 0.1
	it was not in one interval: len(busy(CTRL)) >= 2 and len(busy(HOST)) >= 2
	host, IOPS by the time are all commands: near(all_of(CTRL, "iops"), IOS)
	target, IOPS by the time are all commands: near(all_of(HOST, "iops"), IOS)
	host, reads by the time are all bytes: near(all_of(CTRL, "read_bytes_per_second"), READS["io_bytes"])
	host, writes by the time are all bytes: near(all_of(CTRL, "written_bytes_per_second"), WRITES["io_bytes"])
	target, reads by the time are all bytes: near(all_of(HOST, "read_bytes_per_second"), READS["io_bytes"])
	target, writes by the time are all bytes: near(all_of(HOST, "written_bytes_per_second"), WRITES["io_bytes"])
	host, p99 is no less than p50: all(r["p99_us"] >= r["p50_us"] > 1 for r in busy(CTRL))
	target, p99 is no less than p50: all(r["p99_us"] >= r["p50_us"] > 1 for r in busy(HOST))
	the target takes less time than the host waits: hist(HOST) != hist(CTRL) and all(t >= h for t, h in zip(shorter(HOST), shorter(CTRL)))
	host, in flight are no more than fio has: all(0 <= r["in_flight"] <= 8 for r in of(CTRL))
	target, in flight are no more than fio has, and seven a queue: all(r["in_flight"] <= 8 + 14 for r in of(HOST))
	no error: C["errors"] == H["errors"] == 0
END

step "four reads that are held up"
must "the disk is held up" dmsetup suspend --nolockfs --noflush --noudevsync held
fio --name=h --filename="$DISK" --direct=1 --ioengine=libaio --iodepth=4 --rw=read --bs=4k \
	--number_ios=4 --output=/run/held.out &
HELD=$!
flight_is() { once /run/flight --host && grep -q "\"in_flight\":$1," /run/flight; }
check_await 20 "four are in flight on the host" flight_is 4
check "a report" once /run/held
told /run/held <<'END'
	on the target, too, with those that are known late: 4 <= H["in_flight"] <= 4 + 14
	they take credits of its: H["sq_slots"] - H["sq_slots_free"] >= 4
END
must "the disk goes on" dmsetup resume --noudevsync held
check_await 20 "none is" flight_is 0
check "fio ends" wait $HELD

step "lines"
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
# shellcheck disable=SC2216
long_wait() { timeout 30 "$TOOL" stat 3600 | sleep 1; return "${PIPESTATUS[0]}"; }
check "it sees that nobody reads before the hour is over" long_wait

cat > /run/reader.py <<'END'
import socket, subprocess, sys
ours, its = socket.socketpair()
tool = subprocess.Popen(["timeout", "20", sys.argv[1], "stat", "--host", "3600"], stdout=its)
its.close()
ours.close()
sys.exit(tool.wait())
END
check "a socket whose reader goes ends it" python3 /run/reader.py "$TOOL"
cat > /run/terminal.py <<'END'
import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)
END
check "lines on a terminal, too" eval \
	"python3 /run/terminal.py $TOOL stat 0.1 --count 2 | tr -d '\r' | grep -Eq '^[0-9:]{8} $CTRL +live '"

to_full_disk() {
	timeout 30 "$TOOL" stat 0.1 "$@" > /dev/full 2> /run/err
	[ $? = 1 ] && [ "$(grep -c 'could not be written: No space left on device' /run/err)" = 1 ] ||
		{ cat /run/err; return 1; }
}
check "a full disk ends it" to_full_disk
check "as JSON, too" to_full_disk --json

step "the connection is lost, and comes back"
check "the port closes" conceal 1 $N
check_await 20 "the controller connects" state_is "$CTRL" connecting
# soft-RoCE may take seconds to end the connections
gone_told() { once /run/lost && grep -q '"state":"gone"' /run/lost; }
check_await 20 "a report, when the host is gone" gone_told
told /run/lost <<'END'
	the controller connects: C["state"] == "connecting" and C["in_flight"] == 0
	its connection was lost, which is an error: C["errors"] > 0
	the host is gone, with three queues: H["state"] == "gone" and H["queues_ended"] == 3
END
target_rows_are() { once /run/vanish --by queue && [ "$(grep -c ':c[0-9]*q1"' /run/vanish)" = "$1" ]; }
check_await 20 "rows of the target vanish" target_rows_are 0
check "the host's stay" grep -q "\"name\":\"$CTRL/queue0\"" /run/vanish
must "the port opens" expose 1 $N
check_await 20 "they come back" target_rows_are 1
check_await 20 "live again" state_is "$CTRL" live
check "a report" once /run/back
told /run/back <<'END'
	it has reconnected: C["reconnects"] == 1 and C["state"] == H["state"] == "live"
END
check "data" round_trip "$DISK" 4096
# idle_told: a report of it live again, with nothing in flight. The one before the disconnect may
# still show what udev reads of a disk that was written.
idle_told() {
	whole_lines /run/all | grep '"reconnects":1,' | grep -q "\"name\":\"$CTRL\"[^}]*\"in_flight\":0,"
}
check_await 20 "it tells that nothing is in flight" idle_told
check "disconnect" disconnect $N
# all_gone: by the last report
all_gone() {
	local last
	last=$(whole_lines /run/all | tail -n 1)
	[[ $last = *'"state":"gone"'* && $last != *"\"name\":\"$CTRL\""* ]]
}
check_await 20 "the last report knows that all is gone" all_gone
kill $STAT
wait $STAT 2> /dev/null
equal "the stat that ran all the while had nothing to complain of" "" "$(cat /run/all.err)"
told /run/all <<'END'
	no rate was negative: all((r[k] or 0) >= 0 for l in L for r in l["rows"] for k in r if k.endswith("_second"))
	it saw the controller connecting: {"connecting", "live"} <= {r["state"] for r in of(CTRL)}
	live again: [r["reconnects"] for r in of(CTRL)][-1] == 1
	it knew what was in flight then: 0 in [r["in_flight"] for r in of(CTRL) if r["reconnects"] == 1]
	and gone: C is None and H["state"] == "gone"
END

step "many queues"
must "connect" connect $N "$MY_IP4" 4420 -i 2
many() {
	mkdir -p /run/real /run/many/nvme0 &&
		mount --bind /sys/kernel/debug/nvme_rdma /run/real &&
		python3 -c "import os
for i in range(128):
	os.symlink('/run/real/$CTRL/queue1', f'/run/many/nvme0/queue{i}')" &&
		mount --bind /run/many /sys/kernel/debug/nvme_rdma
}
must "128 files of queues" many
# cpu_of COMMAND...: sets CPU_MS to the processor time of COMMAND, in milliseconds. Time in which
# the guest waited for a processor counts, too, so that of three times the least is taken.
cpu_of() {
	local i ms
	CPU_MS=
	for i in 1 2 3; do
		TIMEFORMAT="%3U %3S"
		ms=$({ time "$@" > /run/cpu_of 2> /run/cpu_of.err; } 2>&1 |
			awk '{ printf "%d", 1000 * ($1 + $2) }')
		[ -n "$CPU_MS" ] && [ "$CPU_MS" -le "$ms" ] || CPU_MS=$ms
	done
}
read_many() {
	local i
	for i in 1 2 3 4 5 6; do
		cat /sys/kernel/debug/nvme_rdma/nvme0/*
	done
}
cpu_of read_many
reading=$CPU_MS
cpu_of stat --host --json --by queue 0.5 --count 6
told /run/cpu_of <<'END'
	all of them, six times: len(L) == 6 and len(R) == 128
	to read them takes little of an interval of half a second: min(l["seconds"] for l in L) < 0.75
END
echo "6 reports of 128 queues: $CPU_MS ms of a processor; to read their files with cat: $reading ms"
check "they take at most three times what it takes to read those files" at_most $((3 * reading)) "$CPU_MS"
# peak PID: KiB of its resident memory. The current size depends on whether a report is being made
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$1/status"; }
"$TOOL" stat --host --json --by queue 0.1 > /run/many.json &
STAT=$!
# what malloc() keeps for later settles in the first twenty
check_await 20 "20 reports" lines_are /run/many.json 20
before=$(peak $STAT)
check_await 30 "25 more" lines_are /run/many.json 45
check "it does not grow" at_most $((before + 200)) "$(peak $STAT)"
kill $STAT
wait $STAT 2> /dev/null
check "as it was" umount /sys/kernel/debug/nvme_rdma /run/real
disconnect_all > /dev/null 2>&1
check "the target is taken down" target_teardown
check "the disk is free" dmsetup remove --noudevsync held
all_down
finish
