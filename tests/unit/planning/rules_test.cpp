#include "planning/fusion/rules.h"
#include "planning/kinds.h"
#include "tests/unit/planning/plan_testing.h"

// What each rule binds. Which nodes a rule takes, and what it refuses, is in tests/golden/cases.

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::fusions;
using testing::ModelBuilder;
using testing::planned;

/// "input=x epsilon=eps scale=weight:w": roles with the names of their values, and of their nodes where there are some.
std::string bindings(const Plan& plan, const FusedNode& fused) {
  std::string text;
  for (const Binding& binding : fused.bindings) {
    text += (text.empty() ? "" : " ") + std::string(binding.role) + "=";
    if (binding.node.valid()) text += plan.graph().node(binding.node).name + ":";
    text += plan.graph().value(binding.value).name;
  }
  return text;
}

std::string soleBindings(const std::shared_ptr<const Model>& model, std::string_view kind) {
  const auto plan = planned(model, cpuOptions());
  EXPECT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].kind, kind);
  return bindings(*plan, plan->fusedNodes[0]);
}

const Dims kRow{2, 8}, kColumn{2, 1};

struct Norm {
  ValueId mean, inverse;  ///< of the squares; one over its root
};
Norm inverseDeviation(ModelBuilder& b, ValueId d) {
  const ValueId square = b.node("Mul", "square", {d, d}, kRow);
  const ValueId mean = b.node("ReduceMean", "mean", {square, b.constant("axes", Tensor::ofInt64({-1}))}, kColumn);
  const ValueId safe = b.node("Add", "safe", {mean, b.constant("eps", Tensor::scalar(1e-5F))}, kColumn);
  return {mean, b.node("Pow", "inverse", {safe, b.constant("minus_half", Tensor::scalar(-0.5F))}, kColumn)};
}

TEST(Rules, EveryRuleSaysWhatItLooksForAndHasANameOfItsOwn) {
  std::vector<std::string> names = fusionRuleNames();
  for (const FusionRule* rule : fusionRules()) EXPECT_FALSE(rule->picture.empty()) << rule->name;
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Rules, AConvolutionBindsItsRootAndItsPartsInOrder) {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 8, 4, 4});
  const ValueId conv = b.node("Conv", "conv", {x, b.weight("w", {8, 8, 1, 1})}, {1, 8, 4, 4});
  const ValueId sum = b.node("Add", "sum", {conv, x}, {1, 8, 4, 4});
  b.output(b.node("Relu", "relu", {sum}, {1, 8, 4, 4}));
  EXPECT_EQ(soleBindings(b.build(), kinds::kConv), "root=conv:conv_out part=sum:sum_out part=relu:relu_out");
}

TEST(Rules, AProductWithoutAnEpilogueBindsItsRoot) {
  ModelBuilder b;
  b.output(b.node("MatMul", "product", {b.input("x", {2, 8}), b.weight("w", {8, 8})}, {2, 8}));
  EXPECT_EQ(soleBindings(b.build(), kinds::kMatMul), "root=product:product_out");
}

TEST(Rules, ParallelProductsBindARootEachWithItsParts) {
  ModelBuilder b;
  const ValueId x = b.input("x", kRow);
  const ValueId gate = b.node("MatMul", "gate", {x, b.weight("wg", {8, 8})}, kRow);
  const ValueId active = b.node("Relu", "active", {gate}, kRow);
  const ValueId up = b.node("MatMul", "up", {x, b.weight("wu", {8, 8})}, kRow);
  b.output(b.node("Mul", "gated", {active, up}, kRow));
  const auto plan = planned(b.build(), cpuOptions());
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  const FusedNode& fused = plan->fusedNodes[0];
  EXPECT_EQ(bindings(*plan, fused), "root=gate:gate_out part=active:active_out root=up:up_out part=gated:gated_out");
  EXPECT_EQ(fused.oneType.size(), 2U) << "both calculate in one type";
}

