// Convolutions and products of codes against the reference, node by node: codes at most one step apart and almost all
// equal, whatever the CPU may use. ctest runs this again with oneDNN held to AVX2, where our own kernels must do it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

constexpr int kCases = 240;
/// Of codes: floats that stand between two of them are rounded to either by the order of a sum.
constexpr double kMostUnlike = 0.01;

/// A random network of one convolution or product of codes.
class RandomNet : Net {
 public:
  explicit RandomNet(std::uint32_t seed) : m_random(seed * 2654435761U + 1) { Net::seed = seed * 31 + 7; }

  std::vector<TacticOutcome> run() {
    const ValueId root = pick({0, 1}) == 0 ? convolution() : product();
    editor.addOutput(epilogue(root));
    const auto plan = planned(editor);
    oneKernel = plan->fusedNodes.size() == 1;
    return tryAllTactics(*plan);
  }
  std::string text() const { return m_text; }
  bool oneKernel = false;
  bool isCodes = false;  ///< what comes out

 private:
  std::int64_t pick(std::initializer_list<std::int64_t> of) { return of.begin()[m_random() % of.size()]; }
  bool chance(unsigned of) { return m_random() % of == 0; }
  DataType byteType() { return chance(2) ? DataType::U8 : DataType::I8; }
  float scaleNear(double size) {
    const double factor = 0.5 + static_cast<double>(m_random() % 1000) / 1000;
    // Powers of two make sums that stand exactly between two codes.
    return static_cast<float>(chance(3) ? std::exp2(std::round(std::log2(size * factor))) : size * factor);
  }
  ValueId zero(DataType type, bool none) {
    const float middle = type == DataType::U8 ? 128.0f : 0.0f;
    const float at = none ? 0.0f : middle + static_cast<float>(m_random() % 255) - 127.0f;
    return editor.addConstant("z" + std::to_string(names++), Tensor::scalar(at).converted(type));
  }
  ValueId dequantised(ValueId codes, float scale, ValueId zeroPoint) {
    return add("DequantizeLinear", {codes, number(scale), zeroPoint});
  }

  ValueId source(const Dims& dims) {
    const DataType type = byteType();
    m_text += std::string(name(type)) + " ";
    m_sourceScale = scaleNear(0.02);
    return dequantised(input(dims, type), m_sourceScale, zero(type, chance(2)));
  }

  /// Symmetric mostly, as quantisers write them.
  ValueId weightsOf(const Dims& dims, std::int64_t axis) {
    const bool perChannel = chance(2), isUnsigned = chance(5), symmetric = !chance(5);
    const DataType type = isUnsigned ? DataType::U8 : DataType::I8;
    const std::int64_t channels = dims[static_cast<std::size_t>(axis)];
    const Dims each = perChannel ? Dims{channels} : Dims{};
    Tensor scales = Tensor::zeros(DataType::F32, each), zeros = Tensor::zeros(DataType::F32, each);
    for (float& scale : scales.mutableData<float>()) scale = scaleNear(0.01);
    for (float& at : zeros.mutableData<float>())
      at = (isUnsigned ? 128.0f : 0.0f) + (symmetric ? 0.0f : static_cast<float>(m_random() % 200) - 100.0f);
    m_text += std::string("by ") + std::string(name(type)) + (symmetric ? " " : " asymmetric ");
    return add("DequantizeLinear",
               {codes(dims, type), editor.addConstant("s" + std::to_string(names++), scales),
                editor.addConstant("z" + std::to_string(names++), zeros.converted(type))},
               {{"axis", axis}});
  }

  ValueId biasOf(std::int64_t channels) {
    if (chance(3)) return {};
    if (chance(2)) return weights({channels});
    Tensor sums = Tensor::zeros(DataType::F32, {channels});
    for (float& sum : sums.mutableData<float>()) sum = static_cast<float>(m_random() % 20000) - 10000.0f;
    return add("DequantizeLinear", {editor.addConstant("b" + std::to_string(names++), sums.converted(DataType::I32)),
                                    number(m_sourceScale * 0.01f)});
  }

