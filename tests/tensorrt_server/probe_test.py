"""The parts of the probe for TensorRT over its stand-in (fakes/tensorrt.py), and what trtexec prints. Run with resources/
and fakes/ as folders of modules, and a stand-in for the driver."""

import array
import math
import os
import stat
import struct
import tempfile
import unittest
from unittest import mock

import networks
import tensorrt as stand_in

from probe import base, npz
from probe.compilers import tensorrt, tensorrt_rtx, trtexec


def progress(phase, detail=""):
    pass


class Printed(unittest.TestCase):
    def test_bf16_that_was_printed_with_six_digits_is_the_same_again(self):
        for bits in (*range(0x3C00, 0x4300), *range(0xBC00, 0xC300), 0x0000, 0x8000, 0x7F7F, 0x7F80, 0xFF80):
            value = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
            read = trtexec.array_of([float(f"{value:g}")], [1], "bf16")
            self.assertEqual(struct.unpack("<H", read.data)[0], bits, f"{value!r}")
        nan = trtexec.array_of([math.nan], [1], "bf16").data
        self.assertTrue(math.isnan(struct.unpack("<f", b"\0\0" + nan)[0]))

    def test_numbers_that_are_none_have_a_sign(self):
        read = trtexec.read_json('[ 1, -nan, nan, inf, -inf, "-nan" ]', "outputs")
        self.assertTrue(math.isnan(read[1]) and math.isnan(read[2]))
        self.assertEqual(read[3:], [math.inf, -math.inf, "-nan"])

    def test_a_run_while_it_profiles_is_the_sum_of_the_means(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write('[ { "count" : 3 }, { "name" : "a", "averageMs" : 0.5 }, { "name" : "b", "averageMs" : 0.25 } ]')
            file.flush()
            self.assertEqual(trtexec.mean_in(file.name), 0.75)


class Asked(unittest.TestCase):
    def test_int64_is_int32_before_10(self):
        given = npz.Array("<i8", (3,), array.array("q", [5, -7, 1 << 30]).tobytes())
        self.assertEqual(list(array.array("i", trtexec.without_int64("ids", given))), [5, -7, 1 << 30])
        with self.assertRaises(base.Refusal) as refused:
            trtexec.without_int64("ids", npz.Array("<i8", (1,), array.array("q", [1 << 31]).tobytes()))
        self.assertIn("int32", refused.exception.message)
        floats = npz.Array("<f4", (1,), b"1234")
        self.assertEqual(trtexec.without_int64("x", floats), b"1234")

    def test_strong_types_are_refused_where_there_are_none(self):
        with self.assertRaises(base.Refusal) as refused:
            trtexec.typing_arguments({"typing": "strong"}, {"--fp16"}, (8, 6, 1))
        self.assertEqual(refused.exception.kind, "asked")
        self.assertEqual(trtexec.typing_arguments({"typing": "strong"}, {"--stronglyTyped"}, (10, 16, 1)),
                         ["--stronglyTyped"])
        self.assertEqual(trtexec.typing_arguments({"typing": "strong"}, set(), (11, 1, 0)), [])

    def test_nodes_of_several_layers_are_set_in_part(self):
        options = {"precisions": {"n1": "f16", "n2": "f16"}, "output_types": {"n2": "f16"}}
        layers = {"n1": ["n1"], "n2": ["n2", "n2_1"]}
        self.assertEqual(trtexec.set_in_part(options, layers, (8, 6, 1)),
                         {"calculation_set_in_part": ["n2"], "output_set_in_part": ["n2"]})
        self.assertEqual(trtexec.set_in_part(options, layers, (9, 0, 1))["calculation_set_in_part"], [])


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Engine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.files = {"network.onnx": os.path.join(folder.name, "network.onnx")}
        with open(self.files["network.onnx"], "wb") as file:
            file.write(network())
        self.compiler = tensorrt.Compiler()
        self.compiler.open({}, {}, self.folder, progress)

    def compile(self, **options):
        return self.compiler.compile({"options": options}, self.files, self.folder, progress)

    def inputs(self):
        path = os.path.join(self.folder, "inputs.npz")
        npz.write(path, {"x": npz.Array("<f4", (2,), struct.pack("<2f", 1, -2))})
        return {"inputs.npz": path}

    def test_versions_before_10_1_are_refused(self):
        with mock.patch.object(stand_in, "__version__", "10.0.1"), self.assertRaises(base.Refusal) as refused:
            tensorrt.Compiler().open({}, {}, self.folder, progress)
        self.assertIn("10.1 or newer", refused.exception.message)

    def test_the_import_is_as_long_as_reading_the_network_took(self):
        clock = Clock()
        parse = stand_in.OnnxParser.parse_from_file

        def slow(parser, path):
            clock.now += 8
            return parse(parser, path)

        with mock.patch.object(tensorrt_rtx.time, "perf_counter", clock), \
                mock.patch.object(stand_in.OnnxParser, "parse_from_file", slow):
            self.compiler.support({}, self.files, self.folder, progress)
            self.assertEqual(self.compile()["phases"][0], {"name": "import", "ms": 8000})
            self.assertEqual(self.compile()["phases"][0], {"name": "import", "ms": 8000}, "it is read again")

    def test_times_after_a_profile_are_not_those_of_a_profiled_context(self):
        self.compile()
        ran = []
        run = stand_in.Context.execute_async_v3

        def noted(context, stream):
            ran.append(context.profiler is not None)
            return run(context, stream)

        with mock.patch.object(stand_in.Context, "execute_async_v3", noted):
            for _ in range(2):
                self.compiler.profile({"runs": 1}, self.inputs(), self.folder, progress)
                self.assertTrue(ran and all(ran))
                ran.clear()
                self.compiler.time({"seconds": 0}, self.inputs(), self.folder, progress)
                self.assertTrue(ran and not any(ran))
                ran.clear()

    def test_an_engine_that_was_saved_runs_in_another_process(self):
        self.compile()
        saved = tempfile.TemporaryDirectory()
        self.addCleanup(saved.cleanup)
        self.compiler.save({}, {}, saved.name, progress)
        other = tensorrt.Compiler()
        other.open({}, {}, self.folder, progress)
        with self.assertRaises(base.Refusal):
            other.time({"seconds": 0}, self.inputs(), self.folder, progress)
        files = {name: os.path.join(saved.name, name) for name in os.listdir(saved.name)}
        self.assertEqual(list(files), ["engine.bin"])
        other.load({"options": {}}, {**self.files, **files}, self.folder, progress)
        self.assertTrue(other.time({"seconds": 0}, self.inputs(), self.folder, progress)["ms"])

    def test_the_build_is_gone_when_the_engine_is_loaded(self):
        alive = []

        class Counted(stand_in.Builder):
            def __init__(self, logger):
                super().__init__(logger)
                alive.append("a builder")

            def __del__(self):
                alive.append(None)

        load = stand_in.Runtime.deserialize_cuda_engine

        def loaded(runtime, plan):
            self.assertIsNone(alive[-1])
            return load(runtime, plan)

        with mock.patch.object(stand_in, "Builder", Counted), \
                mock.patch.object(stand_in.Runtime, "deserialize_cuda_engine", loaded):
            alive.clear()
            self.compile()

    def test_a_timing_cache_keeps_its_mode_and_a_failed_one_leaves_nothing(self):
        cache = os.path.join(self.folder, "times.cache")
        self.compile(timing_cache=cache)
        os.chmod(cache, 0o664)
        self.assertIn("timing_cache_bytes", self.compile(timing_cache=cache))
        self.assertEqual(stat.S_IMODE(os.stat(cache).st_mode), 0o664)
        with mock.patch.object(tensorrt.os, "replace", side_effect=OSError("no space left")):
            told = self.compile(timing_cache=cache)
        self.assertEqual(told["warnings"], ["the timing cache cannot be written: no space left"])
        self.assertIn("device", told)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("times.cache")], ["times.cache"])


def field(number, value):
    """Of a protobuf message: a number, or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def network():
    """x -> Neg -> y, two floats."""
    def value(name):
        kind = field(1, field(1, 1) + field(2, field(1, field(1, 2))))
        return field(1, name) + field(2, kind)

    node = field(1, b"x") + field(2, b"y") + field(3, b"n0") + field(4, b"Neg")
    return field(7, field(1, node) + field(11, value(b"x")) + field(12, value(b"y")))


if __name__ == "__main__":
    unittest.main()
