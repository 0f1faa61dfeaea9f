"""Writes own_operators.json: ONNX Runtime's operators that are operators here too, and what ONNX Runtime calculates.

    python own_operators.py      with the packages onnx, numpy and onnxruntime
"""
from pathlib import Path

import numpy as np

from plain_forms import case, codes, f32, i8, real, write

HIDDEN = 3


def weights(directions, inputs, each, dtype=np.int8):
    """Of one matrix: codes, scales and zero points, one for each direction or for each gate."""
    wide = 4 * HIDDEN
    extents = (directions, wide) if each else (directions,)
    scales = np.round(np.random.RandomState(inputs).uniform(0.004, 0.007, extents), 4).astype(np.float32)
    zero = np.zeros(extents, dtype) if each else np.arange(3, 3 + 5 * directions, 5).astype(dtype)
    return codes(directions, inputs, wide, dtype=dtype), scales, zero


def lstm(name, time, batch, each=False, dtype=np.int8, bias=True, lengths=None, states=False, peepholes=False, outputs=3,
         atol=2e-5, direction="forward", **attributes):
    directions = 2 if direction == "bidirectional" else 1
    w, w_scale, w_zero = weights(directions, 4, each, dtype)
    r, r_scale, r_zero = weights(directions, HIDDEN, each, dtype)
    state = (directions, batch, HIDDEN)
    inputs = [real(time, batch, 4), w, r, real(directions, 8 * HIDDEN) if bias else None,
              None if lengths is None else np.array(lengths, np.int32), real(*state) if states else None,
              real(*state) if states else None, real(directions, 3 * HIDDEN) if peepholes else None,
              w_scale, w_zero, r_scale, r_zero]
    case(name, "DynamicQuantizeLSTM", inputs, constants=(1, 2, 8, 9, 10, 11), outputs=outputs, atol=atol,
         hidden_size=HIDDEN, direction=direction, **attributes)


def main():
    lstm("plain", 5, 1)
    lstm("no_bias", 5, 1, bias=False, outputs=[0])
    lstm("unsigned", 5, 1, dtype=np.uint8)
    lstm("reverse_each_gate", 5, 1, each=True, direction="reverse", outputs=[0])
    lstm("both_directions", 5, 1, states=True, direction="bidirectional")
    lstm("batch", 4, 2, states=True, outputs=[1, 2])
    lstm("batch_both_directions", 4, 2, each=True, direction="bidirectional")
    # The state of a sequence that has ended still counts for the range of its batch; of which step, no document says.
    lstm("lengths", 5, 2, lengths=[5, 3], states=True, atol=1e-4)
    lstm("lengths_both_directions", 5, 2, lengths=[4, 5], direction="bidirectional")
    lstm("peepholes", 4, 2, peepholes=True, states=True)
    lstm("other_activations", 4, 1, activations=["HardSigmoid", "Relu", "Tanh"], clip=0.9)
    lstm("coupled_gates", 4, 1, input_forget=1)
    write(Path(__file__).with_suffix(".json"))


if __name__ == "__main__":
    main()
