"""Torch-TensorRT on a machine without a GPU, which its authors do not support: it asks for one while it is imported.

The functions by which version 2.14.0 asks are replaced here. They are no interface of it, and other versions have
others, so that nothing is tried with these. Its dry run itself is its own: it only looks at the graph of a program.
"""

import sys

from . import base

VERSION = "2.14.0"
MEMORY = 1 << 34  # bytes that a GPU is said to have, of which all are free: it warns where little is left
CAPABILITY = (8, 9)  # it asks whether this is a Tegra


def check(version):
    """Refusal: this is a version whose functions are not known here."""
    if version.split("+")[0] == VERSION:
        return
    raise base.Refusal(
        f"Torch-TensorRT {version} cannot be imported on a machine without an NVIDIA GPU, and Fusescope can avoid "
        f"this only for version {VERSION}.",
        kind="asked",
        help=f"Install this version: {sys.executable} -m pip install torch-tensorrt-rtx=={VERSION}; or use an "
        "environment on a machine with a GPU.",
    )


def before_import(torch):
    """torch keeps saying that there is no GPU (is_available)."""
    torch.cuda.get_device_capability = lambda *_: CAPABILITY
    torch.cuda.current_device = lambda: 0
    torch.cuda.mem_get_info = lambda *_: (MEMORY, MEMORY)
    torch.cuda.empty_cache = lambda: None


def after_import(torch):
    """Constants that it folds, and what it casts, stay on the CPU."""
    cpu = torch.device("cpu")
    for name, module in list(sys.modules.items()):
        if name.startswith("torch_tensorrt") and hasattr(module, "to_torch_device"):
            module.to_torch_device = lambda _: cpu