  ValueId convolution() {
    const std::int64_t groups = pick({1, 1, 1, 2, 4}), axes = pick({2, 2, 2, 2, 1, 3});
    const bool depthwise = chance(4);
    std::int64_t inputs = groups * pick({1, 3, 4, 8, 13, 16}), outputs = groups * pick({1, 4, 8, 16, 17});
    std::int64_t split = groups;
    if (depthwise) split = inputs = outputs = pick({3, 8, 16, 24, 33});
    Dims x = {pick({1, 1, 2}), inputs}, w = {outputs, inputs / split};
    Ints strides, dilations, pads(static_cast<std::size_t>(2 * axes));
    for (std::int64_t i = 0; i < axes; ++i) {
      x.push_back(pick({5, 7, 8, 11}));
      w.push_back(pick({1, 2, 3}));
      strides.push_back(pick({1, 1, 2}));
      dilations.push_back(pick({1, 1, 1, 2}));
    }
    for (std::int64_t& pad : pads) pad = pick({0, 0, 1, 2});
    m_text += "Conv " + toText(x) + " by " + toText(w) + " ";
    m_depth = inputs / split * elementCount(Dims(w.begin() + 2, w.end())).value();
    const ValueId from = source(x), filters = weightsOf(w, 0), bias = biasOf(outputs);
    std::vector<ValueId> operands = {from, filters};
    if (bias.valid()) operands.push_back(bias);
    const ValueId y =
        add("Conv", operands, {{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", split}});
    m_isConv = true;
    m_result = {x[0], outputs};
    for (std::size_t i = 0; i < strides.size(); ++i)
      m_result.push_back(
          (x[i + 2] + pads[i] + pads[i + strides.size()] - dilations[i] * (w[i + 2] - 1) - 1) / strides[i] + 1);
    return y;
  }

  /// Of two activations.
  ValueId attended() {
    const Dims batch = chance(2) ? Dims{2, 3} : Dims{};
    const std::int64_t m = pick({1, 5, 16}), k = pick({4, 7, 32, 64}), n = pick({3, 16, 33});
    Dims a = batch, b = batch;
    m_result = batch;
    for (const std::int64_t extent : {m, k}) a.push_back(extent);
    for (const std::int64_t extent : {k, n}) b.push_back(extent);
    for (const std::int64_t extent : {m, n}) m_result.push_back(extent);
    m_depth = k;
    m_text += "MatMul " + toText(a) + " and " + toText(b) + " ";
    const ValueId left = source(a);
    const DataType type = byteType();
    m_text += "by " + std::string(name(type)) + " ";
    return add("MatMul", {left, dequantised(input(b, type), scaleNear(0.01), zero(type, chance(2)))});
  }

  ValueId product() {
    if (chance(3)) return attended();
    const std::int64_t k = pick({1, 4, 7, 32, 61, 128}), n = pick({1, 5, 16, 33, 64});
    m_depth = k;
    if (chance(2)) {
      const bool turned = chance(2);
      m_result = {pick({1, 3, 9}), n};
      m_text += "Gemm " + std::to_string(k) + " to " + std::to_string(n) + " ";
      const ValueId from = source({m_result[0], k});
      const ValueId matrix = turned ? weightsOf({n, k}, 0) : weightsOf({k, n}, 1), bias = biasOf(n);
      std::vector<ValueId> operands = {from, matrix};
      if (bias.valid()) operands.push_back(bias);
      return add("Gemm", operands, {{"transB", std::int64_t{turned}}});
    }
    m_result = chance(2) ? Dims{pick({1, 6}), n} : Dims{2, pick({3, 5}), n};
    Dims x = m_result;
    x.back() = k;
    m_text += "MatMul " + toText(x) + " to " + std::to_string(n) + " ";
    const ValueId from = source(x), matrix = weightsOf({k, n}, 1), bias = biasOf(n);
    const ValueId y = add("MatMul", {from, matrix});
    return bias.valid() ? add("Add", {y, bias}) : y;
  }

  ValueId rounded(ValueId value, float scale) {
    const DataType type = byteType();
    const ValueId place = zero(type, chance(2));
    m_text += "rounded ";
    return dequantised(add("QuantizeLinear", {value, number(scale), place}), scale, place);
  }

  /// By a constant for each channel.
  ValueId shifted(ValueId value) {
    m_text += "+ constants ";
    Dims each(m_isConv ? m_result.size() - 1 : 1, 1);
    each[0] = m_result[m_isConv ? 1 : m_result.size() - 1];
    return add("Add", {value, weights(each)});
  }

  ValueId activated(ValueId value) {
    switch (pick({0, 1, 2, 3, 4, 5, 5, 5})) {
      case 0:
        return m_text += "Relu ", add("Relu", {value});
      case 1:
        return m_text += "Clip ", add("Clip", {value, number(0), number(m_size)});
      case 2:
        return m_text += "LeakyRelu ", add("LeakyRelu", {value});
      case 3:
        return m_text += "HardSwish ", add("HardSwish", {value});
      case 4:
        return m_text += "Sigmoid ", add("Sigmoid", {value});
      default:
        return value;
    }
  }

  /// Scales are such that most codes are within their range and some are not. A step of a value that is rounded on the
  /// way is no more than one of the result.
  ValueId epilogue(ValueId value) {
    m_size = static_cast<float>(m_sourceScale * 0.01 * std::sqrt(static_cast<double>(m_depth)) * 75 * 75);
    isCodes = !chance(4);
    const float scale = scaleNear(m_size / 60);
    bool plain = true;
    if (isCodes && chance(3)) {
      value = rounded(value, scale);
      plain = false;
      if (chance(2)) value = shifted(value);
    }
    if (chance(2)) value = activated(value);
    if (plain && chance(3)) {
      if (chance(3)) {
        m_text += "+ floats ";
        value = add("Add", {value, input(m_result)});
      } else {
        m_text += "+ codes ";
        const DataType type = byteType();
        const ValueId other = dequantised(input(m_result, type), scale / 2, zero(type, chance(2)));
        value = chance(2) ? add("Add", {value, other}) : add("Add", {other, value});
      }
      if (chance(2)) value = add("Relu", {value});
    }
    if (!isCodes) return value;
    const DataType type = byteType();
    m_text += "to " + std::string(name(type));
    return add("QuantizeLinear", {value, number(2 * scale), zero(type, chance(2))});
  }

  std::mt19937 m_random;
  std::string m_text;
  float m_sourceScale = 0, m_size = 0;
  std::int64_t m_depth = 1;
  bool m_isConv = false;
  Dims m_result;
};

TEST(QuantizedRoots, AgreeWithTheReferenceToAStep) {
  int oneKernel = 0, ran = 0, integers = 0, byOneDnn = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    RandomNet net(static_cast<std::uint32_t>(seed));
    const auto outcomes = net.run();
    SCOPED_TRACE(std::to_string(seed) + ": " + net.text());
    oneKernel += net.oneKernel;
    for (const TacticOutcome& outcome : outcomes) {
      EXPECT_EQ(outcome.problem, "") << outcome.tactic;
      if (outcome.tactic == "reference") continue;
      ++ran;
      integers += !outcome.emulated;
      byOneDnn += !outcome.emulated && outcome.tactic.starts_with("onednn:");
      if (net.isCodes && net.oneKernel) {
        EXPECT_LE(outcome.steps, 1) << outcome.tactic;
        EXPECT_LE(outcome.unlike, kMostUnlike) << outcome.tactic;
      } else {
        EXPECT_LE(outcome.worst, net.oneKernel ? 2e-5 : 0.05) << outcome.tactic;
      }
    }
  }
  std::cout << kCases << " networks, " << oneKernel << " of them one kernel; " << ran << " tactics of ours ran, "
            << integers << " of them on integers, " << byOneDnn << " by oneDNN\n";
  EXPECT_GT(oneKernel, kCases / 2);
  EXPECT_GT(integers, kCases / 2);
}

Tensor filled(DataType type, const Dims& dims, float number) {
  Tensor tensor = Tensor::zeros(DataType::F32, dims);
  std::ranges::fill(tensor.mutableData<float>(), number);
  return tensor.converted(type);
}

// Two products of 255 by 127 are more than 16 bits hold: kernels that add them in such would clamp.
TEST(QuantizedRoots, NothingSaturatesOnTheWay) {
  Net net;
  const auto zero = [&](const char* name, DataType type) { return net.editor.addConstant(name, filled(type, {}, 0)); };
  const ValueId codes = net.editor.addConstant("most", filled(DataType::I8, {64, 8}, 127));
  const ValueId x =
      net.add("DequantizeLinear", {net.input({4, 64}, DataType::U8), net.number(1), zero("x", DataType::U8)});
  const ValueId w = net.add("DequantizeLinear", {codes, net.number(1), zero("w", DataType::I8)});
  net.editor.addOutput(net.add("MatMul", {x, w}));
  const auto most = [](DataType type, const Dims& dims, std::uint32_t) { return filled(type, dims, 255); };
  EXPECT_GT(expectAgreement(tryAllTactics(*planned(net.editor), {}, 2, most), 1e-7), 0);
}

}  // namespace
}  // namespace fusescope::testing
