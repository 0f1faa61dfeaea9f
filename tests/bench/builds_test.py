import unittest

from bench.builds import summary, words


def taken(alone, build, copy, engine):
    return {"alone": alone, "build": build, "alone_cpu": 2 * alone, "build_cpu": build,
            "phases": {"import": 0.1, "hand over": copy, "write": engine}}


class Builds(unittest.TestCase):
    def test_what_is_written_is_told_apart(self):
        of = summary([taken(1.0, 1.5, 0.2, 0.3), taken(2.0, 3.0, 0.4, 0.6), taken(1.0, 1.7, 0.2, 0.3)])
        self.assertAlmostEqual(of["whole"][1], 1.5)
        self.assertAlmostEqual(of["without_engine"][1], 1.2)
        self.assertAlmostEqual(of["without_files"][1], 1.0)
        self.assertAlmostEqual(of["cpu"][1], 0.75)
        self.assertAlmostEqual(of["whole"][2], 1.6, msg="the third quartile")

    def test_one_round_has_no_spread(self):
        self.assertEqual(summary([taken(2.0, 3.0, 0.0, 0.0)])["whole"], (1.5, 1.5, 1.5))

    def test_a_build_that_writes_no_copy_has_none_told_apart(self):
        round_ = {**taken(1.0, 1.25, 0, 0), "phases": {}}
        row = {"network": "n", "compiler": "c", "rounds": [round_], **summary([round_])}
        self.assertEqual(row["without_engine"], row["whole"])
        self.assertEqual(row["without_files"], row["whole"])
        self.assertIn("copy 0.00 s", words(row))
        self.assertIn("ratio 1.250 (1.250 to 1.250)", words(row))
