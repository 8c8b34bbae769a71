# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests/deb/run: the packages in guests that boot a plain Debian of their own. DKMS's
# builds take most of the time without KVM: some 13 minutes each.

BUILD_SECONDS=3600
NQN=nqn.2026-01.org.example:disk
# On a disk that is not there at boot, as null_blk is not loaded by itself
LATE=nqn.2026-01.org.example:late

# Run what comes on standard input in a guest; it is one check
guest_check() { # GUEST NAME SECONDS
	in_guest "$1" "$3"
	verdict "$1: $2" $? "$(tail -n 6 "$OUT")"
}

# Up, with nothing failed
came_up() { # GUEST NAME
	guest_booted "$1"
	verdict "$1: $2: it is up" $? "$WHY"
	guest_check "$1" "$2: no unit has failed" 300 <<- 'END'
		systemctl is-system-running --wait; systemctl --failed
		[ "$(systemctl is-system-running)" = running ]
	END
}

# Both modules are ours, those that are loaded, too
ours_there() { # GUEST NAME
	guest_check "$1" "$2: both modules are ours" 120 <<- END
		for m in nvme-rdma nvmet-rdma; do
			modinfo -n \$m
			case \$(modinfo -n \$m) in */updates/dkms/\$m.ko*) ;; *) exit 1 ;; esac
			modprobe \$m && grep -x $version /sys/module/\${m/-/_}/version || exit 1
		done
	END
}