TEST(Rules, ProductsOfAnotherTypeStayApart) {
  ModelBuilder b;
  const ValueId x = b.input("x", kRow);
  b.output(b.node("MatMul", "one", {x, b.weight("w1", {8, 8})}, kRow));
  b.output(b.node("MatMul", "two", {x, b.weight("w2", {8, 8})}, kRow));
  const PlanOptions options{
      .target = "cpu:avx2", .precisions = {DataType::F16}, .directives = {testing::pin("two=f32")}};
  EXPECT_EQ(fusions(*planned(b.build(), options)), "matmul{one} matmul{two}");
}

TEST(Rules, AnRmsNormBindsItsInputBeforeTheCast) {
  ModelBuilder b;
  const ValueId narrow = b.input("x", kRow, DataType::F16);
  const ValueId x = b.node("Cast", "wide", {narrow}, kRow, DataType::F32, {{"to", std::int64_t{1}}});
  const ValueId scaled = b.node("Mul", "scaled", {x, inverseDeviation(b, x).inverse}, kRow);
  b.output(b.node("Mul", "weighted", {b.weight("w", {8}), scaled}, kRow));
  EXPECT_EQ(soleBindings(b.build(), kinds::kRmsNorm),
            "input=x epsilon=eps scale=weighted:w result=weighted:weighted_out");
}

TEST(Rules, AnAbsorbedCastIsReadAsItStands) {
  ModelBuilder b;
  const ValueId narrow = b.input("x", kRow, DataType::F16);
  const ValueId x = b.node("Cast", "wide", {narrow}, kRow, DataType::F32, {{"to", std::int64_t{1}}});
  b.output(b.node("Mul", "scaled", {x, inverseDeviation(b, x).inverse}, kRow));
  const auto plan = planned(b.build(), cpuOptions());
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].reads, std::vector<DataType>{DataType::F16});
  EXPECT_TRUE(plan->casts.empty()) << "the Cast is in the kernel";
}

TEST(Rules, ALayerNormBindsScaleAndBias) {
  ModelBuilder b;
  const ValueId x = b.input("x", kRow);
  const ValueId mu = b.node("ReduceMean", "mu", {x, b.constant("mu_axes", Tensor::ofInt64({-1}))}, kColumn);
  const ValueId d = b.node("Sub", "d", {x, mu}, kRow);
  const ValueId scaled = b.node("Mul", "scaled", {inverseDeviation(b, d).inverse, d}, kRow);
  const ValueId weighted = b.node("Mul", "weighted", {scaled, b.weight("w", {8})}, kRow);
  b.output(b.node("Add", "biased", {b.weight("b", {8}), weighted}, kRow));
  EXPECT_EQ(soleBindings(b.build(), kinds::kLayerNorm),
            "input=x epsilon=eps scale=weighted:w bias=biased:b result=biased:biased_out");
}

TEST(Rules, AGroupNormBindsItsGroups) {
  ModelBuilder b;
  const Dims all{1, 8, 2, 2}, groups{1, 4, 8};
  const ValueId x = b.input("x", all);
  const ValueId seen = b.node("Reshape", "seen", {x, b.constant("s1", Tensor::ofInt64({1, 4, 8}))}, groups);
  const ValueId one = b.constant("one", Tensor::copyOf<float>(DataType::F32, {4}, std::vector<float>(4, 1)));
  const ValueId norm = b.node("InstanceNormalization", "norm", {seen, one, b.weight("zero", {4})}, groups);
  const ValueId back = b.node("Reshape", "back", {norm, b.constant("s2", Tensor::ofInt64({1, 8, 2, 2}))}, all);
  b.output(b.node("Mul", "weighted", {back, b.weight("w", {8, 1, 1})}, all));
  EXPECT_EQ(soleBindings(b.build(), kinds::kGroupNorm),
            "input=x groups=seen:seen_out scale=weighted:w result=weighted:weighted_out");
}

