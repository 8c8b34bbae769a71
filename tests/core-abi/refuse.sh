# SPDX-License-Identifier: GPL-2.0
# Sourced by run. Input that core-abi must refuse, each with its message, and input that it must
# accept: every way in which kernels are packed.

K12=$(kernel_of 6.12)
K1=$(kernel_of 6.1)
vmlinux12=/lib/modules/$K12/build/vmlinux

# ---- a tree of our own: unpacked 6.12 modules, base and boot directory ----

R=$T/root
mods=$R/lib/modules/$K12/kernel/drivers/nvme
mkdir -p "$mods/host" "$mods/target" "$mods/core" "$R/boot"
for f in $(find /lib/modules/"$K12"/kernel/drivers/{nvme,infiniband/core} -name '*.ko*'); do
	case $f in
	*/nvme-core.ko* | */nvme-fabrics.ko* | */nvmet.ko* | */nvme-rdma.ko* | */nvmet-rdma.ko*) ;;
	*/ib_core.ko* | */rdma_cm.ko*) ;;
	*) continue ;;
	esac
	out=$mods/$(basename "$(dirname "$f")")/$(basename "${f%.ko*}").ko
	case $f in
	*.xz) xz -dc "$f" ;;
	*.zst) zstd -dcq "$f" ;;
	*) cat "$f" ;;
	esac >"$out"
done
mkdir -p "$R/lib/modules/$K12/build"
cp "$vmlinux12" "$R/lib/modules/$K12/build/vmlinux"
base=$R/lib/modules/$K12/build/vmlinux
core=$mods/host/nvme-core.ko
fake="--root $R --kver $K12"

