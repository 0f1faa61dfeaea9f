#!/usr/bin/env python3
"""Prints a table of `fusescope tune` and known searches: pinned nodes and price, at a half and a quarter of the error
without pins (or, if that is not finite, at 0.05 and 0.01 of rms).

Usage: tune_table.py FUSESCOPE FOLDER [--budget SECONDS] [--precision T] [--options "…"] [--share]
                     [NAME=MODEL.onnx[,INPUTS]…]
The reports are written to FOLDER; those that exist are not made again. --options is passed to `fusescope tune`
unchanged. --share: the next bound uses what the one before has evaluated, so that it takes fewer seconds. The table is
printed as Markdown."""
import argparse
import json
import math
import pathlib
import shlex
import subprocess
import sys

SEARCHES = ("prefix", "suffix", "greedy")


def tune(arguments, name, model, inputs, bound, more):
    """Returns the report of one search, as it was printed."""
    report = arguments.folder / f"{name}.{bound:g}.json"
    if not report.exists():
        command = [arguments.fusescope, "tune", model, "--precision", arguments.precision, "--max-error", str(bound),
                   "--baselines", "--json", "-o", str(report.with_suffix(".pins")),
                   *shlex.split(arguments.options), *more]
        if arguments.share:
            command += ["--resume", str(arguments.folder / f"{name}.state")]
        if inputs:
            command += ["--inputs", inputs, "--batch-axis", "0"]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode == 2:
            sys.exit(f"{name}: {' '.join(command)} failed")
        report.write_text(run.stdout)
    return json.loads(report.read_text())


def number(value):
    return float(value) if value is not None else math.nan


def cost(of):
    if of.get("ms") is not None:
        return f"{of['ms']:.3g} ms"
    return f"{of['casts']} casts, {of['bytes'] / 2**20:.3g} MiB" if "casts" in of else "–"


def found_by(baseline):
    """Returns the result of a known search. If something other than the search itself ended it, this is added in
    brackets."""
    text = f"{baseline['pins']} ({cost(baseline)})" if baseline["pins"] is not None else "nothing"
    return text if baseline["end"] == "finished" else f"{text} [{baseline['end']}]"


def row(name, bound, report):
    chosen = report["chosen"]
    cells = [name, f"{number(report['unpinned']['error']):.3g}", f"{bound:.3g}",
             f"**{len(chosen['pins'])}** ({cost(chosen)})" + ("" if report["minimal"] else " *")]
    found = {baseline["name"]: baseline for baseline in report["baselines"]}
    cells += [found_by(found[search]) if search in found else "–" for search in SEARCHES]
    cells += [f"{report['pinnable']}", f"{report['evaluations']}", f"{report['seconds']:.0f}"]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fusescope")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--budget", default="300")
    parser.add_argument("--precision", default="f16")
    parser.add_argument("--options", default="")
    parser.add_argument("--share", action="store_true")
    parser.add_argument("networks", nargs="+")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print("| network | error without pins | allowed | tune | prefix | suffix | greedy | nodes | evaluations | s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for network in arguments.networks:
        name, paths = network.split("=", 1)
        model, _, inputs = paths.partition(",")
        unpinned = number(tune(arguments, name, model, inputs, 1e30, ["--evaluations", "2"])["unpinned"]["error"])
        bounds = [unpinned / 2, unpinned / 4] if math.isfinite(unpinned) else [0.05, 0.01]
        for bound in bounds:
            print(row(name, bound, tune(arguments, name, model, inputs, bound, ["--budget", arguments.budget])),
                  flush=True)
    print("\n\\* ended by the budget: not every pin was tried without")


if __name__ == "__main__":
    main()
