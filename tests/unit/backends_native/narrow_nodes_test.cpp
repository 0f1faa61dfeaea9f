// Single operators with random extents, axes, windows and groups in bf16 and f16: each native tactic beside the
// reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "ir/graph.h"
#include "tests/support/node_by_node.h"
#include "tests/unit/backends_native/narrow_net.h"

namespace fusescope::testing {
namespace {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : m_random(seed * 2654435761U + 11) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool oneIn(int n) { return from(1, n) == 1; }
  Dims dims(std::size_t rank, std::int64_t least, std::int64_t most) {
    Dims all(rank);
    for (std::int64_t& extent : all) extent = from(least, most);
    return all;
  }

 private:
  std::mt19937 m_random;
};

/// A network of one operator, with what its floats are read from in memory at the narrow type.
struct Maker {
  TypedNet net;
  Dice dice;
  bool isDeclared;  ///< the network itself says the type; else the plan does

  ValueId input(const Dims& dims) { return isDeclared ? net.input(dims) : net.add("Neg", {net.input(dims)}); }
  std::int64_t axisOf(std::size_t rank) { return dice.from(0, static_cast<std::int64_t>(rank) - 1); }
};

/// Kernel, strides, pads and dilations of a window over `spatial` extents.
std::map<std::string, Attribute> windowOf(Maker& make, const Dims& kernel, bool dilates) {
  std::map<std::string, Attribute> window{{"kernel_shape", kernel}};
  window["strides"] = make.dice.dims(kernel.size(), 1, 3);
  if (dilates && make.dice.oneIn(2)) window["dilations"] = make.dice.dims(kernel.size(), 1, 2);
  Ints pads(2 * kernel.size());
  for (std::size_t i = 0; i < pads.size(); ++i) pads[i] = make.dice.from(0, kernel[i % kernel.size()] - 1);
  window["pads"] = pads;
  return window;
}

Dims imageOf(Maker& make, std::int64_t channels, std::size_t rank) {
  Dims dims{make.dice.from(1, 2), channels};
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(make.dice.from(6, rank == 1 ? 40 : rank == 2 ? 20 : 8));
  return dims;
}

ValueId convolution(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.oneIn(4) ? make.dice.from(1, 3) : 2);
  const std::int64_t groups = make.dice.oneIn(2) ? 1 : make.dice.from(2, 8);
  const std::int64_t in = make.dice.oneIn(3) ? 1 : make.dice.from(2, 8), out = make.dice.from(1, 4);
  const Dims kernel = make.dice.dims(rank, 1, 3);
  Dims weights{groups * out, in};
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  auto attributes = windowOf(make, kernel, true);
  attributes["group"] = groups;
  const ValueId x = make.input(imageOf(make, groups * in, rank));
  std::vector<ValueId> operands{x, make.net.weights(weights)};
  if (make.dice.oneIn(2)) operands.push_back(make.net.weights({groups * out}));
  const ValueId result = make.net.add("Conv", operands, attributes);
  return make.dice.oneIn(2) ? make.net.add("Relu", {result}) : result;
}

ValueId transposedConvolution(Maker& make) {
  const std::int64_t groups = make.dice.from(1, 2), in = make.dice.from(1, 6), out = make.dice.from(1, 4);
  const Dims kernel = make.dice.dims(2, 1, 3);
  std::map<std::string, Attribute> attributes{{"kernel_shape", kernel}, {"group", groups}};
  attributes["strides"] = make.dice.dims(2, 1, 2);
  return make.net.add(
      "ConvTranspose",
      {make.input(imageOf(make, groups * in, 2)), make.net.weights({groups * in, out, kernel[0], kernel[1]})},
      attributes);
}

ValueId pool(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 3));
  const bool average = make.dice.oneIn(2);
  auto attributes = windowOf(make, make.dice.dims(rank, 1, 4), true);
  if (make.dice.oneIn(3)) attributes["ceil_mode"] = std::int64_t{1};
  if (average) attributes["count_include_pad"] = make.dice.from(0, 1);
  const ValueId x = make.input(imageOf(make, make.dice.from(1, 40), rank));
  return make.net.add(average ? "AveragePool" : "MaxPool", {x}, attributes);
}

ValueId globalPool(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 3));
  return make.net.add(make.dice.oneIn(2) ? "GlobalAveragePool" : "GlobalMaxPool",
                      {make.input(imageOf(make, make.dice.from(1, 20), rank))});
}

