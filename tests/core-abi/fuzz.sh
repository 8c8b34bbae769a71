# SPDX-License-Identifier: GPL-2.0
# Sourced by run. Damaged input, for 15 seconds, and 100 cases at least.

objects=$(ls "$T"/build/tools/*.o | grep -v /main.o)
# shellcheck disable=SC2086
if gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror $san -I"$abi_dir" \
		-o "$T/fuzz" "$here/fuzz.c" $objects -lbpf >"$T/log" 2>&1; then
	"$T/fuzz" 15 "$K12" "$base" "$mods" "$manifest" "$abi_dir/known/6.12.h" \
		>"$T/log" 2>&1
	status=$?
	verdict "damaged BTF and ELF: $(head -n 1 "$T/log")" $status "$(cat "$T/log")"
else
	not_ok "damaged BTF and ELF" "$(head -n 5 "$T/log")"
fi
