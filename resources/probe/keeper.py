"""The keeper: a process that does nothing but wait until the listener has ended, however that happened. Then it ends
the listener's jobs and removes its folder."""

import os
import shutil
import signal


class Keeper:
    """Starts the keeper. `unwanted` are descriptors that it must not hold open."""

    def __init__(self, folder, unwanted):
        listens, self.descriptor = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                os.close(self.descriptor)
                keep(folder, listens, unwanted)
            finally:
                os._exit(0)
        os.close(listens)

    def began(self, pid):
        self._say(b"+%d\n" % pid)

    def ended(self, pid):
        self._say(b"-%d\n" % pid)

    def _say(self, line):
        try:
            os.write(self.descriptor, line)
        except OSError:
            pass  # whoever killed the keeper leaves the tidying to the listener


def keep(folder, listens, unwanted):
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for descriptor in unwanted:
        os.close(descriptor)
    jobs, held = set(), b""
    while True:
        data = os.read(listens, 4096)
        if not data:
            break
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            (jobs.add if line[:1] == b"+" else jobs.discard)(int(line[1:]))
    for pid in jobs:
        end_group(pid)
    shutil.rmtree(folder, ignore_errors=True)


def end_group(pid):
    """Ends a job and all that it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
