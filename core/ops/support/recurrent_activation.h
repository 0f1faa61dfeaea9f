#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace fusescope::ops {

/// One of the functions that the gates of LSTM, GRU and RNN apply.
struct RecurrentActivation {
  enum class Kind {
    Affine,
    Elu,
    HardSigmoid,
    LeakyRelu,
    Relu,
    ScaledTanh,
    Sigmoid,
    Softplus,
    Softsign,
    Tanh,
    ThresholdedRelu
  };
  Kind kind = Kind::Tanh;
  double alpha = 0, beta = 0;
};

/// The activations of a recurrent node, direction by direction: those of its attributes `activations`,
/// `activation_alpha` and `activation_beta`, or `defaults` (names, for one direction) if it gives none.
Result<std::vector<RecurrentActivation>> readActivations(const Node& node, const std::vector<std::string>& defaults,
                                                         std::size_t directions);

/// LSTM, or ONNX Runtime's DynamicQuantizeLSTM: the same gates with the same attributes.
bool isLstm(const Node& node);
/// The names of the activations that a recurrent node has where it gives none.
std::vector<std::string> defaultActivations(const Node& node);
/// Whether it has just those in every direction, and clips nothing.
bool hasStandardActivations(const Node& node);

/// values[i] = f(values[i]), for float and double.
template <class T>
void activate(const RecurrentActivation& f, std::span<T> values);

}  // namespace fusescope::ops
