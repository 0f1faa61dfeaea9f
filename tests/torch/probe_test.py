"""The probe's part for torch, as far as it needs no torch: what it refuses, and what it keeps of a profile."""

import os
import sys
import tempfile
import types
import unittest

from probe import base, torch_export, torch_profile
from probe import torch_program as programs
from probe.compilers import torch as part

EXTENTS = {"name": "v0", "called": "x", "type": "f32", "dims": [None, 4]}


class Value:
    def __init__(self, dtype, *shape):
        self.dtype, self.shape = dtype, shape


def stand_in(version="2.11.0", **cuda):
    module = types.ModuleType("torch")
    module.__version__ = version
    module.version = types.SimpleNamespace(cuda=cuda.pop("built", None))
    module.cuda = types.SimpleNamespace(is_available=lambda: False, device_count=lambda: 0, **cuda)
    return module


class Opening(unittest.TestCase):
    def setUp(self):
        self.addCleanup(sys.modules.pop, "torch", None)
        self.addCleanup(sys.modules.pop, "numpy", None)
        sys.modules["numpy"] = types.ModuleType("numpy")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)

    def opened(self, torch):
        sys.modules["torch"] = torch
        return part.Compiler().open({}, {}, os.path.join(self.folder.name, "out"), lambda *_: None)

    def test_an_older_torch_is_refused(self):
        with self.assertRaises(base.Refusal) as refused:
            self.opened(stand_in("2.10.1+cpu"))
        self.assertEqual(refused.exception.kind, "asked")
        self.assertIn("torch 2.10.1+cpu", refused.exception.message)

    def test_a_torch_without_cuda_says_so(self):
        told = self.opened(stand_in("2.14.1+cpu"))
        self.assertEqual(told["version"], "2.14.1+cpu")
        self.assertEqual(told["devices"], [{"name": "cpu"}])
        self.assertEqual(told["about"]["why_no_device"], "This torch was built without CUDA.")

    def test_cards_stand_before_the_cpu(self):
        facts = types.SimpleNamespace(name="a card", major=9, minor=0, total_memory=80)
        torch = stand_in(built="13.0", get_device_properties=lambda _: facts)
        torch.cuda.device_count = lambda: 1
        told = self.opened(torch)
        self.assertEqual(told["devices"], [{"name": "a card", "sm": "90", "memory": 80}, {"name": "cpu"}])

    def test_a_driver_that_fails_is_a_sentence(self):
        def fail():
            raise RuntimeError("the driver is too old\nand more")

        torch = stand_in(built="13.0")
        torch.cuda.device_count = fail
        self.assertEqual(self.opened(torch)["about"]["why_no_device"],
                         "CUDA cannot be used here: RuntimeError: the driver is too old")

    def test_a_card_that_is_not_there_is_refused(self):
        compiler = part.Compiler()
        compiler._torch = stand_in()
        with self.assertRaises(base.Refusal) as refused:
            compiler._device_of("cuda")
        self.assertEqual(refused.exception.kind, "asked")
        self.assertEqual(compiler._device_of("auto"), "cpu")
        self.assertEqual(compiler._device_of("cpu"), "cpu")


class Binding(unittest.TestCase):
    def own(self, *names):
        return [(i, name, Value("torch.float32", 2, 4), None) for i, name in enumerate(names)]

    def test_tensors_are_matched_by_name_else_by_position(self):
        told = [{**EXTENTS, "called": "b"}, {**EXTENTS, "called": "a"}]
        self.assertEqual([own[1] for _, own in programs.matched(told, self.own("a", "b"), "input")], ["b", "a"])
        self.assertEqual([own[1] for _, own in programs.matched(told, self.own("p", "q"), "input")], ["p", "q"])

    def test_another_number_of_tensors_is_refused(self):
        with self.assertRaisesRegex(base.Refusal, "has 1 inputs, and the exported program has 2"):
            programs.matched([EXTENTS], self.own("a", "b"), "input")

    def test_other_types_and_extents_are_refused(self):
        for value in (Value("torch.float16", 2, 4), Value("torch.float32", 2, 5), Value("torch.float32", 4)):
            with self.assertRaisesRegex(base.Refusal, "it is not the program of this network"):
                programs.check_same(EXTENTS, "x", value, "input")

    def test_open_extents_are_any(self):
        programs.check_same(EXTENTS, "x", Value("torch.float32", "s77", 4), "input")
        programs.check_same({**EXTENTS, "dims": None}, "x", Value("torch.float32", 3), "input")


