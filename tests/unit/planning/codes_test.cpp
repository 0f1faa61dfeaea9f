#include <algorithm>

#include "planning/prices/price_model.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

// Reasons that no other test of planning has for its point: each with the smallest network that gives it.

using testing::cpuOptions;
using testing::findDecision;
using testing::fusions;
using testing::ModelBuilder;
using testing::pin;
using testing::planned;

TEST(Codes, AModelOutputInsideAKernelThatDeliversOne) {
  ModelBuilder b;
  const ValueId q = b.input("q", {2, 4, 8}), k = b.input("k", {2, 8, 4}), v = b.input("v", {2, 4, 8});
  const ValueId scores = b.node("MatMul", "qk", {q, k}, {2, 4, 4});
  b.output(scores);
  const ValueId p = b.node("Softmax", "softmax", {scores}, {2, 4, 4});
  b.output(b.node("MatMul", "pv", {p, v}, {2, 4, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(plan->fusedNodes.size(), 3U) << fusions(*plan);
  EXPECT_NE(findDecision(*plan, "fuse.model_output_inside", "qk"), nullptr);
}

TEST(Codes, ExtentsThatNobodyKnowsAreNotFused) {
  GraphEditor editor;
  Model model;
  const TensorType open{DataType::F32, Shape::unknown()};
  const ValueId x = editor.addInput("x", open);
  ValueId at = x;
  for (const char* op : {"Exp", "Tanh"}) {
    const ValueId result = editor.addValue(std::string(op) + "_out", open);
    model.origins.push_back({op, op, ""});
    editor.addNode(
        {.op = op, .name = op, .inputs = {at}, .outputs = {result}, .origins = {OriginId(model.origins.size() - 1)}});
    at = result;
  }
  editor.addOutput(at);
  model.graph = editor.publish().value();
  const auto plan = planned(std::make_shared<const Model>(model), cpuOptions());
  EXPECT_NE(findDecision(*plan, "fuse.shape_unknown", "Exp"), nullptr);
}

TEST(Codes, SegmentsKeepKernelsApart) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId a = b.node("Exp", "exp", {x}, {2, 8});
  const ValueId odd = b.node("Unheard", "odd", {a}, {2, 8});
  b.output(b.node("Add", "add", {a, odd}, {2, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_NE(findDecision(*plan, "fuse.other_segment", "exp"), nullptr);
  EXPECT_NE(findDecision(*plan, "fuse.single", "exp"), nullptr);
}

TEST(Codes, AnEpilogueReadsWhatBroadcastsToItsKernel) {
  ModelBuilder b;
  const ValueId x = b.input("x", {4, 8});
  const ValueId other = b.input("other", {2, 1, 16});
  const ValueId product = b.node("Gemm", "gemm", {x, b.weight("w", {8, 8})}, {4, 8});
  const ValueId view = b.node("Reshape", "view", {product, b.constant("e", Tensor::ofInt64({2, 1, 16}))}, {2, 1, 16});
  b.output(b.node("Mul", "mul",
                  {view, b.node("Slice", "part",
                                {other, b.constant("from", Tensor::ofInt64({0})),
                                 b.constant("to", Tensor::ofInt64({1})), b.constant("axis", Tensor::ofInt64({0}))},
                                {1, 1, 16})},
                  {2, 1, 16}));
  const auto plan = planned(b.build(), cpuOptions());
  const Decision* refusal = findDecision(*plan, "fuse.epilogue_operand", "mul");
  ASSERT_NE(refusal, nullptr) << fusions(*plan);
  EXPECT_EQ(refusal->arguments["value"], "part_out");
}

TEST(Codes, AViewBehindAConvolutionWouldFixItsLayout) {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 4, 4, 4});
  const ValueId conv = b.node("Conv", "conv", {x, b.weight("w", {4, 4, 1, 1})}, {1, 4, 4, 4});
  b.output(b.node("Reshape", "view", {conv, b.constant("e", Tensor::ofInt64({1, 64}))}, {1, 64}));
  EXPECT_NE(findDecision(*planned(b.build(), cpuOptions()), "fuse.layout_would_be_fixed", "view"), nullptr);
}

std::shared_ptr<const Model> product() {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId view = b.node("Reshape", "view", {x, b.constant("e", Tensor::ofInt64({2, 8}))}, {2, 8});
  b.output(b.node("MatMul", "mm", {view, b.weight("w", {8, 8})}, {2, 8}));
  return b.build();
}

TEST(Codes, SplitsAndTacticsAreAnswered) {
  const auto plan =
      planned(product(), cpuOptions({splitDirective("mm"),
                                     Directive{.kind = DirectiveKind::Tactic, .pattern = "mm", .rule = "reference"}}));
  EXPECT_NE(findDecision(*plan, "partition.supported", "mm"), nullptr);
  EXPECT_NE(findDecision(*plan, "precision.default", "mm"), nullptr);
  EXPECT_NE(findDecision(*plan, "fuse.split_honoured", "mm"), nullptr);
  EXPECT_NE(findDecision(*plan, "tactic.requested", "mm"), nullptr);
}

TEST(Codes, MovesAndTypesThatATargetLacks) {
  const auto plan = planned(product(), {.target = "tensorrt-8", .precisions = {DataType::BF16}});
  EXPECT_NE(findDecision(*plan, "precision.moved", "view"), nullptr);
  EXPECT_NE(findDecision(*plan, "precision.type_kept", "mm"), nullptr);
  const auto lacking = [](const std::vector<DataType>& asked) {
    const auto of = planned(product(), {.target = "tensorrt-8", .precisions = asked});
    std::vector<std::string> types;
    for (const Decision& decision : of->decisions)
      if (decision.code == "precision.type_not_offered") types.push_back(*decision.arguments["type"].text());
    return types;
  };
  EXPECT_EQ(lacking({DataType::BF16}), std::vector<std::string>{"bf16"});
  EXPECT_EQ(lacking({DataType::BF16, DataType::F16, DataType::F32}), std::vector<std::string>{"bf16"});
  EXPECT_TRUE(lacking({DataType::F16}).empty());
}

TEST(Codes, AQuantisedProductMultipliesIntegers) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8}, DataType::I8);
  const ValueId scale = b.constant("s", Tensor::scalar(0.5F));
  const ValueId left = b.node("DequantizeLinear", "dx", {x, scale}, {2, 8});
  const ValueId right = b.node("DequantizeLinear", "dw", {b.weight("w", {8, 8}, DataType::I8), scale}, {8, 8});
  b.output(b.node("MatMul", "mm", {left, right}, {2, 8}));
  const auto model = b.build();
  const auto plan = planned(model, cpuOptions());
  EXPECT_NE(findDecision(*plan, "precision.quantised", "mm"), nullptr);
  EXPECT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::I8);
  EXPECT_EQ(plan->fusedNodes[0].accumulate, DataType::I32);
  const auto pinned = planned(model, cpuOptions({pin("mm=f32")}));
  EXPECT_EQ(pinned->fusedNodes[0].compute, DataType::F32) << "on the dequantised values";
}

