"""The questions that all engines are asked: a network at certain extents of its inputs, with the same numbers in
them."""
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

import trained
from .shortened import shortened

# These types are given by the file: no engine is asked for them.
IN_FILE = ("int8", "weight8")
BIG = ("resnet50", "mobilenet_v2", "densenet121", "vit_b_16", "bert_base", "gpt2_base", "swin_v2_t",
       "efficientnet_v2_s")  # the zoo has no weights for them: scripts/lib/zoo.sh fills them
TRAINED = ("ch_PP-OCRv4_det_infer", "ch_PP-OCRv4_rec_infer", "silero_vad")
DEFAULT = ("resnet50", "mobilenet_v2", "densenet121", "squeezenet1_1", "unet_small", "vit_b_16", "bert_base",
           "gpt2_base", "llama_tiny", "tiny_resnet_dynbatch", "rnn_lstm_gru", "swin_v2_t", "efficientnet_v2_s",
           "diffusion_block", "decoder_kv", *TRAINED)
BATCHES = {"tiny_resnet_dynbatch": (1, 8)}
DECODER_STEPS, DECODER_FEEDS = 512, {"stack": "pk", "stack_1": "pv"}


@dataclass
class Question:
    name: str
    model: Path
    inputs: dict  # arrays by name, which are the same for every engine
    threads: int = 1
    precision: str = "f32"
    floats: Path = None  # for a quantised network, the network from which it was made
    open: bool = False  # engines are not told the extents in advance
    ranges: dict = field(default_factory=dict)  # if extents are open: (least, usual, most) extents by input
    steps: int = 0  # number of successive calls; 0 if each call is independent
    feeds: dict = field(default_factory=dict)  # for a question with steps: inputs by output

    @property
    def key(self):
        return [self.name, self.precision, self.threads]

    def extent_options(self):
        """Returns the options about extents for Fusescope's build."""
        if not self.open:
            return spec("--input", {name: array.shape for name, array in self.inputs.items()})
        parts = (("--min", 0), ("--opt", 1), ("--max", 2))
        return [part for flag, i in parts for part in spec(flag, {n: dims[i] for n, dims in self.ranges.items()})]

    def symbols(self):
        """Returns the extents of this question by the file's names; none if engines must not know them."""
        if self.open:
            return {}
        named = {}
        for value in network_inputs(onnx.load(str(self.model), load_external_data=False).graph):
            for dim, extent in zip(value.type.tensor_type.shape.dim, self.inputs[value.name].shape):
                if dim.dim_param:
                    named[dim.dim_param] = extent
        return named


def spec(flag, extents):
    """Returns the options for inputs that have axes."""
    return [part for name, dims in extents.items() if len(dims) for part in (flag, f"{name}={','.join(map(str, dims))}")]


def network_inputs(graph):
    weights = {weight.name for weight in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def made_inputs(model_path, batch=None):
    """Makes standard normal floats. Whole numbers are tokens below the vocabulary if they select rows of a table,
    otherwise 1. Extents that the file leaves open are 1, or, for the first one, `batch`."""
    graph = onnx.load(str(model_path), load_external_data=False).graph
    inputs = {}
    for value in network_inputs(graph):
        dims = [d.dim_value if d.HasField("dim_value") else batch or 1 for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        random = np.random.RandomState(0)
        if np.issubdtype(dtype, np.floating):
            inputs[value.name] = random.standard_normal(dims).astype(dtype)
        else:
            inputs[value.name] = random.randint(0, vocabulary(graph, value.name) or 2, dims).astype(dtype)
            if vocabulary(graph, value.name) is None:
                inputs[value.name] = np.ones(dims, dtype)
    return inputs


def vocabulary(graph, name):
    """Returns the number of rows of the table from which an input selects; None if it selects from none."""
    rows = {weight.name: weight.dims[0] for weight in graph.initializer if len(weight.dims) == 2}
    return next((rows[node.input[0]] for node in graph.node
                 if node.op_type == "Gather" and node.input[1] == name and node.input[0] in rows), None)


class Networks:
    """Finds networks by name. `filled` is the folder of those that zoo.sh fills; `zoo` is the shared one."""

    def __init__(self, filled, zoo, trained_folder):
        self.filled, self.zoo, self.trained_folder = filled, zoo, trained_folder

    def questions(self, name, open_extents):
        """Yields the questions about one network or one file; NAME@N means sequences of N. Raises FileNotFoundError
        if there is none."""
        for network in trained.NETWORKS:
            if network.name == name:
                return self._trained(network, open_extents)
        name, _, length = name.partition("@")
        path = Path(name) if name.endswith(".onnx") else self._path(name)
        if not path.is_file():
            raise FileNotFoundError(f"there is no network {name}: {path} is missing")
        if length:
            path = shortened(path, int(length), self.filled / "shortened")
            return [Question(f"{name}@{length}", path, made_inputs(path))]
        if name == "decoder_kv":
            return [decoder(path)]
        batches = BATCHES.get(name, (None,))
        shown = path.stem if name.endswith(".onnx") else name
        return [Question(shown if batch is None else f"{shown} batch {batch}", path, made_inputs(path, batch))
                for batch in batches]

    def _path(self, name):
        whole = self.zoo / name / "model.onnx"
        return whole if whole.is_file() else self.filled / f"{name}.onnx"

    def _trained(self, network, open_extents):
        path = network.file(self.trained_folder)
        if not path.is_file():
            raise FileNotFoundError(f"{network.package} {network.version} is not in {self.trained_folder}")
        usual = network.extents[0]
        ranges = {name: [bound(min, network, name), usual[name], bound(max, network, name)] for name in usual}
        chosen = network.extents if open_extents else [usual]
        return [Question(f"{network.name} {shown(extents)}", path, trained.inputs_of(network, extents),
                         open=open_extents and len(network.extents) > 1, ranges=ranges) for extents in chosen]


def bound(pick, network, name):
    return [pick(sizes) for sizes in zip(*(extents[name] for extents in network.extents))]


def shown(extents):
    return "x".join(map(str, next(iter(extents.values()))))


def decoder(path):
    """Returns the question of a decoder: tokens one after another, with caches that grow. The first call sees a
    cache of one."""
    inputs = made_inputs(path)
    ranges = {}
    for name, array in inputs.items():
        dims = list(array.shape)
        grown = [extent + DECODER_STEPS if name in DECODER_FEEDS.values() and axis == 3 else extent
                 for axis, extent in enumerate(dims)]
        middle = [(a + b) // 2 for a, b in zip(dims, grown)]
        ranges[name] = [dims, middle, grown]
    return Question(f"decoder_kv {DECODER_STEPS} tokens", path, inputs, open=True, ranges=ranges,
                    steps=DECODER_STEPS, feeds=DECODER_FEEDS)
