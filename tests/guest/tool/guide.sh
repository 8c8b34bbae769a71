#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   the guide's main path, from two machines to a file system and back: every command, in order
# guests:  target host
# disks:   target=64M target=64M host=16M
# check:   6.12
# timeout: 300
# cpus:    1
# debug:   no
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../lib/guide.sh"

pages_run '/guide[.]md$'
