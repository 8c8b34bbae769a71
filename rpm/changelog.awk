# SPDX-License-Identifier: GPL-2.0
# Prints debian/changelog as rpm wants it
/^nvme-rdma / { version = substr($2, 2, length($2) - 2) }
/^  [* ]/ { sub(/^  \*/, "-"); text = text $0 "\n" }
/^ -- / {
	split($0, part, /  /)
	split(part[2], day, /[ ,]+/)
	printf "* %s %s %s %s %s - %s-1\n%s\n", day[1], day[3], day[2], day[4], \
		substr(part[1], 5), version, text
	text = ""
}
