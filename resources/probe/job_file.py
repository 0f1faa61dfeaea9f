"""What `python3 job.pyz` does: it asks a compiler everything that the file contains, and writes result.zip beside
it."""

import hashlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import zipfile

from . import folder as folders
from .blobs import is_safe_name, sha256_of
from .frames import json_bytes
from .hello import about_this_environment
from .job import Job
from .prelude import Keeper

FORMAT, RESULT_FORMAT, VERSION = "fusescope-probe-job", "fusescope-probe-result", 1


def main():
    archive = os.path.abspath(sys.argv[0])
    with zipfile.ZipFile(archive) as packed:
        if "job.json" not in packed.namelist():
            sys.exit("This file holds the probe alone and no job: there is nothing to do.")
        text = packed.read("job.json")
        job = json.loads(text)
        if job.get("format") != FORMAT or job.get("version") != VERSION:
            sys.exit("This is no job that this probe knows.")
        folder = tempfile.mkdtemp(prefix=folders.PREFIX)
        folders.lock_folder(folder)
        keeper = Keeper([])
        keeper.has_folder(folder)
        result = Result(os.path.join(os.path.dirname(archive), "result.zip"), hashlib.sha256(text).hexdigest(), job)
        try:
            work(job, folder, unpacked(packed, job, folder), result, keeper)
            failures = result.finish()
        finally:
            result.drop()
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{result.path} is written: {len(result.answers)} answers, {failures} of them errors.", file=sys.stderr)


def unpacked(packed, job, folder):
    """Unpacks the files that the job contains. Returns {sha256: path}."""
    os.mkdir(os.path.join(folder, "blobs"))
    blobs = {}
    for request in job["requests"]:
        for file in request["files"]:
            sha256 = file["sha256"]
            if not is_safe_name(sha256) or sha256 in blobs:
                continue
            path = os.path.join(folder, "blobs", sha256)
            with packed.open("blobs/" + sha256) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            if sha256_of(path) != sha256:
                sys.exit("A file in this job is damaged. Pack it again, or copy it again.")
            blobs[sha256] = (path, False)
    return blobs


def work(job, folder, blobs, result, keeper):
    """Makes one request after another. If the compiler's process ends, the error is the answer to the remaining
    requests. The same happens if this process is told to end, for example by a batch system whose time is over: the
    answers that exist by then are kept."""
    inbox, told = [], []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: told.append(number))
    process = Job(0, {"compiler": job["compiler"], "memory": job.get("memory"), "local": True},
                  os.path.join(folder, "job"), lambda event, payload=b"": inbox.append(event), lambda: [keeper.descriptor])
    keeper.began(process.pid)
    process.give(blobs)
    ended = None
    try:
        for number, request in enumerate(job["requests"], 1):
            say(f"{number} of {len(job['requests'])}: {request['json'].get('op')}")
            if ended is None:
                process.ask({"id": number, "request": request["json"], "files": request["files"]})
                event = wait(process, number, inbox, told)
                ended = event if event["event"] == "ended" else None
            result.add(request, ended or event)
    finally:
        process.end()
        os.waitpid(process.pid, 0)
        process.close()


def wait(process, number, inbox, told):
    """Returns the answer, the error, or that the process has ended. `told` contains the signals that told this
    process to end."""
    while True:
        if told:
            return {"event": "ended", "status": None, "signal": told[0],
                    "log": "the job was told to end before this was answered"}
        select.select([process.answers, process.log], [], [], 0.2)
        gone = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        process.commands.flush() if gone is None else None
        while process.read_answers() or process.read_log():
            pass
        for event in inbox:
            if event["event"] == "progress":
                say(f"   {event['phase']} {event['detail']}")
            elif event.get("id") == number and event["event"] in ("answer", "error"):
                inbox.clear()
                return event
        inbox.clear()
        if gone is not None:
            signalled = gone.si_code != os.CLD_EXITED
            return {"event": "ended", "status": None if signalled else gone.si_status,
                    "signal": gone.si_status if signalled else None, "log": process.last_words()}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Result:
    """The archive of answers. The file appears either complete or not at all."""

    def __init__(self, path, job_id, job):
        self.path, self.answers = path, []
        self._job_id, self._job = job_id, job
        self._part = path + ".part"
        self._zip = zipfile.ZipFile(self._part, "w", zipfile.ZIP_STORED)

    def add(self, request, event):
        entry = {"request": request, "event": event["event"], "files": []}
        if event["event"] == "answer":
            entry["json"] = event["json"]
            for file in event["files"]:
                name = f"files/{len(self.answers)}/{file['name']}"
                entry["files"].append({"name": file["name"], "size": os.path.getsize(file["path"]),
                                       "sha256": sha256_of(file["path"]), "entry": name})
                self._zip.write(file["path"], name)
        else:
            keep = ("kind", "message", "help", "trace", "log", "status", "signal")
            entry.update({key: event[key] for key in keep if key in event})
        self.answers.append(entry)

    def finish(self):
        """Completes the archive and returns how many answers are errors."""
        head = {"format": RESULT_FORMAT, "version": VERSION, "job": self._job_id, "compiler": self._job["compiler"],
                "probe": self._job["probe"], "asked": self._job.get("asked"), "hello": about_this_environment(),
                "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "answers": self.answers}
        self._zip.writestr("result.json", json_bytes(head))
        self._zip.close()
        os.replace(self._part, self.path)
        return sum(entry["event"] != "answer" for entry in self.answers)

    def drop(self):
        """Removes an incomplete archive."""
        self._zip.close()
        if os.path.exists(self._part):
            os.unlink(self._part)
