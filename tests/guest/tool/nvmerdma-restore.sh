#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma save and restore: all or nothing, idempotent, and both ways with nvmetcli
# shares:  tool
# check:   6.12
# timeout: 400
# cpus:    1
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/nvmerdma.sh"

nvmetcli() {
	PYTHONPATH=$VM_REPO/build/tools/nvmetcli/usr/lib/python3/dist-packages HOME=/run \
		/usr/bin/python3 "$VM_REPO/build/tools/nvmetcli/usr/bin/nvmetcli" "$@"
}

# json PYTHON FILE: the file as d, changed by some Python, is printed
json() { python3 -c "import json, sys; d = json.load(open(sys.argv[1])); $1; print(json.dumps(d))" "$2"; }

host_load
wire_up
for n in 0 1 2; do must "disk $n" memory_disk nullb$n 32; done
A=nqn.2026-01.test:a
B=nqn.2026-01.test:b

step "save and restore"
refuse 20 "nothing to save" nvmerdma save /run/none.json
words "nvmet is not loaded" "in words"
equal "no file comes of it" "" "$(ls /run/none.json 2> /dev/null)"
equal "a plan begins with the module" "modprobe nvmet" "$(nvmerdma restore --dry-run - \
	<<< '{"subsystems": [{"nqn": "nqn.2026-01.test:x"}]}' | head -n 1)"
must "a target" nvmerdma export /dev/nullb0 --nqn $A --host "$HOSTNQN" --serial ONE --inline-size 8192
# its UUID is not made of its disk, which others will replace
must "another" nvmerdma export /dev/nullb1 --nqn $B --addr "$MY_IP4,$MY_IP6" --port 4421 --uuid "$(cat /proc/sys/kernel/random/uuid)"
G=$NVMET/ports/2/ana_groups/7
must "an ANA group" mkdir $G && echo non-optimized > $G/ana_state
must "a referral" mkdir $NVMET/ports/1/referrals/elsewhere
for a in trtype=rdma adrfam=ipv4 traddr=203.0.113.7 trsvcid=4420; do
	_put "$NVMET/ports/1/referrals/elsewhere/addr_${a%%=*}" "${a#*=}"
done
nvmerdma save --dry-run > /run/dry.json || fail "a dry run of save"
equal "a dry run writes nothing" "" "$(ls /etc/nvmet 2> /dev/null)"
check "save" nvmerdma save
words "/etc/nvmet/config.json: 2 subsystems, 3 ports" "what was saved is said"
check "just what was printed" cmp /run/dry.json /etc/nvmet/config.json
equal "only root reads it" 600 "$(stat -c %a /etc/nvmet/config.json)"
FULL=$(configured)
cp /etc/nvmet/config.json /run/full.json
for n in {1..8}; do nvmerdma save > /run/save.$n 2>&1 & SAVES[n]=$!; done
for n in {1..8}; do wait ${SAVES[n]} || fail "save $n of 8 at once: $(cat /run/save.$n)"; done
check "what 8 at once have saved is whole" cmp /run/dry.json /etc/nvmet/config.json
equal "and nothing else is left" config.json "$(ls /etc/nvmet)"
flock $NVMET timeout 5 nvmerdma save /run/locked.json
equal "it waits for one that changes something" "124 " "$? $(ls /run/locked.json 2> /dev/null)"
check "save into a device" nvmerdma save /dev/null
check "which it stays" [ -c /dev/null ]
check "save into a pipe" bash -c 'nvmerdma save /dev/stdout | head -n -1 | cmp - /run/dry.json'
ln -s real.json /run/link.json && touch /run/real.json
check "save by a symbolic link" nvmerdma save /run/link.json
check "which it stays, and leads to it" cmp "/run/$(readlink /run/link.json)" /run/dry.json
check "restore of what is there" nvmerdma restore
words "nothing to change" "changes nothing"
configured_is "nothing at all" "$FULL"
must "all goes" nvmerdma unexport --all
equal "but the port with a referral" 1 "$(ls $NVMET/ports)"
rmdir $NVMET/ports/1/referrals/elsewhere $NVMET/ports/1
equal "all is gone" "" "$(configured | grep nqn)"
check "restore" nvmerdma restore
words "\+ subsystem $A" "what it made is said"
configured_is "all is back" "$FULL"
must "and works" connect $A "$MY_IP4" 4420 -i 1
get_disk $A 1
check "a disk" round_trip "$DISK" 65536

