#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma: keys of existing hosts, a signal during a change, and a configuration that cannot be saved
# check:   none
# timeout: 300
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

host_load
wire_up
for n in 0 1 2; do must "disk $n" memory_disk nullb$n 16; done
K=nqn.2026-01.test:key
S=nqn.2026-01.test:same

# interrupted SIGNAL BEGUN DONE COMMAND...: sends the signal when BEGUN holds and DONE does not
# yet; sets RC. Its output is in /run/out. (Behind '&' a shell ignores INT, and QUIT.)
interrupted() {
	local signal=$1 begun=$2 done=$3 i
	shift 3
	env --default-signal "$@" > /run/out 2>&1 &
	for ((i = 0; i < 1000000; i++)); do ! eval "$begun" || break; done
	kill -"$signal" $!
	eval "$done" && fail "$*: it was done when $signal came" || pass "$*: $signal comes while it is at it"
	wait $!
	RC=$?
}

step "a signal while it is at it"
# The first port has to load nvmet-rdma, which takes its time
interrupted TERM "[ -d $NVMET/subsystems/$K ]" "[ -e $NVMET/ports/1/subsystems/$K ]" \
	nvmerdma export /dev/nullb0 --nqn $K
equal "what was made is said" "0 1" "$RC $(grep -c 'nvme connect' /run/out)"
check "unexport" nvmerdma unexport $K
python3 -c "
import json
json.dump({'subsystems': [{'nqn': 'nqn.2026-01.test:%03d' % n, 'attr': {'allow_any_host': '1'}} for n in range(200)]},
	  open('/run/many.json', 'w'))"
FIRST=$NVMET/subsystems/nqn.2026-01.test:000
LAST=$NVMET/subsystems/nqn.2026-01.test:199
for signal in INT HUP QUIT; do
	interrupted $signal "[ -d $FIRST ]" "[ -d $LAST ]" nvmerdma restore /run/many.json
	equal "a restore is done, and said: $signal" "200 200" "$(ls $NVMET/subsystems | wc -l) $(grep -c '+ subsystem' /run/out)"
	check "by the signal it ends then" [ "$RC" -gt 128 ]
	interrupted $signal "[ ! -d $FIRST ]" "[ ! -d $LAST ]" nvmerdma unexport --all
	equal "all is away, and said: $signal" "0 0 200" "$RC $(ls $NVMET/subsystems | wc -l) $(grep -c -e '- subsystem' /run/out)"
done
nvmerdma restore /run/many.json | :
equal "nobody reads what a restore says: it is done" 200 "$(ls $NVMET/subsystems | wc -l)"
nvmerdma unexport --all | :
equal "nor what unexport says" 0 "$(ls $NVMET/subsystems | wc -l)"

step "keys"
if [ "$(uname -r | cut -d. -f1-2)" != 6.1 ]; then
	for k in 1 2; do nvme gen-dhchap-key -n "$HOSTNQN" > /run/key$k 2> /dev/null; done
	{ echo "# the host's, the controller's"; cat /run/key1 /run/key2; } > /run/both
	chmod 600 /run/key? /run/both
	check "for a host, with a key" nvmerdma export /dev/nullb0 --nqn $K --host "$HOSTNQN" --dhchap /run/key1
	unchanged "another key for it" nvmerdma export /dev/nullb1 --nqn $S --host "$HOSTNQN" --dhchap /run/key2
	words "$HOSTNQN already has access to $K with another key" "in words"
	unchanged "a key of the controller" nvmerdma export /dev/nullb1 --nqn $S --host "$HOSTNQN" --dhchap /run/both
	check "for the same host" nvmerdma export /dev/nullb1 --nqn $S --host "$HOSTNQN"
	words "dhchap-secret=KEY" "it needs the key that it has"
	words "KEY is the one that the host has here already" "in words"
	nvmerdma export /dev/nullb2 --nqn nqn.2026-01.test:both --host nqn.2026-01.test:h --dhchap /run/both \
		--dry-run > /run/plan.sh
	equal "a dry run shows no key" 0 "$(grep -c DHHC /run/plan.sh)"
	sed -i "s,echo KEY ,cat /run/key1 ,; s,echo CTRL_KEY ,cat /run/key2 ," /run/plan.sh
	check "and has a place for each" bash -e /run/plan.sh
	equal "so that both are right" "$(cat /run/key1 /run/key2)" "$(cat $NVMET/hosts/nqn.2026-01.test:h/dhchap_{,ctrl_}key)"
	check "unexport" nvmerdma unexport --all
fi

step "what cannot be kept"
: > /etc/nvmet			# no directory
nvmerdma export /dev/nullb0 --nqn $K --uuid "$(cat /proc/sys/kernel/random/uuid)" --save > /run/out 2>&1
equal "an export is made: status" 5 $?
equal "with what to type, and in words" 2 "$(grep -c -e 'nvme connect' -e 'exported, but saving failed' /run/out)"
nvmerdma unexport $K --save > /run/out 2>&1
equal "and is gone, too: status" 5 $?
equal "in words" 1 "$(grep -c 'removed, but saving failed' /run/out)"
configured_is "nothing is left" ""
all_down
finish
