# SPDX-License-Identifier: GPL-2.0
# Sourced by run, after refuse.sh, whose tree of a 6.12 it uses. The report on a kernel:
# "make kernel-report".

# The report is in the log, what it says of bad use there, too; $status is its status.
reports() { # ARGUMENTS...
	"$tool" --report --manifest "$manifest" "$@" "$abi_dir"/known/*.h >"$T/log" 2>&1
	status=$?
}

# The report must have this status and each of these lines, which are regular expressions.
shows() { # NAME STATUS LINES...
	local name=$1 want=$2 line why=

	shift 2
	[ "$status" = "$want" ] || why="status $status, expected $want"
	for line; do
		grep -qE -- "$line" "$T/log" || why+="; no line \"$line\""
	done
	[ -z "$why" ]
	verdict "report: $name" $? "${why#; }: $(head -n 30 "$T/log")"
}

for series in $(all_series); do
	k=$(kernel_of "$series") && root=$(root_of "$k") || {
		not_ok "report: $series" "no such kernel is installed"
		continue
	}
	reports --kver "$k" --root "$root"
	shows "$series fits" 0 "^kernel +${k//+/\\+}\$" '^Result: it fits' '^compared with .*6\.12' \
		'^found +[0-9]+ of [0-9]+ types, functions and variables, [0-9]+ of [0-9]+ members$' \
		"^compared with .*offsets with ${k//+/\\+}\$"
	[ "$(wc -l <"$T/log")" -le 60 ] && ! grep -qE '^(Missing|Changed|To be written)' "$T/log"
	verdict "report: $series, one page without a complaint" $? "$(head -n 20 "$T/log")"
done

# ---- a 6.12 that was changed ----

report_change() { # CHANGE...: nvme-core.ko with changed BTF in $T/d
	changed "$T/d"
	objcopy --dump-section .BTF="$T/core.btf" "$core" /dev/null &&
		"$T/change" "$base" "$T/core.btf" "$@" &&
		objcopy --update-section .BTF="$T/core.btf" "$core" "$T/d/nvme-core.ko"
}

bad="$fake --module-dir $T/d"
# shellcheck disable=SC2086
if ! gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $san -o "$T/change" "$here/change.c" -lbpf >"$T/log" 2>&1; then
	not_ok "report: a changed kernel" "$(head -n 5 "$T/log")"
else
	report_change gone nvme_ctrl queue_count
	reports $bad
	shows "a member that is gone" 1 '^Result: it does not fit: 1 missing, 0 changed' \
		'nvme-core: struct nvme_ctrl: no queue_count \(manifest line [0-9]+, compat-host.h\)' \
		'^To be written' 'Put a \? before its name'
	report_change swap nvme_ctrl nr_reconnects kato
	reports $bad
	shows "members that moved fit all the same" 0 \
		'struct nvme_ctrl: 3040 bytes, was 3040; kato at [0-9]+, was [0-9]+; nr_reconnects at [0-9]+, was'
	report_change as nvme_stop_ctrl nvme_set_queue_count
	reports $bad
	shows "a function with another argument" 1 '^Result: it may not fit: 0 missing, 1 changed' \
		'nvme-core: nvme_stop_ctrl \(manifest line' \
		'int nvme_stop_ctrl\(struct nvme_ctrl \*, int \*\);  \[here\]' \
		'void nvme_stop_ctrl\(struct nvme_ctrl \*\);  \[6.12' 'add a case for its NAME_NARGS'
	report_change gone nvme_ctrl_ops print_device_info
	reports $bad
	shows "an optional member that only this kernel lacks" 1 \
		'1 absent as on no tested kernel' '^  nvme_ctrl_ops.print_device_info$'
	report_change gone nvme_ctrl queue_count gone nvme_ctrl cntlid \
		swap nvme_ctrl nr_reconnects kato as nvme_stop_ctrl nvme_set_queue_count
	reports $bad
	shows "all of these" 1 'no cntlid, queue_count' 'kato at' 'nvme_stop_ctrl.*\[here\]' \
		'^Result: it does not fit: 1 missing, 1 changed'
fi

changed "$T/d"
objcopy --strip-symbol __ksymtab_nvme_stop_ctrl "$core" "$T/d/nvme-core.ko"
reports $bad
shows "a function that is no longer exported" 1 \
	'nvme-core: function nvme_stop_ctrl is there, but not exported'
changed "$T/d"
rm "$T/d/ib_core.ko"
ln -s "$core" "$T/d/nvme-core.ko"
reports $bad
shows "a module that is absent" 1 'no module ib_core, neither as a file nor built in'

# ---- no BTF ----

changed "$T/d"
objcopy --remove-section .BTF "$core" "$T/d/nvme-core.ko"
reports $bad
shows "a module without BTF" 1 '^Result: it does not fit: no BTF, 0 missing' '^  nvme-core$' \
	'cannot be looked up' 'CONFIG_DEBUG_INFO_BTF_MODULES' 'pahole -J --btf_base'
reports $fake --base "$T/nobtf"
shows "a kernel without BTF" 1 '^  the kernel itself nvme-core nvme-fabrics'

# ---- nothing to report on ----

reports --kver 6.99.0-none
shows "a kernel that is not there" 2 'the kernel is not installed'
reports $fake --base "$T/none"
shows "an image that is not there" 2 'cannot read the base'
"$tool" --report --manifest "$manifest" $fake >"$T/log" 2>&1
status=$?
shows "no header to compare with" 2 '^usage: core-abi'
"$tool" --report --manifest "$manifest" $fake "$manifest" >"$T/log" 2>&1
status=$?
shows "a header that is none" 2 'is no header of core-abi'

# ---- make kernel-report ----

report_make() { # ARGUMENTS...
	make -s -C "$top" --no-print-directory BUILD="$T/build" HOSTCFLAGS="$san" \
		kernel-report "$@" >"$T/log" 2>&1
	status=$?
}

report_make KVER="$K12"
shows "make kernel-report" 0 '^nvme-rdma +[0-9.]+$' '^Result: it fits'
report_make ROOT="$R"
shows "make kernel-report of the kernel below ROOT" 0 "^base BTF +$R/" '^Result: it fits'
report_make ROOT="$R" BTF="$T/raw.btf" MODULE_DIR="$T/d"
shows "make kernel-report with another image and other modules" 2 \
	"^base BTF +$T/raw.btf" '^Result: it does not fit'
report_make ROOT="$T/none"
shows "make kernel-report below an empty ROOT" 2 "$T/none/lib/modules has 0 kernels, expected one"

# ---- kernels of packages: packed with LZ4, not packed, without BTF of modules ----

fetched() { # NAME PACKAGE SUITE: unpacks it; $F and $k are its root and its kernel
	F=$T/fetched
	"$top/tests/vm/package" "$2" "$3" "$F" >"$T/log" 2>&1 && k=$(ls "$F/lib/modules") && return
	not_ok "report: $1" "$(tail -n 2 "$T/log")"
	return 1
}

# The image of a kernel that may be older than what the modules need
reads_base() { # NAME: core-abi finds a struct in the kernel of fetched()
	printf 'module nvme-fabrics\nstruct nvmf_host\n\tnqn\n' >"$T/manifest"
	abi --root "$F" --kver "$k" --manifest "$T/manifest" &&
		grep -q 'offsetof(struct nvmf_host, nqn)' "$T/out.h"
	verdict "$1" $? "$(tail -n 3 "$T/log")"
}

if [ -n "${CHECK_ALL:-}" ]; then
	if fetched "cloud" 'linux-image-6\.1\.0-[0-9]+-cloud-amd64' bookworm; then
		reads_base "take: Debian's cloud kernel $k, packed with LZ4"
		[ -n "$(find "$F/lib/modules" -name 'mlx5_ib.ko*')" ]
		verdict "Debian's cloud kernel $k has RDMA" $? "there is no mlx5_ib.ko"
	fi
	if fetched "arm64" 'linux-image-6\.1\.0-[0-9]+-arm64:arm64' bookworm; then
		reads_base "take: Debian's arm64 kernel $k, which is not packed"
	fi
	if fetched "5.10" 'linux-image-5\.10\.0-[0-9]+-amd64' bullseye; then
		reports --root "$F" --kver "$k"
		shows "$k, without BTF of modules" 1 'it does not fit: no BTF, [0-9]+ missing' \
			'^  nvme-core nvme-fabrics nvmet ib_core rdma_cm' "linux-image-$k-dbg" \
			'no exported function nvme_init_ctrl_finish' 'no exported variable nvmet_wq'
	fi
fi
