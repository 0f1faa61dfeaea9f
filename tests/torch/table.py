"""table.py FUSESCOPE ZOO [--torch-tensorrt PYTHON] [NAME…]: the table of docs/pytorch.md, of the programs of the zoo and of modules/,
measured: what torch says of inputs, of numbers and (Torch-TensorRT) of engines is held against what our commands say.

Run by a Python that has torch. Exits with 1 where something is not as torch has it; what torch itself cannot do, it says.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "modules"))
import export  # noqa: E402

ZOO = ("bert_tiny", "unet_small", "llama_tiny", "diffusion_block", "tiny_resnet_dynbatch", "squeezenet1_1", "long_double",
       "moe_dense")
FLOATS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}
REFUSALS = ("no_converter", "validator", "open_extents", "complex", "asked")


class Fusescope:
    def __init__(self, program, folder):
        self._program = program
        self._environment = {**os.environ, "FUSESCOPE_CACHE": os.path.join(folder, "cache"),
                             "XDG_CONFIG_HOME": os.path.join(folder, "configuration")}

    def __call__(self, *arguments, python=sys.executable):
        """(status, document or None, what it says)"""
        done = subprocess.run([self._program, *arguments, "--json"], capture_output=True, text=True, check=False,
                              env={**self._environment, "FUSESCOPE_PYTHON": python})
        try:
            return done.returncode, json.loads(done.stdout), done.stderr
        except ValueError:
            return done.returncode, None, done.stderr


def inputs_differ(told, inspected):
    """What of the InputSpecs is not as torch has it; empty: nothing."""
    if len(told) != len(inspected["inputs"]):
        return [f"{len(inspected['inputs'])} inputs"]
    wrong = []
    for torchs, ours, spec in zip(told, inspected["inputs"], inspected["input_specs"], strict=True):
        dims = [extent if isinstance(extent, int) else extent[0] for extent in torchs["dims"]]
        if (torchs["name"], FLOATS.get(torchs["type"], torchs["type"]), dims) != (ours["name"], ours["type"], ours["dims"]):
            wrong.append(f"{ours['name']}: {ours['type']}{ours['dims']}")
        for axis, extent in enumerate(torchs["dims"]):
            if not isinstance(extent, int) and extent[2] is not None:  # where torch knows no bound, we assume one
                if [spec["min"][axis], spec["max"][axis]] != extent[1:]:
                    wrong.append(f"{ours['name']}[{axis}]: {spec['min'][axis]} to {spec['max'][axis]}")
    return wrong


def expected_arrays(path, made, outputs):
    """What torch gave, under the names that the network has for its outputs."""
    given = numpy.load(path + ".npz")
    named = {f"out:{ours}": given[f"out:{torchs}"] for torchs, ours in zip(outputs, made["outputs"], strict=True)}
    numpy.savez(path + ".expected.npz", **named)
    return path + ".expected.npz"


def qualified(operator):
    """As upstream's report calls it."""
    if operator == "getitem":
        return "_operator.getitem"
    return "torch.ops." + (operator if "." in operator else "higher_order." + operator)


def divided(plan):
    """Our plan in the form of upstream's report."""
    decisions = plan["decisions"]
    counts = next(each["arguments"] for each in decisions if each["code"] == "build.program_divided")
    unsupported = {}
    for each in decisions:
        if each["code"].removeprefix("build.torch_") in REFUSALS:
            name = qualified(each["arguments"]["operator"])
            unsupported[name] = unsupported.get(name, 0) + 1
    engines = [{"name": each["arguments"]["engine"], "operators": each["arguments"]["operators"]}
               for each in decisions if each["code"] == "build.engine_as_a_whole"]
    return {"total": counts["total"], "supported": counts["supported"], "engines": engines, "unsupported": unsupported,
            "in_torch": counts["in_torch"]}


def reports(python, paths):
    if python is None:
        return {}
    resources = os.path.join(HERE, "..", "..", "resources")
    done = subprocess.run([python, os.path.join(HERE, "upstream_report.py"), *paths], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": resources})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("{\"total\"", "{\"problem\"", "{}"))]
    if len(lines) != len(paths):
        sys.exit(f"upstream reports {len(lines)} of {len(paths)} programs\n{done.stderr[-3000:]}")
    return dict(zip(paths, lines, strict=True))


