#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::findDecision;
using testing::fusions;
using testing::ModelBuilder;
using testing::planned;

std::shared_ptr<const Model> residualBlock() {
  ModelBuilder b;
  const ValueId x = b.input("x", {1, 8, 4, 4});
  const ValueId c1 = b.node("Conv", "conv1", {x, b.weight("w1", {8, 8, 1, 1})}, {1, 8, 4, 4});
  const ValueId r1 = b.node("Relu", "relu1", {c1}, {1, 8, 4, 4});
  const ValueId c2 = b.node("Conv", "conv2", {r1, b.weight("w2", {8, 8, 1, 1})}, {1, 8, 4, 4});
  const ValueId sum = b.node("Add", "add", {c2, x}, {1, 8, 4, 4});
  b.output(b.node("Relu", "relu2", {sum}, {1, 8, 4, 4}));
  return b.build();
}

TEST(Fusion, ConvTakesActivationAndResidual) {
  const auto plan = planned(residualBlock(), cpuOptions());
  EXPECT_EQ(fusions(*plan), "conv{conv1 relu1} conv{conv2 add relu2}");
  const FusedNode& second = plan->fusedNodes[1];
  ASSERT_EQ(second.inputs.size(), 2U);
  EXPECT_EQ(plan->graph().value(second.inputs[0]).name, "relu1_out");
  EXPECT_EQ(plan->graph().value(second.inputs[1]).name, "x");
  ASSERT_EQ(second.innerEdges.size(), 2U);
  EXPECT_FALSE(second.innerEdges[0].real);
  EXPECT_EQ(second.innerEdges[0].type, DataType::F32);
  EXPECT_EQ(second.flops, std::optional<std::int64_t>(2 * 8 * 8 * 16 + 2 * 8 * 16));
}

TEST(Fusion, SplitKeepsTheOutputInMemory) {
  const auto plan = planned(residualBlock(), cpuOptions({splitDirective("conv2")}));
  EXPECT_EQ(fusions(*plan), "conv{conv1 relu1} conv{conv2} pointwise{add relu2}");
  const Decision* refusal = findDecision(*plan, "fuse.split", "conv2");
  ASSERT_NE(refusal, nullptr);
  EXPECT_FALSE(refusal->allowed);
  EXPECT_EQ(refusal->by.text(), "split:1");
}

TEST(Fusion, RulesCanBeSwitchedOffEverywhereOrForOneNode) {
  const auto off = planned(residualBlock(), cpuOptions({parseNoFuse("conv_epilogue").value()}));
  EXPECT_EQ(fusions(*off), "conv{conv1} pointwise{relu1} conv{conv2} pointwise{add relu2}");
  const auto one = planned(residualBlock(), cpuOptions({parseNoFuse("activation@relu1").value()}));
  EXPECT_EQ(fusions(*one), "conv{conv1} pointwise{relu1} conv{conv2 add relu2}");
  const auto residual = planned(residualBlock(), cpuOptions({parseNoFuse("residual").value()}));
  EXPECT_EQ(fusions(*residual), "conv{conv1 relu1} conv{conv2} pointwise{add relu2}");
  EXPECT_NE(findDecision(*residual, "fuse.no_fuse_honoured"), nullptr);
}

TEST(Fusion, AnUnknownRuleIsAnErrorThatListsThem) {
  const auto plan = makePlan(residualBlock(), cpuOptions({parseNoFuse("magic").value()}));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().help.find("attention"), std::string::npos);
}

TEST(Fusion, ForkThatJoinsIsTakenWhole) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId product = b.node("MatMul", "matmul", {x, b.weight("w", {8, 8})}, {2, 8});
  const ValueId gate = b.node("Sigmoid", "sigmoid", {product}, {2, 8});
  b.output(b.node("Mul", "mul", {product, gate}, {2, 8}));
  EXPECT_EQ(fusions(*planned(b.build(), cpuOptions())), "matmul{matmul sigmoid mul}");
}

TEST(Fusion, ForkThatLeavesIsRefusedWithTheUser) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId product = b.node("MatMul", "matmul", {x, b.weight("w", {8, 8})}, {2, 8});
  b.output(b.node("Relu", "relu", {product}, {2, 8}));
  b.output(b.node("Softmax", "softmax", {product}, {2, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(fusions(*plan), "matmul{matmul} pointwise{relu} softmax{softmax}");
  const Decision* refusal = findDecision(*plan, "fuse.inner_value_used_outside", "relu");
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->arguments["user"], "softmax");
}

TEST(Fusion, AModelOutputStaysInMemory) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId product = b.node("MatMul", "matmul", {x, b.weight("w", {8, 8})}, {2, 8});
  b.output(product);
  b.output(b.node("Relu", "relu", {product}, {2, 8}));
  EXPECT_EQ(fusions(*planned(b.build(), cpuOptions())), "matmul{matmul} pointwise{relu}");
}

