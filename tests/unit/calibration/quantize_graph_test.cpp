#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "calibration/quantize_graph.h"
#include "calibration/weight_codes.h"
#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

/// "{v, v, …}" of numbers that differ.
std::string numbers(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::to_string(0.01 * ((i * 37) % 41 - 20));
  return text + "}";
}

std::string convWeights(const std::string& name, int outputs, int inputs) {
  return "float[" + std::to_string(outputs) + "," + std::to_string(inputs) + ",1,1] " + name + " = " +
         numbers(outputs * inputs);
}

/// Ranges of every value of the graph, each [-1, its place + 1].
Ranges rangesOfAll(const Model& model) {
  Ranges ranges;
  double high = 0;
  for (const ValueId value : model.graph->allValues())
    if (!model.graph->isConstant(value)) ranges.edges[model.graph->value(value).name] = {{-1, high += 1}};
  return ranges;
}

struct AskedOf {
  NodeQuantizeRequest::Kind kind;
  std::string node;
};

struct Quantized {
  Model model;
  bool has(std::string_view code, std::string_view subject) const {
    return std::ranges::any_of(model.decisions, [&](const Decision& decision) {
      return decision.code == code &&
             std::ranges::any_of(decision.subjects, [&](const Subject& each) { return each.text() == subject; });
    });
  }
  /// The node that makes what `node` reads as its operand `i`.
  std::string before(std::string_view node, std::size_t i) const {
    const Graph& graph = *model.graph;
    const NodeId producer = graph.value(graph.node(*graph.findNode(node)).input(i)).producer;
    return graph.has(producer) ? graph.node(producer).op : "";
  }
};

Quantized quantized(const Model& model, const Ranges* ranges, const std::vector<AskedOf>& asked = {},
                    QuantizeRequest request = {.everyNode = true}) {
  std::vector<NodeQuantizeRequest> requests(model.graph->nodeIdLimit());
  for (const auto& [kind, node] : asked) requests[model.graph->findNode(node)->index] = {kind, "what was asked"};
  request.ranges = ranges;
  request.nodeRequests = requests;
  auto made = quantize(model, request);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return {made.ok() ? std::move(made).value() : model};
}

std::string residualNetwork() {
  return "g (float[1,4,8,8] x) => (float[1,4,8,8] y) <" + convWeights("w1", 4, 4) + ", " + convWeights("w2", 4, 4) +
         ", " + convWeights("w3", 4, 4) +
         ", float[4] b = {0.5, 0, -0.5, 1}> { [c1] a = Conv (x, w1, b) [r1] r = Relu (a) [c2] c = Conv (r, w2)"
         " [add] s = Add (c, r) [r2] t = Relu (s) [c3] y = Conv (t, w3) }";
}

TEST(Quantize, ConvolutionsReadCodesAndResidualsToo) {
  const Model model = prepared(residualNetwork());
  const Ranges ranges = rangesOfAll(model);
  const Quantized made = quantized(model, &ranges);
  for (const char* node : {"c1", "c2", "c3"}) {
    EXPECT_EQ(made.before(node, 0), "DequantizeLinear") << node;
    EXPECT_EQ(made.before(node, 1), "DequantizeLinear") << node;
    EXPECT_TRUE(made.has("quantize.product", node));
  }
  EXPECT_EQ(made.before("add", 1), "DequantizeLinear") << "the residual";
  EXPECT_EQ(made.before("add", 0), "Conv") << "nothing rounds between a convolution and what its kernel adds";
  EXPECT_EQ(made.before("r1", 0), "Conv") << "nor before its activation";
  EXPECT_TRUE(made.has("quantize.residual", "add"));
  EXPECT_TRUE(made.has("quantize.edge", "r"));
  EXPECT_EQ(model.graph->nodeCount() + 10, made.model.graph->nodeCount()) << "3 Q, 4 DQ of edges, 3 DQ of weights";
}

