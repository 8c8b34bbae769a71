# SPDX-License-Identifier: GPL-2.0
"""What guests may ask of the machine below, while they run.

A guest writes one line to /vm/sync/ask-<n> (under a temporary name, then
renamed) and waits for /vm/sync/answer-<n>, which begins with "ok" or with
"error:" and words. The lines:

    link GUEST on|off    the guest's end of the wire: plug or pull
    kill GUEST           power off at once, as if the cord were pulled
    reset GUEST          the same, and on again: it boots, and runs its command anew
    pause GUEST          it stands still, its clock with it; this and 'freeze' are for
                         the first guest alone
    resume GUEST         it goes on
    freeze GUEST         it stands still, but its clock does not: when it is thawed, all
    thaw GUEST           that should have happened meanwhile is late
"""

import glob
import os
import re
import signal

from . import HarnessError


class Control:
    """Serves the requests of all guests of a run."""

    def __init__(self, sync_dir, guests):
        self.dir = sync_dir
        self.guests = {g.name: g for g in guests}

    def serve(self):
        """Answer whatever has been asked since the last call."""
        for path in glob.glob(os.path.join(self.dir, "ask-*")):
            with open(path, encoding="utf-8", errors="replace") as f:
                line = f.read().strip()
            os.unlink(path)
            try:
                answer = self._do(line) or "ok"
            except HarnessError as e:
                answer = f"error: {e}"
            number = os.path.basename(path)[len("ask-"):]
            final = os.path.join(self.dir, f"answer-{number}")
            with open(final + ".new", "w", encoding="utf-8") as f:
                f.write(answer + "\n")
            os.rename(final + ".new", final)

    def _do(self, line):
        word, _, rest = line.partition(" ")
        do = {"link": self._link, "kill": self._kill, "reset": self._reset,
              "pause": self._pause, "resume": self._resume,
              "freeze": self._freeze, "thaw": self._thaw}.get(word)
        name, _, more = rest.partition(" ")
        if not do or more not in (("on", "off") if word == "link" else ("",)):
            raise HarnessError(f"'{line}': expected 'link GUEST on|off', or 'kill', "
                               "'reset', 'pause', 'resume', 'freeze' or 'thaw' and "
                               "GUEST")
        guest = self.guests.get(name)
        if not guest:
            raise HarnessError(f"'{line}': no such guest; there are: "
                               f"{' '.join(self.guests)}")
        do(guest, more)

    @staticmethod
    def _link(guest, where):
        guest.monitor.run("set_link", name="nic", up=where == "on")

    @staticmethod
    def _kill(guest, _):
        guest.kill_on_request()

    @staticmethod
    def _reset(guest, _):
        guest.reset_on_request()

    @staticmethod
    def _may_stand(guest):
        # A stopped guest takes no packets. QEMU 7.2 of the first guest, which holds the wire,
        # would stop everything until they are taken.
        if guest.index:
            raise HarnessError("only the first guest can be paused")

    def _pause(self, guest, _):
        self._may_stand(guest)
        guest.monitor.run("stop")

    @staticmethod
    def _resume(guest, _):
        guest.monitor.run("cont")

    def _freeze(self, guest, _):
        self._may_stand(guest)
        guest.process.send_signal(signal.SIGSTOP)

    @staticmethod
    def _thaw(guest, _):
        guest.process.send_signal(signal.SIGCONT)
