# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For what boots guests after guests that crash.

# crash CONSOLE: the first words of a crash on a guest's console, or nothing
crash() {
	grep -aohE '\] ?(\[[ TC0-9]*\] ?)?(BUG|kernel BUG|Oops|general protection fault|Unable to handle|KASAN|refcount_t|WARNING|watchdog: BUG|Kernel panic).*' \
		"$1" | sed 's/^\] *//' | tr -d '\r' | head -n 1
}
