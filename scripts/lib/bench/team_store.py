"""Measures one shared store of a team, which the processes of two machines use at once, and its traffic.

    python -m bench.team_store --python PYTHON [--compilers NAME,…] [--processes N] [--rounds N] [--json F] MODEL.onnx …

A machine is simulated by a cache folder and its own installation of the compilers: that of PYTHON, and a copy of its
packages in another virtual environment with other paths, inodes and times. Each machine runs N processes at once.
Each process asks the compilers for plans of all networks, in its own order, as often as there are rounds. This is
done without a shared store, with a folder, and with a separate Redis if there is a redis-server. The program is
started by hand in scripts/lib.

A question is one plan. Its answer was found on the machine's own disk, found in the shared place, or asked of the
compiler. Entries, bytes, hits and misses of a Redis are its own counts. For a folder, they are the files in it at
the end, and what is read is not counted.
"""
import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FUSESCOPE = ROOT / "build/bin/fusescope"
DISK, PLACE, ASKED = "found on disk", "found in the place", "asked"


class Machine:
    def __init__(self, folder, python):
        self.folder, self.python = folder, python

    def environment(self, place):
        shared = {"FUSESCOPE_SHARED_STORE": place, "FUSESCOPE_SHARED_STORE_KEY": str(self.folder.parent / "key")}
        return os.environ | {"FUSESCOPE_CACHE": str(self.folder), "FUSESCOPE_PYTHON": str(self.python),
                             "XDG_CONFIG_HOME": str(self.folder / "configuration")} | (shared if place else {})

    def ask(self, place, model, compiler):
        """Returns (the source of the answer, whether the shared place was too slow for it)."""
        told = subprocess.run([FUSESCOPE, "plan", model, "--compiler", compiler, "--json"], capture_output=True,
                              text=True, env=self.environment(place))
        if told.returncode != 0:
            raise SystemExit(told.stderr)
        decisions = json.loads(told.stdout)["decisions"]
        where = [each["arguments"]["where"] for each in decisions if each["code"] == "cache.found"]
        slow = any(each["code"] == "cache.store" for each in decisions)
        return (ASKED if not where else DISK if where[0] == "disk" else PLACE), slow


def second_installation(python, folder):
    """Makes a virtual environment of the same Python with a copy of its packages."""
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
    paths = [subprocess.run([each, "-c", where], check=True, capture_output=True, text=True).stdout
             for each in (python, folder / "bin/python")]
    shutil.copytree(paths[0], paths[1], dirs_exist_ok=True, copy_function=shutil.copyfile)
    return folder / "bin/python"


class FolderPlace:
    name = "a folder"

    def __init__(self, work):
        self.path = work / "team"
        self.path.mkdir()
        self.at = str(self.path)

    def traffic(self):
        """Returns the entries and bytes in the shared place."""
        files = [file for file in self.path.rglob("*") if file.is_file() and len(file.name) == 64]
        return {"entries": len(files), "bytes_in": sum(file.stat().st_size for file in files), "bytes_out": None,
                "hits": None, "misses": None}

    def end(self):
        shutil.rmtree(self.path)


class RedisPlace:
    name = "a Redis"

    def __init__(self, work):
        self.socket = str(work / "redis")
        self.at = "unix:" + self.socket
        self.process = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                                         "--appendonly", "no", "--dir", str(work)], stdout=subprocess.DEVNULL)
        while not os.path.exists(self.socket):
            time.sleep(0.02)

    def info(self, section):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(self.socket)
            line.sendall(f"INFO {section}\r\nQUIT\r\n".encode())
            told = b""
            while piece := line.recv(65536):
                told += piece
        return dict(each.split(":", 1) for each in told.decode().splitlines() if ":" in each)

    def traffic(self):
        stats, keys = self.info("stats"), self.info("keyspace")
        entries = sum(int(text.split("keys=")[1].split(",")[0]) for name, text in keys.items() if name.startswith("db"))
        return {"entries": entries, "bytes_in": int(stats["total_net_input_bytes"]),
                "bytes_out": int(stats["total_net_output_bytes"]), "hits": int(stats["keyspace_hits"]),
                "misses": int(stats["keyspace_misses"])}

    def end(self):
        self.process.kill()
        self.process.wait()


def use(machines, place, questions, arguments):
    """Returns one row: what all processes of both machines did at once."""
    for machine in machines:
        shutil.rmtree(machine.folder, ignore_errors=True)
        machine.folder.mkdir()
    counts, slow = {DISK: 0, PLACE: 0, ASKED: 0}, 0

    def work(machine, number):
        order = questions * arguments.rounds
        random.Random(number).shuffle(order)
        return [machine.ask(place.at if place else None, model, compiler) for model, compiler in order]

    start = time.perf_counter()
    with ThreadPoolExecutor(len(machines) * arguments.processes) as pool:
        works = [pool.submit(work, machine, 100 * i + number) for i, machine in enumerate(machines)
                 for number in range(arguments.processes)]
        for each in works:
            for outcome, was_slow in each.result():
                counts[outcome] += 1
                slow += was_slow
    row = {"place": place.name if place else "none", "seconds": time.perf_counter() - start, "slow": slow, **counts}
    return row | (place.traffic() if place else {})


def table(rows):
    def text(value, of=1, digits=0):
        return "–" if value is None else f"{value / of:.{digits}f}"

    lines = ["| shared store | plans | asked | found on disk | found in the place | entries kept | MB to it | MB from it | "
             "its hits / misses | too slow | seconds |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        hits = "–" if row.get("hits") is None else f"{row['hits']} / {row['misses']}"
        lines.append(f"| {row['place']} | {row[DISK] + row[PLACE] + row[ASKED]} | {row[ASKED]} | {row[DISK]} | {row[PLACE]} | "
                     f"{text(row.get('entries'))} | {text(row.get('bytes_in'), 1e6, 2)} | "
                     f"{text(row.get('bytes_out'), 1e6, 2)} | {hits} | {row['slow']} | {row['seconds']:.1f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    parser.add_argument("--python", required=True, help="that of the first machine, with the compilers")
    parser.add_argument("--compilers", default="onnxruntime,openvino")
    parser.add_argument("--processes", type=int, default=2, help="of each machine, at once")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", help="a file for the rows")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fusescope-team") as name:
        work = Path(name)
        key = work / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(32))
        machines = [Machine(work / "first", Path(arguments.python)),
                    Machine(work / "second", second_installation(Path(arguments.python), work / "elsewhere"))]
        questions = [(model, compiler) for model in arguments.models for compiler in arguments.compilers.split(",")]
        kinds = [None, FolderPlace] + ([RedisPlace] if shutil.which("redis-server") else [])
        rows = []
        for kind in kinds:
            place = kind(work) if kind else None
            rows.append(use(machines, place, questions, arguments))
            print(f"{rows[-1]}", file=sys.stderr, flush=True)
            if place:
                place.end()
    print(f"2 machines of {arguments.processes} processes, {len(questions)} questions, {arguments.rounds} rounds each\n")
    print(table(rows))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