TEST(Quantize, IdsStayAndAPureFunctionItIs) {
  const Model model = prepared(residualNetwork());
  const Ranges ranges = rangesOfAll(model);
  const Quantized a = quantized(model, &ranges), b = quantized(model, &ranges);
  EXPECT_EQ(printGraph(*a.model.graph), printGraph(*b.model.graph));
  for (const NodeId id : model.graph->order()) EXPECT_EQ(a.model.graph->node(id).name, model.graph->node(id).name);
}

TEST(Quantize, ScalesComeFromTheRanges) {
  const Model model = prepared(residualNetwork());
  Ranges ranges = rangesOfAll(model);
  ranges.edges["r"] = {{-1, 3}};
  const Quantized made = quantized(model, &ranges);
  const Graph& graph = *made.model.graph;
  EXPECT_FLOAT_EQ(static_cast<float>(graph.constantData(*graph.findValue("r/scale"))->asDouble(0)), 4.0F / 255);
  const Tensor& zero = *graph.constantData(*graph.findValue("r/zero_point"));
  EXPECT_EQ(zero.type(), DataType::U8);
  EXPECT_EQ(zero.asInt64(0), 64);
  const Quantized signedCodes = quantized(model, &ranges, {}, {.everyNode = true, .symmetric = true});
  const Graph& other = *signedCodes.model.graph;
  EXPECT_FLOAT_EQ(static_cast<float>(other.constantData(*other.findValue("r/scale"))->asDouble(0)), 3.0F / 127);
  EXPECT_EQ(other.constantData(*other.findValue("r/zero_point"))->type(), DataType::I8);
}

TEST(Quantize, APinToAFloatKeepsTheNodeWhole) {
  const Model model = prepared(residualNetwork());
  const Ranges ranges = rangesOfAll(model);
  const Quantized made = quantized(model, &ranges,
                                   {{NodeQuantizeRequest::Kind::Floats, "c1"},
                                    {NodeQuantizeRequest::Kind::Excluded, "c2"},
                                    {NodeQuantizeRequest::Kind::Fallback, "c3"}});
  EXPECT_TRUE(made.has("quantize.pinned", "c1"));
  EXPECT_TRUE(made.has("quantize.excluded", "c2"));
  EXPECT_TRUE(made.has("quantize.fallback", "c3"));
  EXPECT_EQ(printGraph(*made.model.graph), printGraph(*model.graph));
  const Quantized one = quantized(model, &ranges, {{NodeQuantizeRequest::Kind::Integers, "c2"}}, {});
  EXPECT_TRUE(one.has("quantize.product", "c2"));
  EXPECT_TRUE(one.has("quantize.not_asked", "c1"));
  EXPECT_EQ(one.before("c1", 1), "") << "its weights stay";
}

TEST(Quantize, PoolsAndConcatsShareOneScale) {
  const Model model =
      prepared("g (float[1,4,8,8] x) => (float[1,4,4,4] y) <" + convWeights("w1", 4, 4) + ", " +
               convWeights("w2", 4, 4) + ", " + convWeights("w3", 4, 8) +
               "> { [c1] a = Conv (x, w1) [c2] b = Conv (x, w2) [cat] c = Concat <axis = 1> (a, b)"
               " [pool] p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (c) [c3] y = Conv (p, w3) }");
  const Ranges ranges = rangesOfAll(model);
  const Quantized made = quantized(model, &ranges);
  const Graph& graph = *made.model.graph;
  const double scale = graph.constantData(*graph.findValue("a/scale"))->asDouble(0);
  for (const char* value : {"b", "c", "p"})
    EXPECT_EQ(graph.constantData(*graph.findValue(std::string(value) + "/scale"))->asDouble(0), scale) << value;
  EXPECT_TRUE(made.has("quantize.shared_scale", "c"));
  EXPECT_EQ(made.before("cat", 0), "DequantizeLinear");
  EXPECT_EQ(made.before("pool", 0), "DequantizeLinear");
}