step "what stays, goes on undisturbed"
LOST=$(times_lost "$CTRL")
json "d['subsystems'][1]['namespaces'][0]['device']['path'] = '/dev/nullb2'" /run/full.json > /run/other.json
check "another disk in B" nvmerdma restore /run/other.json
words "namespace 1 of $B: device_path /dev/nullb1 -> /dev/nullb2" "what it changed is said"
equal "B has it" /dev/nullb2 "$(cat $NVMET/subsystems/$B/namespaces/1/device_path)"
check "A's host has its disk" round_trip "$DISK" 65536
equal "and never lost it" "$LOST live" "$(times_lost "$CTRL") $(state_of "$CTRL")"
json "d['subsystems'] = [s for s in d['subsystems'] if s['nqn'] != '$A']; d['ports'] = [p for p in d['ports'] if p['portid'] != 1]" \
	/run/full.json > /run/without.json
unchanged "not what a host uses" nvmerdma restore /run/without.json
words "$HOSTNQN.* is connected to $A" "who would lose it is said"
unchanged "a dry run neither" nvmerdma restore /run/without.json --dry-run
words "$HOSTNQN.* is connected to $A" "says so, too"
json "d['subsystems'][0].update(allowed_hosts=[])" /run/full.json > /run/shut-out.json
unchanged "a host that is connected is let in no more" nvmerdma restore /run/shut-out.json
check "with --keep it stays" nvmerdma restore --keep /run/without.json
check "A's host has its disk" round_trip "$DISK" 65536
json "d['subsystems'] = [s for s in d['subsystems'] if s['nqn'] == '$B']; [p.update(subsystems=['$B']) for p in d['ports']]" \
	/run/full.json > /run/shared.json
check "also where a port that stays offers it" nvmerdma restore --keep /run/shared.json
equal "both are offered" "$A $B" "$(ls $NVMET/ports/1/subsystems | paste -sd' ')"
check "A's host has its disk" round_trip "$DISK" 65536
must "disconnect" disconnect $A
check "back to all" nvmerdma restore --force /run/full.json
configured_is "it is" "$FULL"

step "all or nothing"
json "d['subsystems'][0]['namespaces'].append({'nsid': 2, 'enable': 1, 'device': {'path': '/dev/nullb2'}}); d['subsystems'].append({'nqn': 'nqn.2026-01.test:c', 'attr': {'allow_any_host': '1'}, 'namespaces': []}); d['ports'][1]['subsystems'] = ['nqn.2026-01.test:c']; d['ports'][0]['addr']['traddr'] = '$MY_IP6'; d['ports'][0]['addr']['adrfam'] = 'ipv6'; d['ports'][2]['addr'].update(traddr='not-an-address', trsvcid='x')" \
	/run/full.json > /run/last-fails.json
unchanged "the last of many steps fails" nvmerdma restore /run/last-fails.json
words "port 3 .rdma not-an-address:x. cannot offer" "which one is said"
configured_is "all is as it was" "$FULL"
json "d['subsystems'][1]['namespaces'][0]['device']['path'] = '/dev/nothing'" /run/full.json > /run/missing.json
unchanged "a disk that is not there" nvmerdma restore /run/missing.json
words "namespace 1 of $B cannot be enabled: there is no /dev/nothing" "in words"
check "without it" nvmerdma restore --without-missing /run/missing.json
words "namespace 1 of $B is left disabled: there is no /dev/nothing" "in words"
must "a disk in use" mkfs.ext4 -q /dev/nullb2
mkdir -p /mnt/used && must "mounted" mount /dev/nullb2 /mnt/used
unchanged "a disk that is mounted" nvmerdma restore /run/other.json
words "namespace 1 of $B cannot be enabled: /dev/nullb2 is mounted at /mnt/used" "in words"
unchanged "a dry run" nvmerdma restore --dry-run /run/other.json
words "namespace 1 of $B cannot be enabled: /dev/nullb2 is mounted at /mnt/used" "says so, too"
equal "and prints no command" "" "$(nvmerdma restore --dry-run /run/other.json 2> /dev/null)"
check "without it" nvmerdma restore --without-missing /run/other.json
words "namespace 1 of $B is left disabled: /dev/nullb2 is mounted" "in words"
umount /mnt/used
json "d['subsystems'][1]['namespaces'][0]['device']['path'] = '/dev/nullb0'" /run/full.json > /run/twice.json
unchanged "a disk that is in the file twice" nvmerdma restore /run/twice.json
words "namespace 1 of $B cannot be enabled: /dev/nullb0 is to be namespace 1 of $A as well" "in words"
must "the disk comes" ln -s nullb1 /dev/nothing
check "and is restored" nvmerdma restore /run/missing.json
equal "is there" 1 "$(cat $NVMET/subsystems/$B/namespaces/1/enable)"
SAME=$(configured)
nvmerdma restore /run/full.json --dry-run > /run/plan.sh || fail "a dry run"
configured_is "a dry run changes nothing" "$SAME"
check "what it prints, a shell does" bash -e /run/plan.sh
configured_is "and the same comes of it" "$FULL"

