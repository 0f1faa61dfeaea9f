"""Fusescope, through its command line: `build` once, and `time` in a separate process in each round."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ..questions import IN_FILE
from .engine import CannotRun, Engine, Layer, Sample

BINARY = Path(__file__).resolve().parents[4] / "build" / "bin" / "fusescope"


class Fusescope(Engine):
    name = "fusescope"
    store = None  # the folder in which measured times are kept, instead of the user's

    def __init__(self, question):
        super().__init__(question)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        np.savez(self.path / "inputs.npz", **{f"in:{name}": array for name, array in question.inputs.items()})
        options = [] if question.precision in ("f32", *IN_FILE) else ["--precision", question.precision]
        self._run("build", question.model, "-o", self._engine, "--threads", question.threads, *options,
                  *question.extent_options())

    @staticmethod
    def version():
        return subprocess.run([str(BINARY), "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    @property
    def _engine(self):
        return self.path / "engine.fse"

    def outputs(self):
        self.run_report = json.loads(self._run("run", *self._common(), "--outputs", self.path / "outputs.npz"))
        arrays = np.load(self.path / "outputs.npz")
        return {name.removeprefix("out:"): arrays[name] for name in arrays}

    def sample(self, seconds, warmup):
        how_long = [] if self.question.steps else ["--seconds", seconds]  # the time of steps cannot be chosen
        report = self._time(*how_long, "--warmup", warmup)
        if report["median_ms"] is None:
            raise CannotRun(f"no time: {report['unavailable_reason']}")
        middle = report["mean_ms"] if self.question.steps else report["median_ms"]
        return Sample(middle, report["p95_ms"] / report["median_ms"], report["samples"])

    def memory(self):
        """Returns the memory of the process that outputs() ran, as `run --json` reports it."""
        return self.run_report.get("memory")

    def layers(self, seconds):
        report = self._time("--seconds", seconds, "--warmup", 0.3, "--per-layer")
        return [Layer(layer["origins"], layer["median_ms"], layer["tactic"]) for layer in report["layers"]
                if layer["median_ms"] is not None]

    def _time(self, *options):
        return json.loads(self._run("time", *self._common(), *options))

    def _common(self):
        feeds = [part for output, name in self.question.feeds.items() for part in ("--feed", f"{output}={name}")]
        steps = ["--steps", self.question.steps, *feeds] if self.question.steps else []
        return [self._engine, "--threads", self.question.threads, "--inputs", self.path / "inputs.npz", "--json",
                *steps]

    def _run(self, *command):
        done = subprocess.run([str(part) for part in (BINARY, *command)], capture_output=True, text=True,
                              env=os.environ | {"FUSESCOPE_CACHE": str(self.store or self.path)})
        if done.returncode != 0:
            raise CannotRun(done.stderr.strip().removeprefix("fusescope: "))
        return done.stdout
