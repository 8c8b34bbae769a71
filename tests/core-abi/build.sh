# SPDX-License-Identifier: GPL-2.0
# Sourced by run. The Makefile: two modules that use all of core.h, in a copy of
# the build's own files, for each kernel.

W=$T/tree
mkdir -p "$W/common" "$W/host" "$W/target" "$W/tests/vm"
cp "$top"/tests/vm/{kernels,kernel-root,in-root} "$W/tests/vm/"
cp "$top"/{Makefile,Kbuild,dkms.conf} "$W/"
cp -r "$abi_dir" "$W/common/"
cp "$here/use-host.c" "$W/host/use.c"
cp "$here/use-target.c" "$W/target/use.c"
touch "$W/host/local.h"

tree() { # ARGUMENTS...: make in the copy; what it printed is in the log
	make -C "$W" --no-print-directory "$@" >"$T/log" 2>&1
}

compiled() { grep -c '^  CC ' "$T/log"; }
derived() { grep -c '^  ABI ' "$T/log"; }

for series in $(all_series); do
	k=$(kernel_of "$series") || {
		not_ok "build $series" "no such kernel is installed"
		continue
	}
	b=$W/build/$k

	tree KVER="$k" W=1 C=1 -j"$(nproc)" && ! grep -qE 'warning:|error:' "$T/log"
	verdict "build $series: everything in core.h, W=1 and sparse" $? \
		"$(grep -m 5 -E 'warning:|error:|Error' "$T/log")"
	! grep -q 'Skipping BTF' "$T/log"
	verdict "build $series: no noise" $? "$(grep Skipping "$T/log")"
	[ "$(modinfo -F vermagic "$b/nvme-rdma.ko" | cut -d' ' -f1)" = "$k" ] &&
		[ "$(modinfo -F version "$b/nvmet-rdma.ko")" = \
			"$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$W/dkms.conf")" ]
	verdict "build $series: vermagic and version" $? "$(modinfo "$b/nvme-rdma.ko")"

	# As the first build, but for W=1, which is another command line.
	tree KVER="$k"
	tree KVER="$k"
	[ "$(compiled)" = 0 ] && [ "$(derived)" = 0 ]
	verdict "build $series: nothing to do the second time" $? "$(cat "$T/log")"
	touch "$W/common/core-abi/compat.h"
	tree KVER="$k"
	grep -q 'host/use.o' "$T/log" && grep -q 'target/use.o' "$T/log" &&
		[ "$(derived)" = 0 ]
	verdict "build $series: a header rebuilds what depends on it" $? "$(cat "$T/log")"
	touch "$W/common/core-abi/manifest"
	tree KVER="$k"
	[ "$(derived)" = 1 ] && [ "$(compiled)" = 0 ]
	verdict "build $series: a manifest with the same outcome rebuilds nothing" $? \
		"$(cat "$T/log")"
	sed -i '/^\t? start_time$/d' "$W/common/core-abi/manifest"
	tree KVER="$k"
	[ "$(derived)" = 1 ]
	verdict "build $series: a changed manifest is derived again" $? "$(cat "$T/log")"
	cp "$manifest" "$W/common/core-abi/manifest"
	rm "$b/include/core-abi-gen.h"
	tree KVER="$k"
	[ "$(derived)" = 1 ] && [ -e "$b/include/core-abi-gen.h" ]
	verdict "build $series: a lost header comes back" $? "$(cat "$T/log")"

	printf '#include "gone.h"\n' >"$W/host/gone.c"
	! tree KVER="$k" host && rm "$W/host/gone.c" && tree KVER="$k"
	verdict "build $series: a source that is gone is not built" $? "$(cat "$T/log")"
	printf '#error half-written\n' >"$W/host/half.c"
	tree KVER="$k" target
	verdict "build $series: make target does without the host" $? "$(cat "$T/log")"
	rm "$W/host/half.c"
done

[ "$(ls "$W"/build/*/nvme-rdma.ko | wc -l)" = "$(all_series | wc -l)" ]
verdict "builds for all kernels stand side by side" $? "$(ls "$W/build")"
[ -e "$W/common/core-abi/manifest" ] && tree help && grep -q 'make install' "$T/log"
verdict "make help" $? "$(head -n 3 "$T/log")"

says() { # NAME WORDS ARGUMENTS...
	local name=$1 words=$2

	shift 2
	! tree "$@" && grep -qF -- "$words" "$T/log"
	verdict "make: $name" $? "$(tail -n 3 "$T/log")"
}

says "a kernel without headers" "no headers for the kernel 6.99.0" KVER=6.99.0
says "KSRC that was not built" "is not a kernel tree that was built" KSRC="$T"
says "install before the build" "is not built: run make" \
	KVER="$(kernel_of 6.12)" BUILD="$T/empty" DESTDIR="$T/dest" install
tree KVER="$(kernel_of 6.12)" clean && [ ! -e "$W/build" ]
verdict "make clean" $? "$(ls "$W")"
