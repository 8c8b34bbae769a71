# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For tests/deb/run: the packages built, looked at, and installed in the root of a plain
# Debian without booting it: what dpkg, DKMS and depmod do, in the time that it takes natively.

LIVE=$D/live

in_root() { chroot "$LIVE" env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

close_root() {
	umount -R "$LIVE" 2> /dev/null
	umount "$D/upper" 2> /dev/null
}

# A copy of the root to write into, which ends with this run's mount name space
open_root() {
	close_root
	mkdir -p "$D/upper" "$LIVE" && mount -t tmpfs -o size=3g tmpfs "$D/upper" &&
		mkdir "$D/upper/u" "$D/upper/w" &&
		mount -t overlay -o "lowerdir=$1,upperdir=$D/upper/u,workdir=$D/upper/w" \
			overlay "$LIVE" &&
		mount -t proc proc "$LIVE/proc" && mount --rbind /dev "$LIVE/dev" &&
		# GRUB would look for the disk that this is no part of
		rm "$LIVE/boot/grub/grub.cfg" && mkdir "$LIVE/debs" && cp "$D"/*.deb "$LIVE/debs/"
}

# Where modprobe would take both from
all_from() { # KERNEL DIRECTORY
	local m where

	for m in nvme-rdma nvmet-rdma; do
		where=$(in_root modinfo -k "$1" -n $m 2>&1)
		case $where in
		"/lib/modules/$1/$2/"*) ;;
		*) echo "$m is taken from $where"; return 1 ;;
		esac
	done
}

# dpkg has nothing that is left half done, and apt would go on
settled() {
	local audit

	audit=$(in_root dpkg --audit; in_root apt-get check 2>&1 > /dev/null)
	[ -z "$audit" ] || { echo "$audit" | head -n 5; return 1; }
}

# A line of what was printed, however it was broken
printed() { # TEXT
	grep -qF -- "$1" "$D/log" || { echo "not said: \"$1\", but"; tail -n 8 "$D/log"; return 1; }
}

# All that is not below build/
tree() {
	find "$top" \( -path "$top/build" -o -path "$top/.git" \) -prune -o \
		-printf '%p %s %T@\n' | grep -v "^$top " | sort
}

builds() {
	local before

	before=$(tree)
	make -C "$top" BUILD="$D/build" deb > "$D/log" 2>&1
	verdict "make deb" $? "$(tail -n 5 "$D/log")"
	cp "$D"/build/deb/nvme-rdma-{dkms,tools}_*.deb "$D/" ||
		{ not_ok "packages" "they are not in build/deb"; finish; }
	[ "$(tree)" = "$before" ]
	verdict "make deb leaves the tree as it was" $? "$(diff <(echo "$before") <(tree))"
	printed "nvme-rdma-dkms $version" > /dev/null && printed "nvme-rdma-tools $version" > /dev/null
	verdict "make deb says what came" $? "$(cat "$D/log")"

	! make -C "$top" BUILD="$D/other" DEPS_DEB="dpkg-dev no-such-package" deb > "$D/log" 2>&1 &&
		printed "missing no-such-package" > /dev/null && [ ! -e "$D/other" ]
	verdict "make deb without a package that it needs names it" $? "$(cat "$D/log")"

	# No overrides: what it has to say is mended.
	lintian --allow-root --fail-on error,warning "$D"/build/deb/*.changes > "$D/log" 2>&1
	verdict "lintian" $? "$(head -n 5 "$D/log")"
}

holds() { # PACKAGE FILE...
	local package=$1 file missing=

	shift
	dpkg-deb -c "$D/$package"_*.deb | awk '{ print $6 }' > "$D/log"
	for file in "$@"; do
		grep -qE "^\.(/usr)?$file\$" "$D/log" || missing="$missing $file"
	done
	[ -z "$missing" ]
	verdict "$package: what it holds" $? "missing$missing"
}

contents() {
	local src=/src/nvme-rdma-$version stray

	holds nvme-rdma-dkms "$src"/{dkms.conf,Makefile,Kbuild,common/,host/,target/} \
		/share/man/man4/nvme{,t}-rdma.4.gz /share/nvme-rdma-dkms/build-modules \
		/etc/kernel/{header_,}postinst.d/dkms-nvme-rdma
	(cd "$top" && find common host target -type f | sort) > "$D/want"
	dpkg-deb -c "$D"/nvme-rdma-dkms_*.deb |
		sed -n "s,.* \./usr$src/\(\(common\|host\|target\)/.*[^/]\)\$,\1,p" | sort > "$D/have"
	stray=$(diff "$D/want" "$D/have")
	verdict "nvme-rdma-dkms: all sources, and no others" $? "$stray"
	holds nvme-rdma-tools /sbin/nvmerdma /lib/systemd/system/nvmerdma-{restore,unexport}.service \
		/lib/systemd/system/nvmerdma-{autoconnect,textfile}.timer \
		/lib/systemd/system/nvmerdma-reconnect.{path,service} /lib/udev/rules.d/60-nvmerdma-reconnect.rules \
		/lib/systemd/system/nvmerdma-{metrics.socket,metrics@.service,textfile.service} \
		/share/doc/nvme-rdma-tools/examples/nvmerdma-{dashboard.json,rules.yml} \
		/lib/systemd/system/nvmf-autoconnect.service.d/00-nvme-rdma.conf \
		/share/doc/nvme-rdma-tools/examples/nvmerdma-ha \
		/share/initramfs-tools/{hooks,scripts/local-top,scripts/local-block}/nvmerdma \
		/share/man/man8/nvmerdma{,-ha}.8.gz /share/bash-completion/completions/nvmerdma
}

# A source that does not compile, in place of one that does
broken=usr/src/nvme-rdma-$version/host/$(cd "$top/host" && ls ./*.c | head -n 1)
spoil() { echo '#error broken on purpose' >> "$LIVE/$broken"; }
mend() { sed -i '/broken on purpose/d' "$LIVE/$broken"; }

failing() {
	local kernel=$1 why

	mkdir -p "$LIVE/lib/modules/9.9.9-none/kernel"
	in_root dpkg --unpack /debs/nvme-rdma-dkms_"$version"_all.deb > "$D/log" 2>&1 && spoil &&
		in_root dpkg --configure nvme-rdma-dkms > "$D/log" 2>&1
	verdict "a build that fails: dpkg goes on" $? "$(tail -n 5 "$D/log")"
	why=$(settled)
	verdict "a build that fails: nothing is left half done" $? "$why"
	why=$(printed "NOT BUILT for the kernel $kernel" && printed "error: #error broken on purpose" &&
		printed "dkms install nvme-rdma/$version -k $kernel")
	verdict "a build that fails: it says why, and what to do" $? "$why"
	grep -q "broken on purpose" "$LIVE/var/log/nvme-rdma-dkms/$kernel.log"
	verdict "a build that fails: its log is kept" $? "it is not in /var/log/nvme-rdma-dkms"
	why=$(all_from "$kernel" kernel)
	verdict "a build that fails: the kernel's own modules stay" $? "$why"
	why=$(printed "the kernel 9.9.9-none has no headers here")
	verdict "a kernel without headers is named" $? "$why"
	rm -r "$LIVE/lib/modules/9.9.9-none"
}

# A kernel without RDMA has nothing to replace: that is no error.
excluded() { # KERNEL
	local config=$LIVE/usr/src/linux-headers-$1/.config why

	cp "$config" "$D/config"
	sed -i '/^CONFIG_INFINIBAND_ADDR_TRANS=/d' "$config"
	in_root /etc/kernel/postinst.d/dkms-nvme-rdma "$1" > "$D/log" 2>&1 &&
		why=$(printed "the kernel $1 has no NVMe over RDMA that ours could replace")
	verdict "a kernel without RDMA is passed over, and its package not disturbed" $? \
		"${why:-$(tail -n 5 "$D/log")}"
	cp "$D/config" "$config"
}

installs() {
	local kernel=$1 why unit

	in_root apt-get install -q -y --reinstall /debs/nvme-rdma-dkms_"$version"_all.deb \
		"/debs/nvme-rdma-tools_${version}_$(dpkg --print-architecture).deb" > "$D/log" 2>&1
	verdict "apt install" $? "$(tail -n 5 "$D/log")"
	why=$(printed "installed for the kernel $kernel")
	verdict "apt install says what was built" $? "$why"
	why=$(all_from "$kernel" updates/dkms)
	verdict "$kernel: modinfo -n finds ours" $? "$why"
	[ ! -e "$LIVE/var/log/nvme-rdma-dkms/$kernel.log" ]
	verdict "the log of the build that had failed is gone" $? "it is there"
	for unit in restore unexport; do
		[ -L "$LIVE/etc/systemd/system/multi-user.target.wants/nvmerdma-$unit.service" ]
		verdict "nvmerdma-$unit.service is enabled" $? "it is not"
	done
	[ -L "$LIVE/etc/systemd/system/paths.target.wants/nvmerdma-reconnect.path" ]
	verdict "nvmerdma-reconnect.path is enabled" $? "it is not"
	in_root systemd-analyze verify --man=no nvmerdma-{restore,unexport,textfile,reconnect}.service nvmerdma-reconnect.path \
		nvmerdma-{autoconnect,textfile}.timer nvmerdma-metrics.socket nvmerdma-metrics@1.service \
		> "$D/log" 2>&1 && [ ! -s "$D/log" ]
	verdict "systemd-analyze verify" $? "$(head -n 5 "$D/log")"
	why=$(in_root nvmerdma --version 2>&1) && [ "$why" = "nvmerdma $version" ]
	verdict "nvmerdma runs" $? "$why"
}

# Newer packages, that differ in nothing but their version
newer_builds() {
	mkdir "$D/newer-source" "$D/newer-debs" &&
		(cd "$top" && cp -r COPYING README.md Makefile Kbuild dkms.conf common host target \
			tools Documentation debian "$D/newer-source/") &&
		sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$version.newer\"/" "$D/newer-source/dkms.conf" &&
		sed -i "1s/($version)/($version.newer)/" "$D/newer-source/debian/changelog" &&
		make -C "$D/newer-source" BUILD="$D/newer-build" deb > "$D/log" 2>&1 &&
		cp "$D"/newer-build/deb/nvme-rdma-{dkms,tools}_*.deb "$D/newer-debs/"
	verdict "make deb: newer packages" $? "$(tail -n 5 "$D/log")"
}

newer_installs() { # KERNEL...
	local kernel why

	newer_builds
	cp "$D"/newer-debs/*.deb "$LIVE/debs/" &&
		in_root sh -c 'apt-get install -q -y /debs/*newer*.deb' > "$D/log" 2>&1
	verdict "newer packages: apt install" $? "$(tail -n 5 "$D/log")"
	for kernel in "$@"; do
		why=$(all_from "$kernel" updates/dkms &&
			in_root modinfo -k "$kernel" nvmet-rdma | grep -qx "version: *$version.newer" ||
			echo "the module's version is another one")
		[ -z "$why" ]
		verdict "newer packages: $kernel has theirs" $? "$why"
	done
	why=$(in_root dkms status | grep -v "$version.newer")
	[ -z "$why" ]
	verdict "newer packages: DKMS knows no others" $? "$why"
}

# As by a 'make install' of another version
overwritten() { # KERNEL
	local ko why

	ko=$(in_root modinfo -k "$1" -n nvme-rdma)
	echo something else > "$LIVE/$ko"
	in_root /etc/kernel/postinst.d/dkms-nvme-rdma "$1" > "$D/log" 2>&1
	why=$(in_root modinfo -k "$1" nvme-rdma 2>&1 | grep -q '^version:' || tail -n 5 "$D/log")
	[ -z "$why" ]
	verdict "a module that was overwritten is mended when its kernel's hook runs" $? "$why"
}

# A kernel comes while the modules cannot be built: its own package has to be usable.
kernel_comes() { # ITS PACKAGES' FLAVOUR
	local kernel why

	spoil
	in_root apt-get install -q -y --no-download --no-install-recommends \
		"linux-image-$1" "linux-headers-$1" > "$D/log" 2>&1
	verdict "a new kernel that the build fails for is installed" $? "$(tail -n 5 "$D/log")"
	mend
	kernel=$(ls -v "$LIVE/lib/modules" | tail -n 1)
	why=$(settled)
	verdict "$kernel: nothing is left half done" $? "$why"
	why=$(printed "NOT BUILT for the kernel $kernel")
	verdict "$kernel: its installation says so" $? "$why"
	[ -s "$LIVE/boot/initrd.img-$kernel" ]
	verdict "$kernel: it has its initramfs" $? "$(ls "$LIVE/boot")"
	why=$(all_from "$kernel" kernel)
	verdict "$kernel: its own modules are used" $? "$why"
	[ -n "$quick" ] && return
	in_root /etc/kernel/postinst.d/dkms-nvme-rdma "$kernel" > "$D/log" 2>&1
	why=$(all_from "$kernel" updates/dkms || tail -n 5 "$D/log")
	[ -z "$why" ]
	verdict "$kernel: built by its hook once the source is mended" $? "$why"
}

goes() { # KERNEL...
	local kernel why

	in_root apt-get remove -q -y nvme-rdma-dkms nvme-rdma-tools > "$D/log" 2>&1
	verdict "apt remove" $? "$(tail -n 5 "$D/log")"
	for kernel in "$@"; do
		why=$(all_from "$kernel" kernel)
		verdict "$kernel: its own modules again" $? "$why"
	done
	why=$(in_root dkms status; find "$LIVE"/lib/modules/*/updates -name '*.ko*' 2> /dev/null)
	[ -z "$why" ]
	verdict "DKMS knows nothing of them" $? "$why"
	# what stays until they are purged must do no harm
	why=$(in_root /etc/kernel/postinst.d/dkms-nvme-rdma "$1" 2>&1) && [ -z "$why" ]
	verdict "the hook that is left does nothing" $? "$why"
	in_root apt-get purge -q -y nvme-rdma-dkms nvme-rdma-tools > "$D/log" 2>&1
	verdict "apt purge" $? "$(tail -n 5 "$D/log")"
	why=$(find "$LIVE"/{etc,lib,usr,var} \( -name '*nvme-rdma*' -o -name '*nvmerdma*' \) \
		! -path '*/linux-headers-*' ! -path '*/kernel/drivers/*')
	[ -z "$why" ]
	verdict "apt purge leaves nothing" $? "$why"
}

