import unittest

from bench.ratios import Ratio, geometric_mean, ratio, spread


class Ratios(unittest.TestCase):
    def test_a_ratio_is_taken_within_rounds(self):
        # The machine was half as fast in the second round: no ratio moves.
        of = ratio([1.0, 2.0, 1.1], [2.0, 4.0, 2.0])
        self.assertEqual(of.rounds, [0.5, 0.5, 0.55])
        self.assertEqual((of.median, of.least, of.most), (0.5, 0.5, 0.55))

    def test_rounds_must_be_the_same(self):
        with self.assertRaises(ValueError):
            ratio([1.0], [1.0, 2.0])
        with self.assertRaises(ValueError):
            ratio([], [])

    def test_the_mean_of_a_half_and_a_double_is_one(self):
        mean, least, most = geometric_mean([Ratio([0.5, 0.4, 0.6]), Ratio([2.0, 2.5, 1.5])])
        self.assertAlmostEqual(mean, 1.0)
        self.assertAlmostEqual(least, 0.9 ** 0.5)
        self.assertAlmostEqual(most, 1.0)

    def test_its_spread_is_over_the_rounds_that_all_have(self):
        mean, least, most = geometric_mean([Ratio([1.0, 9.0, 9.0]), Ratio([4.0])])
        self.assertAlmostEqual(mean, 6.0)
        self.assertAlmostEqual(least, 2.0)
        self.assertAlmostEqual(most, 2.0)

    def test_spread_is_most_over_least(self):
        self.assertAlmostEqual(spread([2.0, 3.0, 2.5]), 1.5)


if __name__ == "__main__":
    unittest.main()
