import unittest

from bench.machine import Clocks, clocks, shares, unquiet

QUIET = {"others": 0.01, "stolen": 0.0, "load_before": 0.1}


class Quietness(unittest.TestCase):
    def test_a_quiet_row_has_no_reasons(self):
        self.assertEqual(unquiet(QUIET, {"a": 1.02, "b": 1.1}, 1.0), [])

    def test_each_disturbance_is_told(self):
        told = unquiet({"others": 0.3, "stolen": 0.05, "load_before": 3}, {"a": 1.5, "b": 1.0}, 1.0)
        self.assertEqual(len(told), 3)
        self.assertIn("other processes took 30%", told[0])
        self.assertIn("the host took 5%", told[1])
        self.assertIn("rounds of a differ by 50%", told[2])

    def test_what_engines_leave_free_is_for_others(self):
        report = QUIET | {"others": 0.5}
        self.assertEqual(unquiet(report, {}, used=0.5), [])
        self.assertEqual(len(unquiet(report, {}, used=1.0)), 1)

    def test_own_work_is_nobody_elses(self):
        start = Clocks(busy=100.0, stolen=1.0, own=10.0, total=200.0)
        end = Clocks(busy=115.0, stolen=2.0, own=20.0, total=220.0)
        self.assertEqual(shares(start, end), {"others": 0.25, "stolen": 0.05})

    def test_clocks_that_count_a_little_apart_give_no_less_than_nothing(self):
        self.assertEqual(shares(Clocks(0.0, 0.0, 0.0, 0.0), Clocks(1.0, 0.0, 1.01, 2.0))["others"], 0.0)

    def test_clocks_go_on(self):
        before = clocks()
        sum(range(3_000_000))
        after = clocks()
        self.assertGreater(after.own, before.own)
        self.assertGreaterEqual(after.total, after.busy)


if __name__ == "__main__":
    unittest.main()
