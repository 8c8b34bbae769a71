#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the whole guide and README: every command, in the order in which a user types them
# guests:  target host
# disks:   target=64M target=64M host=16M
# check:   none
# timeout: 900
# debug:   no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/guide.sh"

# GUIDE_ONLY in the environment, a pattern, selects fewer pages; guide.md sets up what others
# use.
pages_run "${GUIDE_ONLY:-.}"