# After a boot both modules are the kernel's own, those that are loaded, too
in_tree_there() { # GUEST NAME
	guest_check "$1" "$2: both modules are the kernel's own, and loaded" 120 <<- 'END'
		for m in nvme-rdma nvmet-rdma; do
			modinfo -n $m
			case $(modinfo -n $m) in */kernel/drivers/nvme/*) ;; *) exit 1 ;; esac
			modprobe $m && [ -e /sys/module/${m/-/_} ] && [ ! -e /sys/module/${m/-/_}/version ] || exit 1
		done
	END
}

# What ended exports at the last shutdown came to its end
ended_well() { # GUEST NAME
	guest_check "$1" "$2: exports had ended without an error" 60 <<- 'END'
		journalctl -q -b -1 -u nvmerdma-unexport -u nvmerdma-restore > /run/words; cat /run/words
		grep -q 'Stopped nvmerdma-unexport' /run/words &&
			! grep -v 'nvmerdma: note:' /run/words | grep -E 'Failed|FAILURE|[Tt]imed out|nvmerdma: '
	END
}

# In the kernel's and systemd's words of the boot before this one, by lines that match
in_order() { # GUEST NAME PATTERN...
	local guest=$1 name=$2

	shift 2
	guest_check "$guest" "$name" 60 <<- END
		journalctl -q -b -1 -o cat > /run/words
		last=0
		for pattern in $(printf '%q ' "$@"); do
			n=\$(grep -nE "\$pattern" /run/words | tail -n 1 | cut -d: -f1)
			echo "\${n:-nowhere}: \$pattern"
			[ -n "\$n" ] && [ \$n -gt \$last ] || exit 1
			last=\$n
		done
	END
}

# Each end of the cable is a socket of its own: either guest may be away.
wire() { # GUEST OTHER NUMBER
	echo "-netdev dgram,id=wire,local.type=unix,local.path=$D/wire-$1,remote.type=unix,remote.path=$D/wire-$2" \
		"-device virtio-net-pci,netdev=wire,romfile=,mac=52:54:00:4e:56:0$3"
}

start_both() {
	# shellcheck disable=SC2046
	guest_start target $(wire target host 1) \
		-drive "file=$D/exported,format=raw,if=none,id=exported,cache=unsafe" \
		-device virtio-blk-pci,drive=exported,serial=exported
	# shellcheck disable=SC2046
	guest_start host $(wire host target 2)
}

# Down in order, and up again
reboot() { # GUEST
	guest_goes "$1" reboot
	guest_ended "$1"
	verdict "$1: its reboot: it goes down" $? "it does not: $(tail -n 3 "$D/$1.console")"
	guest_again "$1"
}

set_wire_up() { # GUEST ADDRESS
	guest_check "$1" "an interface with soft-RoCE, as an administrator sets it up" 60 <<- END
		cat > /etc/network/interfaces.d/wire <<- 'WIRE'
			auto eth0
			iface eth0 inet static
				address $2/24
				post-up rdma link add rxe0 type rxe netdev eth0
		WIRE
		hostname $1; echo $1 > /etc/hostname; sed -i "s/plain/$1/" /etc/hosts
		for i in \$(seq 30); do [ ! -e /sys/class/net/eth0 ] || break; sleep 1; done
		ifup eth0 && rdma link | grep -q rxe0
	END
}

install_there() {
	guest_disk plain "$DISK"
	cp "$D"/*.deb "$D/plain/"
	guest_start plain
	came_up plain "a plain Debian"
	guest_check plain "apt install" $BUILD_SECONDS <<- 'END'
		mkdir /var/log/journal /debs; cp /vm/*.deb /debs/
		time apt-get install -q -y /debs/*.deb && [ -z "$(dpkg --audit)" ]
	END
	note "$(tr '\n' ' ' < "$OUT" | grep -o 'real.*')"
	ours_there plain "apt install"
	guest_check plain "units: enabled, waiting for a file, and nvme-cli's with its conditions" 60 <<- 'END'
		systemctl is-enabled nvmerdma-restore nvmerdma-unexport nvmerdma-reconnect.path || exit 1
		systemctl is-active nvmerdma-unexport nvmerdma-reconnect.path || exit 1
		! systemctl is-active nvmerdma-restore || exit 1
		[ "$(systemctl is-enabled nvmerdma-autoconnect.timer)" = disabled ] || exit 1
		systemctl start nvmerdma-restore && ! systemctl is-active nvmerdma-restore || exit 1
		! systemctl show -p Wants nvmf-autoconnect | grep network-online.target || exit 1
		touch /etc/nvme/config.json	# Debian 12's own would not run with both
		systemctl start nvmf-autoconnect
		systemctl show -p ConditionResult nvmf-autoconnect | grep yes; rc=$?
		rm /etc/nvme/config.json
		exit $rc
	END
	guest_goes plain poweroff
	guest_ended plain
	verdict "plain: it powers off" $? "it does not"
}

# A target exports a disk; a host connects by itself and mounts it
exported() {
	truncate -s 64M "$D/exported"
	guest_disk target "$D/plain.qcow2" && guest_disk host "$D/plain.qcow2"
	start_both
	came_up target "first boot"
	came_up host "first boot"
	set_wire_up target 192.0.2.1
	set_wire_up host 192.0.2.2
	guest_check target "export and save, and nothing else" 120 <<- END
		modprobe null_blk nr_devices=1 gb=1 &&
			nvmerdma export /dev/vdb --nqn $NQN --addr 192.0.2.1 --save &&
			! nvmerdma export /dev/nullb0 --nqn $LATE --addr 192.0.2.1 --save &&
			nvmerdma export /dev/nullb0 --nqn $LATE --addr 192.0.2.1 --uuid \$(cat /proc/sys/kernel/random/uuid) --save
	END
	guest_check host "nvme-cli's autoconnect, a file system, a line of fstab" 200 <<- END
		echo "--transport=rdma --traddr=192.0.2.1 --trsvcid=4420" >> /etc/nvme/discovery.conf
		systemctl start nvmf-autoconnect
		for i in \$(seq 30); do
			subsys=\$(dirname \$(grep -lx $NQN /sys/class/nvme-subsystem/*/subsysnqn))
			disk=\$(ls \$subsys | grep -x 'nvme[0-9]*n1') && break
			sleep 1
		done
		mkfs.ext4 -q /dev/\$disk && mkdir /data &&
			echo "UUID=\$(blkid -s UUID -o value /dev/\$disk) /data ext4 _netdev,nofail 0 2" >> /etc/fstab &&
			systemctl daemon-reload && mount /data && head -c 8M /dev/urandom > /data/file &&
			sha256sum /data/file > /root/sum
	END
}

