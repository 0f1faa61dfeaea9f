"""ONNX Runtime. The network that it optimised shows what it made of a network: its kernels are the nodes of that
network and have their names."""

import contextlib
import os
import re
import shutil
import time

from .. import base, cuda, tensors
from ..blobs import link_or_copy

DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml")

# Without the first variable, ONNX Runtime leaves a file in the folder of temporary files and reports its use to its
# makers.
# Without the second, numpy starts threads that wait for work in a loop, although nothing here multiplies with numpy.
AHEAD = (("onnxruntime",), {"ORT_DISABLE_TELEMETRY": "1", "OPENBLAS_NUM_THREADS": "1"})

LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
NETWORK = "optimised.onnx"
WEIGHTS = "optimised.data"
SMALL_BYTES = 256  # initializers of at least this many bytes are stored beside the optimised network
MOST_EVENTS = 100_000  # of a profile
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
ON_CARDS = (CUDA, "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider")
MOVED = "each run copies its inputs to the card and its outputs back"
TF32_FROM = 80  # the first compute capability that can multiply in TF32
INFO, ERROR = 1, 3  # severities of its log
BF16 = 16  # the number of this type in ONNX; numpy has no such type


class Compiler(base.Compiler):
    def __init__(self):
        self._session = None
        self._options = {}
        self._network = None
        self._nodes = 1  # the least number of runs
        self._kept = None  # a folder with the optimised network
        self._has_weights = False  # whether its weights are in this folder, too
        self._is_marked = False  # whether it has additional outputs

    def open(self, request, files, out_folder, progress):
        base.set_variables(AHEAD)
        self._folder = os.path.dirname(os.path.abspath(out_folder))
        self._ort = base.import_package("onnxruntime", DISTRIBUTIONS[0])
        self._numpy = base.import_package("numpy", "numpy")
        providers = list(self._ort.get_available_providers())
        cards = cuda.devices()[0] if CUDA in providers else []
        about = {"threads": os.cpu_count(), "cards": [card["name"] for card in cards]}
        return {"version": self._ort.__version__, "devices": providers, "about": about}

    def compile(self, request, files, out_folder, progress):
        """Compiles the network. `mark` names values that become additional outputs. `values` says that inner values
        will be requested later, so that the weights of the optimised network are stored; otherwise they are not
        written, which saves half of the time."""
        self._forget()
        options = request.get("options", {})
        self._kept = os.path.join(self._folder, "optimised-" + os.urandom(8).hex())
        os.mkdir(self._kept, 0o700)
        base.reset_peak()
        progress("session")
        marked = with_outputs(files["network.onnx"], request["mark"]) if request.get("mark") else None
        try:
            begin = time.perf_counter()
            self._has_weights = bool(request.get("values"))
            if not self._has_weights:
                os.symlink(os.devnull, os.path.join(self._kept, WEIGHTS))
            self._session = self._make_session(marked or files["network.onnx"], options, written=self._kept)
            ms = 1e3 * (time.perf_counter() - begin)
        finally:
            if marked is not None:
                os.remove(marked)
        self._options, self._network = options, files["network.onnx"]
        assigned = assignment(self._session)
        self._nodes = nodes_of(assigned)
        self._is_marked = bool(request.get("mark"))
        link_or_copy(os.path.join(self._kept, NETWORK), os.path.join(out_folder, NETWORK))
        return {
            "phases": [{"name": "session", "ms": ms}],
            "peak_bytes": base.peak_bytes(),
            "providers": self._session.get_providers(),
            "assignment": assigned,
            **card_of(self._session),
        }

    def save(self, request, files, out_folder, progress):
        """Writes the optimised network with its weights, from which load() makes a session without optimising."""
        self._compiled()
        if self._is_marked or self._options.get("provider", CPU) != CPU:
            raise base.Refusal("Only what runs on the processor, without additional outputs, is saved.", kind="asked")
        progress("save")
        written = self._kept
        if not self._has_weights:
            written = os.path.join(self._folder, "saved-" + os.urandom(8).hex())
            os.mkdir(written, 0o700)
            self._make_session(self._network, self._options, written=written)
        for name in (NETWORK, WEIGHTS):
            if os.path.exists(os.path.join(written, name)):  # a network may have no weights
                link_or_copy(os.path.join(written, name), os.path.join(out_folder, name))
        if written != self._kept:
            shutil.rmtree(written, ignore_errors=True)
        return {}

    def load(self, request, files, out_folder, progress):
        """Makes the session from what save() wrote."""
        self._forget()
        options = {**request.get("options", {}), "level": "none"}
        progress("load")
        self._session = self._make_session(files[NETWORK], options)
        self._options, self._network, self._is_marked = options, files[NETWORK], False
        self._nodes = nodes_of(assignment(self._session))
        return {}

    def run(self, request, files, out_folder, progress):
        handed = tensors.Handed(request, files, out_folder, self._numpy)
        session = self._compiled()
        inputs = self._values(handed.inputs(), session)
        progress("run")
        return handed.give(self._run(session, inputs))

    def time(self, request, files, out_folder, progress):
        session = self._compiled()
        inputs = self._read(files["inputs.npz"], session)
        names = [output.name for output in session.get_outputs()]
        run = lambda: session.run_with_ort_values(names, inputs)  # noqa: E731
        progress("warm up")
        base.times_of_runs(run, request.get("warmup_seconds", 0))
        progress("time")
        ms = base.times_of_runs(run, request.get("seconds", 1), least=3)
        return {"ms": ms, **({"remark": MOVED} if card_of(session) else {})}

    def profile(self, request, files, out_folder, progress):
        """Profiles in a separate session, because profiling cannot be switched on in an existing one."""
        self._compiled()
        progress("session")
        prefix = os.path.join(out_folder, "profile")
        session = self._make_session(self._network, self._options, profile=prefix)
        inputs = self._read(files["inputs.npz"], session)
        names = [output.name for output in session.get_outputs()]
        progress("profile")
        runs = min(int(request.get("runs", 10)), MOST_EVENTS // self._nodes)
        ms = base.times_of_runs(lambda: session.run_with_ort_values(names, inputs), 0, least=max(3, runs))
        os.replace(session.end_profiling(), os.path.join(out_folder, "profile.json"))
        return {"ms": ms[1:]}

    def values(self, request, files, out_folder, progress):
        """Returns inner values: of network.onnx as it is, or (`optimised`) of the network that compile() made from
        it. `outputs` names the values that are returned in addition to the network's own outputs."""
        path = files.get("network.onnx")
        if request.get("optimised"):
            if self._kept is None or not self._has_weights:
                raise base.Refusal("There is no optimised network with its weights.", kind="failed")
            path = os.path.join(self._kept, NETWORK)
        options = {**request.get("options", {}), "level": "none"}
        marked = with_outputs(path, request.get("outputs", []))
        try:
            progress("session")
            session = self._make_session(marked, options)
        finally:
            os.remove(marked)
        progress("values")
        values = self._run(session, self._read(files["inputs.npz"], session))
        self._numpy.savez(os.path.join(out_folder, "outputs.npz"), **values)
        return {}

    def optimisers(self, request, files, out_folder, progress):
        """Returns what its optimisers report while they work: which there are, and which of them changed something."""
        progress("session")
        with base.captured_output(os.path.join(out_folder, "log.txt")):
            self._make_session(files["network.onnx"], request.get("options", {}), severity=INFO)
        return {}

    def _forget(self):
        self._session = None
        if self._kept is not None:
            shutil.rmtree(self._kept, ignore_errors=True)
        self._kept = None

    def _compiled(self):
        if self._session is None:
            raise base.Refusal("No network was compiled that could run.", kind="failed")
        return self._session

    def _make_session(self, path, options, written=None, profile=None, severity=ERROR):
        ort = self._ort
        settings = ort.SessionOptions()
        settings.log_severity_level = severity
        settings.intra_op_num_threads = int(options.get("threads", 0))
        settings.inter_op_num_threads = 1
        settings.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[options.get("level", "all")])
        settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if written is not None:
            settings.optimized_model_filepath = os.path.join(written, NETWORK)
            prefix = "session.optimized_model_external_initializers_"
            settings.add_session_config_entry(prefix + "file_name", WEIGHTS)
            settings.add_session_config_entry(prefix + "min_size_in_bytes", str(SMALL_BYTES))
        if profile is not None:
            settings.enable_profiling = True
            settings.profile_file_prefix = profile
        providers = self._providers(options)
        log = os.path.join(self._folder, "providers.log") if len(providers) > 1 else None
        try:
            with base.captured_output(log) if log and severity != INFO else contextlib.nullcontext():
                session = ort.InferenceSession(
                    path, settings, providers=providers, disabled_optimizers=options.get("disable") or None
                )
        except Exception as error:  # its exceptions have no common base class
            if isinstance(error, MemoryError):
                raise
            raise base.Refusal(str(error).strip(), kind="refused") from None
        check_started(providers, session, log)
        return session

    def _providers(self, options):
        """Returns the requested provider with its options, followed by that of the CPU."""
        provider, has_tf32 = options.get("provider") or CPU, options.get("tf32") != "off"
        available = self._ort.get_available_providers()
        if provider not in available:
            raise base.Refusal(
                f"This onnxruntime has no {provider}.", kind="asked", help="It has " + ", ".join(available) + "."
            )
        if provider == CPU:
            return [CPU]
        return [(provider, {"use_tf32": str(int(has_tf32))} if provider == CUDA else {}), CPU]

    def _read(self, path, session):
        """Returns the inputs of the session, by name."""
        with self._numpy.load(path, allow_pickle=False) as arrays:
            return self._values(arrays, session)

    def _values(self, arrays, session):
        types = {each.name: each.type for each in session.get_inputs()}
        return {name: self._value(arrays[name], type) for name, type in types.items() if name in arrays}

    def _value(self, array, type):
        if type == "tensor(bfloat16)":
            return self._ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(self._numpy.uint16), BF16)
        return self._ort.OrtValue.ortvalue_from_numpy(array)

    def _run(self, session, inputs):
        """Runs the session and returns {name: array}."""
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, map(self._array, session.run_with_ort_values(names, inputs))))

    def _array(self, value):
        if value.data_type() == "tensor(bfloat16)":
            return value.numpy().view("V2")
        return value.numpy()


