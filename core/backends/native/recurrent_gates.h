#pragma once

#include <cstdint>

namespace fusescope::native {

/// The gates of one sequence in one step, gate after gate, `hidden` numbers each.
struct GateRow {
  const float* projected = nullptr;  ///< what the input gives each gate, with the biases
  const float* recurrent = nullptr;  ///< what the state before gives each gate
  const float* lateBias = nullptr;   ///< GRU, reset after the product: the bias of that product; null: none
  const float* peepholes = nullptr;  ///< LSTM: what the cell gives gates i, o and f; null: nothing
  float* state = nullptr;            ///< [hidden]; becomes the state after the step
  float* cell = nullptr;             ///< LSTM: likewise
  float* reset = nullptr;            ///< resetState(): what it leaves
  std::int64_t hidden = 0;
};

/// LSTM, gates i, o, f, c: cell = σ(f)·cell + σ(i)·tanh(c); state = σ(o)·tanh(cell). A peephole adds the cell before
/// the step to i and f, the one after it to o.
void lstmGates(const GateRow& row);
/// GRU, gates z, r, h: reset = σ(r)·state, which the product of the third gate takes.
void resetState(const GateRow& row);
/// GRU: state = (1 - σ(z))·tanh(h) + σ(z)·state, where h is what is projected and what is recurrent, the latter with
/// its bias times σ(r) where `resetsProduct`.
void gruGates(const GateRow& row, bool resetsProduct);

}  // namespace fusescope::native
