#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    like storm, but longer: 60 s, 1,000 connects, 200 controllers
# variants: ours none
# check:    none
# mem:      4096
# timeout:  4800
# a fifth of it on a kernel that watches itself
part=$((${VM_WATCHED:-1} > 1 ? 5 : 1))
STORM=${STORM:-$((60 / part))} CONNECTS=${CONNECTS:-$((1000 / part))}
AT_ONCE=${AT_ONCE:-$((200 / part))}
. "$(dirname "$0")/storm.sh"
