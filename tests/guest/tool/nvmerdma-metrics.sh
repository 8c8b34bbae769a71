#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    a real Prometheus scrapes nvmerdma metrics: values are those of debugfs, hostile host NQNs do no harm, alarms of a lost wire and of a failed scrape come and go
# with:     vrnic
# variants: ours
# check:    none
# timeout:  600
# debug:    no
#
# systemd-socket-activate stands in for nvmerdma-metrics.socket, which tests/deb/run tries. The
# rules are the project's own; only the time for which an expression has to hold is shorter.
. "$(dirname "$0")/../lib.sh"
. "$GUEST_DIR/lib/vrnic-wire.sh"

N=nqn.2026-01.test:metrics
HOSTILE=nqn.2026-01.test:hostile
RXE_IP=10.88.0.1
TOOL=$VM_REPO/build/tools/nvmerdma
PROMETHEUS=$VM_REPO/build/tools/prometheus/usr/bin
HOST_SHOWN=/sys/kernel/debug/nvme_rdma
# Of scrapes and of rules, in seconds. A scrape may take as long
EVERY=$((3 * SLOW))

# ask QUESTION [ARGUMENT]: what Prometheus, or what it scrapes, answers
ask() { python3 /run/ask.py "$@"; }
cat > /run/ask.py <<'END'
import json, sys
from glob import glob
from urllib.parse import quote
from urllib.request import Request, urlopen

def get(path):
    return json.load(urlopen("http://127.0.0.1:9090/api/v1/" + path, timeout=60))["data"]
def query(expression):
    return get("query?query=" + quote(expression))["result"]
def value(expression):
    "of the only series"
    [one] = query(expression)
    print(one["value"][1])
def alarm(name):
    "its state and what it is about, or none"
    found = [a for a in get("alerts")["alerts"] if a["labels"]["alertname"] == name]
    print(*sorted({" ".join([a["state"]] + [a["labels"][l] for l in ("controller", "subsystem")
                                            if l in a["labels"]]) for a in found}) or ["none"],
          sep="\n")
def hosts():
    "the target's hosts in debugfs are those that Prometheus knows"
    shown = {line[len("host "):] for name in glob("/sys/kernel/debug/nvmet_rdma/hosts/*")
             for line in open(name, encoding="utf-8", errors="replace", newline="\n").read().split("\n")
             if line.startswith("host ")}
    known = {one["metric"]["host"] for one in query("nvmerdma_target_hosts")}
    print(shown, known)
    sys.exit(len(shown) < 2 or shown != known)
def scrape(accept):
    answer = urlopen(Request("http://127.0.0.1:9420/metrics", headers={"Accept": accept}))
    sys.stdout.buffer.write(answer.read())
def stat(side, key):
    "a counter of the only row of nvmerdma stat --once --json"
    [row] = [r for r in json.load(sys.stdin)["rows"] if r["side"] == side]
    print(row["counters"].get(key, row.get(key)))
globals()[sys.argv[1]](*sys.argv[2:])
END

