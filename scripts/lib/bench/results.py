"""Stores the table as a JSON file that grows row by row, so that an interrupted run can continue."""
import json
import os
from pathlib import Path

FORMAT, VERSION = "fusescope.bench", 1


class Results:
    """The rows of a table. If `path` is None, they are kept in memory only. `setting` is what all rows of a table
    have in common."""

    def __init__(self, path, setting, resume=False):
        self.path = Path(path) if path else None
        self.setting = setting
        self.rows = {}
        if resume and self.path is not None and self.path.exists():
            self.rows = {key_of(row): row for row in read(self.path) if row["setting"] == setting}

    def find(self, key):
        """Returns the row with this key if it was measured completely. A row without a time is measured again."""
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
    """Returns the rows of a file. Raises ValueError if it is not such a file."""
    try:
        document = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise ValueError(f"{path}: no results of this bench ({FORMAT} {VERSION})")
    return document["rows"]
