"""Stands in for TensorRT for servers: as much of its Python interface as the probe uses, with the names, the log and the
inspector's JSON that it has in 10.16, or in 11 where FUSESCOPE_TEST_TENSORRT=11. It compiles the networks of networks.py.

FUSESCOPE_TEST_FAULT says what goes wrong: "memory", "killed", "half" (the inspector's JSON ends in the middle),
"card" (the engine is of another one), "slow" (a build that lasts), "stubborn" (types of layers change nothing),
"impossible" (the same, and its log says that no kernel obeys), "crowded" (the card has no memory left for what runs).
"""

import ctypes
import enum
import json
import os
import signal
import struct
import time

import networks

IS_11 = os.environ.get("FUSESCOPE_TEST_TENSORRT") == "11"
FAULT = os.environ.get("FUSESCOPE_TEST_FAULT", "")
__version__ = "11.1.0" if IS_11 else "10.16.1"
STARTED = 1000  # a tactic's number

Severity = enum.IntEnum("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE", start=0)
DataType = enum.Enum("DataType", "FLOAT HALF BF16 FP8 INT64 INT32 INT8 UINT8 BOOL")
OLD_FLAGS = "FP16 BF16 INT8 OBEY_PRECISION_CONSTRAINTS PREFER_PRECISION_CONSTRAINTS "
BuilderFlag = enum.Enum("BuilderFlag", ("" if IS_11 else OLD_FLAGS) + "TF32")
NetworkDefinitionCreationFlag = enum.IntEnum("NetworkDefinitionCreationFlag", {"STRONGLY_TYPED": 0 if IS_11 else 1})
ProfilingVerbosity = enum.Enum("ProfilingVerbosity", "LAYER_NAMES_ONLY DETAILED NONE")
MemoryPoolType = enum.Enum("MemoryPoolType", "WORKSPACE")
LayerInformationFormat = enum.Enum("LayerInformationFormat", "ONELINE JSON")
TensorIOMode = enum.Enum("TensorIOMode", "INPUT OUTPUT")
TensorLocation = enum.Enum("TensorLocation", "DEVICE HOST")
KINDS = {"f32": DataType.FLOAT, "f16": DataType.HALF, "bf16": DataType.BF16}
WORDS = {DataType.FLOAT: "Float", DataType.HALF: "Half", DataType.BF16: "BFloat16"}


class ILogger:
    INTERNAL_ERROR, ERROR, WARNING, INFO, VERBOSE = Severity


class IProgressMonitor:
    pass


class IProfiler:
    pass


class Tensor:
    is_shape_tensor = False

    def __init__(self, dtype):
        self.dtype = dtype


class ILayer:
    num_outputs = 1

    def __init__(self, name, node, kind):
        self.name, self.metadata = name, f"[ONNX Layer: {node}]"
        self.output, self.kind = Tensor(kind), kind
        if not IS_11:
            self._precision = None

    def get_output(self, index):
        return self.output

    if not IS_11:

        @property
        def precision(self):
            return self._precision

        @precision.setter
        def precision(self, kind):
            self._precision = kind

        def set_output_type(self, index, kind):
            self.output = Tensor(kind)


class Network:
    def __init__(self, flags):
        self.is_strong = IS_11 or bool(flags & 1 << int(NetworkDefinitionCreationFlag.STRONGLY_TYPED))
        self.graph, self.layers = None, []

    @property
    def num_layers(self):
        return len(self.layers)

    def get_layer(self, index):
        return self.layers[index]


class OnnxParser:
    """A sum is two layers: the second has the name of the node and a number."""

    def __init__(self, network, logger):
        self.network, self.logger, self.refused = network, logger, []

    num_subgraphs = 0

    def parse_from_file(self, path):
        self._read(path)
        kinds = self.network.graph.kinds()
        for node in self.network.graph.nodes:
            kind = KINDS[kinds[node["outputs"][0]]]
            names = [node["name"], node["name"] + "_1"] if node["op"] == "Add" else [node["name"]]
            for name in names:
                self.network.layers.append(ILayer(name, node["name"], kind))
                self.logger.log(Severity.VERBOSE, f"Registering layer: {name} for ONNX node: {node['name']}")
        return not self.refused

    def supports_model_v2(self, data, path):
        self._read(path)
        return not self.refused

    def _read(self, path):
        self.network.graph = graph = networks.Graph(path)
        self.refused = [node for node in graph.nodes if not graph.takes(node)]

    @property
    def num_errors(self):
        return len(self.refused)

    def get_error(self, index):
        node = self.refused[index]
        return Refused(node["name"], node["op"])


