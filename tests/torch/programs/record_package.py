"""Records what AOTInductor packs of the program beside this file: record_package.py FOLDER

FOLDER gets package.pt2: the package without the code in it, which is of one machine and is not read. To be run with a
Python that has torch ([torch-python] of scripts/lib/python-packages.txt), and a C++ compiler."""

import os
import sys
import tempfile
import zipfile

import torch
import torch._inductor.config


def main(folder):
    torch._inductor.config.trace.provenance_tracking_level = 1
    program = torch.export.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "net.pt2"))
    with tempfile.TemporaryDirectory() as made:
        whole = torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(made, "package.pt2"))
        with zipfile.ZipFile(whole) as package, zipfile.ZipFile(os.path.join(folder, "package.pt2"), "w") as kept:
            for name in package.namelist():
                if not name.endswith((".so", ".cpp")):
                    kept.writestr(zipfile.ZipInfo(name), package.read(name), zipfile.ZIP_DEFLATED)


main(sys.argv[1])
