"""Reports what is kept after building the whole zoo, and how much time that saved.

    scripts/bench --builds --zoo-store [--threads N] [--compilers NAME[,NAME]] [--most-mib N] [--json F] [NETWORK …]

Each network of the zoo is built twice by each compiler. Each build is a separate process, and all of them use one
cache folder, which is empty at the beginning. The second build finds what the first one stored. Networks larger than
--most-mib, and those that a compiler cannot build, are named and left out. Then the entries of the store are summed
by kind, as `cache list` reports them. `times` are the measured times of our own kernels, which are kept beside the
store; what they saved is the time that the first builds spent on measuring and the second ones did not.
"""
import json
import os
import sqlite3
import sys
import tempfile
from pathlib import Path

from .builds import ROOT, run

FUSESCOPE = ROOT / "build/bin/fusescope"
OWN = "fusescope"
MEBIBYTE = 1 << 20


def zoo_networks(zoo, filled, names, most_mib):
    """Returns the name and file of each network; for one that is left out, the name and the reason."""
    for folder in sorted(each for each in zoo.iterdir() if each.is_dir()):
        if names and folder.name not in names:
            continue
        places = [filled / f"{folder.name}.onnx", folder / "model.onnx"]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            yield folder.name, None, "its weights were not filled in"
        elif found.stat().st_size > most_mib * MEBIBYTE:
            yield folder.name, None, f"it has {found.stat().st_size / MEBIBYTE:.0f} MiB"
        else:
            yield folder.name, found, ""


def spent_measuring(document):
    measuring = document.get("measuring")
    return measuring["spent_seconds"] if measuring else 0.0


def built_twice(name, model, compiler, arguments, folder):
    """Returns the seconds of both builds, and what each of them spent on measuring, or why there is no result."""
    environment = os.environ | {"FUSESCOPE_CACHE": str(folder / "cache"), "FUSESCOPE_PYTHON": sys.executable}
    row = {"network": name, "compiler": compiler, "seconds": [], "measuring": [], "why_not": ""}
    command = [str(FUSESCOPE), "build", str(model), "--compiler", compiler, "-o", str(folder / "built.fse"), "--json"]
    if compiler == OWN:
        command += ["--threads", str(arguments.threads)]
    for _ in range(2):
        try:
            taken, _, printed = run(command, environment)
        except SystemExit as failure:
            return row | {"why_not": str(failure).strip().splitlines()[-1] if str(failure) else "the build failed"}
        row["seconds"].append(taken)
        row["measuring"].append(spent_measuring(json.loads(printed)))
    return row


def times_kept(cache):
    """Returns the number of entries and the bytes of the measured times."""
    file = cache / "timings.sqlite"
    if not file.is_file():
        return 0, 0
    database = sqlite3.connect(file)
    try:
        return database.execute("SELECT count(*) FROM times").fetchone()[0], file.stat().st_size
    finally:
        database.close()


def by_kind(listed, rows, times):
    """Returns one line for each kind: entries, bytes on disk, hits, seconds saved, and what was not kept."""
    kinds = [{"kind": each["kind"], "entries": each["entries"], "bytes": each["stored_bytes"], "hits": each["hits"],
              "saved_seconds": each["saved_ms"] / 1000, "not_kept": each["not_kept"]} for each in listed["kinds"]]
    own = [row for row in rows if row["compiler"] == OWN and len(row["measuring"]) == 2]
    kinds.append({"kind": "times", "entries": times[0], "bytes": times[1], "hits": None, "not_kept": 0,
                  "saved_seconds": sum(first - second for first, second in (row["measuring"] for row in own))})
    return kinds


def totals(rows):
    """Returns, by compiler, the number of networks, and the seconds of all first and of all second builds."""
    sums = {}
    for row in rows:
        if row["why_not"]:
            continue
        count, first, second = sums.get(row["compiler"], (0, 0.0, 0.0))
        sums[row["compiler"]] = (count + 1, first + row["seconds"][0], second + row["seconds"][1])
    return sums


def words(kinds, rows, left_out):
    lines = ["| kind | entries | on disk | hits | saved | not kept |", "|---|---|---|---|---|---|"]
    for each in kinds:
        hits = "" if each["hits"] is None else each["hits"]
        lines.append(f"| {each['kind']} | {each['entries']} | {each['bytes'] / MEBIBYTE:.1f} MiB | {hits} | "
                     f"{each['saved_seconds']:.1f} s | {each['not_kept']} |")
    lines += ["", "| compiler | networks | first builds | second builds |", "|---|---|---|---|"]
    lines += [f"| {compiler} | {count} | {first:.1f} s | {second:.1f} s |"
              for compiler, (count, first, second) in totals(rows).items()]
    lines += [""] + [f"{name}: left out: {why}" for name, why in left_out]
    lines += [f"{row['network']} by {row['compiler']}: not built: {row['why_not']}" for row in rows if row["why_not"]]
    return "\n".join(lines)


def main(arguments):
    rows, left_out = [], []
    with tempfile.TemporaryDirectory(prefix="zoo-store-") as place:
        folder = Path(place)
        for name, model, why_not in zoo_networks(arguments.zoo, arguments.filled, arguments.networks,
                                                 arguments.most_mib):
            if model is None:
                left_out.append((name, why_not))
                continue
            for compiler in arguments.compilers.split(","):
                rows.append(built_twice(name, model, compiler, arguments, folder))
                told = " and ".join(f"{each:.2f} s" for each in rows[-1]["seconds"]) or rows[-1]["why_not"]
                print(f"{name} by {compiler}: {told}", file=sys.stderr, flush=True)
        environment = os.environ | {"FUSESCOPE_CACHE": str(folder / "cache")}
        listed = json.loads(run([str(FUSESCOPE), "cache", "list", "--json"], environment)[2])
        kinds = by_kind(listed, rows, times_kept(folder / "cache"))
    print(words(kinds, rows, left_out))
    if arguments.json:
        arguments.json.write_text(json.dumps({"kinds": kinds, "builds": rows, "left_out": left_out}, indent=1))
