"""Writes networks as ONNX Runtime's optimisers and quantisers leave them, with inputs and the outputs to expect.

    generate.py FOLDER [--all] MODEL.onnx …

FOLDER/NETWORK.LEVEL.onnx      LEVEL: basic and extended (optimisation levels); transformers (its optimiser of
                               transformers, where the package sympy is there); dynamic and static (8 bits), and these
                               behind extended optimisation
FOLDER/NETWORK[.LEVEL].npz     inputs and outputs: of the plain network; of a quantised one, its own unoptimised
FOLDER/cases.json              model, values, tolerance (of max|d| over rms) and dimensions of inputs of each; written last

Without --all only networks of less than 16 MiB are taken. What is there already is not made again.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "lib"))
import trained  # noqa: E402

SMALL = 16 << 20
LARGEST = 2_000_000_000  # what protobuf writes
LEVELS = onnxruntime.GraphOptimizationLevel
QUANTISED = {"dynamic": ("bert_tiny", "bert_tiny_eager", "rnn_lstm_gru"),
             "static": ("squeezenet1_1", "tiny_resnet_dynbatch", "unet_small")}
TRANSFORMERS = {"bert_tiny": "bert", "bert_tiny_eager": "bert", "llama_tiny": "gpt2", "decoder_kv": "gpt2"}


def session(path, level, written=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1  # what is quantised is cut for threads
    options.log_severity_level = 3
    if written is not None:
        options.optimized_model_filepath = str(written)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def name_of(path):
    return path.parent.name if path.stem == "model" else path.stem


def known_as(path):
    return next((n for n in trained.NETWORKS if n.name == path.stem), None)


def inputs_for(known, plain):
    if known is not None:
        return trained.inputs_of(known, known.extents[0])
    random, made = np.random.RandomState(0), {}
    for value in plain.get_inputs():
        dims = [d if isinstance(d, int) else 2 for d in value.shape]
        kind = value.type[len("tensor("):-1]
        if kind in ("float", "double", "float16"):
            made[value.name] = random.standard_normal(dims).astype({"float": "f4", "double": "f8"}.get(kind, "f2"))
        else:
            made[value.name] = random.randint(0, 10 if kind.startswith("int") else 2, dims).astype(kind)
    return made


def write_values(path, model, inputs):
    plain = session(model, LEVELS.ORT_DISABLE_ALL)
    outputs = plain.run(None, inputs)
    named = {f"out:{value.name}": array for value, array in zip(plain.get_outputs(), outputs)}
    np.savez(path, **{f"in:{name}": array for name, array in inputs.items()}, **named)


class Reader:
    """Calibration data."""

    def __init__(self, inputs):
        self.rest = iter([inputs])

    def get_next(self):
        return next(self.rest, None)


def quantise(level, model, target, inputs):
    from onnxruntime.quantization import QuantFormat, quantize_dynamic, quantize_static

    if level == "dynamic":
        quantize_dynamic(str(model), str(target))
    else:
        quantize_static(str(model), str(target), Reader(inputs), quant_format=QuantFormat.QOperator, per_channel=True)


def optimise_transformer(kind, model, target):
    """False where what it needs is not installed."""
    try:
        from onnxruntime.transformers import optimizer

        optimizer.optimize_model(str(model), kind, num_heads=0, hidden_size=0, opt_level=0).save_model_to_file(str(target))
    except ImportError:
        return False
    return True


class Writer:
    def __init__(self, folder):
        self.folder = folder
        self.cases = []

    def add(self, model, values, tolerance, inputs):
        extents = {name: list(array.shape) for name, array in inputs.items()}
        self.cases.append({"model": model.name, "values": values.name, "tolerance": tolerance, "extents": extents})

    def optimised(self, network, source, values, tolerance, inputs, levels):
        for level in levels:
            target = self.folder / f"{network}.{level}.onnx"
            if not target.exists():
                session(source, getattr(LEVELS, f"ORT_ENABLE_{level.split('.')[-1].upper()}"), target)
            self.add(target, values, tolerance, inputs)

    def network(self, path):
        name, known = name_of(path), known_as(path)
        inputs = inputs_for(known, session(path, LEVELS.ORT_DISABLE_ALL))
        values = self.folder / f"{name}.npz"
        if not values.exists():
            write_values(values, path, inputs)
        tolerance = known.tolerance if known else trained.SAME
        self.optimised(name, path, values, tolerance, inputs, ("basic", "extended"))
        if name in TRANSFORMERS:
            target = self.folder / f"{name}.transformers.onnx"
            if target.exists() or optimise_transformer(TRANSFORMERS[name], path, target):
                self.add(target, values, tolerance, inputs)
        for level, networks in QUANTISED.items():
            if name not in networks:
                continue
            target, own = self.folder / f"{name}.{level}.onnx", self.folder / f"{name}.{level}.npz"
            if not own.exists():
                quantise(level, path, target, inputs)
                write_values(own, target, inputs)
            self.add(target, own, 5e-2, inputs)
            self.optimised(name, target, own, 5e-2, inputs, (f"{level}.extended",))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("models", type=Path, nargs="+")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(arguments.folder)
    for model in sorted(arguments.models, key=name_of):
        if model.stat().st_size >= (LARGEST if arguments.all else SMALL):
            continue
        try:
            writer.network(model)
        except Exception as error:  # ONNX Runtime's own classes have no common base but this
            print(f"{name_of(model)} is left out: {str(error).strip().splitlines()[0]}", file=sys.stderr)
    lines = ",\n".join(json.dumps(case) for case in writer.cases)
    (arguments.folder / "cases.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(writer.cases)} networks in {arguments.folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
