"""Runs a network that finds speech as its users do, and holds it against ONNX Runtime.

    speech.py FUSESCOPE silero_vad.onnx

One engine is built with the extents that are assumed. It is given chunks of 16 and of 8 kHz one after the other, with
and without the samples that stand before each, for one and for several speakers. The state that comes out goes in with
the next chunk.
"""
import sys

import numpy as np

import check_trained

CHUNKS = 4
SAME = 1e-3  # of the rms of an output
CASES = [(16000, 512, 1), (8000, 256, 1), (16000, 576, 1), (8000, 288, 1), (16000, 512, 3), (8000, 256, 2)]


def main():
    check_trained.FUSESCOPE = sys.argv[1]
    pair = check_trained.Pair(sys.argv[2], [])
    bad = 0
    for rate, samples, speakers in CASES:
        state = np.zeros((2, speakers, 128), np.float32)
        for chunk in range(CHUNKS):
            rows = [check_trained.speech(samples, (chunk * speakers + row) * samples) for row in range(speakers)]
            outputs, worst = pair.run({"input": np.stack(rows).astype(np.float32), "state": state,
                                       "sr": np.array(rate, np.int64)})
            state = outputs["stateN"]
            bad += not worst <= SAME
            print(f"{rate} Hz, {speakers} x {samples}, chunk {chunk}: {worst:.1e}")
    assert np.any(state), "the state never changed"
    print(f"suite: {len(CASES) * CHUNKS} chunks, {bad} differ")
    sys.exit(1 if bad else 0)


main()
