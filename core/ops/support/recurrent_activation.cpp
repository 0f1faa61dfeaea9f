#include "ops/support/recurrent_activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "ops/support/diagnostics.h"
#include "ops/support/list_attributes.h"

namespace fusescope::ops {
namespace {

using Kind = RecurrentActivation::Kind;

/// The parameters of an activation in ONNX, and their defaults, which are those of the operator of the same name;
/// ScaledTanh has none, and 1 leaves Tanh unchanged.
struct ActivationFacts {
  std::string_view name;
  Kind kind;
  bool takesAlpha, takesBeta;
  double alpha, beta;
};

constexpr std::array kFacts{
    ActivationFacts{"Affine", Kind::Affine, true, true, 1.0, 0.0},
    ActivationFacts{"Elu", Kind::Elu, true, false, 1.0, 0.0},
    ActivationFacts{"HardSigmoid", Kind::HardSigmoid, true, true, 0.2, 0.5},
    ActivationFacts{"LeakyRelu", Kind::LeakyRelu, true, false, 0.01, 0.0},
    ActivationFacts{"Relu", Kind::Relu, false, false, 0.0, 0.0},
    ActivationFacts{"ScaledTanh", Kind::ScaledTanh, true, true, 1.0, 1.0},
    ActivationFacts{"Sigmoid", Kind::Sigmoid, false, false, 0.0, 0.0},
    ActivationFacts{"Softplus", Kind::Softplus, false, false, 0.0, 0.0},
    ActivationFacts{"Softsign", Kind::Softsign, false, false, 0.0, 0.0},
    ActivationFacts{"Tanh", Kind::Tanh, false, false, 0.0, 0.0},
    ActivationFacts{"ThresholdedRelu", Kind::ThresholdedRelu, true, false, 1.0, 0.0},
};

bool equalButForCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Returns the next parameter of a list, if there is one.
double next(const std::vector<float>& list, std::size_t& at, double otherwise) {
  return at < list.size() ? static_cast<double>(list[at++]) : otherwise;
}

template <class T>
T sigmoid(T x) {  // both branches avoid exp of a large positive number
  if (x >= 0) return T(1) / (T(1) + std::exp(-x));
  const T e = std::exp(x);
  return e / (T(1) + e);
}

template <class T, class F>
void each(std::span<T> values, F f) {
  for (T& value : values) value = f(value);
}

}  // namespace

Result<std::vector<RecurrentActivation>> readActivations(const Node& node, const std::vector<std::string>& defaults,
                                                         std::size_t directions) {
  auto names = listAttribute<std::string>(node, "activations");
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * directions)
    return attributeProblem("activations", fmt::format("has {} entries, expected {} for each of {} directions",
                                                       names.size(), defaults.size(), directions));
  const auto alphas = listAttribute<float>(node, "activation_alpha");
  const auto betas = listAttribute<float>(node, "activation_beta");
  std::size_t alpha = 0, beta = 0;
  std::vector<RecurrentActivation> result;
  for (const std::string& name : names) {
    const auto* const facts =
        std::ranges::find_if(kFacts, [&](const ActivationFacts& f) { return equalButForCase(f.name, name); });
    if (facts == kFacts.end())
      return attributeProblem("activations", fmt::format("'{}' is not an activation that ONNX has", name));
    // The functions that have parameters take them in order.
    result.push_back({facts->kind, facts->takesAlpha ? next(alphas, alpha, facts->alpha) : 0.0,
                      facts->takesBeta ? next(betas, beta, facts->beta) : 0.0});
  }
  return result;
}

bool isLstm(const Node& node) {
  return node.is("LSTM") || (node.domain == "com.microsoft" && node.op == "DynamicQuantizeLSTM");
}

std::vector<std::string> defaultActivations(const Node& node) {
  if (isLstm(node)) return {"Sigmoid", "Tanh", "Tanh"};
  if (node.is("GRU")) return {"Sigmoid", "Tanh"};
  return {"Tanh"};
}

bool hasStandardActivations(const Node& node) {
  if (node.hasAttribute("clip")) return false;
  const std::vector<std::string> names = defaultActivations(node);
  const bool both = node.textAttribute("direction", "forward") == "bidirectional";
  const auto functions = readActivations(node, names, both ? 2 : 1);
  if (!functions.ok()) return false;
  for (std::size_t i = 0; i < functions.value().size(); ++i) {
    const bool gate = names[i % names.size()] == "Sigmoid";
    if (functions.value()[i].kind != (gate ? RecurrentActivation::Kind::Sigmoid : RecurrentActivation::Kind::Tanh))
      return false;
  }
  return true;
}

template <class T>
void activate(const RecurrentActivation& f, std::span<T> values) {
  const T alpha = static_cast<T>(f.alpha), beta = static_cast<T>(f.beta);
  switch (f.kind) {
    case Kind::Affine:
      return each(values, [=](T x) { return alpha * x + beta; });
    case Kind::Elu:
      return each(values, [=](T x) { return x < 0 ? alpha * std::expm1(x) : x; });
    case Kind::HardSigmoid:
      return each(values, [=](T x) { return std::clamp(alpha * x + beta, T(0), T(1)); });
    case Kind::LeakyRelu:
      return each(values, [=](T x) { return x < 0 ? alpha * x : x; });
    case Kind::Relu:
      return each(values, [](T x) { return x < 0 ? T(0) : x; });
    case Kind::ScaledTanh:
      return each(values, [=](T x) { return alpha * std::tanh(beta * x); });
    case Kind::Sigmoid:
      return each(values, [](T x) { return sigmoid(x); });
    case Kind::Softplus:
      return each(values, [](T x) { return std::max(x, T(0)) + std::log1p(std::exp(-std::fabs(x))); });
    case Kind::Softsign:
      return each(values, [](T x) { return x / (T(1) + std::fabs(x)); });
    case Kind::Tanh:
      return each(values, [](T x) { return std::tanh(x); });
    case Kind::ThresholdedRelu:
      return each(values, [=](T x) { return x >= alpha ? x : T(0); });
  }
}

template void activate<float>(const RecurrentActivation& f, std::span<float> values);
template void activate<double>(const RecurrentActivation& f, std::span<double> values);

}  // namespace fusescope::ops