value_is() { [ "$(ask value "$1")" = "$2" ]; }
alarm_is() { [ "$(ask alarm "$1")" = "$2" ]; }
# same EXPRESSION COMMAND...: its value is what COMMAND prints, and not 0
same() {
	local want
	want=$("${@:2}") && [ "${want:-0}" != 0 ] && value_is "$1" "$want"
}
io_sum() { key_sum "$1" "$HOST_SHOWN/$CTRL"/queue[1-9]*; }
queues_shown() { find "$HOST_SHOWN/$CTRL" -name 'queue*' | wc -l; }
host_sum() { key_sum "$1" $SHOWN/hosts/*; }
stat_says() { "$TOOL" stat --once --json 0.1 "--$1" | ask stat "$1" "$2"; }

serve() {
	systemd-socket-activate --accept --inetd -l 127.0.0.1:9420 "$TOOL" metrics --http \
		> /run/serve.out 2>&1 &
	SERVER=$!
}
# judged FILE: promtool has nothing to say of a scrape in the classic format
judged() {
	ask scrape text/plain > "$1" && [ -s "$1" ] &&
		"$PROMETHEUS/promtool" check metrics < "$1" > /run/judged 2>&1
	[ $? = 0 ] && [ ! -s /run/judged ] || { cat /run/judged "$1"; return 1; }
}
# open_metrics: what Prometheus asks for, with its end
open_metrics() {
	ask scrape application/openmetrics-text > /run/open && [ "$(tail -n 1 /run/open)" = "# EOF" ]
}
# whole: it took each line of a scrape for a series
whole() {
	open_metrics && value_is 'scrape_samples_scraped{job="nvmerdma"}' "$(grep -vc '^#' /run/open)"
}
configure() {
	sed -E 's/^( *for:) .*/\1 1s/' "$VM_REPO/tools/monitoring/nvmerdma-rules.yml" \
		> /run/rules.yml && cat > /run/prometheus.yml <<- END
		global: {scrape_interval: ${EVERY}s, scrape_timeout: ${EVERY}s, evaluation_interval: ${EVERY}s}
		rule_files: [/run/rules.yml]
		scrape_configs:
		  - job_name: nvmerdma
		    static_configs: [{targets: ["127.0.0.1:9420"]}]
	END
	"$PROMETHEUS/promtool" check config /run/prometheus.yml
}

step "a host and a target"
must "systemd-socket-activate, of the package systemd" command -v systemd-socket-activate
must "Prometheus" test -x "$PROMETHEUS/prometheus"
host_load
vrnic_wire roce
must "a disk" memory_disk nullb0 32
must "load" modprobe nvmet-rdma response_tmo=4
simple_target $N /dev/nullb0 $TARGET_IP
must "connect" connect_wire $N -i 2 -c 1 -l 600 -k 30
check_module nvme-rdma
check_module nvmet-rdma
get_disk $N 1

step "a scrape"
serve
check_await 60 "promtool has nothing to say" judged /run/classic
check "as OpenMetrics" open_metrics
must "a configuration with the project's rules" configure
# its files would be on the machine's disk otherwise
"$PROMETHEUS/prometheus" --config.file=/run/prometheus.yml --storage.tsdb.path=/run/tsdb \
	--web.listen-address=127.0.0.1:9090 > /run/prometheus.out 2>&1 &
SCRAPER=$!
must_await 200 "Prometheus has scraped" value_is 'up{job="nvmerdma"}' 1
check_await 60 "and has taken all of it" whole

step "its values"
check "data" round_trip "$DISK" 1048576
IO='controller="'$CTRL'",kind="io"'
check_await 60 "host: bytes read" same "nvmerdma_controller_read_bytes_total{$IO}" io_sum bytes_read
check_await 60 "host: bytes written" same "nvmerdma_controller_written_bytes_total{$IO}" io_sum bytes_written
check_await 60 "host: commands in the histogram" same \
	"nvmerdma_controller_latency_seconds_bucket{$IO,le=\"+Inf\"}" io_sum latency_log2_us
check_await 60 "host: its queues" same "sum(nvmerdma_controller_queues)" queues_shown
check_await 60 "target: bytes read" same "nvmerdma_target_read_bytes_total" host_sum bytes_read
check_await 60 "target: bytes written" same "nvmerdma_target_written_bytes_total" host_sum bytes_written
check_await 60 "target: as nvmerdma stat has them" same "nvmerdma_target_written_bytes_total" \
	stat_says target bytes_written
check_await 60 "host: as nvmerdma stat has them" same "nvmerdma_controller_read_bytes_total{$IO}" \
	stat_says host bytes_read
check_await 60 "port: its connections" same "nvmerdma_port_queues" key_sum queues $SHOWN/ports/1
check_await 60 "port: it listens" value_is "nvmerdma_port_listening" 1
check_await 60 "a live path, by a recorded rule" value_is "nvmerdma:live_paths" 1

step "the wire is cut"
for alarm in NvmerdmaControllerNotLive NvmerdmaPathLost NvmerdmaReconnects NvmerdmaScrapeFailed; do
	equal "no alarm $alarm" none "$(ask alarm $alarm)"