TEST(Fusion, PointwiseDeliversInnerValues) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId a = b.node("Exp", "exp", {x}, {2, 8});
  const ValueId c = b.node("Relu", "relu", {a}, {2, 8});
  b.output(a);
  b.output(b.node("Add", "add", {c, b.weight("bias", {8})}, {2, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(fusions(*plan), "pointwise{exp relu add}");
  ASSERT_EQ(plan->fusedNodes[0].outputs.size(), 2U);
  EXPECT_TRUE(plan->fusedNodes[0].innerEdges[0].real) << "exp_out is read inside and stands in memory";
  EXPECT_FALSE(plan->fusedNodes[0].innerEdges[1].real);
}

TEST(Fusion, PointwiseDoesNotComputeElementsAgain) {
  ModelBuilder b;
  const ValueId row = b.input("row", {8});
  const ValueId x = b.input("x", {2, 8});
  b.output(b.node("Mul", "mul", {x, b.node("Cos", "cos", {row}, {8})}, {2, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(fusions(*plan), "pointwise{cos} pointwise{mul}");
  EXPECT_NE(findDecision(*plan, "fuse.shape_differs", "cos"), nullptr);
}

TEST(Fusion, AMergeThatWouldMakeACycleIsRefused) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId a = b.node("Exp", "exp", {x}, {2, 8});
  const ValueId s = b.node("Softmax", "softmax", {a}, {2, 8});
  b.output(b.node("Add", "add", {a, s}, {2, 8}));
  const auto plan = planned(b.build(), cpuOptions());
  EXPECT_EQ(fusions(*plan), "pointwise{exp} softmax{softmax} pointwise{add}");
  const Decision* refusal = findDecision(*plan, "fuse.would_cycle", "exp");
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->arguments["through"], "softmax");
}

TEST(Fusion, ViewsGoWithTheKernelThatWritesOrReads) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 4, 8});
  const ValueId flat = b.node("Reshape", "flatten", {x, b.constant("s1", Tensor::ofInt64({8, 8}))}, {8, 8});
  const ValueId product = b.node("Gemm", "gemm", {flat, b.weight("w", {8, 8})}, {8, 8});
  const ValueId back = b.node("Reshape", "restore", {product, b.constant("s2", Tensor::ofInt64({2, 4, 8}))}, {2, 4, 8});
  b.output(b.node("Add", "residual", {back, x}, {2, 4, 8}));
  EXPECT_EQ(fusions(*planned(b.build(), cpuOptions())), "gemm{flatten gemm restore residual}");
}

TEST(Fusion, LayerNormIsFoundInItsArithmetic) {
  ModelBuilder b;
  const ValueId x = b.input("x", {2, 8});
  const ValueId axes = b.constant("axes", Tensor::ofInt64({-1}));
  const ValueId mean = b.node("ReduceMean", "mean", {x, axes}, {2, 1});
  const ValueId centred = b.node("Sub", "sub", {x, mean}, {2, 8});
  const ValueId square = b.node("Pow", "pow", {centred, b.constant("two", Tensor::scalar(2))}, {2, 8});
  const ValueId variance = b.node("ReduceMean", "variance", {square, axes}, {2, 1});
  const ValueId safe = b.node("Add", "eps", {variance, b.constant("e", Tensor::scalar(1e-5F))}, {2, 1});
  const ValueId deviation = b.node("Sqrt", "sqrt", {safe}, {2, 1});
  const ValueId scaled = b.node("Div", "div", {centred, deviation}, {2, 8});
  const ValueId weighted = b.node("Mul", "weight", {scaled, b.weight("w", {8})}, {2, 8});
  b.output(b.node("Add", "bias", {weighted, b.weight("b", {8})}, {2, 8}));
  const auto model = b.build();
  EXPECT_EQ(fusions(*planned(model, cpuOptions())), "layer_norm{mean sub pow variance eps sqrt div weight bias}");
  const auto off = planned(model, cpuOptions({parseNoFuse("layer_norm").value()}));
  EXPECT_GT(off->fusedNodes.size(), 3U);
}

