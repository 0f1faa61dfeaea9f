#pragma once

#include <cstdint>

namespace fusescope::native {

/// The gates of one sequence in one step: one gate after another, with `hidden` numbers each.
struct GateRow {
  const float* projected = nullptr;  ///< the product of the input for each gate, including the biases
  const float* recurrent = nullptr;  ///< the product of the previous state for each gate
  const float* lateBias = nullptr;   ///< for a GRU that resets after the product: the bias of that product; null: none
  const float* peepholes = nullptr;  ///< for an LSTM: the peephole weights of gates i, o and f; null: none
  float* state = nullptr;            ///< [hidden]; replaced by the state after the step
  float* cell = nullptr;             ///< for an LSTM: the same for the cell
  float* reset = nullptr;            ///< output of resetState()
  std::int64_t hidden = 0;
};

/// Calculates an LSTM with gates i, o, f, c: cell = σ(f)·cell + σ(i)·tanh(c); state = σ(o)·tanh(cell). Peepholes add
/// the cell before the step to i and f, and the cell after it to o.
void lstmGates(const GateRow& row);
/// Calculates the reset state of a GRU with gates z, r, h: reset = σ(r)·state, which the product of the third gate
/// reads.
void resetState(const GateRow& row);
/// Calculates a GRU: state = (1 - σ(z))·tanh(h) + σ(z)·state. Here h is the sum of the projected and the recurrent
/// part; with `resetsProduct` the recurrent part and its bias are multiplied by σ(r).
void gruGates(const GateRow& row, bool resetsProduct);

}  // namespace fusescope::native
