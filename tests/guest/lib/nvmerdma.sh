# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The operator's tool, and functions to check its changes.

PATH=$VM_REPO/build/tools:$PATH

# configured: prints the target's whole configfs tree as lines, including keys
configured() {
	[ -d "$NVMET/subsystems" ] || return 0
	(cd "$NVMET" && find . -mindepth 2 -type d -print -o -type l -print -o \
		-type f ! -name revalidate_size -exec grep -aH '' {} + | tr -d '\0' | sort)
}

# name_of_export: the NQN that the last checked export printed
name_of_export() { grep -m 1 '^nqn\.' "$CHECK_OUT"; }

# unchanged WORDS COMMAND...: it fails, with words, and nothing is configured otherwise
unchanged() {
	local words=$1 before after
	shift
	before=$(configured)
	refuse 60 "$words" "$@" || return 1
	after=$(configured)
	[ "$before" = "$after" ] || {
		fail "$words: and changed something"
		diff <(echo "$before") <(echo "$after") | sed 's/^/    /'
	}
}

# configured_is WORDS CONFIGURED: the configuration is exactly CONFIGURED, as printed by
# configured()
configured_is() {
	local now
	now=$(configured)
	[ "$2" = "$now" ] && { pass "$1"; return; }
	fail "$1"
	diff <(echo "$2") <(echo "$now") | head -n 40 | sed 's/^/    /'
}

# words PATTERN WORDS: the output of the last checked command matches PATTERN
words() {
	grep -qE -- "$1" "$CHECK_OUT" && { pass "$2"; return; }
	fail "$2: no \"$1\" in"
	sed 's/^/    /' "$CHECK_OUT"
}

# ---- DRBD without its peer: /dev/drbd0, resource r0 ----

drbd_here() { modprobe drbd 2> /dev/null && command -v drbdadm > /dev/null; }
drbd_r0() { drbdadm -c /run/drbd.conf "$@"; }
drbd_on() { # DISK
	cat > /run/drbd.conf <<- END
		resource r0 { device /dev/drbd0; meta-disk internal;
		on $(uname -n) { disk $1; address 127.0.0.1:7789; }
		on other { disk $1; address 127.0.0.1:7790; } }
	END
	mkdir -p /run/lock /var/lib/drbd
	yes yes | drbd_r0 create-md --force r0
	drbd_r0 up r0
}
