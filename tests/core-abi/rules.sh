# SPDX-License-Identifier: GPL-2.0
# Sourced by run. Rules that no compiler keeps.

# compat*.h are the only files with an #if on the kernel: the sources of both modules, and the
# headers that they include, must not check a version or a HAVE_.
asks_for_kernel() { # TREE: prints where it does
	(cd "$1" && find host target common/*.h common/core-abi/*.h -name '*.[ch]' \
		! -path 'common/core-abi/compat*.h' ! -name core-abi.h -exec \
		grep -nE '\b(KERNEL_VERSION|LINUX_VERSION_[A-Z]+|RHEL_RELEASE_[A-Z]+|HAVE_[A-Z0-9_]+)\b' \
		/dev/null {} +)
}

where=$(asks_for_kernel "$top")
[ -z "$where" ] && [ "$(find "$top/host" "$top/target" -name '*.[ch]' | wc -l)" -gt 10 ]
verdict "only compat*.h has an #if on the kernel" $? "$where"
R=$T/rules
for f in host/x.c target/x.h common/x.h common/core-abi/core.h; do
	rm -rf "$R" && mkdir -p "$R"/{host,target,common/core-abi}
	touch "$R"/common/{pure.h,core-abi/core.h}
	printf '#if defined(HAVE_X) && __KERNEL__\n#endif\n' >"$R/common/core-abi/compat.h"
	printf '#ifdef HAVE_NVME_AUTH_STOP\n' >"$R/$f"
	[ "$(asks_for_kernel "$R" | cut -d: -f1)" = "$f" ]
	verdict "an #if on the kernel is found in $f" $? "it is not"
done

# The default of KVER, with an uname and an ls of our own: the running kernel if
# it has headers, else the newest that has them, by version and not by name.
default_kver() { # RUNNING KERNELS...
	mkdir -p "$T/fake"
	printf '#!/bin/sh\necho %s\n' "$1" >"$T/fake/uname"
	shift
	printf '#!/bin/sh\nprintf "/lib/modules/%%s/build/Makefile\\n" %s\n' "$*" >"$T/fake/ls"
	chmod +x "$T/fake/uname" "$T/fake/ls"
	(unset KVER KSRC MAKEFLAGS
	PATH=$T/fake:$PATH make -s -C "$top" --no-print-directory help) |
		sed -n 's/^  KVER=//p'
}

k=$(kernel_of 6.1)
got=$(default_kver "$k" 6.1.0-9-amd64 6.12.3-amd64 6.9.7-amd64)
[ -n "$k" ] && [ "$got" = "$k" ]
verdict "KVER is the running kernel, if it has headers" $? "it is $got, not $k"
got=$(default_kver 9.9.9-none 6.1.0-9-amd64 6.12.3-amd64 6.9.7-amd64)
[ "$got" = 6.12.3-amd64 ]
verdict "KVER is the newest with headers, if the running has none" $? \
	"it is $got, not 6.12.3-amd64"
