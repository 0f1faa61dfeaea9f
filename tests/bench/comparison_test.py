import unittest

try:
    import numpy as np

    from bench.comparison import worst_difference
except ImportError:
    np = None


@unittest.skipUnless(np, "numpy is missing")
class Comparison(unittest.TestCase):
    def differs(self, given, expected):
        return worst_difference({"y": np.array(given)}, {"y": np.array(expected)})

    def test_the_worst_output_is_told_by_its_rms(self):
        own = {"x": np.array([1.0, 1.0]), "y": np.array([10.0, 10.5])}
        other = {"x": np.array([1.0, 1.01]), "y": np.array([10.0, 10.0])}
        worst, name = worst_difference(own, other)
        self.assertEqual(name, "y")
        self.assertAlmostEqual(worst, 0.05)

    def test_what_is_not_finite_equals_only_itself(self):
        self.assertEqual(self.differs([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.0])[0], 0.0)
        self.assertEqual(self.differs([1.0, 1.0], [np.nan, 1.0])[0], np.inf)
        self.assertEqual(self.differs([np.nan, 1.0], [1.0, 1.0])[0], np.inf)
        self.assertEqual(self.differs([np.inf, 1.0], [1.0, 1.0])[0], np.inf)

    def test_other_extents_and_names_are_no_numbers(self):
        self.assertIn("y is [2] against [3]", self.differs([1.0, 2.0], [1.0, 2.0, 3.0]))
        self.assertIn("outputs are", worst_difference({"x": np.ones(1)}, {"y": np.ones(1)}))


if __name__ == "__main__":
    unittest.main()
