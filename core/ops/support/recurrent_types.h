#pragma once

#include "ops/support/infer_support.h"

namespace fusescope::ops {

/// How the matrices W and R of each direction stand.
enum class WeightOrder {
  GatesFirst,  ///< [gates, inputs], as ONNX's LSTM, GRU and RNN have them
  InputsFirst  ///< [inputs, gates]
};

/// The types of a recurrent node's outputs: Y [time, directions, batch, hidden], Y_h and Y_c without the time; with
/// layout 1 the batch comes first. Inputs 0 to 7 are those of LSTM.
Result<Types> recurrentTypes(const InferContext& context, WeightOrder order);

/// Multiply-adds of all steps.
std::int64_t recurrentFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope::ops
