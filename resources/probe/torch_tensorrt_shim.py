"""Makes it possible to use Torch-TensorRT on a machine without a GPU, which its authors do not support: it looks for
one while it is imported.

The functions with which version 2.14.0 looks for one are replaced here. They are not part of its interface, and
other versions have others, so that this is not attempted with other versions. Its dry run is unchanged: it only
looks at the graph of a program.
"""

import sys

from . import base

VERSION = "2.14.0"
# bytes of the GPU that it is told about, all of which are free, because it warns if little memory is left
MEMORY = 1 << 34
CAPABILITY = (8, 9)  # it asks whether this is a Tegra


def check(version):
    """Raises a Refusal for a version whose functions are not known here."""
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
    """Answers the questions that Torch-TensorRT asks about a GPU. torch still reports that there is none
    (is_available)."""
    torch.cuda.get_device_capability = lambda *_: CAPABILITY
    torch.cuda.current_device = lambda: 0
    torch.cuda.mem_get_info = lambda *_: (MEMORY, MEMORY)
    torch.cuda.empty_cache = lambda: None


def after_import(torch):
    """Keeps folded constants and results of casts on the CPU."""
    cpu = torch.device("cpu")
    for name, module in list(sys.modules.items()):
        if name.startswith("torch_tensorrt") and hasattr(module, "to_torch_device"):
            module.to_torch_device = lambda _: cpu