class Refused:
    def __init__(self, name, op):
        self._name, self._op = name, op

    def code(self):
        return enum.Enum("ErrorCode", "UNSUPPORTED_NODE").UNSUPPORTED_NODE

    def node(self):
        return 0

    def node_name(self):
        return self._name

    def node_operator(self):
        return self._op

    def desc(self):
        return f"Plugin not found for {self._op}"

    def local_function_stack(self):
        return []


class TimingCache:
    def __init__(self, data):
        self.data = data

    def serialize(self):
        return self.data + b"one build more\n"


class Config:
    def __init__(self):
        self.flags, self.limits, self.cache = set(), {}, None
        self.profiling_verbosity = ProfilingVerbosity.LAYER_NAMES_ONLY
        self.progress_monitor = None

    def set_flag(self, flag):
        self.flags.add(flag.name)

    def set_memory_pool_limit(self, pool, size):
        self.limits[pool] = size

    def add_optimization_profile(self, profile):
        pass

    def create_timing_cache(self, data):
        return None if data and not data.startswith(b"one") else TimingCache(data)

    def set_timing_cache(self, cache, ignore_mismatch):
        self.cache = cache
        return True

    def get_timing_cache(self):
        return self.cache


class Builder:
    def __init__(self, logger):
        self._logger = logger

    def create_network(self, flags):
        return Network(flags)

    def create_builder_config(self):
        return Config()

    def create_optimization_profile(self):
        return type("Profile", (), {"set_shape": lambda self, name, least, usual, most: None})()

    def build_serialized_network(self, network, config):
        log, monitor = self._logger.log, config.progress_monitor
        if FAULT == "memory":
            log(Severity.ERROR, "[defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (out of memory)")
            log(Severity.ERROR, "IBuilder::buildSerializedNetwork: Error Code 2: OutOfMemory (Requested size was 8589934592 bytes.)")
            return None
        if FAULT == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        kernels = network.graph.kernels()
        monitor.phase_start("Building Engine", None, len(kernels))
        for index, nodes in enumerate(kernels):
            if FAULT == "slow":
                time.sleep(60)
            name = " + ".join(node["name"] for node in nodes)
            log(Severity.VERBOSE, f"--------------- Timing Runner: {name} (PointWiseV2[0x80000028])")
            log(Severity.VERBOSE, f"Tactic: 0x{STARTED + index:016x} Time: 0.00{index + 2}")
            log(Severity.VERBOSE, f">>>>>>>>>>>>>>> Chose Runner Type: PointWiseV2 Tactic: 0x{STARTED + index:016x}")
            monitor.step_complete("Building Engine", index)
            if FAULT == "impossible":
                layers = " + ".join(f"{node['name']}[{node['op']}]" for node in nodes)
                log(Severity.WARNING, f"No implementation of layer {layers} obeys the requested constraints in strict mode.")
        monitor.phase_finish("Building Engine")
        log(Severity.WARNING, "Detected layernorm nodes in FP16.") if "FP16" in config.flags else None
        log(Severity.INFO, "Total Activation Memory: 512 bytes")
        log(Severity.INFO, "Total Weights Memory: 64 bytes")
        log(Severity.INFO, "Max Scratch Memory: 0 bytes")
        plan = json.dumps({"path": str(network.path) if hasattr(network, "path") else "", "flags": sorted(config.flags),
                           "is_detailed": config.profiling_verbosity == ProfilingVerbosity.DETAILED,
                           "layers": layers_of(network, config, kernels), "graph": vars(network.graph)})
        return Plan(plan.encode())


class Plan(bytes):
    @property
    def nbytes(self):
        return len(self)


