"""embed_probe.py OUTPUT.cpp PROBE: packs the Python files below PROBE into a zip archive, as a C++ source. Beside it
are the file that is sent ahead of it, and what each compiler's module says is to be imported ahead (AHEAD).

The bytes depend on the files alone: no times, no compression."""

import ast
import io
import pathlib
import re
import sys
import zipfile

# A file in the current folder that is named like a module must not be imported, whatever PYTHONPATH says.
MAIN = """import os
import sys

here = os.path.realpath(os.getcwd())
sys.path[:] = [path for path in sys.path if path and os.path.realpath(path) != here]

from fusescope_probe.job_file import main

main()
"""


def archive(probe):
    files = {"__main__.py": MAIN.encode()}
    for path in sorted(probe.rglob("*.py")):
        files["fusescope_probe/" + path.relative_to(probe).as_posix()] = path.read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, files[name])
    return packed.getvalue()


def imported_ahead(probe):
    """name of the compiler -> what its module says of that, as it is written there."""
    found = {}
    for path in sorted((probe / "compilers").glob("*.py")):
        said = re.search(r"^AHEAD = (.+)$", path.read_text(), re.MULTILINE)
        if said:
            modules, variables = ast.literal_eval(said[1])
            found[path.stem.replace("_", "-")] = repr((modules, variables))
    return found


def source(data, prelude, ahead):
    lines = [",".join(map(str, data[at : at + 32])) for at in range(0, len(data), 32)]
    numbers = ",\n    ".join(lines)
    said = "\n".join(f'  if (compiler == "{name}") return R"({what})";' for name, what in ahead.items())
    return f"""#include "probe/probe_archive.h"

namespace fusescope {{

std::string_view probeArchive() {{
  static const unsigned char kBytes[] = {{
    {numbers}}};
  return {{reinterpret_cast<const char*>(kBytes), sizeof kBytes}};
}}

std::string_view probePrelude() {{
  return R"prelude({prelude})prelude";
}}

std::string_view importedAhead(std::string_view compiler) {{
{said}
  return {{}};
}}

}}  // namespace fusescope
"""


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    made = source(archive(folder), (folder / "prelude.py").read_text(), imported_ahead(folder))
    pathlib.Path(sys.argv[1]).write_text(made)