step "another disk by the same name"
truncate -s 16M /run/one /run/two
modprobe loop
LOOP=$(losetup -f --show /run/one)
check "a disk that has something like a serial number" nvmerdma export "$LOOP" --nqn nqn.2026-01.test:loop
nvmerdma save /run/loop.json > /dev/null
check "unexport" nvmerdma unexport "$LOOP"
losetup -d "$LOOP"
must "another one" losetup "$LOOP" /run/two
OTHER=$(losetup -f --show /run/one)
unchanged "has its name" nvmerdma restore /run/loop.json
words "$LOOP is another disk than the one that was exported with UUID .*; that is $OTHER now" "where it is now is said"
mkdir -p /dev/disk/by-id && ln -s "../../${OTHER##*/}" /dev/disk/by-id/wwn-one
ln -s "../../${OTHER##*/}" /dev/disk/by-id/ata-one
check "where udev has a name that stays" nvmerdma export "$OTHER" --nqn nqn.2026-01.test:loop
words "1: $OTHER, 16.0 MiB, as /dev/disk/by-id/wwn-one" "that is kept"
nvmerdma save /run/loop.json > /dev/null
check "by the other one it is found" nvmerdma unexport "$OTHER"
ln -sfn "../../${LOOP##*/}" /dev/disk/by-id/wwn-one
losetup -d "$LOOP"
losetup -d "$OTHER"
must "it comes with another number" losetup "$LOOP" /run/one
check "it is restored" nvmerdma restore /run/loop.json
check "unexport" nvmerdma unexport "$LOOP"
ln -s "${LOOP##*/}" /dev/slot
check "by a link that somebody made" nvmerdma export /dev/slot --nqn nqn.2026-01.test:loop
nvmerdma save /run/loop.json > /dev/null
check "unexport" nvmerdma unexport /dev/slot
losetup -d "$LOOP"
must "it leads to another one" losetup "$LOOP" /run/two
unchanged "which is not exported" nvmerdma restore /run/loop.json
words "/dev/slot is another disk than the one that was exported with UUID" "in words"
json "[s['attr'].update(cntlid_min='1', cntlid_max='999') for s in d['subsystems'] if s['nqn'].endswith(':loop')]" \
	/run/loop.json > /run/two-machines.json
check "but of two machines that export it the UUID may be the other's" nvmerdma restore /run/two-machines.json
check "unexport" nvmerdma unexport /dev/slot
losetup -d "$LOOP"
rm /dev/slot
check "back to all" nvmerdma restore /run/full.json

