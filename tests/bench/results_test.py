import json
import tempfile
import unittest
from pathlib import Path

from bench.results import Results

SETTING = {"cpu": "one", "rounds": 5}


def row(name, ratios):
    return {"key": [name, "f32", 2], "ratios": ratios}


TIMED = {"peer": {"rounds": [1.0, 1.1]}}


class Resuming(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.json"

    def write(self, *rows, setting=None):
        results = Results(self.path, setting or SETTING)
        for each in rows:
            results.add(each)

    def test_a_row_is_on_disk_as_soon_as_it_is_there(self):
        self.write(row("a", TIMED))
        self.assertEqual([each["key"] for each in json.loads(self.path.read_text())["rows"]], [["a", "f32", 2]])

    def test_what_was_measured_is_kept_and_what_was_not_is_asked_again(self):
        self.write(row("a", TIMED), row("b", {}))
        resumed = Results(self.path, SETTING, resume=True)
        self.assertEqual(resumed.find(["a", "f32", 2])["ratios"], TIMED)
        self.assertIsNone(resumed.find(["b", "f32", 2]))
        self.assertIsNone(resumed.find(["a", "f32", 1]))

    def test_going_on_keeps_the_rows_before(self):
        self.write(row("a", TIMED))
        Results(self.path, SETTING, resume=True).add(row("b", TIMED))
        self.assertEqual(len(json.loads(self.path.read_text())["rows"]), 2)

    def test_another_setting_shares_no_row(self):
        self.write(row("a", TIMED), setting={"cpu": "other", "rounds": 5})
        self.assertIsNone(Results(self.path, SETTING, resume=True).find(["a", "f32", 2]))

    def test_without_resume_it_starts_anew(self):
        self.write(row("a", TIMED))
        self.assertIsNone(Results(self.path, SETTING).find(["a", "f32", 2]))

    def test_a_file_of_something_else_is_refused(self):
        for text in ("{", "[]", '{"format": "fusescope.time", "version": 1}'):
            self.path.write_text(text)
            with self.assertRaisesRegex(ValueError, "rows.json"):
                Results(self.path, SETTING, resume=True)


if __name__ == "__main__":
    unittest.main()
