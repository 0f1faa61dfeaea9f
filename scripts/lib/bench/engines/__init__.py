"""The engines that are timed. A new peer is one file here and one line of PEERS."""
from .fusescope import Fusescope
from .onnx_runtime import OnnxRuntime
from .openvino_cpu import OpenVino

OWN = Fusescope
PEERS = {peer.name: peer for peer in (OnnxRuntime, OpenVino)}
