"""embed_probe.py OUTPUT.cpp PROBE: packs the Python files below PROBE into a zip archive, as a C++ source.

The bytes depend on the files alone: no times, no compression."""

import io
import pathlib
import sys
import zipfile

MAIN = "from fusescope_probe.job_file import main\n\nmain()\n"


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


def source(data):
    lines = [",".join(map(str, data[at : at + 32])) for at in range(0, len(data), 32)]
    numbers = ",\n    ".join(lines)
    return f"""#include "probe/probe_archive.h"

namespace fusescope {{

std::string_view probeArchive() {{
  static const unsigned char kBytes[] = {{
    {numbers}}};
  return {{reinterpret_cast<const char*>(kBytes), sizeof kBytes}};
}}

}}  // namespace fusescope
"""


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(source(archive(pathlib.Path(sys.argv[2]))))
