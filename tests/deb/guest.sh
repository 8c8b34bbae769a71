# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Guests that are a whole Debian of their own, for tests/deb/run: their disk, their
# kernel by their own GRUB. Each has a directory $D/NAME, which it sees as /vm.
#
#   guest_disk NAME BASE      a disk for it that starts as BASE is
#   guest_start NAME [QEMU'S ARGUMENTS]
#   guest_booted NAME         wait until it has come up; $WHY says why it has not
#   in_guest NAME SECONDS     run what comes on standard input there; what it printed is
#                             in $OUT; its status, or 124 if it took longer
#   guest_goes NAME WHAT      have it "reboot" or "poweroff"; both end its QEMU, for what an
#                             emulator does after a reset it does several times slower
#   guest_again NAME          after that, or a loss of power: start it once more
#   guest_ended NAME          wait until it is off
#   guests_end                end those that run

declare -A QEMU_PID QEMU_ARGS BOOT
OUT=
WHY=
STEP=0
# how many times as slow the machine is (tests/run)
MACHINE_SLOW=${VM_MACHINE_SLOW:-1}
BOOT_SECONDS=$((400 * MACHINE_SLOW))

# An emulated guest is told how fast the clock ticks; QEMU 7.2's cmpxchg16b is not used
# (tests/vm/harness says why for both).
accelerator() {
	PYTHONPATH=$top/tests/vm PYTHONDONTWRITEBYTECODE=1 python3 - "$(kernel_of 6.1)" <<- 'END'
		import sys
		from harness.accel import choose, tsc_khz
		if choose("auto", sys.argv[1]) == "kvm":
		    print("-accel kvm -cpu host")
		else:
		    ticks = f",tsc-frequency={tsc_khz() * 1000}" if tsc_khz() else ""
		    print(f"-accel tcg,thread=multi -cpu max,cx16=off{ticks}")
	END
}

guest_disk() { # NAME BASE
	local format=raw

	mkdir -p "$D/$1"
	[[ $2 != *.qcow2 ]] || format=qcow2
	qemu-img create -q -f qcow2 -F $format -b "$2" "$D/$1.qcow2" > /dev/null
}

guest_start() { # NAME ARGUMENT...
	local name=$1

	shift
	QEMU_ARGS[$name]=$*
	[ -n "${ACCEL-}" ] || ACCEL=$(accelerator)
	rm -f "$D/$name/booted"
	BOOT[$name]=
	# shellcheck disable=SC2086
	qemu-system-x86_64 -name "$name" -m 2048 -smp 2 $ACCEL -nodefaults -display none \
		-no-user-config -no-reboot -kernel "$GRUB" \
		-drive "file=$D/$name.qcow2,if=none,id=root,cache=unsafe" \
		-device virtio-blk-pci,drive=root \
		-fsdev "local,id=vm,path=$D/$name,security_model=none" \
		-device virtio-9p-pci,fsdev=vm,mount_tag=vm \
		-object rng-random,filename=/dev/urandom,id=rng -device virtio-rng-pci,rng=rng \
		-chardev "file,id=console,path=$D/$name.console,append=on" \
		-serial chardev:console "$@" > "$D/$name.qemu" 2>&1 &
	QEMU_PID[$name]=$!
}

guest_again() { # NAME
	# shellcheck disable=SC2086
	guest_start "$1" ${QEMU_ARGS[$1]}
}

guest_runs() { kill -0 "${QEMU_PID[$1]}" 2> /dev/null; }

# QEMU's emulator may run code that the kernel is patching: a boot that ends so is done again, once
emulator_failed() { # NAME
	[ ! -e "$D/$1.console.first" ] && grep -q 'Oops: int3' "$D/$1.console" &&
		grep -q 'end Kernel panic' "$D/$1.console"
}

guest_booted() { # NAME
	local end=$((SECONDS + BOOT_SECONDS)) boot

	while guest_runs "$1" && [ $SECONDS -lt $end ]; do
		if emulator_failed "$1"; then
			kill "${QEMU_PID[$1]}"
			wait "${QEMU_PID[$1]}" 2> /dev/null
			mv "$D/$1.console" "$D/$1.console.first"
			note "$1: the emulator failed; it boots anew"
			guest_again "$1"
			end=$((SECONDS + BOOT_SECONDS))
		fi
		boot=$(cat "$D/$1/booted" 2> /dev/null)
		[ "$boot" = "${BOOT[$1]}" ] || { BOOT[$1]=$boot; return 0; }
		sleep 0.3
	done
	WHY="it has not come up: $(tail -n 3 "$D/$1.console" | tr -d '\r'; cat "$D/$1.qemu")"
	return 1
}

in_guest() { # NAME SECONDS
	local end=$((SECONDS + $2 * MACHINE_SLOW)) step

	STEP=$((STEP + 1))
	step=$D/$1/$(printf %02d $STEP)
	OUT=$step.out
	cat > "$step.new" && mv "$step.new" "$step.todo"
	while [ ! -e "$step.rc" ]; do
		guest_runs "$1" && [ $SECONDS -lt $end ] ||
			{ echo "(given up by the test outside)" >> "$OUT"; return 124; }
		sleep 0.3
	done
	return "$(cat "$step.rc")"
}

# A moment later, so that the step can say that it is done
guest_goes() { # NAME reboot|poweroff
	in_guest "$1" 60 <<< "sync; systemd-run -q --on-active=1 --timer-property=AccuracySec=0.1 systemctl $2"
}

guest_ended() { # NAME
	local end=$((SECONDS + 200 * MACHINE_SLOW))

	while guest_runs "$1"; do
		[ $SECONDS -lt $end ] || { kill "${QEMU_PID[$1]}"; return 1; }
		sleep 0.3
	done
	wait "${QEMU_PID[$1]}" 2> /dev/null
	unset "QEMU_PID[$1]"
}

guests_end() {
	local name

	for name in "${!QEMU_PID[@]}"; do
		kill "${QEMU_PID[$name]}" 2> /dev/null
	done
	wait
}
