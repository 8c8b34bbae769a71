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

in_tree_there() { # GUEST NAME
	guest_check "$1" "$2: both modules are the kernel's own, and load" 120 <<- 'END'
		modprobe -r nvme-rdma nvmet-rdma
		for m in nvme-rdma nvmet-rdma; do
			modinfo -n $m
			case $(modinfo -n $m) in */kernel/drivers/nvme/*) ;; *) exit 1 ;; esac
			modprobe $m && [ ! -e /sys/module/${m/-/_}/version ] || exit 1
		done
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
		systemctl is-enabled nvmerdma-restore nvmerdma-unexport || exit 1
		systemctl is-active nvmerdma-unexport || exit 1
		! systemctl is-active nvmerdma-restore || exit 1
		[ "$(systemctl is-enabled nvmerdma-autoconnect.timer)" = disabled ] || exit 1
		systemctl start nvmerdma-restore && ! systemctl is-active nvmerdma-restore || exit 1
		systemctl show -p Wants nvmf-autoconnect | grep network-online.target || exit 1
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
			nvmerdma export /dev/nullb0 --nqn $LATE --addr 192.0.2.1 --save
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
	guest_check host "its reboot: the file system had been left clean" 60 <<- 'END'
		! journalctl -q -b -k | grep -E 'nvme.n1.*recovery|I/O error'
		! journalctl -q -b -1 -k | grep -E 'I/O error|Remounting filesystem read-only'
	END
	in_order host "its reboot: it was unmounted before the network went" \
		'Unmounted data.mount|Unmounted /data' 'Stopped (networking.service|.*[Nn]etwork interfaces)'
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
		for i in $(seq 40); do ! systemctl is-active -q nvmerdma-restore || break; sleep 1; done
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
		systemctl enable nvmerdma-autoconnect.timer
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
	for guest in host target; do
		guest_goes $guest poweroff
		guest_ended $guest
		verdict "$guest: it powers off" $? "it does not"
	done
}

# A kernel comes, then one build fails, then the packages go.
kernel_and_removal() { # FLAVOUR
	guest_disk upgraded "$D/plain.qcow2"
	guest_start upgraded
	came_up upgraded "before the new kernel"
	guest_check upgraded "a new kernel" $BUILD_SECONDS <<- END
		time apt-get install -q -y --no-download --no-install-recommends \
			linux-image-$1 linux-headers-$1 && [ -z "\$(dpkg --audit)" ] &&
			[ \$(dkms status nvme-rdma | grep -c ': installed') = 2 ]
		rc=\$?
		# nvmetcli's unit for the same file, as it is
		mkdir -p /etc/nvmet && echo '{}' > /etc/nvmet/config.json
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
		dkms status nvme-rdma
		exit \$rc
	END
	note "$(tr '\n' ' ' < "$OUT" | grep -o 'real.*sys [^ ]*')"
	in_guest upgraded 60 <<< 'uname -r > /root/before'
	reboot upgraded
	came_up upgraded "the new kernel"
	guest_check upgraded "the new kernel runs" 60 <<< 'uname -r; [ "$(uname -r)" != "$(cat /root/before)" ]'
	ours_there upgraded "the new kernel"
	guest_check upgraded "of nvmetcli's unit and ours for one file one has run" 60 <<- 'END'
		systemctl is-active nvmet nvmerdma-restore
		[ $(systemctl is-active nvmet nvmerdma-restore | grep -cx active) = 1 ]
	END
	guest_check upgraded "a build that fails: dpkg goes on, it is said, the kernels' own are used" 900 <<- 'END'
		dpkg --unpack /debs/nvme-rdma-dkms_*.deb && cd /usr/src/nvme-rdma-[0-9]* &&
			for f in host/*.c; do echo '#error broken on purpose' >> $f; done
		dpkg --configure nvme-rdma-dkms > /root/said || exit 1
		cat /root/said
		grep -q 'NOT BUILT for the kernel 6.1\.' /root/said || exit 1
		grep -q 'NOT BUILT for the kernel 6.12\.' /root/said || exit 1
		grep -q 'error: #error broken on purpose' /root/said || exit 1
		[ -z "$(dpkg --audit)" ] && apt-get check
	END
	in_tree_there upgraded "a build that failed"
	guest_check upgraded "apt remove" 600 <<- 'END'
		apt-get remove -q -y nvme-rdma-dkms nvme-rdma-tools && [ -z "$(dpkg --audit)" ]
	END
	in_tree_there upgraded "apt remove"
	guest_goes upgraded poweroff
	guest_ended upgraded
	verdict "upgraded: it powers off" $? "it does not"
}

boots() { # FLAVOUR
	install_there
	exported
	host_reboots
	target_reboots
	host_first
	kernel_and_removal "$1"
}