# What Prometheus' own checker has to say of what a guest has left in its directory
judged() { # GUEST NAME FILE
	local promtool=$top/build/tools/prometheus/usr/bin/promtool

	[ -x "$promtool" ] || { note "$1: $2: no promtool to judge it (make test-tools)"; return; }
	"$promtool" check metrics < "$D/$1/$3" > "$D/log" 2>&1 && [ ! -s "$D/log" ]
	verdict "$1: $2: promtool has nothing to say of it" $? "$(tail -n 3 "$D/log")"
}

# One scrape of the socket, as Prometheus would; the module and the host that is connected are there
scraped() { # GUEST NAME
	guest_check "$1" "$2: the socket answers a scrape, without a warning, and nothing is left" 120 <<- 'END'
		systemctl is-active nvmerdma-metrics.socket || exit 1
		exec 3<> /dev/tcp/127.0.0.1/9420 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 &&
			timeout 60 cat <&3 > /root/answer || exit 1
		exec 3>&-
		sed '1,/^\r$/d' /root/answer > /vm/scrape; head -n 1 /root/answer
		head -n 1 /root/answer | grep -q '^HTTP/1.1 200 OK' || exit 1
		grep -x 'nvmerdma_module_loaded{module="nvmet-rdma"} 1' /vm/scrape || exit 1
		grep '^nvmerdma_port_listening{.*} 1' /vm/scrape || exit 1
		for i in $(seq 30); do
			systemctl list-units --all 'nvmerdma-metrics@*' | grep -q nvmerdma-metrics@ || break
			sleep 1
		done
		! systemctl list-units --all --no-legend 'nvmerdma-metrics@*' | grep . &&
			! journalctl -q -b -p warning -u 'nvmerdma-metrics@*' | grep .
	END
	judged "$1" "$2" scrape
}

