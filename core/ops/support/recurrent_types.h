#pragma once

#include "ops/support/infer_support.h"

namespace fusescope::ops {

/// The order of the axes in the matrices W and R of a direction.
enum class WeightOrder {
  GatesFirst,  ///< [gates, inputs], as in ONNX's LSTM, GRU and RNN
  InputsFirst  ///< [inputs, gates]
};

/// Infers the types of a recurrent node's outputs: Y is [time, directions, batch, hidden]; Y_h and Y_c have no time
/// axis. With layout 1, the batch comes first. Inputs 0 to 7 are those of LSTM.
Result<Types> recurrentTypes(const InferContext& context, WeightOrder order);

/// Counts the operations of all steps.
std::int64_t recurrentFlops(const Node& node, std::span<const Dims> inputs, std::span<const Dims> outputs);

}  // namespace fusescope::ops