# A directory with one module changed; the others are links.
changed() { # DIR
	rm -rf "$1"
	mkdir -p "$1"
	ln -s "$mods"/*/*.ko "$1"/
	rm "$1/nvme-core.ko"
}

takes "modules without compression, base in the headers" "$T/6.12.h" $fake
rm -rf "$T/d" && mkdir "$T/d" && cp "$mods"/*/*.ko "$T/d" && xz "$T/d"/*.ko
takes ".ko.xz" "$T/6.12.h" $fake --module-dir "$T/d"
rm -rf "$T/d" && mkdir "$T/d" && cp "$mods"/*/*.ko "$T/d" && zstd -q --rm "$T/d"/*.ko
takes ".ko.zst" "$T/6.12.h" $fake --module-dir "$T/d"

# ---- where the base is ----

mv "$base" "$T/vmlinux"
zstd -q "$T/vmlinux" -o "$T/vmlinux.zst"
{ head -c 5000 /dev/zero; cat "$T/vmlinux.zst"; printf 'abcd'; } \
	>"$R/boot/vmlinuz-$K12"
takes "base in a vmlinuz packed with zstd, found by its magic" "$T/6.12.h" $fake
gzip -c "$T/vmlinux" >"$R/boot/vmlinuz-$K12"
takes "base in a vmlinuz packed with gzip" "$T/6.12.h" $fake
# As the kernel's build does: the legacy format, and the unpacked size behind it
{ lz4 -lqc "$T/vmlinux"; printf '\x11\x22\x33\x03'; } >"$R/boot/vmlinuz-$K12"
takes "base in a vmlinuz packed with lz4" "$T/6.12.h" $fake
cp "$T/vmlinux" "$R/boot/vmlinux-$K12"
takes "base in /boot/vmlinux" "$T/6.12.h" $fake
rm "$R/boot/vmlinux-$K12"
objcopy --dump-section .BTF="$T/raw.btf" "$T/vmlinux" /dev/null 2>/dev/null
takes "base as raw BTF, as in /sys/kernel/btf" "$T/6.12.h" $fake --base "$T/raw.btf"
# Before the BTF: its first bytes alone, a module's BTF, and the first bytes of a gzip file
objcopy --dump-section .BTF="$T/core.btf" "$core" /dev/null
{ printf 'MZ\x9f\xeb\x01'; cat "$T/core.btf"; printf '\x1f\x8b\x08 \x9f\xeb'; cat "$T/raw.btf"
	head -c 5000 /dev/zero; } >"$R/boot/vmlinuz-$K12"
takes "base in an image that is not packed, as arm64 has" "$T/6.12.h" $fake
head -c -6000 "$R/boot/vmlinuz-$K12" >"$T/cut"
refuses "an image that is not packed, cut off" "holds no kernel that can be unpacked" \
	$fake --base "$T/cut"
head -c 200000 "/boot/vmlinuz-$K1" >"$R/boot/vmlinuz-$K12"
refuses "a vmlinuz that is cut off" "is truncated" $fake
head -c 200000 /dev/zero >"$R/boot/vmlinuz-$K12"
refuses "a vmlinuz without a kernel" "holds no kernel that can be unpacked" $fake
rm "$R/boot/vmlinuz-$K12"
refuses "no base anywhere" "no base BTF" $fake
refuses "a base that is not there" "cannot read the base" $fake --base "$T/none"
mv "$T/vmlinux" "$base"

# A kernel that was built from source.
S=$T/ksrc
mkdir -p "$S/include/config" "$S/drivers"
echo "$K12" >"$S/include/config/kernel.release"
ln -s "$base" "$S/vmlinux"
ln -s "$mods" "$S/drivers/nvme"
# nftw does not follow the last link
rm "$S/drivers/nvme" && cp -r "$mods" "$S/drivers/nvme"
takes "KSRC, a kernel tree that was built" "$T/6.12.h" --ksrc "$S"
refuses "KSRC of another kernel than KVER" "asked for was 6.0.0" --ksrc "$S" --kver 6.0.0
refuses "KSRC that was not built" "must be a kernel tree that was built" --ksrc "$R"
refuses "KSRC that is not there" "there is no kernel tree" --ksrc "$T/none"

# ---- the kernel ----

refuses "missing kernel" "the kernel is not installed" --kver 6.99.0-none
refuses "missing module" "missing module: the kernel has no nvme-core.ko" \
	--root "$R" --kver "$K12" --module-dir "$R/boot"
refuses "modules of another kernel" "is for the kernel $K12" --root "$R" \
	--kver 6.12.0 --module-dir "$mods" --base "$base"
printf 'kernel/drivers/nvme/host/nvme-core.ko\n' >"$R/lib/modules/$K12/modules.builtin"
mv "$core" "$T/core.ko"
refuses "a builtin core that the base does not know" "missing struct" $fake
mv "$T/core.ko" "$core"

# ---- no BTF ----

changed "$T/d"
objcopy --remove-section .BTF "$core" "$T/d/nvme-core.ko"
refuses "a module without BTF" "no BTF: $T/d/nvme-core.ko has no section .BTF" \
	$fake --module-dir "$T/d"
objcopy --remove-section .BTF "$base" "$T/nobtf" 2>/dev/null
refuses "a base without BTF" "no BTF: $T/nobtf has no section .BTF" $fake --base "$T/nobtf"
objcopy --add-section .BTF.base="$T/raw.btf" "$core" "$T/d/nvme-core.ko"
refuses "BTF over a distilled base" "distilled base" $fake --module-dir "$T/d"
echo "no module" >"$T/d/nvme-core.ko"
refuses "a module that is none" "is not a kernel module" $fake --module-dir "$T/d"

# ---- wrong base ----

if [ -n "$K1" ]; then
	refuses "6.12 modules over the base of 6.1" "wrong base" \
		--kver "$K12" --base "/boot/vmlinuz-$K1"
	refuses "6.1 modules over the base of 6.12" "wrong base" \
		--kver "$K1" --base "$vmlinux12"
else
	not_ok "refuse: wrong base" "a kernel 6.1 is needed for it"
fi
if [ -r /sys/kernel/btf/vmlinux ] && [ "$(uname -r)" != "$K12" ]; then
	refuses "6.12 modules over the base of the running kernel" "wrong base" \
		--kver "$K12" --base /sys/kernel/btf/vmlinux
fi

# ---- truncated or corrupt ----

# nvme-core.ko with what FILTER makes of its BTF.
rebtf() { # FILTER...
	changed "$T/d"
	objcopy --dump-section .BTF="$T/core.btf" "$core" /dev/null
	"$@" <"$T/core.btf" >"$T/bad.btf"
	objcopy --update-section .BTF="$T/bad.btf" "$core" "$T/d/nvme-core.ko"
}

patch_at() { # OFFSET BYTES
	cat >"$T/patch"
	printf "$2" | dd of="$T/patch" bs=1 seek="$1" conv=notrunc status=none
	cat "$T/patch"
}

bad="$fake --module-dir $T/d"
rebtf head -c 16
refuses "BTF that is shorter than its header" "truncated BTF" $bad
rebtf head -c 20000
refuses "BTF that is cut off" "truncated BTF" $bad
rebtf patch_at 0 '\x11'
refuses "BTF with another magic" "corrupt BTF" $bad
rebtf patch_at 2 '\x07'
refuses "BTF of another version" "corrupt BTF" $bad
rebtf patch_at 31 '\x7f'
refuses "BTF of an unknown kind" "unknown kind" $bad
rebtf patch_at 34 '\xff'
refuses "BTF with an id out of range" "corrupt BTF" $bad
rebtf patch_at 24 '\x07\x00\x00\x00'
refuses "BTF with a name in the middle of another" "corrupt BTF" $bad
changed "$T/d"
head -c 100000 "$core" >"$T/d/nvme-core.ko"
refuses "a module file that is cut off" "is truncated" $bad
changed "$T/d"
xz -c "$core" | head -c 50000 >"$T/d/nvme-core.ko.xz"
refuses "a damaged .ko.xz" "xz says that it is damaged" $bad

# ---- compressed, and the tool is absent ----

bindir=$T/bin
mkdir -p "$bindir"
changed "$T/d"
xz -c "$core" >"$T/d/nvme-core.ko.xz"
tool_path=$bindir refuses "xz is absent" \
	"is compressed with xz, and there is no program xz in PATH: install the package xz-utils" $bad
changed "$T/d"
zstd -qc "$core" >"$T/d/nvme-core.ko.zst"
tool_path=$bindir refuses "zstd is absent" \
	"is compressed with zstd, and there is no program zstd in PATH: install the package zstd" $bad
lz4 -lqc "$base" >"$T/vmlinuz.lz4"
tool_path=$bindir refuses "lz4 is absent for a vmlinuz" \
	"is compressed with lz4, and there is no program lz4 in PATH: install the package lz4" \
	$fake --base "$T/vmlinuz.lz4"
[ -z "$K1" ] || tool_path=$bindir refuses "xz is absent for a vmlinuz" \
	"there is no program xz in PATH" --kver "$K1"

# ---- the manifest against the kernel ----

with() { # LINES...: the manifest and these lines
	{ cat "$manifest"; printf '%b\n' "$@"; } >"$T/manifest"
}

# Options come last and the last one counts.
mine="$fake --manifest $T/manifest"
with 'module nvme-core' 'struct nvme_subsystem_x\n\tsubnqn'
refuses "a missing struct" "missing struct" $mine
sed 's/^\tqueue_count$/\tqueue_count\n\tno_such_member/' "$manifest" >"$T/manifest"
refuses "a missing required field" \
	"missing field: struct nvme_ctrl in $core has no member no_such_member" $mine
sed 's/^\tqueue_count$/\tqueue_count\n\t? no_such_member/' "$manifest" >"$T/manifest"
takes "a missing optional field" "$T/6.12.h" $mine
with 'module nvme-core' 'func nvme_no_such_function'
refuses "a missing function" "missing function" $mine
with 'module nvme-core' 'func nvme_dev_open'
refuses "a function that is there but not exported" "has no exported" $mine
with 'module nvme-core' 'var nvme_no_such_wq struct workqueue_struct *'
refuses "a missing variable" "missing variable" $mine
with 'module nvme-core' 'enum nvme_quirks_x\n\tA'
refuses "a missing enum" "missing enum" $mine
sed 's/^\tNVME_CTRL_DEAD$/\tNVME_CTRL_DEADER/' "$manifest" >"$T/manifest"
refuses "a missing enumerator" "has no NVME_CTRL_DEADER" $mine
with 'public struct no_such_struct'
refuses "a missing public type" "missing type" $mine

with 'strukt nvme_ctrl'
refuses "a manifest with an unknown word" '"strukt" is not' $mine
with '\tmember'
refuses "a manifest with a stray member" "outside of a struct" $mine
with 'module nvme-core' 'func nvme_init_ctrl'
refuses "a manifest that says it twice" "stands on line" $mine
with 'module nvme-core' 'func nvme-init'
refuses "a manifest with a name that is none" "needs a name" $mine
: >"$T/manifest"
refuses "an empty manifest" "asks for nothing" $mine
refuses "no manifest" "cannot read the manifest" $fake --manifest "$T/none"
echo 'func nvme_init_ctrl' >"$T/manifest"
refuses "a manifest without a module" 'before the first "module"' $mine

"$tool" --kver 6.12 >"$T/log" 2>&1
[ $? = 2 ] && grep -q '^usage: core-abi' "$T/log"
verdict "wrong usage is status 2 and the usage" $? "$(head -n 2 "$T/log")"
"$tool" --help >"$T/log" 2>&1 && grep -q -- '--manifest FILE' "$T/log"
verdict "--help" $? "$(head -n 2 "$T/log")"