TEST(Quantize, NormsAndSoftmaxReadFloats) {
  const Model model = prepared("g (float[2,8] x) => (float[2,8] y, float[2,8] z) <float[8,8] w = " + numbers(64) +
                               "> { [e] a = Exp (x) [m] y = MatMul (a, w) [s] z = Softmax (a) }");
  const Ranges ranges = rangesOfAll(model);
  const Quantized made = quantized(model, &ranges);
  EXPECT_EQ(made.before("s", 0), "Exp");
  EXPECT_TRUE(made.has("quantize.read_as_floats", "s"));
  EXPECT_EQ(made.before("m", 0), "DequantizeLinear");
}

TEST(Quantize, WhatStaysSaysWhy) {
  const Model model = prepared(
      "g (float[2,8] x, float[8,8] v, double[2,8] h) => (float[2,8] y, float[2,8] z, double[2,8] q, float[8,8] u,"
      " float[2,8] n) <float[8,8] w = " +
      numbers(64) + ", double[8,8] d = " + numbers(64) +
      "> { [two] y = MatMul (x, v) [half] q = MatMul (h, d) [scaled] z = Gemm <alpha = 2.0> (x, w)"
      " [turned] u = MatMul (w, v) [e] e = Exp (x) [unseen] n = MatMul (e, w) }");
  Ranges ranges = rangesOfAll(model);
  ranges.edges.erase("e");
  const Quantized made = quantized(model, &ranges);
  EXPECT_TRUE(made.has("quantize.two_activations", "two"));
  EXPECT_TRUE(made.has("quantize.not_float32", "half"));
  EXPECT_TRUE(made.has("quantize.no_kernel", "scaled"));
  EXPECT_TRUE(made.has("quantize.no_kernel", "turned"));
  EXPECT_TRUE(made.has("quantize.no_range", "unseen"));
  ranges.edges["e"] = {{0, 0}};
  EXPECT_TRUE(quantized(model, &ranges).has("quantize.all_zero", "unseen"));
  const Model once = prepared(residualNetwork());
  const Ranges all = rangesOfAll(once);
  EXPECT_TRUE(quantized(quantized(once, &all).model, &all).has("quantize.author", "c1"));
}

TEST(Quantize, RangesOfAnotherNetworkAreRefused) {
  const Model model = prepared(residualNetwork());
  Ranges ranges;
  ranges.edges["rr"] = {{0, 1}};
  const std::vector<NodeQuantizeRequest> requests(model.graph->nodeIdLimit());
  const auto other = quantize(model, {.ranges = &ranges, .nodeRequests = requests, .everyNode = true});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().text().find("exists in this network, for example rr"), std::string::npos)
      << other.error().text();
  EXPECT_NE(other.error().text().find("The nearest is r."), std::string::npos) << other.error().text();
  const Ranges none;
  const auto nothing = quantize(model, {.ranges = &none, .nodeRequests = requests, .everyNode = true});
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(nothing.error().text().find("the ranges contain no value"), std::string::npos);
  ranges = rangesOfAll(model);
  ranges.weights["w1"] = {0, {1, 2}};
  const auto wrong = quantize(model, {.ranges = &ranges, .nodeRequests = requests, .everyNode = true});
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().text().find("w1"), std::string::npos);
}

