"""A job from the listener's point of view: a child, and the files that are sent to it and from it."""

import contextlib
import os
import signal
import time
from collections import deque

from . import child
from .base import Refusal
from .blobs import Cache, Incoming, is_safe_name, is_sha256
from .frames import PIECE, FrameReader, json_bytes
from .pipes import Writer, read_what_is_there
from .prelude import end_group, remove_folder

MOST_LOG = 16 << 10  # most bytes that are kept of what a compiler printed last
WINDOW = 4 << 20  # most bytes of answers that may be in transit


class Job:
    """A job. `send(header, payload)` sends a frame of this job. `unwanted()` returns descriptors that a child must
    not inherit. `ahead` is a process that has imported the compiler's package already, with the bytes that make it
    the child of this job (ahead.py)."""

    def __init__(self, number, start, folder, send, unwanted, ahead=None):
        self.number, self._send = number, send
        self._folder = folder
        self._is_local = bool(start.get("local"))
        self._cache = Cache(start["keep"]) if start.get("keep") else None
        self._orders = deque()  # requests whose files have not all arrived
        self._blobs = {}  # sha256 -> (path, is from the cache)
        self._incoming = {}  # sha256 -> Incoming
        self._outgoing = deque()  # (id, index, path) of answers' files that were not sent yet
        self._open, self._sent, self._acknowledged = None, 0, 0
        self._used_before_rest = None
        self._log, self._reader = bytearray(), FrameReader()
        os.makedirs(folder, 0o700)  # also if somebody has removed the folder for temporary files
        if ahead is None:
            commands, answers, log = self._fork(start, unwanted)
        else:
            self.pid, (commands, answers, log) = ahead[0].pid, ahead[0].descriptors()
        os.set_blocking(answers, False)
        os.set_blocking(log, False)
        self.commands, self.answers, self.log = Writer(commands), answers, log
        if ahead is not None:
            with contextlib.suppress(OSError):  # the child has ended, which is noticed elsewhere
                self.commands.write(ahead[1])

    def _fork(self, start, unwanted):
        """Starts the child. Returns our ends of its pipes."""
        commands, command_end = os.pipe()
        answers, answer_end = os.pipe()
        log, log_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            signal.set_wakeup_fd(-1)
            for each in (signal.SIGCHLD, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
                signal.signal(each, signal.SIG_DFL)
            for descriptor in (command_end, answers, log, *unwanted()):
                os.close(descriptor)
            child.be_a_child(str(start.get("compiler", "")), commands, answer_end, log_end, start.get("memory"))
        for descriptor in (commands, answer_end, log_end):
            os.close(descriptor)
        try:
            os.setpgid(self.pid, self.pid)
        except OSError:
            pass  # the child was faster
        return command_end, answers, log

    def descriptors(self):
        return [self.commands.descriptor, self.answers, self.log]

    # Messages of the caller.

    def ask(self, order):
        number, request = order.get("id"), order.get("request")
        inward = os.path.join(self._folder, "in", str(number))
        out = os.path.join(self._folder, "out", str(number))
        os.makedirs(out, 0o700)
        ready = {"id": number, "request": request, "files": {}, "bring": [], "out": out}
        wanted = {}
        for file in order.get("files", []):
            if not is_safe_name(file.get("name")):
                raise Refusal("A file of the request has a name that refers to a place outside its folder.")
            if "path" in file:
                check_same_file(file)
                ready["files"][file["name"]] = file["path"]
            else:
                if not is_sha256(file.get("sha256")) or not isinstance(file.get("size"), int):
                    raise Refusal("A file of the request has no content hash.")
                ready["files"][file["name"]] = os.path.join(inward, file["name"])
                wanted[file["name"]] = (file["sha256"], file["size"])
        self._orders.append((ready, wanted))
        if wanted:
            missing = {sha256: size for sha256, size in wanted.values() if not self._has(sha256, size)}
            self._send({"event": "need", "id": number, "sha256": list(missing)})
            for sha256, size in missing.items():
                self._expect(sha256, size)
        self._pass_on()

    def give(self, blobs):
        """Gives the child files that are here already: sha256 -> (path, whether it is from the cache)."""
        self._blobs.update(blobs)

    def _has(self, sha256, size):
        if sha256 not in self._blobs and self._cache is not None:
            path = self._cache.find(sha256, size)
            if path is not None:
                self._blobs[sha256] = (path, True)
        return sha256 in self._blobs

    def _expect(self, sha256, size):
        os.makedirs(os.path.join(self._folder, "blobs"), 0o700, exist_ok=True)
        self._incoming[sha256] = Incoming(os.path.join(self._folder, "blobs", sha256), sha256, size)
        if size == 0 and self._incoming[sha256].finish():
            self._arrived(sha256)

    def piece(self, header, payload):
        sha256 = header.get("sha256")
        incoming = self._incoming.get(sha256)
        if incoming is None:
            return  # it belongs to a request that failed
        try:
            whole = incoming.add(header.get("at"), payload)
        except (Refusal, OSError):
            self._drop(sha256)
            raise
        self._send({"event": "got", "sha256": sha256, "at": incoming.got})
        if whole:
            self._arrived(sha256)
            self._pass_on()

    def _arrived(self, sha256):
        incoming = self._incoming.pop(sha256)
        self._blobs[sha256] = (incoming.path, False)
        if self._cache is not None:
            self._cache.keep(incoming.path, sha256, incoming.size)

    def _drop(self, sha256):
        incoming = self._incoming.pop(sha256)
        incoming.close()
        with contextlib.suppress(OSError):
            os.unlink(incoming.path)
        self._orders.clear()

    def _pass_on(self):
        while self._orders and all(sha256 in self._blobs for sha256, _ in self._orders[0][1].values()):
            ready, wanted = self._orders.popleft()
            for name, (sha256, _) in wanted.items():
                path, is_cached = self._blobs[sha256]
                entry = {"from": path, "to": ready["files"][name], "sha256": sha256 if is_cached else None}
                ready["bring"].append(entry)
            try:
                self.commands.write(json_bytes(ready) + b"\n")
            except OSError:
                return  # the child has ended, which is noticed elsewhere

    def acknowledged(self, count):
        self._acknowledged = count

    def rest(self, on):
        """Suspends all processes of the job, or continues them. When they continue, `ms` is the processor time that
        they used meanwhile, or None if the system does not report it."""
        used, before = None, self._used_before_rest
        if on:
            os.killpg(self.pid, signal.SIGSTOP)
            wait_until_stopped(self.pid)
            self._used_before_rest = processor_ms(self.pid)
        else:
            now, self._used_before_rest = processor_ms(self.pid), None
            used = now - before if now is not None and before is not None else None
            os.killpg(self.pid, signal.SIGCONT)
        return {"on": on, "ms": used}

    def end(self):
        end_group(self.pid)

    # Messages of the child.

    def read_answers(self):
        """Reads answers, and returns whether there may be more."""
        data = read_what_is_there(self.answers)
        for header, _ in self._reader.feed(data or b""):
            self._answered(header)
        return bool(data)

    def read_log(self):
        data = read_what_is_there(self.log)
        self._log += data or b""
        del self._log[:-MOST_LOG]
        return bool(data)

    def read_to_the_end(self):
        while self.read_answers() or self.read_log():
            pass

    def last_words(self):
        return self._log.decode("utf-8", "replace").strip()

    def _answered(self, event):
        if event.get("event") == "answer":
            out = os.path.join(self._folder, "out", str(event["id"]))
            for index, file in enumerate(event["files"]):
                path = os.path.join(out, file["name"])
                if self._is_local:
                    file["path"] = path
                else:
                    self._outgoing.append((event["id"], index, path))
        elif event.get("event") == "error":
            event["log"] = self.last_words()
        self._send(event)

    # Files of answers.

    def next_piece(self):
        """Sends a piece of an answer's file if there is one and the caller has received the pieces before it."""
        if self._sent - self._acknowledged >= WINDOW:
            return False
        if self._open is None:
            if not self._outgoing:
                return False
            self._open = Outgoing(*self._outgoing.popleft())
        header, payload = self._open.next()
        self._sent += len(payload)
        if not payload:
            self._open = None
        self._send(header, payload)
        return True

    def close(self):
        for descriptor in self.descriptors():
            os.close(descriptor)
        for incoming in self._incoming.values():
            incoming.close()
        if self._open is not None:
            self._open.close()
        remove_folder(self._folder)


class Outgoing:
    """A file of an answer that is being sent to the caller."""

    def __init__(self, number, index, path):
        self._header = {"id": number, "file": index}
        from hashlib import sha256

        self._file, self._at, self._path = open(path, "rb"), 0, path
        self._digest = sha256()

    def next(self):
        """Returns the next piece. Without bytes, it is the end of the file and contains the hash."""
        payload = self._file.read(PIECE)
        self._digest.update(payload)
        header = {"event": "piece", **self._header, "at": self._at}
        self._at += len(payload)
        if payload:
            return header, payload
        self.close()
        os.unlink(self._path)
        return {"event": "file", **self._header, "size": self._at, "sha256": self._digest.hexdigest()}, b""

    def close(self):
        self._file.close()


def wait_until_stopped(pid):
    """Waits until the processes are stopped, because a signal takes a moment to arrive. Processes that have ended
    meanwhile are not waited for."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.001)


def processor_ms(group):
    """Returns the processor time in milliseconds that all processes of a group have used so far, or None without
    /proc."""
    ticks, found = 0, False
    try:
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                if int(fields[2]) == group:
                    ticks += int(fields[11]) + int(fields[12])
                    found = True
    except OSError:
        return None
    return 1e3 * ticks / os.sysconf("SC_CLK_TCK") if found else None


def check_same_file(file):
    """Refuses a path that is another file here than on the machine of the request."""
    try:
        here = os.stat(file["path"])
    except OSError:
        here = None
    if here is None or [here.st_dev, here.st_ino, here.st_size, here.st_mtime_ns] != file.get("identity"):
        raise Refusal(f"{file['path']} is not the same file on that machine.", kind="not_shared")
