# SPDX-License-Identifier: GPL-2.0
# Sourced by run. Compares the header for each kernel with the one that was checked by hand.
#
# Debian replaces 6.1.0-56 by 6.1.0-57, and offsets may move with it: core-abi exists for that.
# So a header for the golden's own kernel must be the same to the byte. For another point
# release the contract must be the same (functions and their arguments, enumerators, members and
# their types), and the test prints the offsets that moved.

# Without values that may change: offsets, sizes, padding, the kernel's name, the order of
# members. Each line starts with the name of its struct or enum.
contract() { # HEADER
	sed -e '/core_abi_assert/d' -e '/core_abi_pad/d' -e '/CORE_ABI_KVER/d' "$1" |
		awk '/^(struct|union|enum).*\{$/ { within = $0 }
			{ print within, $0 } /^}/ { within = "" }' | sort
}

golden() { # SERIES
	local series=$1 kver root want=$abi_dir/known/$1.h of

	kver=$(kernel_of "$series") && root=$(root_of "$kver") || {
		not_ok "golden $series" "no kernel $series with headers and NVMe over Fabrics is installed"
		return
	}
	abi --kver "$kver" --root "$root" || {
		not_ok "golden $series" "$(cat "$T/log")"
		return
	}
	cp "$T/out.h" "$T/$series.h"
	if [ -n "$update" ]; then
		cp "$T/out.h" "$want" && note "wrote $want for $kver"
	fi
	of=$(sed -n 's/^#define CORE_ABI_KVER "\(.*\)"/\1/p' "$want")
	if [ "$of" = "$kver" ]; then
		diff -u "$want" "$T/out.h" >"$T/diff"
		verdict "golden $series, $kver to the byte" $? \
			"$(head -n 20 "$T/diff")"
		return
	fi
	note "$kver is another point release than the golden header's $of:"
	note "the contract is compared; $(diff <(grep offsetof "$want") \
		<(grep offsetof "$T/out.h") | grep -c '^>') offsets differ"
	diff -u <(contract "$want") <(contract "$T/out.h") >"$T/diff"
	verdict "golden $series, the contract of $kver as of $of" $? \
		"$(head -n 20 "$T/diff"); look at it, then run --update"
}

# Required entries must be in every golden header, also of kernels that are not installed: this
# detects a change of the manifest that was not tried on each kernel.
complete() { # SERIES
	local want=$abi_dir/known/$1.h missing

	missing=$(awk '
		FNR == NR { golden = golden $0 "\n"; next }
		/^#/ || /\?/ { next }
		/^struct|^union/ { within = $1 " " $2; next }
		/^[a-z]/ { within = "" }
		/^func/ && !index(golden, " " $2 "(") &&
			!index(golden, "*" $2 "(") { print $2 "()" }
		/^\t/ && within && !index(golden, "offsetof(" within ", " $1 ")") {
			print within "." $1
		}' "$want" "$manifest")
	[ -s "$want" ] && [ -z "$missing" ]
	verdict "golden $1 has all that the manifest requires" $? \
		"it lacks $(echo $missing): run --update with that kernel at hand"
}

for series in $(all_series); do
	golden "$series"
done
for series in $(CHECK_ALL=1 all_series); do
	complete "$series"
done

# The comparison must see a change: of an offset, and of the contract.
sed 's/\(offsetof(struct nvme_ctrl, state) == \)[0-9]*/\1999/' \
	"$abi_dir/known/6.12.h" >"$T/moved.h"
! cmp -s "$abi_dir/known/6.12.h" "$T/moved.h" &&
	cmp -s <(contract "$abi_dir/known/6.12.h") <(contract "$T/moved.h")
verdict "a moved offset is no change of the contract" $? "contract() is wrong"
sed 's/nvme_start_ctrl(struct nvme_ctrl \*)/nvme_start_ctrl(void)/' \
	"$abi_dir/known/6.12.h" >"$T/changed.h"
! cmp -s <(contract "$abi_dir/known/6.12.h") <(contract "$T/changed.h")
verdict "another prototype is a change of the contract" $? "contract() is wrong"

# A second run leaves the file alone, for make's sake.
if [ -e "$T/6.12.h" ]; then
	abi --kver "$(kernel_of 6.12)"
	touch -d '2001-01-01' "$T/out.h"
	before=$(stat -c %Y "$T/out.h")
	abi --kver "$(kernel_of 6.12)"
	[ "$(stat -c %Y "$T/out.h")" = "$before" ]
	verdict "an unchanged header is not written again" $? "its date changed"
fi
