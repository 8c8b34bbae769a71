#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:    the same at length: 60 s, 1,000 connects, 200 controllers
# variants: ours none
# check:    none
# mem:      4096
# timeout:  4800
STORM=${STORM:-60} CONNECTS=${CONNECTS:-1000} AT_ONCE=${AT_ONCE:-200}
. "$(dirname "$0")/storm.sh"