// The mean of each channel's result is what it was, where weights are rounded and activations are not.
TEST(Quantize, CorrectedBiasesKeepTheMean) {
  const Model model = prepared(residualNetwork());
  Ranges ranges = rangesOfAll(model);
  ranges.settings.correctBiases = true;
  ranges.channels["x"] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
  const Quantized made = quantized(model, &ranges);
  EXPECT_TRUE(made.has("quantize.bias_corrected", "c1"));
  EXPECT_FALSE(made.has("quantize.bias_corrected", "c2")) << "no means of what it reads";
  const Graph& graph = *made.model.graph;
  const Tensor& weights = *model.graph->constantData(*model.graph->findValue("w1"));
  const Tensor rounded = numbersOf(codesOf(weights, weightRangeOf(weights, 0, {})));
  const Tensor& bias = *graph.constantData(graph.node(*graph.findNode("c1")).input(2));
  const Tensor& before = *model.graph->constantData(*model.graph->findValue("b"));
  double changed = 0;
  for (std::int64_t o = 0; o < 4; ++o) {
    double exact = before.asDouble(o), now = bias.asDouble(o);
    changed += std::abs(exact - now);
    for (std::int64_t i = 0; i < 4; ++i) {
      exact += weights.asDouble(o * 4 + i) * static_cast<double>(i + 1);
      now += rounded.asDouble(o * 4 + i) * static_cast<double>(i + 1);
    }
    EXPECT_NEAR(now, exact, 1e-6) << o;
  }
  EXPECT_GT(changed, 0);
}

// w1 / s of each row, w2 · s of each column: in real numbers nothing changes.
TEST(Quantize, SmoothedPairsAreTheSameNetwork) {
  const Model model = prepared("g (float[1,4,8,8] x) => (float[1,4,8,8] y) <" + convWeights("w1", 4, 4) + ", " +
                               convWeights("w2", 4, 4) +
                               ", float[4] b = {0.5, 0, -0.5, 1}> { [c1] a = Conv (x, w1, b) [r1] r = Relu (a)"
                               " [c2] y = Conv (r, w2) }");
  Ranges ranges = rangesOfAll(model);
  ranges.settings.smoothing = 0.5;
  ranges.edges["r"] = {{0, 8}};
  ranges.channels["r"] = {{1, 1, 1, 1}, {8, 0.5F, 2, 1}};
  const Quantized made = quantized(model, &ranges);
  EXPECT_TRUE(made.has("quantize.smoothed", "c1"));
  const Graph& graph = *made.model.graph;
  EXPECT_EQ(graph.value(graph.node(*graph.findNode("c1")).input(2)).name, "b/smoothed");
  const auto product = [&](const Graph& of, const std::string& suffix, bool codes) {
    const auto numbersOfWeights = [&](const std::string& name) {
      if (!codes) return *of.constantData(*of.findValue(name));
      const Tensor held = *of.constantData(*of.findValue(name + suffix + "/codes"));
      return numbersOf({held, *of.constantData(*of.findValue(name + suffix + "/scale")), 0, 0});
    };
    const Tensor first = numbersOfWeights("w1"), second = numbersOfWeights("w2");
    std::vector<double> sums(16, 0.0);
    for (std::int64_t o = 0; o < 4; ++o)
      for (std::int64_t i = 0; i < 4; ++i)
        for (std::int64_t k = 0; k < 4; ++k)
          sums[static_cast<std::size_t>(o * 4 + i)] += second.asDouble(o * 4 + k) * first.asDouble(k * 4 + i);
    return sums;
  };
  const auto before = product(*model.graph, "", false), now = product(graph, "/smoothed", true);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_NEAR(now[i], before[i], 0.003) << i;
  const double scale = graph.constantData(*graph.findValue("r/scale"))->asDouble(0);
  EXPECT_LT(scale, 8.0 / 255) << "the largest channel gave way";
}

TEST(Quantize, WeightsAloneAreCodesInBlocks) {
  const Model model =
      prepared("g (float[2,8] x) => (float[2,8] y) <float[8,8] w = " + numbers(64) + "> { [m] y = MatMul (x, w) }");
  for (const DataType type : {DataType::I8, DataType::I4}) {
    for (const std::int64_t block : {0, 4}) {
      const Quantized made = quantized(model, nullptr, {}, {.weightOnly = {type, block}});
      EXPECT_TRUE(made.has("quantize.weight_only", "m"));
      EXPECT_EQ(made.before("m", 0), "") << "what it reads stays floats";
      const Graph& graph = *made.model.graph;
      const Node& dequantize = graph.node(graph.value(graph.node(*graph.findNode("m")).input(1)).producer);
      EXPECT_EQ(graph.value(dequantize.input(0)).type.dtype, type);
      EXPECT_EQ(dequantize.intAttribute("block_size", 0), block);
      EXPECT_EQ(graph.constantData(dequantize.input(1))->dims(), block == 0 ? (Dims{8}) : (Dims{2, 8}));
    }
  }
}

