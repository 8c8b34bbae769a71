# SPDX-License-Identifier: GPL-2.0
# Sourced by run. The generated header against the real ones: objects compiled
# for the same kernel from nvme.h, fabrics.h and nvmet.h of its source package.
#
# Values travel as text in the assembly: "->NAME VALUE". Prototypes are declared
# a second time after the real headers, where the compiler refuses another type.

agree() { # SERIES
	local series=$1 kver root within=() ks version running f d=$T/agree-$1

	kver=$(kernel_of "$series") && root=$(root_of "$kver") &&
			[ -e "$T/$series.h" ] || {
		not_ok "agreement $series" "there is no generated header for it"
		return
	}
	ks=$("$here/kernel-source" "$series") || {
		not_ok "agreement $series" "linux-source-$series is needed"
		return
	}
	version=$(awk '/^VERSION/{v=$3} /^PATCHLEVEL/{p=$3} /^SUBLEVEL/{s=$3}
		END {print v "." p "." s}' "$ks/Makefile")
	running=$(awk '/LINUX_VERSION_MAJOR/{v=$3} /LINUX_VERSION_PATCHLEVEL/{p=$3}
		/LINUX_VERSION_SUBLEVEL/{s=$3} END {print v "." p "." s}' \
		"$root/lib/modules/$kver/build/include/generated/uapi/linux/version.h")
	if [ "$version" != "$running" ]; then
		not_ok "agreement $series" "linux-source-$series is $version and $kver is $running: install both of one release"
		return
	fi

	mkdir -p "$d/include/core-abi"
	cp "$T/$series.h" "$d/include/core-abi-gen.h"
	cp "$abi_dir"/{core.h,core-inline.h,compat.h,compat-host.h,compat-target.h} \
		"$d/include/core-abi/"

	# Every assertion and every enumerator of the generated header, once more.
	# Anonymous padding is ours; a private struct's tag is the kernel's.
	sed -n -e 's/^core_abi_assert(sizeof(\(.*\)) == .*/SHOW(sizeof(\1))/p' \
		-e 's/^core_abi_assert(\(offsetof\|sizeof_field\)(\(.*\)) == .*/SHOW(\1(\2))/p' \
		-e 's/^\t\([A-Z0-9_]*\) = .*,$/SHOW(\1)/p' \
		"$T/$series.h" >"$d/show.h"
	cat >>"$d/show.h" <<-'END'
		SHOW(NVME_F_FABRICS)
		SHOW(NVME_F_METADATA_SUPPORTED)
		SHOW(NVMF_KEYED_SGLS)
		SHOW(NVMF_METADATA_SUPPORTED)
		SHOW(REQ_NVME_MPATH)
		SHOW(NVME_AQ_BLK_MQ_DEPTH)
		SHOW(nvme_tag_from_cid(0x5432))
	END
	# The layout as a linker sees it, without the assertions around.
	grep -E '^[a-z_].*\(.*\);$' "$T/$series.h" | grep -v core_abi_assert \
		>"$d/protos.h"
	grep '^extern' "$T/$series.h" >>"$d/protos.h"

	cat >"$d/show-macro.h" <<-'END'
		#define SHOW(x) asm volatile("\n.ascii \"->" #x " %0\"" : : "i"((long)(x)));
		void show(void);
		void show(void)
		{
		#include "show.h"
		}
	END
	cat >"$d/real.c" <<-END
		#include <linux/module.h>
		#include "$ks/drivers/nvme/target/nvmet.h"
		#include "$ks/drivers/nvme/host/nvme.h"
		#include "$ks/drivers/nvme/host/fabrics.h"
		#include "show-macro.h"
		#include "protos.h"
	END
	cat >"$d/gen.c" <<-'END'
		#include <linux/module.h>
		#include "core-abi/core.h"
		#include "show-macro.h"
	END
	cat >"$d/Kbuild" <<-END
		ccflags-y := -I\$(src) -I\$(src)/include -I$ks/drivers/nvme/target
		ifneq (\$(wildcard \$(srctree)/include/linux/unaligned.h),)
		ccflags-y += -DHAVE_LINUX_UNALIGNED_H
		endif
		obj-m := real.o gen.o
	END
	[ -z "$root" ] || within=("$top/tests/vm/in-root" "$root" "$T" "$ks" --)
	if ! "${within[@]}" make -s -C "/lib/modules/$kver/build" M="$d" real.s gen.s \
			>"$d/log" 2>&1; then
		not_ok "agreement $series: prototypes" "$(grep -m3 error: "$d/log")"
		return
	fi
	ok "agreement $series: $(wc -l <"$d/protos.h") prototypes and variables"

	for f in real gen; do
		sed -n 's/.*\.ascii "->\(.*\) \$\?\(-\?[0-9]*\)".*/\1 = \2/p' \
			"$d/$f.s" >"$d/$f.txt"
	done
	diff -u "$d/real.txt" "$d/gen.txt" >"$d/diff"
	verdict "agreement $series: $(wc -l <"$d/gen.txt") sizes, offsets and values" \
		$? "$(grep '^[-+]' "$d/diff" | head -n 10)"
	[ "$(wc -l <"$d/gen.txt")" = "$(wc -l <"$d/show.h")" ] &&
		[ "$(wc -l <"$d/gen.txt")" -gt 200 ]
	verdict "agreement $series: nothing was left out" $? \
		"$(wc -l <"$d/gen.txt") of $(wc -l <"$d/show.h") values came out"
}

for series in $(all_series); do
	agree "$series"
done