class Words(unittest.TestCase):
    def refusal_of(self, error):
        try:
            with part.Words("run the network"):
                raise error
        except base.Refusal as refusal:
            return refusal

    def test_what_torch_says_is_cut_to_its_first_lines(self):
        refusal = self.refusal_of(RuntimeError("\n".join(f"line {i}" for i in range(100))))
        self.assertEqual(refusal.kind, "asked")
        self.assertTrue(refusal.message.startswith("torch could not run the network. RuntimeError: line 0\nline 1"))
        self.assertEqual(len(refusal.message.splitlines()), 12)

    def test_a_missing_compiler_says_what_to_install(self):
        refusal = self.refusal_of(RuntimeError("InvalidCxxCompiler: No working C++ compiler found"))
        self.assertEqual(refusal.kind, "asked")
        self.assertIn("g++", refusal.help)


class Profiles(unittest.TestCase):
    def event(self, category, name, begin, duration, thread=1, **args):
        return {"ph": "X", "cat": category, "name": name, "ts": begin, "dur": duration, "tid": thread, "args": args}

    def test_what_operators_call_themselves_is_left_out(self):
        trace = {"traceEvents": [
            self.event("cpu_op", "aten::copy_", 12, 3),
            self.event("user_annotation", "fusescope.run", 0, 100),
            self.event("cpu_op", "aten::addmm", 10, 20),
            self.event("cuda_runtime", "cudaLaunchKernel", 14, 2, correlation=7),
            self.event("kernel", "sgemm", 50, 5, thread="stream 7", correlation=7),
            self.event("python_function", "forward", 1, 90),
            {"ph": "M", "name": "process_name"},
        ]}
        told = torch_profile.compact(trace)
        rows = [(told["names"][row[1]], row[5]) for row in told["events"]]
        self.assertEqual(rows, [("fusescope.run", 0), ("aten::addmm", 0), ("cudaLaunchKernel", 7), ("sgemm", 7)])

    def test_kernels_are_in_the_order_of_their_calls(self):
        self.assertEqual(torch_profile.in_order({"b:10": [], "a:9": [], "c": []}), ["c", "a:9", "b:10"])

    def test_settings_that_a_torch_has_not_are_left_out(self):
        config = types.SimpleNamespace(get_config_copy=lambda: {"trace.enabled": False, "trace.debug_dir": None,
                                                                "trace.provenance_tracking": False})
        self.assertEqual(torch_profile.told_of_kernels(config, "f"),
                         {"trace.enabled": True, "trace.debug_dir": "f", "trace.provenance_tracking": True})

    def test_nothing_is_told_where_nothing_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(torch_profile.provenance(os.path.join(folder, "none")), [])


