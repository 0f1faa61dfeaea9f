import unittest

from bench.certainty_table import cell, certainties


def plan(kernels, fates):
    return {"kernels": [{"nodes": [{"node": node, "certainty": known} for node, known in kernel]} for kernel in kernels],
            "nodes": [{"node": node, "fate": fate} for node, fate in fates.items()]}


class CertaintyTable(unittest.TestCase):
    MADE = plan([[("a", "derived"), ("b", "named")], [("a", "verified")], [("b", "guessed"), ("d", "named")]],
                {"a": "kernel", "b": "kernel", "c": "not_disclosed", "d": "fallback"})

    def test_a_node_of_several_kernels_counts_once_by_its_best_certainty(self):
        counts = certainties(self.MADE)
        self.assertEqual((counts["verified"], counts["named"], counts["derived"], counts["guessed"]), (1, 1, 0, 0))
        self.assertEqual(counts["not disclosed"], 1)

    def test_a_cell_names_kernels_counts_and_fallback(self):
        self.assertEqual(cell(self.MADE, ("verified", "named")), "3 · 1 / 1 / 1 (1 in fallback)")
        self.assertEqual(cell(None, ("verified",)), "–")
