"""A session of pins on one network, in one process: what each build compiled, measured and took over.

Each build has one pin to bf16 more than the one before, as if a person set them one after another. `rebuilds.py` prints
it as a table; the command is `fusescope build NETWORK --then one.json --then two.json …` with an empty cache folder.
"""
import json

COLUMNS = ("build", "pin", "regions", "compiled", "measured", "taken over", "made in", "of the first", "written in")


def directives(nodes, dtype="bf16"):
    """Returns the file of directives that pins these nodes."""
    pins = [{"id": str(i + 1), "kind": "pin", "pattern": node, "type": dtype} for i, node in enumerate(nodes)]
    return {"format": "fusescope.directives", "version": 3, "directives": pins}


def spread(nodes, count):
    """Returns `count` of the nodes, distributed over the whole network, so that successive ones are far apart."""
    step = max(1, len(nodes) // count)
    return nodes[::step][:count]


def write_directives(nodes, folder):
    """Writes one file for each number of pins, and returns their paths."""
    files = []
    for count in range(1, len(nodes) + 1):
        files.append(folder / f"pins-{count}.json")
        files[-1].write_text(json.dumps(directives(nodes[:count])))
    return files


def seconds_of(build):
    """Returns (seconds of making the engine, seconds of writing its file)."""
    written = sum(phase["ms"] for phase in build["phases"] if phase["name"] == "write") / 1000
    return build["seconds"] - written, written


def rows(document, nodes):
    """Returns a row of COLUMNS for each build of the `fusescope.builds` document."""
    first, told = seconds_of(document["builds"][0])[0], []
    for number, build in enumerate(document["builds"]):
        made, written = seconds_of(build)
        counts = (str(build[key]) for key in ("regions", "compiled", "measured", "taken_over"))
        told.append((str(number), nodes[number - 1] if number else "none", *counts,
                     f"{made:.3f} s", f"{made / first:.3f}", f"{written:.3f} s"))
    return told


def table(document, nodes):
    """Returns the same as Markdown."""
    lines = [COLUMNS, tuple("---" if column == "pin" else "---:" for column in COLUMNS), *rows(document, nodes)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
