# SPDX-License-Identifier: GPL-2.0
"""What guests may ask of the machine below, while they run.

A guest writes one line to /vm/sync/ask-<n> (under a temporary name, then
renamed) and waits for /vm/sync/answer-<n>, which begins with "ok" or with
"error:" and words. The lines:

    link GUEST on|off    the guest's end of the wire: plug or pull
    kill GUEST           power off at once, as if the cord were pulled
"""

import glob
import os
import re

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
        m = re.fullmatch(r"link (\w+) (on|off)|kill (\w+)", line)
        if not m:
            raise HarnessError(f"'{line}': expected 'link GUEST on|off' or "
                               "'kill GUEST'")
        guest = self.guests.get(m[1] or m[3])
        if not guest:
            raise HarnessError(f"'{line}': no such guest; there are: "
                               f"{' '.join(self.guests)}")
        if m[3]:
            guest.kill_on_request()
        else:
            guest.monitor.run("set_link", name="nic", up=m[2] == "on")
