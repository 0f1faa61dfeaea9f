#include "verify/rounding_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/random_numbers.h"
#include "ops/op_schema.h"
#include "verify/element_bounds.h"

namespace fusescope {
namespace {

/// The relative error of what a node calculates in float32, except for sums.
constexpr double kOfArithmetic = 0x1p-22;  ///< two units in the last place
constexpr double kOfFunction = 0x1p-18;    ///< what kernels approximate functions to
constexpr double kLeast = 0x1p-23;         ///< the least that moves every number of float32
constexpr double kDoubleToFloat = 0x1p-29;

enum class Accuracy {
  Exact,       ///< selects, moves, compares or rounds to whole numbers
  Arithmetic,  ///< one operation of IEEE 754 for each element
  Function,    ///< a function of single numbers, or a division of a row by a sum of its numbers
  Sum,         ///< a product or convolution, whose terms may cancel
};

template <std::size_t count>
bool isOneOf(const std::array<std::string_view, count>& names, const Node& node) {
  return node.domain.empty() && std::ranges::find(names, node.op) != names.end();
}

Accuracy accuracyOf(const Node& node) {
  static constexpr std::array<std::string_view, 24> kPicks{
      "Abs",     "Neg",    "Sign",          "Relu",    "Clip",      "Max",  "Min",     "Ceil",
      "Floor",   "Round",  "Where",         "Mod",     "ReduceMax", "TopK", "Hardmax", "ReduceMin",
      "Dropout", "ArgMax", "GlobalMaxPool", "MaxPool", "ArgMin",    "Cast", "OneHot",  "MaxUnpool"};
  static constexpr std::array<std::string_view, 6> kArithmetic{"Add", "Sub", "Mul", "Div", "Sum", "DequantizeLinear"};
  const OpSchema* schema = OpRegistry::standard().find(node);
  const OpKind kind = schema == nullptr ? OpKind::Other : schema->kind;
  if (kind == OpKind::View || kind == OpKind::Movement || kind == OpKind::Shape || kind == OpKind::ControlFlow ||
      isOneOf(kPicks, node))
    return Accuracy::Exact;
  if (isOneOf(kArithmetic, node)) return Accuracy::Arithmetic;
  return kind == OpKind::Convolution || kind == OpKind::MatMul ? Accuracy::Sum : Accuracy::Function;
}

/// The directions of the errors of one tensor's elements. In the runs 0 and 1, all are equal, as when the mean of a row
/// is rounded; in others each is random.
class Signs {
 public:
  Signs(std::uint64_t run, const Node& node, std::uint64_t place)
      : m_numbers((run / 2 * 0x10001 + node.id.index) * 64 + place),
        m_isRandom(run > 1),
        m_flip(run % 2 == 0 ? 0 : ~std::uint64_t{0}) {}
  double next() {
    if (m_left == 0) {
      m_bits = (m_isRandom ? m_numbers.next() : ~std::uint64_t{0}) ^ m_flip;
      m_left = 64;
    }
    --m_left;
    const bool up = (m_bits & 1) != 0;
    m_bits >>= 1;
    return up ? 1 : -1;
  }

 private:
  RandomNumbers m_numbers;
  bool m_isRandom;
  std::uint64_t m_flip, m_bits = 0;
  int m_left = 0;
};

/// Returns which fraction of the possible error of functions and sums is applied in a run. A kernel may be nearer to
/// the expected values, and the consequences of a small error need not lie between those of larger ones, as for |x|
/// next to 0.
double shareOf(std::uint64_t run) {
  constexpr std::array kShares{1.0, 1.0 / 8, 1.0 / 64};
  return kShares[run / 2 % kShares.size()];
}

/// Changes each number by `ofNumber` of itself and by `ofRms` of the rms of all. Zero is unchanged, because nothing was
/// added.
template <class Float>
Tensor noisy(const Tensor& tensor, double ofNumber, double ofRms, Signs signs) {
  constexpr double kDenormal = std::numeric_limits<Float>::denorm_min();
  const double all = kDenormal + (ofRms > 0 ? ofRms * rmsOf(tensor) : 0);
  Tensor result = Tensor::zeros(tensor.type(), tensor.dims());
  const auto from = tensor.data<Float>();
  const auto to = result.mutableData<Float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double number = static_cast<double>(from[i]), sign = signs.next();
    const bool stays = number == 0 || !std::isfinite(number);
    to[i] = stays ? from[i] : static_cast<Float>(number + sign * (ofNumber * std::fabs(number) + all));
  }
  return result;
}

void disturb(Tensor& tensor, double ofNumber, double ofRms, const Signs& signs) {
  if (tensor.container() != Container::None || !tensor.hasData()) return;
  if (tensor.type() == DataType::F32) tensor = noisy<float>(tensor, ofNumber, ofRms, signs);
  if (tensor.type() == DataType::F64)
    tensor = noisy<double>(tensor, ofNumber * kDoubleToFloat, ofRms * kDoubleToFloat, signs);
}

/// Replaces NaN by an infinity of one sign.
void replaceNaN(Tensor& tensor, float infinity) {
  if (tensor.container() != Container::None || tensor.type() != DataType::F32 || !tensor.hasData()) return;
  const auto isNaN = [](float number) { return std::isnan(number); };
  if (std::ranges::none_of(tensor.data<float>(), isNaN)) return;
  Tensor result = Tensor::copyOf(DataType::F32, tensor.dims(), tensor.data<float>());
  std::ranges::replace_if(result.mutableData<float>(), isNaN, infinity);
  tensor = std::move(result);
}

}  // namespace

void RoundingNoise::disturbOperands(const Node& node, std::vector<Tensor>& operands) {
  if (operands.empty() || node.outputs.empty() || !node.outputs.front().valid()) return;
  const Accuracy accuracy = accuracyOf(node);
  // The result of a function on a disturbed number shows how accurately it can be known; for a sum, this shows
  // cancellation.
  if (accuracy == Accuracy::Function || accuracy == Accuracy::Sum)
    disturb(operands.front(), kOfArithmetic, 0, Signs(m_run, node, 63));
  const bool makesIntegers = std::ranges::any_of(
      node.outputs, [&](ValueId value) { return value.valid() && isInteger(m_graph.value(value).type.dtype); });
  if (makesIntegers) replaceNaN(operands.front(), m_run % 2 == 0 ? INFINITY : -INFINITY);
}

void RoundingNoise::disturbResults(const Node& node, std::vector<Tensor>& results) {
  const Accuracy accuracy = accuracyOf(node);
  if (accuracy == Accuracy::Exact) return;
  const double share = shareOf(m_run);
  const double ofNumber = accuracy == Accuracy::Function ? std::max(share * kOfFunction, kLeast) : kOfArithmetic;
  const double ofRms = accuracy == Accuracy::Sum ? share * kOfSum : 0;
  for (std::size_t i = 0; i < results.size(); ++i) disturb(results[i], ofNumber, ofRms, Signs(m_run, node, i));
}

}  // namespace fusescope