# The target's metrics, over a socket and as a file
monitored() {
	guest_check target "metrics: both units are disabled after installation" 60 <<- 'END'
		! systemctl is-enabled nvmerdma-metrics.socket nvmerdma-textfile.timer | grep -vx disabled
	END
	guest_check target "metrics: the socket is enabled" 60 <<< "systemctl enable --now nvmerdma-metrics.socket"
	scraped target "metrics"
	guest_check target "metrics: a timer goes on without node_exporter's directory" 120 <<- 'END'
		[ ! -e /var/lib/prometheus/node-exporter ] &&
			systemctl enable --now nvmerdma-textfile.timer || exit 1
		for i in $(seq 60); do
			[ $(systemctl show -P ConditionResult nvmerdma-textfile) = no ] &&
				[ -n "$(systemctl show -P ConditionTimestamp nvmerdma-textfile)" ] && break
			sleep 1
		done
		systemctl status nvmerdma-textfile.timer nvmerdma-textfile.service
		[ -n "$(systemctl show -P ConditionTimestamp nvmerdma-textfile)" ] &&
			systemctl is-active nvmerdma-textfile.timer
	END
	guest_check target "metrics: the file appears in a directory that is another user's, and is renewed" 200 <<- 'END'
		file=/var/lib/prometheus/node-exporter/nvmerdma.prom
		mkdir -p ${file%/*} && chown nobody ${file%/*} && chmod 755 ${file%/*}
		for i in $(seq 60); do [ ! -e $file ] || break; sleep 1; done
		first=$(stat -c %i $file) || { journalctl -q -b -u nvmerdma-textfile; exit 1; }
		for i in $(seq 60); do [ "$(stat -c %i $file)" = $first ] || break; sleep 1; done
		ls -la ${file%/*}; cp $file /vm/textfile
		[ "$(stat -c %i $file)" != $first ] && [ $(stat -c %a $file) = 644 ] &&
			[ "$(ls ${file%/*})" = nvmerdma.prom ] || exit 1
		grep -x 'nvmerdma_module_loaded{module="nvmet-rdma"} 1' $file &&
			! systemctl is-failed nvmerdma-textfile &&
			! journalctl -q -b -p warning -u nvmerdma-textfile | grep .
	END
	judged target "metrics: the file" textfile
}

# The file system is there, and as it was; it was left in order
mounted() { # NAME
	guest_check host "$1: the file system is mounted, the data is there" 200 <<- 'END'
		for i in $(seq 150); do ! mountpoint -q /data || break; sleep 1; done
		findmnt /data && sha256sum -c /root/sum
	END
	ours_there host "$1"
}

host_reboots() {
	reboot host
	came_up host "its reboot"
	mounted "its reboot"
	guest_check host "its reboot: its line in fstab had the network waited for" 60 <<- 'END'
		systemctl show -p Wants data.mount | grep network-online.target &&
			systemctl is-active network-online.target
	END
	guest_check host "its reboot: the file system had been left clean" 60 <<- 'END'
		! journalctl -q -b -k | grep -E 'nvme.n1.*recovery|I/O error' &&
			journalctl -q -b -1 -k | grep -q . &&
			! journalctl -q -b -1 -k | grep -E 'I/O error|Remounting filesystem read-only'
	END
	in_order host "its reboot: it was unmounted before the network went" \
		'Unmounted data.mount|Unmounted /data' 'Stopped (networking.service|.*[Nn]etwork interfaces)'
}

# The host's RDMA device is removed, and comes back: its disk is connected again by itself
device_returns() {
	guest_check host "its RDMA device goes: its disk waits for it" 120 <<- 'END'
		systemctl is-active nvmerdma-reconnect.path && umount /data || exit 1
		find /run/nvmerdma/connected -type f | grep . || exit 1
		rdma link delete rxe0
		for i in $(seq 60); do
			! systemctl show -P StatusText nvmerdma-reconnect | grep -F 'eth0 has no RDMA device' || break
			sleep 1
		done
		systemctl status nvmerdma-reconnect | cat
		systemctl is-active nvmerdma-reconnect &&
			systemctl show -P StatusText nvmerdma-reconnect | grep -F 'eth0 has no RDMA device' &&
			! ls /sys/class/nvme-fabrics/ctl | grep nvme
	END
	guest_check host "its RDMA device comes: its disk is connected and mounted again" 200 <<- 'END'
		rdma link add rxe0 type rxe netdev eth0 || exit 1
		for i in $(seq 120); do ! systemctl is-active -q nvmerdma-reconnect || break; sleep 1; done
		journalctl -q -b -u nvmerdma-reconnect
		journalctl -q -b -u nvmerdma-reconnect | grep 'is connected again' &&
			! systemctl is-failed nvmerdma-reconnect.service nvmerdma-reconnect.path || exit 1
		for i in $(seq 60); do mountpoint -q /data || mount /data && break; sleep 1; done
		mountpoint -q /data && sha256sum -c /root/sum
	END
}

# It goes down for the first time since it exports anything, and comes up without one disk
target_reboots() {
	reboot target
	came_up target "its reboot"
	guest_check target "its reboot: what is there is exported again" 90 <<- END
		systemctl is-active nvmerdma-restore && nvmerdma list &&
			cat /sys/kernel/config/nvmet/subsystems/$NQN/namespaces/1/enable &&
			ls /sys/kernel/config/nvmet/ports/*/subsystems/$NQN
	END
	ours_there target "its reboot"
	scraped target "its reboot"
	ended_well target "its reboot"
	in_order target "its reboot: the exports ended before network and file systems" \
		"^- subsystem $NQN" \
		'Stopped (networking.service|.*[Nn]etwork interfaces)' 'Reached target umount'
	guest_check target "a disk is missing: it is said, and saved as it was" 60 <<- END
		systemctl status nvmerdma-restore
		systemctl show -P StatusText nvmerdma-restore | grep -F 'there is no /dev/nullb0' &&
			[ \$(cat /sys/kernel/config/nvmet/subsystems/$LATE/namespaces/1/enable) = 0 ] &&
			cp /etc/nvmet/config.json /root/before && nvmerdma save &&
			diff /root/before /etc/nvmet/config.json
	END
	guest_check target "to stop the unit takes no time, and ends no export" 60 <<- END
		timeout 20 systemctl restart nvmerdma-restore &&
			[ \$(cat /sys/kernel/config/nvmet/subsystems/$NQN/namespaces/1/enable) = 1 ]
	END
	guest_check target "the disk comes, and is exported" 60 <<- END
		modprobe null_blk nr_devices=1 gb=1
		for i in \$(seq 20); do
			[ \$(systemctl show -P SubState nvmerdma-restore) != exited ] || break
			sleep 1
		done
		systemctl status nvmerdma-restore
		[ \$(systemctl show -P SubState nvmerdma-restore) = exited ] &&
			[ \$(cat /sys/kernel/config/nvmet/subsystems/$LATE/namespaces/1/enable) = 1 ]
	END
	guest_check target "what could not be restored is tried again" 90 <<- 'END'
		mv /etc/nvmet/config.json /root/ && echo '{' > /etc/nvmet/config.json
		! systemctl restart nvmerdma-restore || exit 1
		mv /root/config.json /etc/nvmet/
		for i in $(seq 70); do ! systemctl is-active -q nvmerdma-restore || break; sleep 1; done
		systemctl status nvmerdma-restore
	END
	guest_check host "the target's reboot: its disk comes back" 200 <<- 'END'
		for i in $(seq 150); do
			grep -qvx live /sys/class/nvme/nvme?/state || break
			sleep 1
		done
		echo 3 > /proc/sys/vm/drop_caches
		cat /sys/class/nvme/nvme?/state; sha256sum -c /root/sum && touch /data/again && sync
	END
}

# Power is lost and comes back: the host is there before its target, by more than the
# 90 s for which systemd waits for the disk by itself.
host_first() {
	local guest

	in_guest host 60 <<- 'END'
		systemctl enable --now nvmerdma-autoconnect.timer
		sed -i 's/_netdev,nofail/&,x-systemd.device-timeout=0/' /etc/fstab
		sync
	END
	for guest in host target; do
		kill "${QEMU_PID[$guest]}"
		guest_ended $guest
	done
	guest_again host
	guest_booted host
	verdict "host: without its target: it is up" $? "$WHY"
	guest_check host "without its target: it does not wait for it" 300 <<- 'END'
		for i in $(seq 60); do ! systemctl is-active -q multi-user.target || break; sleep 1; done
		systemctl is-active multi-user.target && sleep 100 && ! mountpoint /data
	END
	guest_again target
	came_up target "its power is back"
	mounted "its target has come later"
	guest_check host "what is taken away in the guide's order stays away, though the timer runs" 200 <<- END
		systemctl is-active nvmerdma-autoconnect.timer || exit 1
		sed -i '\\| /data ext4 |d' /etc/fstab
		sed -i '/--traddr=192.0.2.1 /d' /etc/nvme/discovery.conf
		systemctl daemon-reload
		umount /data && nvme disconnect -n $NQN && sleep 70 &&
			! grep -x $NQN /sys/class/nvme-subsystem/*/subsysnqn && ! mountpoint /data
	END
	guest_check target "and can be taken from the target" 60 <<< "nvmerdma unexport $NQN --save"
	for guest in host target; do
		guest_goes $guest poweroff
		guest_ended $guest
		verdict "$guest: it powers off" $? "it does not"
	done
}

# ---- a machine by itself: a new kernel, newer packages, none ----

# It has a wire that nobody else is at, and uses what it exports itself.
upgraded_starts() {
	guest_disk upgraded "$D/plain.qcow2"
	# shellcheck disable=SC2046
	guest_start upgraded $(wire upgraded nobody 3)
	came_up upgraded "before the new kernel"
	set_wire_up upgraded 192.0.2.1
}

new_kernel() { # ROOT FLAVOUR
	guest_check upgraded "a new kernel" $BUILD_SECONDS <<- END
		uname -r > /root/before
		time apt-get install -q -y --no-download --no-install-recommends \
			linux-image-$2 linux-headers-$2 && [ -z "\$(dpkg --audit)" ] &&
			[ \$(dkms status nvme-rdma | grep -c ': installed') = 2 ]
		rc=\$?
		dkms status nvme-rdma
		exit \$rc
	END
	note "$(tr '\n' ' ' < "$OUT" | grep -o 'real.*sys [^ ]*')"
	reboot upgraded
	came_up upgraded "the new kernel"
	guest_check upgraded "the new kernel runs" 60 <<< 'uname -r; [ "$(uname -r)" != "$(cat /root/before)" ]'
	ours_there upgraded "the new kernel"
}

# Units that never end hold up no export: DRBD's without its peer, and the one that waits
# for the network, which nothing on a machine that is only a target asks for.
others_hang() {
	guest_check upgraded "a disk, and one that is away" 120 <<- END
		truncate -s 64M /srv/disk /srv/late
		nvmerdma export /srv/disk --nqn $NQN --addr 192.0.2.1 &&
			nvmerdma export /srv/late --nqn $LATE --addr 192.0.2.1 --save &&
			mv /srv/late /srv/away
		rc=\$?
		for unit in drbd.service=multi-user.target wait-online.service=network-online.target; do
			cat > /etc/systemd/system/\${unit%=*} <<- UNIT
				[Unit]
				DefaultDependencies=no
				Before=network-online.target
				[Service]
				Type=oneshot
				ExecStart=sleep infinity
				[Install]
				WantedBy=\${unit#*=}
			UNIT
			systemctl enable \${unit%=*} || exit 1
		done
		sed -i /network-online/d /etc/systemd/system/drbd.service
		exit \$rc
	END
	reboot upgraded
	guest_booted upgraded
	verdict "upgraded: units that never end: it is up" $? "$WHY"
	guest_check upgraded "units that never end: disks are exported, and will not be at shutdown" 200 <<- END
		for i in \$(seq 150); do
			! systemctl is-active -q nvmerdma-restore nvmerdma-unexport || break
			sleep 1
		done
		systemctl list-jobs; systemctl status nvmerdma-restore nvmerdma-unexport
		systemctl list-jobs | grep -q 'drbd.service *start *running' &&
			systemctl is-active nvmerdma-restore && systemctl is-active nvmerdma-unexport &&
			[ \$(cat /sys/kernel/config/nvmet/subsystems/$NQN/namespaces/1/enable) = 1 ] &&
			systemctl show -P StatusText nvmerdma-restore | grep -F 'there is no /srv/late'
	END
	guest_check upgraded "nothing asks for the network to be up" 60 <<- 'END'
		! systemctl is-active network-online.target && ! systemctl list-jobs | grep wait-online
	END
	reboot upgraded
	guest_booted upgraded
	ended_well upgraded "units that never end"
	in_order upgraded "units that never end: exports ended before the network" \
		"^- subsystem $NQN" 'Stopped (networking.service|.*[Nn]etwork interfaces)'
	guest_check upgraded "they are no more, and no unit has failed" 300 <<- 'END'
		systemctl disable drbd wait-online && systemctl stop drbd; systemctl reset-failed
		systemctl is-system-running --wait; systemctl --failed
		[ "$(systemctl is-system-running)" = running ]
	END
}

retries() {
	guest_check upgraded "a restore that takes too long is tried again; one killed while it waits is not" 120 <<- 'END'
		mkdir -p /run/systemd/system/nvmerdma-restore.service.d
		cat > /run/systemd/system/nvmerdma-restore.service.d/slow.conf <<- 'UNIT'
			[Service]
			TimeoutStartSec=5
			RestartSec=2
			ExecStart=
			ExecStart=/bin/sh -c '[ ! -e /run/slow ] || sleep 1000; exec /usr/sbin/nvmerdma restore --late'
		UNIT
		touch /run/slow; systemctl daemon-reload
		! systemctl restart nvmerdma-restore || exit 1
		rm /run/slow
		for i in $(seq 40); do ! systemctl is-active -q nvmerdma-restore || break; sleep 1; done
		systemctl status nvmerdma-restore
		systemctl is-active nvmerdma-restore && [ "$(systemctl show -P SubState nvmerdma-restore)" = running ] || exit 1
		systemctl kill -s KILL nvmerdma-restore; sleep 8
		systemctl is-failed nvmerdma-restore || exit 1
		rm -r /run/systemd/system/nvmerdma-restore.service.d; systemctl daemon-reload
		systemctl reset-failed nvmerdma-restore && systemctl start nvmerdma-restore
	END
}

# I/O, from now on, on what this machine exports; it ends at its first error
io_starts() { # GUEST
	guest_check "$1" "a disk is in use, another one is waited for" 200 <<- END
		for i in \$(seq 100); do
			[ "\$(systemctl show -P SubState nvmerdma-restore)" != running ] || break
			sleep 1
		done
		modprobe nvme-fabrics && nvme connect -t rdma -a 192.0.2.1 -s 4420 -n $NQN -i 1 || exit 1
		for i in \$(seq 30); do [ ! -b /dev/nvme0n1 ] || break; sleep 1; done
		systemd-run -q --unit io sh -c 'while dd if=/dev/zero of=/dev/nvme0n1 bs=4k count=8 oflag=direct; do sleep 0.2; done'
		sleep 3
		systemctl status io nvmerdma-restore | cat
		systemctl is-active io && [ "\$(systemctl show -P SubState nvmerdma-restore)" = running ]
	END
}

# IO_GOES_ON: in a step, a part of it
IO_GOES_ON='sleep 2; systemctl is-active io && [ "$(cat /sys/class/nvme/nvme0/state)" = live ]'

removal() {
	ours_there upgraded "before apt remove"
	io_starts upgraded
	guest_check upgraded "apt remove: I/O goes on, nothing waits for a disk any more, and it is said" 600 <<- END
		[ \$(ls /lib/modules/*/updates/dkms/nvme{,t}-rdma.ko* | wc -l) = 4 ] || exit 1
		pgrep -x nvmerdma || exit 1
		apt-get remove -q -y nvme-rdma-dkms nvme-rdma-tools > /root/said; rc=\$?
		cat /root/said
		[ \$rc = 0 ] && [ -z "\$(dpkg --audit)" ] && ! pgrep -x nvmerdma || exit 1
		grep 'what is exported stays so' /root/said && $IO_GOES_ON || exit 1
		! find /lib/modules/*/updates -name '*.ko*' | grep . && systemctl stop io
	END
	reboot upgraded
	came_up upgraded "after apt remove"
	in_tree_there upgraded "after apt remove"
	guest_check upgraded "after apt remove: nothing had failed at shutdown" 60 <<- 'END'
		! journalctl -q -b -1 -o cat | grep -E 'nvmerdma.*([Ff]ailed|FAILURE|[Tt]imed out)'
	END
	guest_goes upgraded poweroff
	guest_ended upgraded
	verdict "upgraded: it powers off" $? "it does not"
}

# The same machine as removal() has found it gets newer packages, whose modules do not build.
newer_version() {
	# shellcheck disable=SC2046
	guest_start newer $(wire newer nobody 4)
	cp "$D"/newer-debs/*.deb "$D/newer/"
	came_up newer "before newer packages"
	ours_there newer "before newer packages"
	io_starts newer
	guest_check newer "newer packages, a build that fails: dpkg goes on, and it is said" 1800 <<- 'END'
		mkdir /newer; cp /vm/*.deb /newer/; pgrep -x nvmerdma > /root/late
		dpkg --unpack /newer/nvme-rdma-dkms_*.deb && cd /usr/src/nvme-rdma-*newer &&
			for f in host/*.c; do echo '#error broken on purpose' >> $f; done
		dpkg -i /newer/nvme-rdma-tools_*.deb && dpkg --configure nvme-rdma-dkms > /root/said || exit 1
		cat /root/said
		grep -q 'NOT BUILT for the kernel 6.1\.' /root/said || exit 1
		grep -q 'NOT BUILT for the kernel 6.12\.' /root/said || exit 1
		grep -q 'error: #error broken on purpose' /root/said || exit 1
		[ -z "$(dpkg --audit)" ] && apt-get check && nvmerdma --version | grep newer
	END
	guest_check newer "newer packages: I/O goes on, and what waited still does" 60 <<- END
		$IO_GOES_ON && systemctl is-active nvmerdma-unexport &&
			[ "\$(pgrep -x nvmerdma)" = "\$(cat /root/late)" ] && mv /srv/away /srv/late || exit 1
		for i in \$(seq 20); do
			[ \$(cat /sys/kernel/config/nvmet/subsystems/$LATE/namespaces/1/enable) = 0 ] || break
			sleep 1
		done
		systemctl stop io
		[ \$(cat /sys/kernel/config/nvmet/subsystems/$LATE/namespaces/1/enable) = 1 ]
	END
	reboot newer
	came_up newer "after a build that failed"
	ended_well newer "after a build that failed"
	in_tree_there newer "after a build that failed"
	guest_check newer "after a build that failed: both disks are exported, by the kernel's own" 60 <<- END
		systemctl is-active nvmerdma-restore && cd /sys/kernel/config/nvmet/subsystems &&
			[ \$(cat {$NQN,$LATE}/namespaces/1/enable | grep -c 1) = 2 ]
	END
	guest_goes newer poweroff
	guest_ended newer
	verdict "newer: it powers off" $? "it does not"
}

# nvmetcli's unit for the same file, as it is: a stand-in
with_nvmetcli() {
	in_guest upgraded 60 <<- 'END'
		cat > /etc/systemd/system/nvmet.service <<- 'UNIT'
			[Unit]
			After=sys-kernel-config.mount network.target local-fs.target
			[Service]
			Type=oneshot
			RemainAfterExit=yes
			ExecStart=/bin/true
			[Install]
			WantedBy=multi-user.target
		UNIT
		systemctl enable nvmet.service
	END
	reboot upgraded
	came_up upgraded "nvmetcli's unit"
	guest_check upgraded "of nvmetcli's unit and ours for one file one has run" 60 <<- 'END'
		systemctl is-active nvmet nvmerdma-restore
		[ $(systemctl is-active nvmet nvmerdma-restore | grep -cx active) = 1 ]
	END
	guest_check upgraded "without it ours runs" 60 <<- 'END'
		systemctl disable --now nvmet && rm /etc/systemd/system/nvmet.service &&
			systemctl daemon-reload && systemctl restart nvmerdma-restore
	END
}

# Two machines from here, with the same on their disks
split() {
	guest_goes upgraded poweroff
	guest_ended upgraded
	verdict "upgraded: it powers off" $? "it does not"
	mv "$D/upgraded.qcow2" "$D/both.qcow2"
	guest_disk upgraded "$D/both.qcow2" && guest_disk newer "$D/both.qcow2"
	guest_again upgraded
	came_up upgraded "before apt remove"
}