def check_started(providers, session, log):
    """Refuses if the requested provider could not be loaded, in which case ONNX Runtime uses the CPU without an
    error."""
    started = session.get_providers()
    if len(providers) == 1 or providers[0][0] in started:
        return
    reason = ""
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            reason = re.search(r"with error: ([^\n\x1b]+)", file.read())
    raise base.Refusal(
        f"ONNX Runtime did not start {providers[0][0]}" + (f": {reason[1].strip()}." if reason else "."),
        kind="asked",
        help="It needs an NVIDIA card, and the loader must find its libraries (CUDA's and cuDNN's, or TensorRT's). "
        f"Everything would run with {', '.join(started)} instead; if this is what you want, ask for it.",
    )


def card_of(session):
    """Returns the card on which the session runs, and where it may multiply values of f32 in TF32; {} on the CPU."""
    provider = session.get_providers()[0]
    cards = cuda.devices()[0] if provider in ON_CARDS else []
    if not cards:
        return {}
    card = cards[int(session.get_provider_options()[provider].get("device_id", 0))]
    is_allowed = session.get_provider_options()[provider].get("use_tf32", "0") == "1"
    has_tf32 = is_allowed and int(card["sm"]) >= TF32_FROM
    return {"card": card["name"], "tf32": ["products", "convolutions"] if has_tf32 else []}


def assignment(session):
    """Returns [{provider, nodes: [names]}], which says which provider runs which of the network's nodes; [] if it is
    not reported."""
    try:
        parts = session.get_provider_graph_assignment_info()
    except Exception:
        return []
    nodes = {}
    for part in parts:
        nodes.setdefault(part.ep_name, []).extend(node.name for node in part.get_nodes())
    return [{"provider": provider, "nodes": names} for provider, names in nodes.items()]


def nodes_of(assigned):
    """Returns the number of nodes of an assignment, at least 1."""
    return max(1, sum(len(part["nodes"]) for part in assigned))


def with_outputs(path, names):
    """Returns the path of a copy of the network, beside it, whose graph has these additional outputs. If messages of
    protobuf are written one after another, they are read as one message with all their outputs."""
    import tempfile

    added = b"".join(field(12, field(1, name.encode())) for name in names)
    handle, copy = tempfile.mkstemp(suffix=".onnx", dir=os.path.dirname(os.path.abspath(path)))
    with os.fdopen(handle, "wb") as target, open(path, "rb") as source:
        shutil.copyfileobj(source, target)
        if added:
            target.write(field(7, added))
    return copy


def field(number, payload):
    """Returns a field of protobuf that has a length: a text or a message."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)