done
check "data that no other I/O writes to" dd if=/dev/urandom of="$DISK" bs=1M seek=8 count=1 \
	oflag=direct iflag=fullblock
kept=$(sum_of "$DISK" 1048576 8)
must "verified I/O" io_start "$DISK" --rate_iops=50
must "the port goes down" vrnic_fault $TARGET_DEV port down
check_await 90 "the host notices" not state_is "$CTRL" live
check_await 120 "alarm: the controller is not live" alarm_is NvmerdmaControllerNotLive "firing $CTRL $N"
check_await 120 "alarm: a path is lost" alarm_is NvmerdmaPathLost "firing $N"
check_await 60 "the series says so" value_is nvmerdma_controllers_live 0

step "it is back"
must "the port comes up" vrnic_fault $TARGET_DEV port up
check_await 90 "the host is back" state_is "$CTRL" live
check_await 120 "the alarm ends: the controller is live" alarm_is NvmerdmaControllerNotLive none
check_await 120 "the alarm ends: the path is there" alarm_is NvmerdmaPathLost none
check_await 120 "alarm: it has reconnected" alarm_is NvmerdmaReconnects "firing $CTRL $N"
check_await 60 "as often as nvmerdma stat says" same nvmerdma_controller_reconnects_total \
	stat_says host reconnects
io_moves || :
check_await 60 "I/O goes on" io_moves
check "every block was verified, no error" io_stop
equal "data of before" "$kept" "$(sum_of "$DISK" 1048576 8)"

step "scrapes fail"
kill $SERVER
wait $SERVER 2> /dev/null
check_await 120 "alarm: the scrape fails" alarm_is NvmerdmaScrapeFailed firing
check "no alarm of the path, though its series are gone" alarm_is NvmerdmaPathLost none
serve
check_await 120 "the alarm ends" alarm_is NvmerdmaScrapeFailed none
check_await 60 "bytes are counted on" same "nvmerdma_target_written_bytes_total" host_sum bytes_written

step "host NQNs that a format could break at"
FROM="traddr=$TARGET_IP,trsvcid=4420,host_traddr=$HOST_IP,nqn=$N,nr_io_queues=1"
mine=$CTRL
for name in '"} 1' '\' '\"' '{host="a"} # EOF' $'\xff' $'\t\e[2J'; do
	check "host $(printf '%q' "$name")" fabrics_as "nqn.2026-01.test:$name" "$FROM"
done
CTRL=$mine
# A line feed ends the options of a kernel's own host. One in user space, which vrnic does not
# serve, may send any
must "soft-RoCE" modprobe -a rdma_rxe rdma_ucm
must "a card for it" plain_card eth2 $RXE_IP/24
must "a device on it" rdma link add rxe0 type rxe netdev eth2
must_await 20 "it is active" rxe_ready rxe0
must "another disk" memory_disk nullb1 64
must "a subsystem" subsys $HOSTILE
must "its namespace" namespace $HOSTILE 1 /dev/nullb1
must "a port" port 2 $RXE_IP
must "it listens" expose 2 $HOSTILE
# The test is not about how the target treats its commands
"$VM_REPO/build/tools/hostile-host" --hostnqn $'line\n# EOF\nnvmerdma_module_loaded 7' \
	$RXE_IP 4420 $HOSTILE cm-no-reads > /run/hostile 2>&1
check "the target knows a host with line feeds" grep -qFx 'host line\n# EOF\nnvmerdma_module_loaded 7' \
	$SHOWN/hosts/* || cat /run/hostile
check_await 60 "Prometheus knows all of them by their names" ask hosts
check "promtool has nothing to say" judged /run/classic
check_await 60 "Prometheus takes all series" whole
check "data" round_trip "$DISK" 65536

step "what Prometheus says"
# Scrapes that failed are at another level, debug
equal "no warning, no error" "" "$(grep -E 'level=(warn|error)' /run/prometheus.out)"
kill $SCRAPER
check_await 60 "it ends" not runs $SCRAPER
kill $SERVER
wait $SERVER 2> /dev/null
vrnic_down
check "rxe0 can be taken away" timeout 60 rdma link delete rxe0
finish