/// A network of a convolution, a product, and another product whose weights are all numbers. Of the weights of the
/// first two, one element is `odd`.
Model withOddWeights(float odd) {
  Model model = prepared(
      "g (float[1,4,2,2] x, float[2,8] u) => (float[1,4,2,2] y, float[2,8] z) <" + convWeights("filters", 4, 4) +
      ", float[8,8] odd = " + numbers(64) + ", float[8,8] even = " + numbers(64) +
      "> { [conv] y = Conv (x, filters) [first] p = MatMul (u, odd) [second] z = MatMul (p, even) }");
  GraphEditor editor(*model.graph);
  for (const char* name : {"filters", "odd"}) {
    const ValueId weights = *model.graph->findValue(name);
    Tensor tensor = *model.graph->constantData(weights);
    tensor.mutableData<float>()[5] = odd;
    editor.makeConstant(weights, tensor);
  }
  auto graph = editor.publish();
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  model.graph = std::move(graph).value();
  return model;
}

TEST(Quantize, WeightsThatAreNotFiniteStayFloats) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    SCOPED_TRACE(odd);
    const Model model = withOddWeights(odd);
    const Ranges ranges = rangesOfAll(model);
    const Quantized byRanges = quantized(model, &ranges);
    const Quantized alone = quantized(model, nullptr, {}, {.weightOnly = {DataType::I8, 0}});
    const Quantized both = quantized(model, &ranges, {}, {.everyNode = true, .weightOnly = {DataType::I4, 4}});
    for (const Quantized& made : {byRanges, alone, both}) {
      EXPECT_TRUE(made.has("quantize.weights_not_finite", "first"));
      EXPECT_EQ(made.before("first", 1), "") << "its weights stay";
      EXPECT_NE(made.before("first", 0), "DequantizeLinear") << "and so does what it reads";
      EXPECT_FALSE(made.has("quantize.weights_not_finite", "second"));
      EXPECT_EQ(made.before("second", 1), "DequantizeLinear");
    }
    EXPECT_TRUE(byRanges.has("quantize.weights_not_finite", "conv"));
    EXPECT_EQ(byRanges.before("conv", 1), "");
    const auto said = std::ranges::find(byRanges.model.decisions, "quantize.weights_not_finite", &Decision::code);
    EXPECT_EQ(said->arguments["weights"], "filters");
    EXPECT_EQ(said->arguments["count"], 1);
    EXPECT_EQ(said->arguments["elements"], 16);
  }
}

TEST(Quantize, AWeightIsHeldOnceForAllThatReadItAlikeAndApartInEachType) {
  const Model model =
      prepared("g (float[2,8] x, float[2,8] unseen) => (float[2,8] y, float[2,8] z) <float[8,8] w = " + numbers(64) +
               "> { [a] p = MatMul (x, w) [b] y = MatMul (p, w) [c] z = MatMul (unseen, w) }");
  Ranges ranges = rangesOfAll(model);
  ranges.edges.erase("unseen");
  const Quantized made = quantized(model, &ranges, {}, {.everyNode = true, .weightOnly = {DataType::I4, 0}});
  const Graph& graph = *made.model.graph;
  const auto codesOf = [&](std::string_view node) {
    return graph.node(graph.value(graph.node(*graph.findNode(node)).input(1)).producer).input(0);
  };
  EXPECT_EQ(codesOf("a"), codesOf("b"));
  EXPECT_EQ(graph.value(codesOf("a")).type.dtype, DataType::I8);
  EXPECT_EQ(graph.value(codesOf("c")).type.dtype, DataType::I4) << "what was asked for the product in floats";
}

}  // namespace
}  // namespace fusescope::test
