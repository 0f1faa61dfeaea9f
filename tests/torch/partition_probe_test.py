"""The probe's part for Torch-TensorRT, as far as it needs neither that nor torch: where it may be imported, and why
operators stay in torch, asked of stand-ins for its registry of converters."""

import functools
import logging
import sys
import types
import unittest
from importlib import metadata
from unittest import mock

from probe import base, torch_partition, torch_tensorrt_shim
from probe.compilers import torch_tensorrt as part

CONVERTERS = "torch_tensorrt.dynamo.conversion.converters"


class Shim(unittest.TestCase):
    def test_one_version_alone_is_known(self):
        torch_tensorrt_shim.check("2.14.0")
        torch_tensorrt_shim.check("2.14.0+cu130")
        for version in ("2.13.0", "2.14.1", "2.15.0.dev20260101"):
            with self.assertRaises(base.Refusal) as refused:
                torch_tensorrt_shim.check(version)
            self.assertEqual(refused.exception.kind, "asked")
            self.assertIn(f"Torch-TensorRT {version} cannot be imported on a machine without", refused.exception.message)
            self.assertIn("torch-tensorrt-rtx==2.14.0", refused.exception.help)

    def test_constants_stay_on_the_cpu(self):
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(), device=lambda name: f"the {name}")
        module = types.ModuleType("torch_tensorrt.a")
        module.to_torch_device = lambda device: device
        sys.modules["torch_tensorrt.a"] = module
        self.addCleanup(sys.modules.pop, "torch_tensorrt.a")
        torch_tensorrt_shim.before_import(torch)
        torch_tensorrt_shim.after_import(torch)
        self.assertEqual(module.to_torch_device("cuda"), "the cpu")
        self.assertEqual(torch.cuda.current_device(), 0)
        self.assertFalse(hasattr(torch.cuda, "is_available"), "torch goes on saying that there is none")

    def test_a_python_without_it_says_what_to_install(self):
        nothing = mock.Mock(side_effect=metadata.PackageNotFoundError)  # whatever this Python has
        with mock.patch.object(metadata, "version", nothing), self.assertRaises(base.Refusal) as refused:
            part.installed()
        self.assertEqual(refused.exception.kind, "no_package")
        self.assertIn("pip install torch-tensorrt-rtx", refused.exception.help)


class Node:
    """A node of a graph."""

    def __init__(self, target="aten.add", args=(), name="add", **meta):
        self.target, self.args, self.name, self.meta = target, args, name, meta
        self.graph = Scratch()


class Scratch:
    def placeholder(self, name):
        return Node(name)

    def create_node(self, _, target, args):
        return Node(target, args)


class Registry:
    """What stands for upstream's registry of converters."""

    compilation_settings = None

    def __init__(self, converters, disallowed=()):
        self.registries, self.disallowed_targets = [converters], set(disallowed)

    @staticmethod
    def qualified_name_or_str(target):
        return f"torch.ops.{target}"

    def __contains__(self, node):
        converters = self.registries[0].get(node.target, ())
        return any(each.capability_validator(node, None) and each.supports_dynamic_shapes for each in converters)


def converter(validator=lambda node, settings: True, dynamic=True):
    return types.SimpleNamespace(capability_validator=validator, supports_dynamic_shapes=dynamic)


def max_pool_param_validator(node, settings=None):
    log = logging.getLogger(CONVERTERS)
    if node.args[4] != 1:
        log.debug("no dilation %s", node.args[4])
        return False
    if node.args[5]:
        log.debug("no ceil_mode")
        return False
    return True


def made_validator():
    def validator(node, settings=None):
        return False

    return validator