/// `op`, named "product", of operands and a result of codes of `type`, or a result of int32 that becomes a float.
std::shared_ptr<const Model> productOfCodes(const std::string& op, DataType type) {
  const bool conv = op.find("Conv") != std::string::npos, requantises = op.starts_with("QLinear");
  const Dims from = conv ? Dims{1, 8, 5, 5} : Dims{4, 8}, weights = conv ? Dims{6, 8, 1, 1} : Dims{8, 6},
             to = conv ? Dims{1, 6, 5, 5} : Dims{4, 6};
  ModelBuilder b;
  const ValueId x = b.input("x", from, type), w = b.weight("w", weights, DataType::I8);
  const ValueId zero = b.weight("zero", {}, type), weightZero = b.weight("weight_zero", {}, DataType::I8);
  const ValueId scale = b.constant("scale", Tensor::scalar(0.5F));
  if (requantises) {
    b.output(b.node(op, "product", {x, scale, zero, w, scale, weightZero, scale, zero}, to, type));
    return b.build();
  }
  const ValueId sums = b.node(op, "product", {x, w, zero, weightZero}, to, DataType::I32);
  b.output(b.node("Mul", "scaled",
                  {b.node("Cast", "floats", {sums}, to, DataType::F32, {{"to", std::int64_t{1}}}), scale}, to));
  return b.build();
}

