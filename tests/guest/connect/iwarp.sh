#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    iWARP over siw: what interop.sh shows, where the sink of a READ needs a key of its own
# guests:   target host
# disks:    target=64M
# with:     siw
# variants: ours sides cross
# check:    none
# timeout:  500
FABRIC=siw
. "$(dirname "$0")/interop.sh"
