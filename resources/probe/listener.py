"""The listener communicates with Fusescope through its standard input and output, and starts a child for each job."""

import importlib
import os
import select
import signal
import sys
import time

from . import folder as folders
from .ahead import order_for
from .base import Refusal
from .frames import FrameReader, Garbled, frame
from .hello import about_this_environment
from .job import Job
from .pipes import Writer, read_what_is_there
from .prelude import end_group, remove_folder

PROTOCOL = 1
SILENCE = 30.0  # seconds of silence after which the other side counts as gone, until it sends another number
UNCLAIMED = 20.0  # seconds for which a process that imported a package in advance is kept for a job
MOST_WAITING = 1 << 20  # most bytes that wait to be sent before more of a file is read


class Listener:
    """It has one thread with one loop, so that it can be forked safely, and nothing that a job does blocks it.
    `ahead` is a process that has imported the package of a compiler already, or None. `modules` are those of the
    probe (prelude.py)."""

    def __init__(self, source, sink, folder, version, keeper, ahead, modules):
        self._source, self._folder, self._version = source, folder, version
        self._jobs = {}
        self._reader = FrameReader()
        self._heard, self._silence = time.monotonic(), SILENCE
        os.set_blocking(source, False)
        self._keeper = keeper
        self._ahead, self._ahead_order, self._began = ahead, None, self._heard
        self._modules = modules
        self._sink = Writer(sink)
        self._wakes, self._wake = os.pipe()
        for end in (self._wakes, self._wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._stop)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._goes_on = True

    def run(self):
        try:
            self._send({"event": "hello", "protocol": PROTOCOL, "version": self._version, **self._place(),
                        **about_this_environment()})
            self._sink.flush()
            if self._ahead is not None:
                self._ahead_order = order_for(self._ahead.compiler, self._modules)
            folders.remove_stale(os.path.dirname(self._folder))
            while self._goes_on:
                self._turn()
        except (OSError, Garbled) as error:
            print(f"The probe ends: {error}", file=sys.stderr)
        finally:
            self._end_all()

    def _place(self):
        """Writes a word into the probe's folder. Returns the word and the path of its file: a program that reads the
        same word there sees the same files."""
        word, path = os.urandom(16).hex(), os.path.join(self._folder, "word")
        with open(path, "w") as file:
            file.write(word)
        return {"word": word, "word_path": path}

    def _stop(self, *_):
        self._goes_on = False

    def _turn(self):
        wanted, steps = select.poll(), {}

        def watch(descriptor, events, *step):
            wanted.register(descriptor, events)
            steps[descriptor] = step

        watch(self._source, select.POLLIN, self._listen)
        watch(self._wakes, select.POLLIN, read_what_is_there, self._wakes)
        if len(self._sink):
            watch(self._sink.descriptor, select.POLLOUT, self._sink.flush)
        for job in self._jobs.values():
            watch(job.answers, select.POLLIN, self._of_a_job, job, job.read_answers)
            watch(job.log, select.POLLIN, self._of_a_job, job, job.read_log)
            if len(job.commands):
                watch(job.commands.descriptor, select.POLLOUT, self._of_a_job, job, job.commands.flush)
        until = self._heard + self._silence
        if self._ahead is not None:
            until = min(until, self._began + UNCLAIMED)
        for descriptor, _ in wanted.poll(max(0.0, until - time.monotonic()) * 1e3):
            step, *of = steps[descriptor]
            step(*of)
        self._sink.flush()
        self._reap()
        self._fill()
        if self._ahead is not None and time.monotonic() - self._began >= UNCLAIMED:
            self._end_ahead()
        if time.monotonic() - self._heard >= self._silence:
            raise OSError("nothing was received for too long")

    def _of_a_job(self, job, step):
        try:
            step()
        except (OSError, Garbled):
            job.end()  # the child's end of the pipe is broken, or something other than our code writes to it

    def _listen(self):
        data = read_what_is_there(self._source)
        if data is None:
            return
        if not data:
            self._goes_on = False
            return
        self._heard = time.monotonic()
        for header, payload in self._reader.feed(data):
            self._take(header, payload)

    def _take(self, header, payload):
        op, number = header.get("op"), header.get("job")
        job = self._jobs.get(number)
        try:
            if op == "beat":
                self._silence = float(header.get("silence", SILENCE))
                self._send({"event": "beat"})
            elif op == "look":
                self._send({"event": "look", "job": number, "word": word_in(header.get("path"))})
            elif op == "witness":
                self._send({"event": "witness", "job": number, "witness": witness(header.get("compiler"))})
            elif op == "start" and isinstance(number, int) and job is None:
                self._start(number, header)
            elif job is None:
                pass  # the child ended while this was in transit
            elif op == "ask":
                job.ask(header)
            elif op == "piece":
                job.piece(header, payload)
            elif op == "got":
                job.acknowledged(header.get("at", 0))
            elif op == "rest":
                self._send({"event": "rest", "job": number, **job.rest(bool(header.get("on")))})
            elif op == "end":
                job.end()
        except Refusal as error:
            self._refuse(number, header, error.kind, error.message, error.help)
        except OSError as error:
            self._refuse(number, header, "failed", f"The probe cannot keep what was sent: {error}", "")

    def _refuse(self, job, header, kind, message, help):
        self._send({"event": "error", "job": job, "id": header.get("id"), "kind": kind, "message": message,
                    "help": help})

    def _start(self, number, header):
        ahead = None
        if self._ahead is not None and self._ahead.compiler == header.get("compiler") and header.get("memory") is None:
            ahead, self._ahead = (self._ahead, self._ahead_order), None
        job = Job(number, header, os.path.join(self._folder, f"job-{number}"),
                  lambda event, payload=b"": self._send({**event, "job": number}, payload), self._descriptors, ahead)
        self._jobs[number] = job
        self._keeper.began(job.pid)
        self._send({"event": "started", "job": number, "pid": job.pid})

    def _descriptors(self):
        """Returns the descriptors that a child must not keep open, because the readers of their other ends would
        then wait for the child."""
        held = [self._source, self._sink.descriptor, self._wakes, self._wake, self._keeper.descriptor]
        held += self._ahead.descriptors() if self._ahead is not None else []
        return held + [descriptor for job in self._jobs.values() for descriptor in job.descriptors()]

    def _reap(self):
        for number, job in list(self._jobs.items()):
            if os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            job.end()  # before it is reaped, because its number may then belong to another process
            self._of_a_job(job, job.read_to_the_end)
            _, status = os.waitpid(job.pid, 0)
            self._keeper.ended(job.pid)
            del self._jobs[number]
            self._send({"event": "ended", "job": number, "log": job.last_words(),
                        "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
                        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None})
            job.close()
        if os.waitpid(self._keeper.pid, os.WNOHANG)[0]:
            raise OSError("its keeper was killed")

    def _fill(self):
        """Continues to send files of answers, one piece of each job in turn."""
        while len(self._sink) < MOST_WAITING and any([job.next_piece() for job in self._jobs.values()]):
            pass

    def _send(self, header, payload=b""):
        self._sink.write(frame(header, payload))

    def _end_ahead(self):
        ahead, self._ahead = self._ahead, None
        end_group(ahead.pid)
        os.waitpid(ahead.pid, 0)
        self._keeper.ended(ahead.pid)
        for descriptor in ahead.descriptors():
            os.close(descriptor)

    def _end_all(self):
        if self._ahead is not None:
            self._end_ahead()
        for job in self._jobs.values():
            job.end()
        for job in self._jobs.values():
            os.waitpid(job.pid, 0)
        remove_folder(self._folder)


def word_in(path):
    """Returns the contents of the small file at `path`, or None if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read(64).decode("ascii")
    except (OSError, ValueError, TypeError):
        return None


def witness(compiler):
    from .witness import about_compiler

    try:
        return about_compiler(str(compiler))
    except Exception as error:  # packages whose metadata cannot be read
        return {"is_there": False, "why_not": f"what is there cannot be told: {type(error).__name__}: {error}"}


def listen(source, sink, folder, archive, keeper, ahead, modules):
    """Never returns. The prelude calls it when the probe has arrived. `folder` is the probe's own folder, and
    `archive` contains its bytes."""
    try:
        folders.lock_folder(folder)
        Listener(source, sink, folder, sha256_of_bytes(archive), keeper, ahead, modules).run()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(0)


def sha256_of_bytes(data):
    """Returns the SHA-256, calculated by Python's own code if it exists under a known name, because loading OpenSSL
    takes longer than everything else."""
    for module in ("_sha2", "_sha256"):
        try:
            return importlib.import_module(module).sha256(data).hexdigest()
        except ImportError:
            continue
    from hashlib import sha256

    return sha256(data).hexdigest()