TEST(Codes, OperatorsThatAreWrittenOnCodesMultiplyIntegers) {
  for (const char* op : {"QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"}) {
    for (const DataType type : {DataType::U8, DataType::I8}) {
      for (const std::vector<DataType>& asked : {std::vector<DataType>{}, {DataType::F16}}) {
        SCOPED_TRACE(std::string(op) + " of " + std::string(name(type)));
        PlanOptions options = cpuOptions();
        options.precisions = asked;
        const auto plan = planned(productOfCodes(op, type), options);
        const NodeId product = *plan->graph().findNode("product");
        const FusedNode& fused = *plan->fusedNodeOf(product);
        EXPECT_EQ(fused.compute, DataType::I8) << fusions(*plan);
        EXPECT_EQ(fused.accumulate, DataType::I32);
        EXPECT_EQ(plan->calculates[product.index], DataType::I8);
        EXPECT_EQ(fused.reads.front(), type) << "codes stand as their author stores them";
        EXPECT_EQ(plan->storedType(plan->graph().node(product).outputs[0]),
                  std::string(op).starts_with("QLinear") ? type : DataType::I32);
        const auto grant = std::ranges::find(plan->precisionMap, product, &PrecisionGrant::node);
        EXPECT_EQ(grant->granted, DataType::I8);
        EXPECT_EQ(codeOf(grant->reason), "precision.quantised");
      }
    }
  }
}

TEST(Codes, OperatorsThatAreWrittenOnCodesHaveNoOtherType) {
  const auto model = productOfCodes("QLinearMatMul", DataType::U8);
  const auto answer = [&](const char* text, const char* code) {
    const auto plan = planned(model, cpuOptions({pin(text)}));
    const Decision* decision = findDecision(*plan, code, "product");
    return decision == nullptr ? std::string() : message(*decision);
  };
  EXPECT_NE(answer("product=int8", "precision.pin_granted"), "");
  EXPECT_NE(answer("*=int8", "precision.pin_granted"), "");
  EXPECT_EQ(answer("product=f32:obey", "precision.pin_refused"),
            "cannot compute in f32, although the pin is marked obey: it is written as a product of 8-bit integers");
  EXPECT_EQ(answer("*=f16", "precision.nothing_to_pin"),
            "there is nothing to pin: it is written as a product of 8-bit integers");
}

/// f16 takes half the time of f32, bf16 a third; conversions 0.1 ms.
class TypedPrices : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const double ms = fused.compute == DataType::F16 ? 0.5 : fused.compute == DataType::BF16 ? 0.33 : 1;
      prices.push_back({.ms = fused.nodes.size() * ms, .how = PriceSource::Measured});
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override {
    return {.ms = 0.1, .how = PriceSource::Measured};
  }
};

TEST(Codes, OfMoreThanTwoTypesTheSearchIsBounded) {
  const TypedPrices prices;
  const auto two = makePlan(product(), {.target = "cpu:avx2", .precisions = {DataType::F16, DataType::F32}}, &prices);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(findDecision(*two.value(), "precision.search_bounded"), nullptr);
  EXPECT_EQ(two.value()->fusedNodes.back().compute, DataType::F16);
  const auto three =
      makePlan(product(), {.target = "cpu:avx2", .precisions = {DataType::F16, DataType::BF16}}, &prices);
  ASSERT_TRUE(three.ok());
  EXPECT_NE(findDecision(*three.value(), "precision.search_bounded"), nullptr);
  EXPECT_EQ(three.value()->fusedNodes.back().compute, DataType::BF16);
}

}  // namespace
}  // namespace fusescope