class Causes(unittest.TestCase):
    def setUp(self):
        name = "torch_tensorrt.dynamo.partitioning._global_partitioner"
        module = types.ModuleType(name)
        complex_or_not = types.SimpleNamespace(_has_complex_dtype=lambda node: node.meta.get("complex", False))
        module.TorchTensorRTOperatorSupport = complex_or_not
        parts = name.split(".")
        for end in range(1, len(parts)):
            sys.modules[".".join(parts[:end])] = types.ModuleType(".".join(parts[:end]))
        sys.modules[name] = module
        for end in range(1, len(parts) + 1):
            self.addCleanup(sys.modules.pop, ".".join(parts[:end]))

    def cause(self, *converters, node=None, disallowed=()):
        known = {"aten.add": list(converters)} if converters else {}
        return torch_partition.cause_of(Registry(known, disallowed), node or Node())

    def test_what_a_converter_takes_has_no_cause(self):
        self.assertIsNone(self.cause(converter()))
        self.assertIsNone(self.cause(converter(made_validator()), converter()), "one of several is enough")

    def test_each_cause_is_told_apart(self):
        self.assertEqual(self.cause(), {"why": "no_converter"})
        self.assertEqual(self.cause(converter(), disallowed=["torch.ops.aten.add"]), {"why": "asked"})
        self.assertEqual(self.cause(converter(), node=Node(complex=True)), {"why": "complex"})
        self.assertEqual(self.cause(converter(dynamic=False)), {"why": "open_extents"})

    def test_validators_are_called_as_their_authors_call_them(self):
        told = self.cause(converter(made_validator()), converter(functools.partial(max_pool_param_validator)),
                          node=Node(args=("x", 2, 2, 0, 3, False)))
        self.assertEqual(told, {"why": "validator", "validators": ["made_validator", "max_pool_param_validator"],
                                "words": ["no dilation 3"]})
        nameless = self.cause(converter(lambda node, settings: False))["validators"][0]
        self.assertRegex(nameless, r"^a nameless one in line \d+ of partition_probe_test\.py$")

    def test_a_list_that_is_compared_with_a_number_is_noticed(self):
        for ceil_mode, words in ((False, []), (True, ["no ceil_mode"])):
            told = self.cause(converter(max_pool_param_validator), node=Node(args=("x", 2, 2, 0, [1, 1], ceil_mode)))
            self.assertEqual(told["words"], ["no dilation [1, 1]"])
            self.assertEqual(told["dilation"], [1, 1])
            self.assertEqual(told["else_taken"], not ceil_mode)
            self.assertEqual(told["else_words"], words)
        told = self.cause(converter(max_pool_param_validator), node=Node(args=("x", 2, 2, 0, [2, 2], False)))
        self.assertNotIn("dilation", told, "this is a dilation")

    def test_what_validators_log_goes_nowhere_else(self):
        with self.assertNoLogs():
            self.cause(converter(max_pool_param_validator), node=Node(args=("x", 2, 2, 0, 3, False)))
        self.assertTrue(logging.getLogger(torch_partition.CONVERSION).propagate)


class Listening(unittest.TestCase):
    def listener(self, kept=()):
        return torch_partition.Listener(None, {"torch_executed_ops": list(kept)})

    def test_an_operator_that_is_not_there_is_refused_with_the_nearest(self):
        names = {"torch.ops.aten.linear.default", "torch.ops.aten.relu.default"}
        self.listener(["torch.ops.aten.relu.default"])._check_kept(names)
        with self.assertRaises(base.Refusal) as refused:
            self.listener(["torch.ops.aten.linear"])._check_kept(names)
        self.assertIn("has no operator torch.ops.aten.linear when", refused.exception.message)
        self.assertIn("torch.ops.aten.linear.default", refused.exception.help)

    def test_blocks_that_are_dropped_say_how_small_they_are(self):
        def block(is_acc, *names):
            return types.SimpleNamespace(is_acc=is_acc, nodes=[Node(name=name) for name in names])

        blocks = [block(True, "a", "b"), block(False, "c"), block(True, "d", "e", "f")]
        listener = self.listener()

        def drop(_, subgraphs):  # the first becomes one of torch's
            subgraphs[0].is_acc = False
            subgraphs[0].nodes.extend(subgraphs[1].nodes)
            return [subgraphs[0], subgraphs[2]]

        self.assertEqual(len(listener._dropping(drop)(None, blocks)), 2)
        self.assertEqual(listener.cause("a"), {"why": "small_block", "operators": 2})
        self.assertEqual(listener.cause("c"), {"why": "unknown"})
        self.assertEqual(listener.cause("d"), {"why": "unknown"})

    def test_a_refusal_of_the_whole_names_what_stays(self):
        listener = self.listener()
        listener.causes = {f"op_{i}": {"why": "no_converter"} for i in range(8)}
        refusal = listener.refusal(AssertionError("require_full_compilation=True was specified, but …"))
        self.assertIn("op_5 (no converter) and 2 more", refusal.message)
        self.assertIn("could not divide the program. ValueError: other", listener.refusal(ValueError("other")).message)


if __name__ == "__main__":
    unittest.main()
