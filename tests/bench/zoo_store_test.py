import tempfile
import unittest
from pathlib import Path

try:
    from bench import zoo_store
except ImportError:
    zoo_store = None


def built(network, compiler, seconds, measuring=(0.0, 0.0), why_not=""):
    return {"network": network, "compiler": compiler, "seconds": list(seconds), "measuring": list(measuring),
            "why_not": why_not}


@unittest.skipUnless(zoo_store, "a package is missing")
class ZooStore(unittest.TestCase):
    def test_networks_without_weights_or_too_large_are_left_out_with_a_reason(self):
        with tempfile.TemporaryDirectory() as place:
            zoo, filled = Path(place) / "zoo", Path(place) / "filled"
            filled.mkdir()
            for name in ("a", "b", "c"):
                (zoo / name).mkdir(parents=True)
            (zoo / "a" / "model.onnx").write_bytes(b"x" * 100)
            (filled / "b.onnx").write_bytes(b"x" * (2 << 20))
            found = list(zoo_store.zoo_networks(zoo, filled, [], 1))
            self.assertEqual([(name, model is not None) for name, model, _ in found],
                             [("a", True), ("b", False), ("c", False)])
            self.assertIn("2 MiB", found[1][2])
            self.assertIn("weights", found[2][2])
            self.assertEqual([name for name, _, _ in zoo_store.zoo_networks(zoo, filled, ["c"], 1)], ["c"])

    def test_what_was_saved_is_summed_by_kind(self):
        listed = {"kinds": [{"kind": "answer", "entries": 2, "stored_bytes": 1 << 20, "hits": 3, "saved_ms": 1500.0,
                             "not_kept": 1}]}
        rows = [built("n", "fusescope", (2.0, 1.0), (1.25, 0.25)), built("n", "openvino", (3.0, 1.0)),
                built("m", "openvino", (), why_not="refused")]
        kinds = zoo_store.by_kind(listed, rows, (7, 1 << 21))
        self.assertEqual([each["saved_seconds"] for each in kinds], [1.5, 1.0])
        self.assertEqual(zoo_store.totals(rows), {"fusescope": (1, 2.0, 1.0), "openvino": (1, 3.0, 1.0)})
        text = zoo_store.words(kinds, rows, [("big", "it has 700 MiB")])
        for part in ("| answer | 2 | 1.0 MiB | 3 | 1.5 s | 1 |", "| times | 7 | 2.0 MiB |  | 1.0 s | 0 |",
                     "big: left out: it has 700 MiB", "m by openvino: not built: refused"):
            self.assertIn(part, text)

    def test_a_build_that_measured_nothing_spent_nothing(self):
        self.assertEqual(zoo_store.spent_measuring({"measuring": None}), 0.0)
        self.assertEqual(zoo_store.spent_measuring({"measuring": {"spent_seconds": 0.5}}), 0.5)
