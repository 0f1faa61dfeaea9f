"""The table as a JSON file that grows row by row, so that a run that was ended goes on where it was."""
import json
import os
from pathlib import Path

FORMAT, VERSION = "fusescope.bench", 1


class Results:
    """`path`: None keeps the rows in memory alone. `setting`: all that rows must share to be of one table."""

    def __init__(self, path, setting, resume=False):
        self.path = Path(path) if path else None
        self.setting = setting
        self.rows = {}
        if resume and self.path is not None and self.path.exists():
            self.rows = {key_of(row): row for row in read(self.path) if row["setting"] == setting}

    def find(self, key):
        """The row of this key if it was measured to its end; one without a time is to be tried again."""
        row = self.rows.get(tuple(key))
        return row if row is not None and row.get("ratios") else None

    def add(self, row):
        row["setting"] = self.setting
        self.rows[key_of(row)] = row
        if self.path is not None:
            self._write()

    def _write(self):
        document = {"format": FORMAT, "version": VERSION, "rows": list(self.rows.values())}
        beside = self.path.with_name(self.path.name + ".part")
        beside.write_text(json.dumps(document, indent=1) + "\n")
        os.replace(beside, self.path)


def key_of(row):
    return tuple(row["key"])


def read(path):
    """The rows of a file; ValueError where it is no such file."""
    try:
        document = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise ValueError(f"{path}: no results of this bench ({FORMAT} {VERSION})")
    return document["rows"]