step "a disk that has nothing but a name"
must "disks without a serial number" modprobe brd rd_nr=4 rd_size=65536
must "a zvol" bash -c "mkdir -p /dev/zvol/tank && ln -s ../../ram0 /dev/zvol/tank/a"
must "nothing else is exported" nvmerdma unexport --all --force
rm -f /etc/nvmet/config.json
# of_export: NQN, serial number and UUID of the last checked export
of_export() {
	local nqn
	nqn=$(name_of_export)
	echo "$nqn $(xargs < "$NVMET/subsystems/$nqn/attr_serial") $(cat "$NVMET/subsystems/$nqn/namespaces/1/device_uuid")"
}
check "by its name" nvmerdma export /dev/zvol/tank/a --save
FIRST=$(of_export)
equal "without a word of doubt" 0 "$(grep -c 'note:' "$CHECK_OUT")"
check "unexport" nvmerdma unexport --all
check "by the kernel's name" nvmerdma export /dev/ram0
equal "it is the same" "$FIRST" "$(of_export)"
words "1: /dev/ram0, 64.0 MiB, as /dev/zvol/tank/a" "and is kept by the name that lasts"
check "unexport" nvmerdma unexport --all
must "as after a reboot, it has another kernel name" ln -sfn ../../ram1 /dev/zvol/tank/a
must "and another zvol has its" ln -s ../../ram0 /dev/zvol/tank/b
check "restore" nvmerdma restore
equal "it is what it was" "/dev/zvol/tank/a ${FIRST##* }" "$(cat $NVMET/subsystems/*/namespaces/1/device_{path,uuid} | xargs)"
check "the other one is exported" nvmerdma export /dev/zvol/tank/b --save
OTHER=$(of_export)
equal "by nothing of the first one's" 0 "$(tr ' ' '\n' <<< "$FIRST" | grep -cFx -f <(tr ' ' '\n' <<< "$OTHER"))"
unchanged "a third disk by the first one's name" nvmerdma export /dev/ram2 --nqn "${FIRST%% *}"
words "--nqn: ${FIRST%% *} exists already, and exports /dev/zvol/tank/a: choose another name" "whose it is is said"
equal "and not how to take it away" 0 "$(grep -c unexport "$CHECK_OUT")"
check "both go" nvmerdma unexport --all
check "and come again" nvmerdma restore
equal "two UUIDs" 2 "$(cat $NVMET/subsystems/*/namespaces/1/device_uuid | sort -u | wc -l)"
check "unexport" nvmerdma unexport --all
json "d['ports'] = []; d['subsystems'] = [s for s in d['subsystems'] if s['nqn'] == '${FIRST%% *}']; d['subsystems'][0]['namespaces'][0]['device']['path'] = '/dev/ram0'" \
	/etc/nvmet/config.json > /run/moved.json
unchanged "by a kernel name that is another one's now" nvmerdma restore /run/moved.json
words "/dev/ram0 is another disk than .* ${FIRST##* }; that is /dev/zvol/tank/a now; .*name it /dev/zvol/tank/b" "in words"
# as nvmerdma made them before, of the kernel's name that it had then
python3 - /etc/nvmet/config.json "${FIRST%% *}" > /run/before.json <<'END'
import json, sys, uuid
d = json.load(open(sys.argv[1]))
s = [s for s in d["subsystems"] if s["nqn"] == sys.argv[2]][0]
u = uuid.uuid5(uuid.UUID("b2173e0c-b091-488b-8a90-e3589ca26446"),
	       "namespace\n%s\nname ram0" % open("/etc/machine-id").read().strip())
s["namespaces"][0]["device"].update(uuid=str(u), nguid=str(u))
json.dump({"subsystems": [s]}, sys.stdout)
END
check "a file of before is restored, by the name that lasts" nvmerdma restore /run/before.json
check "unexport" nvmerdma unexport --all

step "a disk that has not even that"
unchanged "is not saved" nvmerdma export /dev/ram2 --save
words "--save: /dev/ram2 has no serial number, UUID or persistent name" "in words"
check "exported it is" nvmerdma export /dev/ram2
words "note: /dev/ram2 has no serial number, UUID or persistent name" "and that is said"
FIRST=$(of_export)
check "save" nvmerdma save
words "namespace 1 of ${FIRST%% *} is on /dev/ram2, which has no serial number, UUID or persistent name" "says that it is not for the next boot"
check "unexport" nvmerdma unexport --all
check "in this boot it is the same" nvmerdma export /dev/ram2
equal "again" "$FIRST" "$(of_export)"
check "unexport" nvmerdma unexport --all
must "as after a reboot, another disk has its name" bash -c "rmmod brd && modprobe brd rd_nr=4 rd_size=65536"
unchanged "which is not exported as the first one" nvmerdma restore
words "/dev/ram2 has nothing that tells whether it is the disk that was exported with UUID ${FIRST##* }" "in words"
check "nor anew" nvmerdma export /dev/ram2
equal "by nothing of the first one's" 0 "$(tr ' ' '\n' <<< "$FIRST" | grep -cFx -f <(of_export | tr ' ' '\n'))"
check "unexport" nvmerdma unexport --all
U=$(cat /proc/sys/kernel/random/uuid)
check "whoever gives a UUID has the last word" nvmerdma export /dev/ram2 --uuid "$U" --save
words "after a reboot another disk of that name would be taken for it" "and is told what that means"
check "unexport" nvmerdma unexport --all
check "restore" nvmerdma restore
equal "it is that one" "$U" "$(cat $NVMET/subsystems/*/namespaces/1/device_uuid)"
check "unexport" nvmerdma unexport --all
ln -s ram2 /dev/slot
check "by a link that somebody made, it has the link's name" nvmerdma export /dev/slot --save
FIRST=$(of_export)
check "unexport" nvmerdma unexport --all
ln -sfn ram3 /dev/slot
check "which is believed, as nothing else tells" nvmerdma restore
check "unexport" nvmerdma unexport --all
ln -sfn ../../ram3 /dev/zvol/tank/b
unchanged "but not where the disk has a name of its own" nvmerdma restore
words "/dev/slot is another disk than .* ${FIRST##* }; .*name it /dev/zvol/tank/b" "in words"
rm -r /dev/slot /dev/zvol