class Exporting(unittest.TestCase):
    """By a stand-in of torch whose exporter makes the network that a test says, or fails."""

    def setUp(self):
        for name in ("onnx", "onnxscript"):
            self.addCleanup(sys.modules.pop, name, None)
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__version__ = "1.0"

    @staticmethod
    def torch(export):
        return types.SimpleNamespace(__version__="2.14.1", fx=types.SimpleNamespace(GraphModule=Module),
                                     onnx=types.SimpleNamespace(export=export))

    def refusal_of(self, exported, export=None, names=None):
        with self.assertRaises(base.Refusal) as refused:
            torch_export.export(self.torch(export), exported, names or {}, [], "nowhere.onnx")
        return refused.exception

    def test_what_torch_exports_with_is_asked_for(self):
        del sys.modules["onnxscript"]
        sys.modules["onnxscript"] = None  # as if it were not installed
        refusal = self.refusal_of(Exported())
        self.assertEqual(refusal.kind, "no_package")
        self.assertIn("has no package onnxscript", refusal.message)
        self.assertIn("-m pip install onnxscript", refusal.help)

    def test_an_operator_without_an_onnx_form_is_named_with_its_line(self):
        exported = Exported(fx_node("qr", target="aten.linalg_qr.default", trace='  File "net.py", line 3, in forward\n    x'))

        def export(*_, **__):
            try:
                try:
                    raise ValueError("No ONNX function found\nand more\nand more\nand more")
                except ValueError as cause:
                    raise RuntimeError("Error when translating node %qr : [num_users=1]") from cause
            except RuntimeError as cause:
                raise RuntimeError("Failed to convert") from cause

        refusal = self.refusal_of(exported, export)
        self.assertEqual(refusal.kind, "asked")
        self.assertIn('node qr, aten.linalg_qr.default, written in File "net.py", line 3, in forward. '
                      "ValueError: No ONNX function found", refusal.message)
        self.assertIn("newer torch", refusal.help)

    def test_names_of_extents_that_are_none_are_refused(self):
        exported = Exported(ranges={"s77": (1, 8), "4*s17": (4, float("inf"))})
        self.assertIn("Its open extents are s17, s77.", self.refusal_of(exported, names={"s1": "batch"}).help)
        self.assertIn("cannot both be called", self.refusal_of(exported, names={"s77": "b", "s17": "b"}).message)
        self.assertIn("cannot both be called", self.refusal_of(exported, names={"s77": "s17"}).message)
        self.assertEqual(torch_export.symbols_of(exported, {"s17": "tail"}), [
            {"symbol": "s77", "name": "s77", "min": 1, "max": 8},
            {"symbol": "4*s17", "name": "4*tail", "min": 4, "max": None}])

    def test_outputs_are_called_as_the_file_says(self):
        values = {name: types.SimpleNamespace(name=name) for name in ("x", "w", "add_3", "_to_copy_9")}

        class Network(list):  # its nodes
            inputs, initializers, outputs = [values["x"]], {"w": values["w"]}, [values["_to_copy_9"]]

        network = Network([types.SimpleNamespace(outputs=[values["add_3"]]),
                           types.SimpleNamespace(outputs=[values["_to_copy_9"]])])

        def called(names):
            torch_export.name_outputs(network, names)
            return [values[name].name for name in ("x", "w", "add_3", "_to_copy_9")]

        self.assertEqual(called([]), ["x", "w", "add_3", "_to_copy_9"], "nothing is told")
        self.assertEqual(called(["x"]), ["x", "w", "add_3", "_to_copy_9"], "an input keeps its name")
        self.assertEqual(called(["a", "b"]), ["x", "w", "add_3", "_to_copy_9"], "there is one output")
        self.assertEqual(called(["add_3"]), ["x", "w", "add_3_inside_2", "add_3"], "what has the name gets another")
        self.assertEqual(called(["w"]), ["x", "w_inside_2", "add_3_inside_2", "w"], "a constant, too")
        self.assertEqual(list(network.initializers), ["w_inside_2"])

    def test_nodes_are_tied_by_what_came_along_through_torchs_passes(self):
        exported = Exported(fx_node("linear"), branch=[fx_node("add")])
        torch_export.tag(self.torch(None), exported)
        tags = [node.meta["custom"][torch_export.TAG] for node in exported.graph.nodes]
        self.assertEqual(tags, ["linear"])
        decomposed = Exported(fx_node("addmm", custom={torch_export.TAG: "linear"}), fx_node("lost"),
                              branch=[fx_node("add", custom={torch_export.TAG: "branch/add"})])
        body = types.SimpleNamespace(type=types.SimpleNamespace(name="GRAPH"), value=Nodes("branch", onnx_node("Add", "add")))
        held = onnx_node("If", "lost", body=body)
        graph = Nodes("main_graph", onnx_node("Gemm", "addmm", modules="['', 'encoder', 'addmm']", trace="File x\n"), held)
        made = types.SimpleNamespace(model=types.SimpleNamespace(graph=graph), exported_program=decomposed)
        self.assertEqual(torch_export.tied(self.torch(None), made), [
            {"node": "Gemm", "from": "linear", "module": "encoder", "trace": "File x"},
            {"node": "If", "from": "", "module": "", "trace": ""},
            {"node": "If/Add", "from": "branch/add", "module": "", "trace": ""}])
        self.assertNotIn(torch_export.TAG, held.metadata_props)


class Module:
    def __init__(self, nodes, **children):
        self.graph, self._children = types.SimpleNamespace(nodes=nodes), children

    def named_modules(self):
        yield "", self
        yield from self._children.items()


class Exported:
    def __init__(self, *nodes, branch=(), ranges=None):
        self.graph_module = Module(nodes, branch=Module(branch))
        self.graph = self.graph_module.graph
        self.range_constraints = {
            symbol: types.SimpleNamespace(lower=least, upper=most) for symbol, (least, most) in (ranges or {}).items()
        }


class Nodes(list):
    def __init__(self, name, *nodes):
        super().__init__(nodes)
        self.name = name


def fx_node(name, target="", trace="", custom=None):
    return types.SimpleNamespace(name=name, target=target, meta={"stack_trace": trace, "custom": custom})


def onnx_node(name, fx, modules="", trace="", **attributes):
    notes = {torch_export.FX_NODE: f"%{fx} : [num_users=1]", torch_export.SCOPES: modules, torch_export.TRACE: trace}
    return types.SimpleNamespace(name=name, metadata_props=notes, attributes=attributes)


if __name__ == "__main__":
    unittest.main()