native() { # ROOT FLAVOUR
	local kernel kernels

	open_root "$1"
	verdict "the root of a plain Debian" $? "it cannot be mounted below $D"
	[ -d "$LIVE/debs" ] || finish
	kernel=$(ls "$LIVE/lib/modules")
	failing "$kernel"
	excluded "$kernel"
	installs "$kernel"
	kernel_comes "$2"
	kernels=$(ls "$LIVE/lib/modules")
	if [ -z "$quick" ]; then
		# shellcheck disable=SC2086
		newer_installs $kernels
		overwritten "$kernel"
	fi
	# shellcheck disable=SC2086
	goes $kernels
	close_root
}

# What new_kernel() of boots.sh comes to, in the time that it takes natively: $D/plain.qcow2
installed() { # ROOT FLAVOUR
	newer_builds
	open_root "$1" &&
		in_root sh -c 'apt-get install -q -y /debs/*.deb' > "$D/log" 2>&1 &&
		in_root apt-get install -q -y --no-download --no-install-recommends \
			"linux-image-$2" "linux-headers-$2" >> "$D/log" 2>&1 &&
		mkdir -p "$LIVE/var/log/journal" && cp "$here/files/grub.cfg" "$LIVE/boot/grub/" &&
		umount -R "$LIVE/dev" "$LIVE/proc" &&
		mke2fs -q -t ext4 -L nvme-rdma -d "$LIVE" "$D/installed" 8G &&
		close_root && guest_disk plain "$D/installed"
	verdict "a disk with the packages and another kernel" $? "$(tail -n 5 "$D/log")"
	[ -e "$D/plain.qcow2" ] || finish
}

