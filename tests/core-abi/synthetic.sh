# SPDX-License-Identifier: GPL-2.0
# Sourced by run. BTF made by hand, of shapes that no kernel shows us today:
# bit-fields, members of anonymous structs and unions, members that share bytes,
# packed structs, unions, function pointers, pointers to arrays.

Y=$T/shapes
mkdir -p "$Y/modules"
cc="gcc -std=gnu11 -Wall -Wextra -Werror $san"
cat >"$Y/manifest" <<'END'
module shapes
struct inner
	a
	b
struct shapes
	first
	low
	mid
	wide
	negative
	left
	right
	both
	names
	method
	table
	matrix
	embedded
	? reg
	? absent
struct squeezed
	b
	c
union either
	bytes
	wide
func shapes_call
func ? shapes_absent
END
cat >"$Y/module.S" <<'END'
	.section .modinfo, "a"
	.asciz "license=GPL"
	.asciz "vermagic=1.2.3 SMP"
	.section __ksymtab, "a"
__ksymtab_shapes_call:
	.quad 0
	.section .note.GNU-stack, "", @progbits
END

synthetic() {
	$cc -o "$Y/shapes" "$here/shapes.c" -lbpf &&
		"$Y/shapes" "$Y/base.btf" "$Y/module.btf" &&
		gcc -c -o "$Y/module.o" "$Y/module.S" &&
		objcopy --add-section .BTF="$Y/base.btf" "$Y/module.o" "$Y/vmlinux" &&
		objcopy --add-section .BTF="$Y/module.btf" "$Y/module.o" \
			"$Y/modules/shapes.ko"
}

if synthetic >"$T/log" 2>&1; then
	shapes="--kver 1.2.3 --base $Y/vmlinux --module-dir $Y/modules --manifest $Y/manifest"
	abi $shapes --out "$Y/shapes-gen.h" &&
		$cc -I"$Y" -I"$here" -o "$Y/check" "$here/shapes-check.c" >"$T/log" 2>&1 &&
		"$Y/check" >"$T/log" 2>&1
	verdict "bit-fields, nesting, shared bytes, packing" $? "$(head -n 5 "$T/log")"
	grep -q '#define HAVE_SHAPES_REG 1' "$Y/shapes-gen.h" &&
		! grep -qi absent "$Y/shapes-gen.h"
	verdict "HAVE_ only for what is there" $? "$(grep -i 'HAVE\|absent' "$Y/shapes-gen.h")"

	printf 'module shapes\nstruct shapes\n\tno_such\n' >"$Y/manifest"
	refuses "a missing field of a synthetic struct" "missing field" $shapes
else
	not_ok "synthetic BTF" "$(head -n 5 "$T/log")"
fi