def engines_cell(fusescope, path, report, python):
    """("1 engine of 53/53", whether it is as upstream reports)"""
    status, plan, said = fusescope("plan", path, "--compiler", "torch-tensorrt", python=python)
    if "problem" in report:
        return "upstream fails: " + report["problem"].splitlines()[0][:60], status != 0
    if plan is None:
        return said.strip().splitlines()[0][:80], False
    ours = divided(plan)
    if not report:
        return f"0: 0 / {ours['total']}, upstream prints no report", not ours["engines"] and ours["supported"] == 0
    text = f"{len(ours['engines'])}: {ours['supported']} / {ours['total']}"
    return (text, True) if ours == report else (f"{ours}; upstream {report}", False)


class Table:
    def __init__(self, fusescope, python, upstream):
        self._fusescope, self._python, self._upstream = fusescope, python, upstream
        self.wrong, self.tied, self.nodes, self.ran, self.inputs = [], 0, 0, 0, 0

    def row(self, name, path, told, expect):
        cells = [name]
        status, inspected, said = self._fusescope("inspect", path)
        differ = inputs_differ(told, inspected) if status == 0 else [said]
        self.inputs += len(told) - min(len(differ), len(told))
        cells.append(f"{len(told)}" if not differ else "; ".join(differ))
        self._note(name, differ)
        status, made, said = self._fusescope("import", path)
        if made is None:
            cells += ["torch exports no ONNX of it" if "cannot export the program to ONNX" in said else said[:80], "-"]
            self._note(name, [] if "cannot export the program to ONNX" in said else [said])
        else:
            self.tied, self.nodes = self.tied + made["tied"], self.nodes + made["node_count"]
            cells.append(f"{made['tied']} / {made['node_count']}")
            status, run, said = self._fusescope("run", path, "--expect", expect(made))
            self.ran += status == 0
            errors = [each["max_over_rms"] for each in (run or {}).get("outputs", []) if each["max_over_rms"] is not None]
            cells.append(f"{max(errors, default=0):.1g}" if status == 0 else "no: " + said[:60])
            self._note(name, [] if status == 0 else ["other numbers"])
        if self._upstream:
            text, same = engines_cell(self._fusescope, path, self._upstream[path], self._python)
            cells.append(text)
            self._note(name, [] if same else ["engines"])
        print("| " + " | ".join(cells) + " |", flush=True)

    def _note(self, name, problems):
        self.wrong += [f"{name}: {problem}" for problem in problems]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fusescope")
    parser.add_argument("zoo")
    parser.add_argument("--torch-tensorrt")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "modules", "export.py"), folder], check=True,
                       stdout=subprocess.DEVNULL)
        modules = sorted(name.removesuffix(".pt2") for name in os.listdir(folder) if name.endswith(".pt2"))
        zoo = [name for name in ZOO if not asked.names or name in asked.names]
        modules = [name for name in modules if not asked.names or name in asked.names]
        paths = {name: os.path.join(asked.zoo, name, "model.pt2") for name in zoo}
        paths.update({name: os.path.join(folder, name + ".pt2") for name in modules})
        table = Table(Fusescope(asked.fusescope, folder), asked.torch_tensorrt,
                      reports(asked.torch_tensorrt, list(paths.values())))
        for name in zoo:
            told = export.types_of_inputs(torch.export.load(paths[name]))
            arrays = os.path.join(asked.zoo, name, "io.npz")
            table.row(name, paths[name], told, lambda _, arrays=arrays: arrays)
        for name in modules:
            path = os.path.join(folder, name)
            with open(path + ".json", encoding="utf-8") as file:
                told = json.load(file)
            table.row(name, paths[name], told["inputs"],
                      lambda made, path=path, told=told: expected_arrays(path, made, told["outputs"]))
        print(f"suite: {len(paths)} programs, {table.inputs} inputs as torch has them, {table.tied} of {table.nodes} nodes tied, "
              f"{table.ran} give what torch gives, {len(table.wrong)} problems")
    for each in table.wrong:
        print(each, file=sys.stderr)
    return 1 if table.wrong else 0


sys.exit(main())
