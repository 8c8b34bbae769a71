# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The bench's host that keeps a target busy (tests/bench/feeder).

FEEDER=/sys/kernel/debug/feeder

# feeder_connect NQN QUEUES
feeder_connect() { echo "$MY_IP4 4420 $1 $HOSTNQN $2" > $FEEDER/connect; }

# feed WORDS...: a job (tests/bench/feeder/main.c)
feed() { echo "$*" > $FEEDER/feed; }

feeder_result() { cat $FEEDER/result; }

feeder_disconnect() { echo > $FEEDER/disconnect; }
