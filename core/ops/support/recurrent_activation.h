#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::ops {

/// An activation function of the gates of LSTM, GRU and RNN.
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

/// Reads the activations of a recurrent node, direction by direction, from its attributes `activations`,
/// `activation_alpha` and `activation_beta`. If they are absent, `defaults` (names, for one direction) are used.
Result<std::vector<RecurrentActivation>> readActivations(const Node& node, const std::vector<std::string>& defaults,
                                                         std::size_t directions);

/// Returns whether the node is an LSTM or ONNX Runtime's DynamicQuantizeLSTM, which has the same gates and attributes.
bool isLstm(const Node& node);
/// Returns the names of the activations that a recurrent node uses if it names none.
std::vector<std::string> defaultActivations(const Node& node);
/// Returns whether the node uses these default activations in every direction, and does not clip.
bool hasStandardActivations(const Node& node);

/// Computes values[i] = f(values[i]), for float and double.
template <class T>
void activate(const RecurrentActivation& f, std::span<T> values);

}  // namespace fusescope::ops
