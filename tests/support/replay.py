"""Recorded answers of a compiler in place of a machine that has it.

    replay.py answer JOB.pyz RECORDING.zip RESULT.zip    answers a job with a recording, as the machine would have done
    replay.py record RESULT.zip RECORDING.zip [OPS [FROM=TO…]]
                                                         keeps the answers of a result but those to OPS ("run,time"); of
                                                         folders FROM of source lines TO is written

A recording is the result without what is of one job alone: which probe asked, and for which files. So it outlives
changes of the probe that change no answer. It holds recording.json, {hello, finished, answers[{op, event, json,
files[]}]}, and the files of answers as N/NAME."""

import hashlib
import json
import sys
import zipfile

MOST_TIMES = 50  # of runs, spread over all
PROFILED = 3  # runs of a profile that are kept


def record(result, recording, without="", *places):
    with zipfile.ZipFile(result) as source, zipfile.ZipFile(recording, "w", zipfile.ZIP_DEFLATED) as kept:
        told = json.loads(source.read("result.json"))
        answers = []
        for answer in told["answers"]:
            entry = {key: value for key, value in answer.items() if key not in ("request", "files")}
            entry["op"] = answer["request"]["json"]["op"]
            if entry["op"] in without.split(","):
                continue
            if entry["op"] in ("time", "profile") and "ms" in entry.get("json", {}):
                ms = entry["json"]["ms"]
                entry["json"]["ms"] = ms[:: max(1, len(ms) // MOST_TIMES)]
            entry["files"] = [file["name"] for file in answer["files"]]
            for file in answer["files"]:
                data = source.read(file["entry"])
                data = shortened(data) if file["name"] == "profile.json" else data
                for place in places:
                    data = data.replace(*(part.encode() for part in place.split("=")))
                write(kept, f"{len(answers)}/{file['name']}", data)
            answers.append(entry)
        hello = {**told["hello"], "machine": "recorded", "executable": "python3"}
        # What is missing there is said with paths of that machine.
        hello["compilers"] = [each for each in hello["compilers"] if each["version"]]
        head = {"hello": hello, "finished": told["finished"], "answers": answers}
        write(kept, "recording.json", json.dumps(head, indent=1).encode())


def shortened(profile):
    """The events of the first runs."""
    told = json.loads(profile)
    if isinstance(told, list):
        return shortened_onnxruntime(told)
    begins = [row[2] for row in told["events"] if told["names"][row[1]] == "fusescope.run"]
    if len(begins) > PROFILED:
        told["events"] = [row for row in told["events"] if row[2] < begins[PROFILED]]
    return json.dumps(told).encode()


def shortened_onnxruntime(events):
    """The same, without what each event tells of memory and threads."""
    ends = [event["ts"] + event["dur"] for event in events if event["name"] == "model_run"]
    last = sorted(ends)[:PROFILED][-1]
    kept = ("op_name", "provider", "node_index")
    return json.dumps(
        [
            {**event, "args": {key: event["args"][key] for key in kept if key in event["args"]}}
            for event in events
            if event["ts"] + event["dur"] <= last
        ]
    ).encode()


def answer(job, recording, result):
    with zipfile.ZipFile(job) as asked, zipfile.ZipFile(recording) as kept, zipfile.ZipFile(result, "w") as made:
        text = asked.read("job.json")
        wanted, told = json.loads(text), json.loads(kept.read("recording.json"))
        answers, by_op = [], {}
        for number, each in enumerate(told["answers"]):
            by_op.setdefault(each["op"], (number, each))
        for request in wanted["requests"]:
            number, each = by_op[request["json"]["op"]]
            entry = {**{key: value for key, value in each.items() if key not in ("op", "files")}, "request": request}
            entry["files"] = [put(made, kept.read(f"{number}/{name}"), len(answers), name) for name in each["files"]]
            answers.append(entry)
        head = {"format": "fusescope-probe-result", "version": 1, "job": hashlib.sha256(text).hexdigest(),
                "compiler": wanted["compiler"], "probe": wanted["probe"], "asked": wanted.get("asked"),
                "hello": told["hello"], "finished": told["finished"], "answers": answers}
        write(made, "result.json", json.dumps(head).encode())


def put(archive, data, number, name):
    entry = f"files/{number}/{name}"
    write(archive, entry, data)
    return {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "entry": entry}


def write(archive, name, data):
    """The same bytes whenever it is written."""
    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, archive.compression)


if __name__ == "__main__":
    {"record": record, "answer": answer}[sys.argv[1]](*sys.argv[2:])