ValueId product(Maker& make) {
  const std::int64_t m = make.dice.from(1, 140), k = make.dice.from(1, 70), n = make.dice.from(1, 90);
  Dims batches = make.dice.dims(static_cast<std::size_t>(make.dice.from(0, 2)), 1, 3);
  Dims a = batches, b;
  a.insert(a.end(), {m, k});
  if (make.dice.oneIn(3)) b = batches;
  b.insert(b.end(), {k, n});
  const ValueId right = make.dice.oneIn(3) ? make.input(b) : make.net.weights(b);
  return make.net.add("MatMul", {make.input(a), right});
}

ValueId gemm(Maker& make) {
  const std::int64_t m = make.dice.from(1, 110), k = make.dice.from(1, 50), n = make.dice.from(1, 70);
  const std::int64_t turnsA = make.dice.oneIn(4), turnsB = make.dice.from(0, 1);
  std::vector<ValueId> operands{make.input(turnsA != 0 ? Dims{k, m} : Dims{m, k}),
                                make.net.weights(turnsB != 0 ? Dims{n, k} : Dims{k, n})};
  if (make.dice.oneIn(2)) operands.push_back(make.net.weights(make.dice.oneIn(2) ? Dims{n} : Dims{m, n}));
  std::map<std::string, Attribute> attributes{{"transA", turnsA}, {"transB", turnsB}};
  if (make.dice.oneIn(3)) attributes["alpha"] = 0.5f;
  return make.net.add("Gemm", operands, attributes);
}

ValueId softmax(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 4));
  return make.net.add(make.dice.oneIn(3) ? "LogSoftmax" : "Softmax", {make.input(make.dice.dims(rank, 1, 40))},
                      {{"axis", make.axisOf(rank)}});
}

ValueId reduction(Maker& make) {
  static const std::vector<const char*> kNames{"ReduceSum",       "ReduceMean", "ReduceMax",
                                               "ReduceMin",       "ReduceProd", "ReduceL1",
                                               "ReduceSumSquare", "ReduceL2",   "ReduceLogSumExp"};
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 4));
  const char* name = kNames[static_cast<std::size_t>(make.dice.from(0, std::ssize(kNames) - 1))];
  Ints axes;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (make.dice.oneIn(2)) axes.push_back(static_cast<std::int64_t>(axis));
  if (axes.empty()) axes.push_back(make.axisOf(rank));
  return make.net.add(name, {make.input(make.dice.dims(rank, 1, 20)), make.net.ints(axes)},
                      {{"keepdims", make.dice.from(0, 1)}});
}

ValueId norm(Maker& make) {
  const std::int64_t channels = 2 * make.dice.from(1, 8);
  switch (make.dice.from(0, 4)) {
    case 0: {
      const ValueId x = make.input(imageOf(make, channels, 2));
      return make.net.add("InstanceNormalization", {x, make.net.weights({channels}), make.net.weights({channels})});
    }
    case 1: {
      const ValueId x = make.input(imageOf(make, channels, 2));
      return make.net.add("GroupNormalization", {x, make.net.weights({channels}), make.net.weights({channels})},
                          {{"num_groups", std::int64_t{2}}});
    }
    case 2: {
      const ValueId x = make.input(imageOf(make, channels, 2));
      return make.net.add("BatchNormalization", {x, make.net.weights({channels}), make.net.weights({channels}),
                                                 make.net.weights({channels}), make.net.positive({channels})});
    }
    case 3: {
      const std::int64_t width = make.dice.from(2, 100);
      return make.net.add("RMSNormalization", {make.input({make.dice.from(1, 9), width}), make.net.weights({width})});
    }
    default: {
      const std::int64_t width = make.dice.from(2, 100);
      return make.net.add("LayerNormalization", {make.input({make.dice.from(1, 9), 3, width}),
                                                 make.net.weights({width}), make.net.weights({width})});
    }
  }
}

