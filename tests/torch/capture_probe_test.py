"""The probe's part for modules that become exported programs, as far as it needs no torch: what it runs, and what it takes
from torch's words."""

import hashlib
import os
import sys
import tempfile
import types
import unittest

from probe import base, torch_breaks, torch_capture, torch_extents, torch_script


class Scripts(unittest.TestCase):
    """What is run for a user, and what it may give."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "small_net.py")
        self.addCleanup(sys.modules.pop, "small_net", None)
        self.addCleanup(setattr, sys, "path", list(sys.path))
        self.torch = types.SimpleNamespace(Tensor=Tensor, nn=types.SimpleNamespace(Module=NnModule))

    def load(self, text, function="make"):
        content = f"from __main__ import NnModule, Tensor\n{text}\n".encode()
        return torch_script.load(self.torch, content, self.path, function)

    def refusal_of(self, text, function="make"):
        with self.assertRaises(base.Refusal) as refused:
            self.load(text, function)
        self.assertEqual(refused.exception.kind, "asked")
        return refused.exception

    def test_only_the_confirmed_content_is_taken(self):
        with open(self.path, "wb") as file:
            file.write(b"1 / 0")
        digest = hashlib.sha256(b"1 / 0").hexdigest()
        self.assertEqual(torch_capture.confirmed_bytes(self.path, digest), b"1 / 0")
        with open(self.path, "ab") as file:
            file.write(b"\n")
        with self.assertRaisesRegex(base.Refusal, "has changed since it was confirmed"):
            torch_capture.confirmed_bytes(self.path, digest)

    def test_every_form_that_a_function_may_return_is_taken(self):
        for given, args, kwargs, shapes in (
            ("net, (x,)", 1, 0, None),
            ("net, x", 1, 0, None),
            ("[net, [x, x]]", 2, 0, None),
            ("net, (x,), {'mask': x}", 1, 1, None),
            ("net, (x,), None, {'x': {0: 1}}", 1, 0, {"x": {0: 1}}),
            ("{'module': net, 'kwargs': {'x': x}}", 0, 1, None),
            ("{'module': net, 'args': (), 'dynamic_shapes': ()}", 0, 0, ()),
        ):
            with self.subTest(given):
                loaded = self.load(f"net, x = NnModule(), Tensor()\ndef make():\n    return {given}")
                self.assertEqual((len(loaded.args), len(loaded.kwargs), loaded.dynamic_shapes), (args, kwargs, shapes))
                self.assertTrue(loaded.evaluated)

    def test_other_things_are_refused_with_the_line_of_the_function(self):
        for given, says in (
            ("net", "a module alone"),
            ("None", "returns NoneType"),
            ("(net,)", "returns 1 things"),
            ("x, (x,)", "returns Tensor where the module"),
            ("net, 3", "returns int where the tuple"),
            ("net, (x,), 3", "returns int where the dict"),
            ("net, None", "returns NoneType where the tuple"),
            ("{'model': net}", "the unknown model"),
        ):
            with self.subTest(given):
                refusal = self.refusal_of(f"net, x = NnModule(), Tensor()\ndef make():\n    return {given}")
                self.assertIn(f"line 3: make() returns", refusal.message)
                self.assertIn(says, refusal.message)
                self.assertIn("(module, args, kwargs)", refusal.help)

    def test_what_cannot_be_called_is_refused(self):
        self.assertIn("line 2: make() needs arguments (width)", self.refusal_of("def make(width): pass").message)
        self.assertIn("has the type int", self.refusal_of("make = 3").message)
        self.assertIn("Its functions are other.", self.refusal_of("def other(): pass").help)
        self.assertIn("It defines no function.", self.refusal_of("").help)

    def test_a_missing_package_says_where_it_belongs(self):
        refusal = self.refusal_of("import no_such_package_at_all")
        self.assertIn("line 2: The script raised ModuleNotFoundError", refusal.message)
        self.assertIn("-m pip install", refusal.help)

    def test_the_folder_of_the_script_is_last_once_it_was_loaded(self):
        before = list(sys.path)
        self.load("import sys\nFIRST = sys.path[0]\ndef make():\n    return NnModule(), (Tensor(),)")
        self.assertEqual(sys.modules["small_net"].FIRST, self.folder.name)
        self.assertEqual(sys.path, [*before, self.folder.name])

    def test_a_script_called_as_a_package_is_takes_no_ones_place(self):
        self.path = os.path.join(self.folder.name, "json.py")
        self.addCleanup(sys.modules.pop, "fusescope_script", None)
        import json

        self.load("def make():\n    return NnModule(), (Tensor(),)")
        self.assertIs(sys.modules["json"], json)


class Breaks(unittest.TestCase):
    WORDS = (
        "Data-dependent branching\n  Explanation: Detected it.\n      More of it.\n  Hint: Use `torch.cond`.\n  Hint: Or not.\n\n"
        "  Developer debug context: attempted\n\n For more details about this graph break, please visit: somewhere"
    )

    @staticmethod
    def frame(file, line, name):
        return types.SimpleNamespace(filename=file, lineno=line, name=name)

    def test_torchs_words_are_taken_apart(self):
        stack = [self.frame("/u/net.py", 6, "torch_dynamo_resume_in_forward_at_5"), self.frame("/lib/torch/nn.py", 9, "call")]
        told = torch_breaks.about_break(types.SimpleNamespace(reason=self.WORDS, user_stack=stack), "/u/net.py")
        self.assertEqual(told, {"reason": "Data-dependent branching", "explanation": "Detected it. More of it.",
                                "hints": ["Use `torch.cond`.", "Or not."],
                                "file": "/u/net.py", "line": 6, "function": "forward"})

    def test_a_break_outside_of_the_script_has_the_place_where_it_is(self):
        stack = [self.frame("/lib/torch/nn.py", 9, "call")]
        told = torch_breaks.about_break(types.SimpleNamespace(reason="x", user_stack=stack), "/u/net.py")
        self.assertEqual((told["file"], told["line"]), ("/lib/torch/nn.py", 9))
        told = torch_breaks.about_break(types.SimpleNamespace(reason="", user_stack=None), "/u/net.py")
        self.assertEqual((told["file"], told["line"], told["reason"]), ("", 0, ""))

    def test_recompilations_are_those_with_a_reason(self):
        compiled = [types.SimpleNamespace(recompile_reason=reason, co_filename="net.py", co_firstlineno=3, co_name="step")
                    for reason in (None, "2/0: tensor 'x' size mismatch", "2/0: tensor 'x' size mismatch")]
        self.assertEqual(torch_breaks.recompiled(compiled), [
            {"reason": "tensor 'x' size mismatch", "file": "net.py", "line": 3, "function": "step"}])
        self.assertEqual(torch_breaks.reason_of("not: a number"), "not: a number")

    def test_what_would_mend_it_depends_on_what_torch_says(self):
        loaded = types.SimpleNamespace(path="/u/net.py")
        branch = torch_capture.problem_of(loaded, RuntimeError("Could not guard on data-dependent expression\nadvice"))
        self.assertIn("torch.cond", branch["help"])
        self.assertNotIn("advice", branch["message"])
        shapes = torch_capture.problem_of(loaded, RuntimeError("Constraints violated (w)\n  - w = 8"))
        self.assertIn("- w = 8", shapes["message"])
        self.assertIn("dynamic shapes", shapes["help"])


class Extents(unittest.TestCase):
    BATCH = types.SimpleNamespace(__name__="batch")

    def test_names_are_found_by_parameter_or_place(self):
        at = torch_extents.spec_at
        self.assertEqual(at({"x": {0: 1}}, [0, 0], ["x", "mask"]), {0: 1})
        self.assertEqual(at({"x": {0: 1}}, [1, "mask"], ["x", "mask"]), None)
        self.assertEqual(at((None, {1: 2}), [1, "mask"], ["x", "mask"]), {1: 2})
        self.assertEqual(at({"x": [{0: 3}, {"a": {0: 4}}]}, [0, 0, 1, "a"], ["x"]), {0: 4})
        self.assertEqual(at({"x": [{0: 3}]}, [0, 0, 1], ["x"]), None)
        self.assertEqual(at(None, [0, 0], ["x"]), None)

    def test_only_dimensions_with_names_have_them(self):
        named = torch_extents.names_of_axes
        self.assertEqual(named({0: self.BATCH, 1: None, 2: 3, 3: "length"}), {0: "batch", 3: "length"})
        self.assertEqual(named((None, self.BATCH)), {1: "batch"})
        self.assertEqual(named(None), {})

    def test_where_torch_is_another_there_are_none(self):
        self.assertEqual(torch_extents.named(None, None, None), {})


class NnModule:
    training = True

    def eval(self):
        self.training = False


class Tensor:
    pass


if __name__ == "__main__":
    unittest.main()