TEST(Rules, AttentionBindsItsTermsInOrderWhateverViewsStandBetween) {
  ModelBuilder b;
  const Dims scores{4, 2, 4, 4}, windows{2, 2, 2, 4, 4}, heads{4, 2, 4, 8};
  const ValueId q = b.input("q", heads), k = b.input("k", {4, 2, 8, 4}), v = b.input("v", heads);
  const ValueId small = b.node("Mul", "small", {q, b.constant("half", Tensor::scalar(0.5F))}, heads);
  const ValueId product = b.node("MatMul", "product", {small, k}, scores);
  const ValueId scaled = b.node("Mul", "scaled", {b.weight("per_head", {2, 1, 1}), product}, scores);
  const ValueId split =
      b.node("Reshape", "split", {scaled, b.constant("s1", Tensor::ofInt64({2, 2, 2, 4, 4}))}, windows);
  const ValueId masked = b.node("Add", "masked", {split, b.input("mask", {1, 2, 1, 4, 4})}, windows);
  const ValueId joined = b.node("Reshape", "joined", {masked, b.constant("s2", Tensor::ofInt64({4, 2, 4, 4}))}, scores);
  const ValueId p = b.node("Softmax", "p", {joined}, scores);
  b.output(b.node("MatMul", "result", {p, v}, heads));
  EXPECT_EQ(soleBindings(b.build(), kinds::kAttention),
            "query=small_out key=k scores=product:product_out term=scaled:product_out term=masked:split_out "
            "softmax=p:p_out values=v product=result:result_out query_scale=small:q");
}

TEST(Rules, ARotaryEmbeddingBindsCosineAndSine) {
  ModelBuilder b;
  const Dims all{2, 8}, half{2, 4};
  const ValueId x = b.input("x", all), cosine = b.input("c", all), sine = b.input("s", all);
  const auto slice = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    return b.node("Slice", name,
                  {x, b.constant(name + "_from", Tensor::ofInt64({from})),
                   b.constant(name + "_to", Tensor::ofInt64({to})), b.constant(name + "_axis", Tensor::ofInt64({-1}))},
                  half);
  };
  const ValueId first = slice("first", 0, 4), second = slice("second", 4, 8);
  const ValueId turned = b.node("Concat", "turned", {b.node("Neg", "neg", {second}, half), first}, all, DataType::F32,
                                {{"axis", std::int64_t{-1}}});
  const ValueId plain = b.node("Mul", "plain", {x, cosine}, all);
  b.output(b.node("Add", "sum", {plain, b.node("Mul", "across", {turned, sine}, all)}, all));
  EXPECT_EQ(soleBindings(b.build(), kinds::kRotary), "input=x cosine=c sine=s result=sum:sum_out");
}

TEST(Rules, QuantisedEdgesAreBoundWhereTheyEnterAndLeave) {
  ModelBuilder b;
  const ValueId scale = b.constant("scale", Tensor::scalar(0.1F));
  const ValueId zero = b.constant("zero", Tensor::zeros(DataType::I8, {}));
  const ValueId x = b.node("DequantizeLinear", "dx", {b.input("x", kRow, DataType::I8), scale, zero}, kRow);
  const ValueId w = b.node("DequantizeLinear", "dw", {b.weight("w", {8, 8}, DataType::I8), scale, zero}, {8, 8});
  const ValueId turned =
      b.node("Transpose", "turned", {w}, {8, 8}, DataType::F32, {{"perm", std::vector<std::int64_t>{1, 0}}});
  const ValueId product = b.node("MatMul", "product", {x, turned}, kRow);
  b.output(b.node("QuantizeLinear", "q", {product, scale, zero}, kRow, DataType::I8));
  const auto plan = planned(b.build(), cpuOptions());
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::I8);
  EXPECT_EQ(bindings(*plan, plan->fusedNodes[0]),
            "root=product:product_out dequantize=dx:x dequantize=dw:w quantize=q:q_out");
}

}  // namespace
}  // namespace fusescope
