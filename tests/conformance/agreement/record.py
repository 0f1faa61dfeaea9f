"""Writes what ask.py was answered as the list that target_verdicts holds our verdicts against.

    record.py ANSWERS LIST

Lines of LIST that say why a verdict differs stay as they are, where LIST is there.
"""
import json
import sys
from pathlib import Path

HEAD = """# What TensorRT for RTX makes of ONNX's operator cases, and where the verdicts of our target differ (recorded.h says the
# form; resources/targets/TENSORRT_RTX.md says the reasons at length). scripts/agreement asks again and writes it anew.
"""


def main():
    answers = json.loads(Path(sys.argv[1]).read_text())
    path = Path(sys.argv[2])
    before = path.read_text().splitlines() if path.exists() else []
    cases = answers["cases"]
    lines = [f"compiler {answers['compiler']} for {answers['sm']}",
             f"target tensorrt-rtx:{answers['sm'].lower()}",
             f"cases {len(cases)}", ""]
    lines += [line for line in before if line.startswith("differs ")] + [""]
    lines += [f"taken {name}" for name in sorted(cases) if cases[name]["taken"]]
    path.write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