std::shared_ptr<const Model> attentionModel() {
  ModelBuilder b;
  const ValueId q = b.input("q", {1, 4, 16});
  const ValueId k = b.input("k", {1, 4, 16});
  const ValueId v = b.input("v", {1, 4, 16});
  const ValueId mask = b.input("mask", {1, 1, 4, 4});
  const ValueId heads = b.constant("heads", Tensor::ofInt64({1, 4, 2, 8}));
  const std::map<std::string, Attribute> swap{{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}};
  const std::map<std::string, Attribute> across{{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}};
  const ValueId q4 = b.node("Reshape", "q_view", {q, heads}, {1, 4, 2, 8});
  const ValueId qt = b.node("Transpose", "q_heads", {q4}, {1, 2, 4, 8}, DataType::F32, swap);
  const ValueId qs = b.node("Mul", "q_scale", {qt, b.constant("scale", Tensor::scalar(0.35F))}, {1, 2, 4, 8});
  const ValueId k4 = b.node("Reshape", "k_view", {k, heads}, {1, 4, 2, 8});
  const ValueId kt = b.node("Transpose", "k_heads", {k4}, {1, 2, 8, 4}, DataType::F32, across);
  const ValueId v4 = b.node("Reshape", "v_view", {v, heads}, {1, 4, 2, 8});
  const ValueId vt = b.node("Transpose", "v_heads", {v4}, {1, 2, 4, 8}, DataType::F32, swap);
  const ValueId scores = b.node("MatMul", "qk", {qs, kt}, {1, 2, 4, 4});
  const ValueId masked = b.node("Add", "add_mask", {scores, mask}, {1, 2, 4, 4});
  const ValueId p = b.node("Softmax", "softmax", {masked}, {1, 2, 4, 4});
  const ValueId out = b.node("MatMul", "pv", {p, vt}, {1, 2, 4, 8});
  const ValueId merged = b.node("Transpose", "merge", {out}, {1, 4, 2, 8}, DataType::F32, swap);
  b.output(b.node("Reshape", "out_view", {merged, b.constant("flat", Tensor::ofInt64({1, 4, 16}))}, {1, 4, 16}));
  return b.build();
}

TEST(Fusion, AttentionTakesItsViewsScalesAndMask) {
  const auto plan = planned(attentionModel(), cpuOptions());
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].kind, "attention");
  EXPECT_EQ(plan->graph().node(plan->fusedNodes[0].root).name, "softmax");
  EXPECT_EQ(plan->fusedNodes[0].inputs.size(), 4U);
}

PlanOptions f16With(Directives directives) {
  return {.target = "cpu:avx2", .precisions = {DataType::F16}, .directives = std::move(directives)};
}

TEST(Fusion, ASoftmaxInsideAttentionIsHeldInF32Anyway) {
  const auto plan = planned(attentionModel(), f16With({testing::pin("softmax=f32:obey")}));
  ASSERT_EQ(plan->fusedNodes.size(), 1U) << fusions(*plan);
  EXPECT_EQ(plan->fusedNodes[0].compute, DataType::F16);
  const Decision* answer = findDecision(*plan, "precision.pin_free", "softmax");
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->by.text(), "pin:1");
  EXPECT_NE(message(*answer).find("is satisfied for free: its kernel keeps"), std::string::npos) << message(*answer);
  EXPECT_EQ(plan->casts.size(), planned(attentionModel(), f16With({}))->casts.size());
}

TEST(Fusion, AttentionNarrowsItsProbabilitiesAndNothingElse) {
  const auto plan = planned(attentionModel(), f16With({}));
  for (const InnerEdge& edge : plan->fusedNodes[0].innerEdges) {
    const bool probabilities = plan->graph().value(edge.value).name == "softmax_out";
    EXPECT_EQ(edge.type, probabilities ? DataType::F16 : DataType::F32) << plan->graph().value(edge.value).name;
    EXPECT_FALSE(edge.real);
  }
}

TEST(Fusion, AnAttentionWhoseProductsDifferComesApart) {
  const auto plan = planned(attentionModel(), f16With({testing::pin("pv=f32")}));
  const auto at = [&](const char* node) { return plan->fusedNodeOf(*plan->graph().findNode(node)); };
  EXPECT_EQ(at("qk")->kind, "matmul") << fusions(*plan);
  EXPECT_EQ(at("softmax")->kind, "softmax");
  EXPECT_EQ(at("pv")->kind, "matmul");
  EXPECT_EQ(at("pv")->compute, DataType::F32);
  const Decision* price = findDecision(*plan, "precision.pin_price", "pv");
  ASSERT_NE(price, nullptr);
  EXPECT_EQ(price->arguments["lost_fusions"].list().size(), 1U);
  EXPECT_NE(findDecision(*plan, "fuse.precision_differs", "qk"), nullptr);
}

TEST(Fusion, AFallbackSegmentRunsNodeByNode) {
  const auto plan = planned(residualBlock(), cpuOptions({fallbackDirective("*")}));
  EXPECT_EQ(plan->fusedNodes.size(), 5U);
  EXPECT_NE(findDecision(*plan, "fuse.fallback_segment", "segment_0"), nullptr);
}

}  // namespace
}  // namespace fusescope