ValueId resize(Maker& make) {
  static const std::vector<std::string> kModes{"nearest", "linear", "cubic"};
  static const std::vector<std::string> kPlaces{"half_pixel", "asymmetric", "align_corners"};
  const std::string mode = kModes[static_cast<std::size_t>(make.dice.from(0, 2))];
  std::map<std::string, Attribute> attributes{{"mode", mode}};
  attributes["coordinate_transformation_mode"] = kPlaces[static_cast<std::size_t>(make.dice.from(0, 2))];
  const ValueId x = make.input(imageOf(make, make.dice.from(1, 9), 2));
  const auto scale = [&] { return static_cast<float>(make.dice.from(1, 6)) / 2; };
  return make.net.add("Resize", {x, ValueId(), make.net.numbers({1, 1, scale(), scale()})}, attributes);
}

ValueId gathered(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 3));
  const Dims dims = make.dice.dims(rank, 3, 20);
  const ValueId data = make.dice.oneIn(2) ? make.net.weights(dims) : make.input(dims);
  if (make.dice.oneIn(3)) {
    const ValueId places = make.net.input({make.dice.from(1, 9), make.axisOf(rank) + 1}, DataType::I64);
    return make.net.add("GatherND", {data, places});
  }
  const ValueId places = make.net.input(make.dice.dims(2, 1, 5), DataType::I64);
  return make.net.add("Gather", {data, places}, {{"axis", make.axisOf(rank)}});
}

ValueId movement(Maker& make) {
  const Dims dims = make.dice.dims(3, 1, 20);
  const ValueId x = make.input(dims);
  switch (make.dice.from(0, 4)) {
    case 0: {
      Dims other = dims;
      const std::int64_t axis = make.axisOf(3);
      other[static_cast<std::size_t>(axis)] = make.dice.from(1, 9);
      return make.net.add("Concat", {x, make.input(other)}, {{"axis", axis}});
    }
    case 1:
      return make.net.add("Pad", {x, make.net.ints(make.dice.dims(6, 0, 3))});
    case 2: {
      const ValueId turned = make.net.add("Transpose", {x}, {{"perm", Ints{2, 0, 1}}});
      return make.net.add("Mul", {turned, make.input({dims[2], 1, dims[1]})});
    }
    case 3:
      return make.net.add("Tile", {x, make.net.ints(make.dice.dims(3, 1, 3))});
    default: {
      const ValueId part =
          make.net.add("Slice", {x, make.net.ints({0}), make.net.ints({1000}), make.net.ints({make.axisOf(3)})});
      return make.net.add("Expand", {part, make.net.ints({2, dims[0], dims[1], dims[2]})});
    }
  }
}

ValueId topOf(Maker& make) {
  const auto rank = static_cast<std::size_t>(make.dice.from(1, 3));
  return make.net.add("TopK", {make.input(make.dice.dims(rank, 3, 20)), make.net.ints({make.dice.from(1, 3)})},
                      {{"axis", make.axisOf(rank)}, {"largest", make.dice.from(0, 1)}});
}

ValueId pointwise(Maker& make) {
  static const std::vector<const char*> kUnary{"Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Gelu", "HardSwish", "Abs"};
  const Dims dims = make.dice.dims(3, 1, 20);
  Dims other = dims;
  for (std::int64_t& extent : other)
    if (make.dice.oneIn(3)) extent = 1;
  const ValueId right = make.dice.oneIn(2) ? make.input(other) : make.net.weights(other);
  const ValueId sum = make.net.add(make.dice.oneIn(2) ? "Add" : "Mul", {make.input(dims), right});
  return make.net.add(kUnary[static_cast<std::size_t>(make.dice.from(0, std::ssize(kUnary) - 1))], {sum});
}

ValueId attention(Maker& make) {
  const std::int64_t heads = make.dice.from(1, 3),
                     rows = make.dice.oneIn(2) ? make.dice.from(1, 4) : make.dice.from(5, 90);
  const std::int64_t keys = make.dice.from(1, 90), depth = make.dice.from(1, 40), width = make.dice.from(1, 40);
  const ValueId q = make.input({1, heads, rows, depth}), v = make.input({1, heads, keys, width});
  const ValueId turned = make.dice.oneIn(2) ? make.input({1, heads, depth, keys})
                                            : make.net.add("Transpose", {make.input({1, heads, keys, depth})},
                                                           {{"perm", Ints{0, 1, 3, 2}}});
  ValueId scores = make.net.add("Mul", {make.net.add("MatMul", {q, turned}), make.net.number(0.25f)});
  if (make.dice.oneIn(2)) scores = make.net.add("Add", {scores, make.input({1, 1, rows, keys})});
  const ValueId weights = make.net.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const ValueId result = make.net.add("MatMul", {weights, v});
  if (make.dice.oneIn(2)) return result;
  return make.net.add("Transpose", {result}, {{"perm", Ints{0, 2, 1, 3}}});
}