step "disks that look the same"
rm -f /dev/disk/by-id/*-one
must "RAID" modprobe -a raid0 raid1
must "an array without a superblock" mdadm --build /dev/md5 --level=0 --raid-devices=2 /dev/ram0 /dev/ram1
check "has a UUID" nvmerdma export /dev/md5 --dry-run
words "note: /dev/md5 has no serial number, UUID or persistent name" "that md has made up"
must "the end of it" mdadm --stop /dev/md5
must "one whose superblock is not md's" bash -c "mdadm -C /dev/md7 -e ddf -n 2 --run /dev/ram0 /dev/ram1 < /dev/null && mdadm -C /dev/md6 -l 1 -n 2 --run /dev/md7 < /dev/null"
check "has a UUID" nvmerdma export /dev/md6 --dry-run
words "note: /dev/md6 has no serial number, UUID or persistent name" "of zeros"
must "the end of it" mdadm --stop /dev/md6 /dev/md7
for n in 0 1; do
	LOOPS[n]=$(losetup -f --show --offset $((n << 20)) --sizelimit $((1 << 20)) /run/one)
done
check "a part of a file" nvmerdma export "${LOOPS[0]}"
FIRST=$(of_export)
check "unexport" nvmerdma unexport --all
check "another part of it" nvmerdma export "${LOOPS[1]}"
equal "by nothing of the first one's" 0 "$(tr ' ' '\n' <<< "$FIRST" | grep -cFx -f <(of_export | tr ' ' '\n'))"
check "unexport" nvmerdma unexport --all
losetup -d "${LOOPS[@]}"
LOOP=$(losetup -f --show /dev/ram0)
check "a loop device on a disk" nvmerdma export "$LOOP"
words "note: $LOOP has no serial number, UUID or persistent name" "is not known by the kernel's name for that"
check "unexport" nvmerdma unexport --all
losetup -d "$LOOP"
rm /etc/nvmet/config.json.old*
cp /run/full.json /etc/nvmet/config.json
check "back to all" nvmerdma restore /run/full.json

step "what a save would lose"
check "save" nvmerdma save
equal "nothing is lost" "" "$(ls /etc/nvmet/*.old 2> /dev/null)"
check "unexport and save" nvmerdma unexport $B --save
equal "of what was taken away by that nothing is kept" "" "$(ls /etc/nvmet/*.old 2> /dev/null)"
cp /run/full.json /etc/nvmet/config.json
check "save, as after a restore that failed" nvmerdma save
words "config.json had 1 subsystem, 1 namespace, 2 ports that are not configured now: it is kept as /etc/nvmet/config.json.old" "in words"
check "it is kept" cmp /run/full.json /etc/nvmet/config.json.old
rm /etc/nvmet/config.json.old
cp /run/full.json /etc/nvmet/config.json
check "back to all" nvmerdma restore
touch /etc/nvmet/config.json.old
echo 0123456789 > "$NVMET/subsystems/$B/attr_serial"
check "save, and a value is another one; by another spelling" nvmerdma save /etc/nvmet//config.json
words "config.json had settings that are not configured now: it is kept as /etc/nvmet/config.json.old.1" "in words"
check "it is kept" cmp /run/full.json /etc/nvmet/config.json.old.1
equal "and what was kept before" 0 "$(stat -c %s /etc/nvmet/config.json.old)"
rm /etc/nvmet/config.json.old*
if [ -e $NVMET/discovery_nqn ]; then
	WAS=$(cat $NVMET/discovery_nqn)
	echo nqn.2026-01.test:discovery > $NVMET/discovery_nqn
	check "save, and discovery has another name" nvmerdma save
	words "config.json had settings that are not configured now" "in words"
	echo "$WAS" > $NVMET/discovery_nqn
	rm /etc/nvmet/config.json.old*
fi
echo '{ "ports": [' > /etc/nvmet/config.json
check "save over what is wrong" nvmerdma save
words "it is kept as /etc/nvmet/config.json.old" "in words"
equal "it is" '{ "ports": [' "$(cat /etc/nvmet/config.json.old)"
rm /etc/nvmet/config.json.old
check "back to all" nvmerdma restore /run/full.json

step "files that are wrong"
wrong() { # PATTERN WORDS, a file from stdin
	cat > /run/wrong.json
	unchanged "$2" nvmerdma restore /run/wrong.json && words "$1" "$2: in words"
}
wrong "line 2: not JSON" "no JSON" <<< $'{ "ports": [\n{ ]'
wrong "an object with \"subsystems\"" "no object" <<< '[]'
wrong 'subsystems\[0\]: a subsystem without the member "nqn"' "no name" <<< '{"subsystems": [{}]}'
wrong 'ports\[0\].* invalid portid .expected 0 to 65535' "a wrong number" <<< '{"ports": [{"portid": 65536}]}'
wrong 'offers nqn.x, which is not among the subsystems' "a name that there is not" \
	<<< '{"ports": [{"portid": 1, "addr": {"trtype": "rdma"}, "subsystems": ["nqn.x"]}]}'
wrong 'is there twice' "twice the same" <<< '{"subsystems": [{"nqn": "nqn.x"}, {"nqn": "nqn.x"}]}'
wrong 'use only one of them' "a contradiction" \
	<<< '{"subsystems": [{"nqn": "nqn.x", "attr": {"allow_any_host": "1"}, "allowed_hosts": ["nqn.h"]}]}'
wrong 'ports: expected a list' "a wrong type" <<< '{"ports": {}}'
wrong 'invalid name' "a way out of configfs" <<< '{"subsystems": [{"nqn": "../hosts/x"}]}'
wrong 'unknown attribute' "by an attribute" <<< '{"subsystems": [{"nqn": "nqn.x", "attr": {"/../../hosts": "1"}}]}'
refuse 20 "no file" nvmerdma restore /run/nothing.json
words "No such file.*nvmerdma save" "in words"
refuse 20 "an option that no manual has" nvmerdma restore -f /run/nothing.json
words "invalid option" "in words"

step "nvmetcli"
check "it reads what nvmerdma wrote" nvmetcli restore /run/full.json
cat "$CHECK_OUT"
configured_is "and makes the same of it" "$FULL"
check "nvmetcli save" nvmetcli save /run/nvmetcli.json
check "nvmetcli clear" nvmetcli clear
equal "nothing is left" "" "$(configured | grep nqn)"
check "nvmerdma reads what nvmetcli wrote" nvmerdma restore /run/nvmetcli.json
configured_is "and makes the same of it" "$FULL"
equal "without a word about what it does not know" 0 "$(grep -c 'not known' "$CHECK_OUT")"
check "again, it changes nothing" nvmerdma restore /run/nvmetcli.json
words "nothing to change" "in words"
nvmerdma save /run/again.json > /dev/null
# The order is arbitrary, and ours does not write empty or unused attributes
cat > /run/known.py <<'END'
import json, sys
def known(x):
    if isinstance(x, dict):
        return {k: known(v) for k, v in x.items() if k not in ("buffered_io", "p2pmem")
                and v != {} and not (k == "passthru" and v[0]["device"]["path"] in ("", "(null)"))}
    return sorted((known(v) for v in x), key=lambda v: json.dumps(v, sort_keys=True)) if isinstance(x, list) else x
json.dump(known(json.load(open(sys.argv[1]))), sys.stdout, indent=1, sort_keys=True)
END
for f in nvmetcli again; do python3 /run/known.py /run/$f.json > /run/$f.known; done
check "what both write is the same, but for what nvmetcli does not know" diff /run/nvmetcli.known /run/again.known
all_down
finish
