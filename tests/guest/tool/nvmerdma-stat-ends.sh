#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# about:   nvmerdma stat: it ends when its reader does, survives any change of the terminal, and does not grow
# check:   none
# timeout: 200
# debug:   no
. "$(dirname "$0")/../lib.sh"

N=nqn.2026-01.test:stat
TOOL=$VM_REPO/build/tools/nvmerdma
SCREEN=$GUEST_DIR/lib/screen.py

host_load
wire_up
must "a disk" null_disk nullb0 16
must "load" modprobe nvmet-rdma
simple_target $N /dev/nullb0
must "connect" connect $N "$MY_IP4" 4420 -i 2
get_disk $N 1

step "nobody reads"
cat > /run/reader.py <<'END'
import socket, subprocess, sys
ours, its = socket.socketpair()
tool = subprocess.Popen(["timeout", "20", sys.argv[1], "stat", "--host", "3600"], stdout=its)
its.close()
ours.close()
sys.exit(tool.wait())
END
check "a socket whose reader goes ends it" python3 /run/reader.py "$TOOL"

step "a terminal"
check "one that was stopped" python3 "$SCREEN" 24 80 "$TOOL" stat 0.1 <<-END
	see 10 ^$CTRL
	keys \x13
	sh sleep 1.5
	signal TERM
	ends 5 -15
	END
cat > /run/rss <<'END'
#!/bin/bash
awk '/^VmRSS/ { print $2 }' "/proc/$(pgrep -n -x nvmerdma)/status"
END
chmod +x /run/rss
check "it does not grow" python3 "$SCREEN" 24 80 "$TOOL" stat 0.1 --by queue <<-END
	see 10 ^$CTRL/queue1
	sh sleep 2
	keys s
	sh /run/rss > /run/rss.before
	keys r
	see 5 reversed
	sh sleep 5
	keys r
	not 5 reversed
	sh [ "\$(/run/rss)" -le \$((\$(cat /run/rss.before) + 100)) ]
	keys q
	end 5 0
	END
check "disconnect" disconnect $N
check "the target is taken down" target_teardown
all_down
finish