ValueId recurrence(Maker& make) {
  static const std::vector<std::string> kDirections{"forward", "reverse", "bidirectional"};
  const bool lstm = make.dice.oneIn(2);
  const std::string direction = kDirections[static_cast<std::size_t>(make.dice.from(0, 2))];
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1, gates = lstm ? 4 : 3;
  const std::int64_t hidden = make.dice.from(1, 40), features = make.dice.from(1, 40);
  std::map<std::string, Attribute> attributes{{"hidden_size", hidden}, {"direction", direction}};
  if (!lstm && make.dice.oneIn(2)) attributes["linear_before_reset"] = std::int64_t{1};
  std::vector<ValueId> operands{make.input({make.dice.from(1, 9), make.dice.from(1, 3), features}),
                                make.net.weights({directions, gates * hidden, features}, 0.3f),
                                make.net.weights({directions, gates * hidden, hidden}, 0.3f)};
  if (make.dice.oneIn(2)) operands.push_back(make.net.weights({directions, 2 * gates * hidden}));
  return make.net.add(lstm ? "LSTM" : "GRU", operands, attributes);
}

struct Family {
  const char* name;
  ValueId (*make)(Maker&);
};

constexpr Family kFamilies[] = {{"Conv", convolution},    {"ConvTranspose", transposedConvolution},
                                {"Pool", pool},           {"GlobalPool", globalPool},
                                {"MatMul", product},      {"Gemm", gemm},
                                {"Softmax", softmax},     {"Reduce", reduction},
                                {"Norm", norm},           {"Resize", resize},
                                {"Gather", gathered},     {"Movement", movement},
                                {"TopK", topOf},          {"Pointwise", pointwise},
                                {"Attention", attention}, {"Recurrence", recurrence}};

void PrintTo(const Family& family, std::ostream* out) {
  *out << family.name;
}

class NarrowNodes : public ::testing::TestWithParam<std::tuple<Family, DataType>> {};

std::map<std::string, Tensor> inputsOf(const Graph& graph, std::uint32_t seed) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    inputs[value.name] = randomTensor(value.type.dtype, value.type.shape.fixed().value(), seed++);
  }
  return inputs;
}

/// FUSESCOPE_NARROW_CASES says how many of each family and type.
TEST_P(NarrowNodes, AreWhatTheReferenceMakesOfThem) {
  const auto& [family, type] = GetParam();
  const char* asked = std::getenv("FUSESCOPE_NARROW_CASES");
  const auto cases = static_cast<std::uint32_t>(asked == nullptr ? 40 : std::strtoul(asked, nullptr, 10));
  int kernels = 0, narrow = 0, emulated = 0;
  double worst = 0;
  for (std::uint32_t seed = 1; seed <= cases && !HasFailure(); ++seed) {
    const bool isDeclared = seed % 2 == 0;
    Maker make{.net = TypedNet(isDeclared ? type : DataType::F32), .dice = Dice(seed), .isDeclared = isDeclared};
    make.net.net.editor.addOutput(family.make(make));
    PlanOptions options;
    if (!isDeclared) options.precisions = {type};
    const auto plan = planned(make.net.net.editor, options);
    const test::NodeByNode found = test::runNodeByNode(*plan, inputsOf(plan->graph(), seed));
    for (const std::string& problem : found.problems) ADD_FAILURE() << "seed " << seed << ": " << problem;
    kernels += found.kernels;
    narrow += found.narrow;
    emulated += static_cast<int>(found.emulated.size());
    worst = std::max(worst, found.worstUlp);
  }
  EXPECT_GT(narrow, static_cast<int>(cases) / 2);
  fmt::print(
      "suite: {} in {}: {} cases, {} native kernels, {} of them of narrow floats, {} by the reference alone, "
      "worst {:.2f} ulp\n",
      family.name, name(type), cases, kernels, narrow, emulated, worst);
}

INSTANTIATE_TEST_SUITE_P(Operators, NarrowNodes,
                         ::testing::Combine(::testing::ValuesIn(kFamilies),
                                            ::testing::Values(DataType::BF16, DataType::F16)),
                         [](const auto& info) { return caseName(info.param); });

}  // namespace
}  // namespace fusescope::testing