def layers_of(network, config, kernels):
    """As the inspector tells of them. Weakly typed, what is not set is in f16 where that is allowed."""
    free = DataType.HALF if "FP16" in config.flags and not network.is_strong else None
    layers = []
    for nodes in kernels:
        own = [layer for layer in network.layers if layer.metadata in [f"[ONNX Layer: {node['name']}]" for node in nodes]]
        set_types = [layer.precision for layer in own if not IS_11 and layer.precision is not None]
        obeys = FAULT not in ("stubborn", "impossible")
        kind = set_types[0] if set_types and obeys and not network.is_strong else free or own[-1].kind
        inputs = [name for node in nodes for name in node["inputs"] if name not in network.graph.weights]
        inputs = [name for name in inputs if name not in [node["outputs"][0] for node in nodes]]
        tensor = lambda name: {"Name": name, "Location": "Device", "Dimensions": network.graph.dims, **told_type(kind)}
        layers.append({"Name": " + ".join(node["name"] for node in nodes), "LayerType": "PointWiseV2",
                       "Inputs": [tensor(name) for name in inputs], "Outputs": [tensor(nodes[-1]["outputs"][0])],
                       "ParameterType": "PointWise", "TacticName": "generated", "StreamId": 0,
                       "Metadata": "\x1e".join(f"[ONNX Layer: {node['name']}]" for node in nodes)})
    return layers


def told_type(kind):
    if IS_11:
        return {"Datatype": WORDS[kind], "Format": "Row major linear format"}
    return {"Format/Datatype": f"Row major linear {'FP32' if kind == DataType.FLOAT else 'FP16'}"}


class Runtime:
    def __init__(self, logger):
        self._logger = logger

    def deserialize_cuda_engine(self, plan):
        if FAULT == "card":
            self._logger.log(Severity.ERROR, "IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (The engine plan file is "
                             "generated on an incompatible device, expecting compute 8.9 got compute 8.6, please rebuild.)")
            return None
        return Engine(json.loads(plan), self._logger)


class Engine:
    def __init__(self, plan, logger):
        self.plan, self.logger = plan, logger
        self.graph = networks.Graph.__new__(networks.Graph)
        vars(self.graph).update(plan["graph"])
        self.tensors = {name: (kind, TensorIOMode.INPUT) for name, kind in self.graph.inputs}
        self.tensors.update({name: (kind, TensorIOMode.OUTPUT) for name, kind in self.graph.outputs})

    @property
    def num_io_tensors(self):
        return len(self.tensors)

    def get_tensor_name(self, index):
        return list(self.tensors)[index]

    def get_tensor_mode(self, name):
        return self.tensors[name][1]

    def get_tensor_dtype(self, name):
        return KINDS[self.tensors[name][0]]

    def get_tensor_location(self, name):
        return TensorLocation.DEVICE

    def create_execution_context(self):
        if FAULT == "crowded":
            self.logger.log(Severity.ERROR, "[resizingAllocator.cpp::allocate::74] Error Code 1: Cuda Runtime (out of memory)")
            return None
        return Context(self)

    def create_engine_inspector(self):
        return Inspector(self.plan)


class Inspector:
    execution_context = None

    def __init__(self, plan):
        self._plan = plan

    def get_engine_information(self, how):
        if not self._plan["is_detailed"]:
            return json.dumps({"Layers": [layer["Name"] for layer in self._plan["layers"]], "Bindings": []})
        names = {"I/O Tensors": []} if IS_11 else {"Bindings": []}
        text = json.dumps({"Layers": self._plan["layers"], **names}, indent=1)
        return text[: len(text) // 2] if FAULT == "half" else text


class Context:
    profiler = None

    def __init__(self, engine):
        self._engine, self._dims, self._at = engine, {}, {}

    def set_input_shape(self, name, dims):
        self._dims[name] = tuple(dims)
        return True

    def get_tensor_shape(self, name):
        return next(iter(self._dims.values()))

    def set_tensor_address(self, name, address):
        self._at[name] = address

    def execute_async_v3(self, stream):
        graph = self._engine.graph
        count = 1
        for extent in self.get_tensor_shape(""):
            count *= extent
        inputs = {name: list(struct.unpack(f"<{count}f", ctypes.string_at(self._at[name], 4 * count))) for name, _ in graph.inputs}
        for name, numbers in graph.run(inputs).items():
            ctypes.memmove(self._at[name], struct.pack(f"<{count}f", *numbers), 4 * count)
        if self.profiler is not None:
            for index, layer in enumerate(self._engine.plan["layers"]):
                self.profiler.report_layer_time(layer["Name"], 0.25 * (index + 1))
        return True