# The guide's first commands as they stand there, in a Debian that has nothing of it yet
as_written() { # ROOT FLAVOUR
	local kernel n side page why rc

	open_root "$1"
	kernel=$(ls "$LIVE/lib/modules")
	in_root apt-get purge -q -y --autoremove "linux-headers-*" nvme-cli rdma-core make gcc > "$D/log" 2>&1 &&
		mkdir "$LIVE/clone" "$D/blocks" && (cd "$top" && git ls-files -z | cpio -0pd --quiet "$LIVE/clone") &&
		echo 'APT::Get::Assume-Yes "true";' > "$LIVE/etc/apt/apt.conf.d/90yes" &&
		printf '#!/bin/sh\necho %s\n' "$kernel" > "$LIVE/usr/local/bin/uname" &&
		chmod +x "$LIVE/usr/local/bin/uname" &&
		cat /etc/resolv.conf > "$LIVE/etc/resolv.conf" &&
		apt-config dump | grep -E '^Acquire::https?::.* "' > "$LIVE/etc/apt/apt.conf.d/90here"
	in_root apt-get update -q >> "$D/log" 2>&1
	verdict "the guide: a Debian without what it installs" $? "$(tail -n 5 "$D/log")"
	"$top/tests/docs-check" blocks "$D/blocks" || { not_ok "the guide" "no blocks"; return; }
	while IFS=$'\t' read -r n side page why; do
		cp "$D/blocks/$n.sh" "$LIVE/block"
		in_root bash -e -c 'cd /clone && . /block' > "$D/log" 2>&1
		rc=$?
		verdict "${page##*/}: $(head -n 1 "$LIVE/block")" $rc "$(tail -n 5 "$D/log")"
	done < <(grep 'Documentation/guide.md.*by tests/deb/run' "$D/blocks/index")
	why=$(all_from "$kernel" updates/dkms)
	verdict "the guide: its modules are found" $? "$why"
	close_root
}
