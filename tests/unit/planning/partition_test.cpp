#include "analysis/contraction.h"
#include "tests/unit/planning/plan_testing.h"

namespace fusescope {
namespace {

using testing::cpuOptions;
using testing::findDecision;
using testing::ModelBuilder;
using testing::planned;

/// a ─┬─ b ─ c ─┬─ e       c is the one that tests send to fallback
///    └─── d ───┘
std::shared_ptr<const Model> diamond() {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  const ValueId a = m.node("Relu", "a", {x}, {2, 2});
  const ValueId b = m.node("Softmax", "b", {a}, {2, 2});
  const ValueId c = m.node("Exp", "c", {b}, {2, 2});
  const ValueId d = m.node("Abs", "d", {a}, {2, 2});
  m.output(m.node("Add", "e", {c, d}, {2, 2}));
  return m.build();
}

std::string segmentsOf(const Plan& plan) {
  std::string text;
  for (const Segment& segment : plan.segments) {
    text += (text.empty() ? "" : " ") + std::string(name(segment.kind)) + "{";
    for (std::size_t i = 0; i < segment.nodes.size(); ++i) {
      text += (i == 0 ? "" : " ") + plan.graph().node(segment.nodes[i]).name;
    }
    text += "}";
  }
  return text;
}

TEST(Partition, EverythingSupportedIsOneSegment) {
  const auto plan = planned(diamond(), cpuOptions());
  EXPECT_EQ(segmentsOf(*plan), "accelerated{a b c d e}");
  EXPECT_EQ(plan->segments[0].backend, "native");
  EXPECT_EQ(plan->segments[0].name, "segment_0");
}

TEST(Partition, SegmentsAreConvexAndTheRefusedMergeIsExplained) {
  const auto plan = planned(diamond(), cpuOptions({fallbackDirective("c")}));
  EXPECT_EQ(segmentsOf(*plan), "accelerated{a b d} fallback{c} accelerated{e}");
  EXPECT_EQ(plan->segments[1].backend, "reference");
  const Decision* forced = findDecision(*plan, "partition.forced_fallback", "c");
  ASSERT_NE(forced, nullptr);
  EXPECT_EQ(forced->by.text(), "fallback:1");
  const Decision* cycle = findDecision(*plan, "partition.would_cycle", "d");
  ASSERT_NE(cycle, nullptr);
  EXPECT_EQ(cycle->arguments["through"], "c");
  ASSERT_EQ(cycle->evidence.size(), 1U);
  EXPECT_EQ(plan->decisions[cycle->evidence[0]].subjects[0].text(), "c");
}

TEST(Partition, TooSmallIsAReasonLikeAnyOther) {
  const auto plan = planned(diamond(), cpuOptions({fallbackDirective("c"), minSegmentDirective(2)}));
  EXPECT_EQ(segmentsOf(*plan), "accelerated{a b d} fallback{c e}");
  const Decision* small = findDecision(*plan, "partition.too_small", "e");
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->arguments["nodes"], 1);
  EXPECT_EQ(small->arguments["minimum"], 2);
  EXPECT_EQ(findDecision(*plan, "partition.min_segment")->by.text(), "min_segment:2");
  EXPECT_FALSE(makePlan(diamond(), cpuOptions({minSegmentDirective(0)})).ok());
}

TEST(Partition, AFallbackSourceDelaysNobody) {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  const ValueId source = m.node("Exp", "source", {x}, {2, 2});
  const ValueId other = m.node("Relu", "other", {x}, {2, 2});
  m.output(m.node("Add", "sum", {source, other}, {2, 2}));
  const auto plan = planned(m.build(), cpuOptions({fallbackDirective("source")}));
  EXPECT_EQ(segmentsOf(*plan), "fallback{source} accelerated{other sum}");
}

// A DequantizeLinear of weights stands with its product, which then multiplies codes, behind a fallback too.
TEST(Partition, WhatReadsConstantsAloneStandsWithItsFirstReader) {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 4});
  const ValueId odd = m.node("Exp", "odd", {x}, {2, 4});
  const ValueId scale = m.constant("scale", Tensor::scalar(0.5F));
  const ValueId zero = m.constant("zero", Tensor::scalar(0.0F).converted(DataType::I8));
  const ValueId codes = m.constant("codes", Tensor::zeros(DataType::I8, {4, 3}));
  const ValueId quantized = m.node("QuantizeLinear", "q", {odd, scale, zero}, {2, 4}, DataType::I8);
  const ValueId numbers = m.node("DequantizeLinear", "d", {quantized, scale, zero}, {2, 4});
  const ValueId weights = m.node("DequantizeLinear", "w", {codes, scale, zero}, {4, 3});
  m.output(m.node("MatMul", "product", {numbers, weights}, {2, 3}));
  const auto plan = planned(m.build(), cpuOptions({fallbackDirective("odd")}));
  EXPECT_EQ(segmentsOf(*plan), "fallback{odd} accelerated{q d w product}");
  EXPECT_EQ(plan->calculates[plan->graph().findNode("product")->index], DataType::I8);
}

TEST(Partition, AFallbackThatReadsConstantsAloneKeepsSegmentsApartToo) {
  ModelBuilder m;
  const ValueId near = m.node("Relu", "near", {m.input("x", {2, 4})}, {2, 4});
  const ValueId first = m.node("Abs", "first", {m.constant("c", Tensor::zeros(DataType::F32, {4, 3}))}, {4, 3});
  const ValueId far = m.node("Exp", "far", {first}, {4, 3});
  const ValueId behind = m.node("Neg", "behind", {far}, {4, 3});
  m.output(m.node("MatMul", "product", {near, behind}, {2, 3}));
  const auto plan = planned(m.build(), cpuOptions({fallbackDirective("far")}));
  const Decision* apart = findDecision(*plan, "partition.would_cycle", "product");
  ASSERT_NE(apart, nullptr) << segmentsOf(*plan);
  EXPECT_EQ(apart->arguments["through"], "far");
}

TEST(Partition, UnknownOperatorsFallBackWithEvidence) {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  m.output(m.node("Unheard", "odd", {x}, {2, 2}));
  const auto plan = planned(m.build(), cpuOptions());
  EXPECT_EQ(segmentsOf(*plan), "fallback{odd}");
  const Decision* decision = findDecision(*plan, "partition.not_supported", "odd");
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(plan->decisions[decision->evidence.at(0)].code, "validate.no_kernel");
}

TEST(ContractedGraph, FindsThePathThatWouldBecomeACycle) {
  const auto model = diamond();
  const Graph& graph = *model->graph;
  const auto id = [&](const char* name) { return *graph.findNode(name); };
  ContractedGraph groups(graph, graph.order());
  const auto at = [&](const char* name) { return groups.groupOf(id(name)); };
  EXPECT_TRUE(groups.pathOutside(std::vector{at("a"), at("e")}).has_value());
  const std::vector neighbours{at("a"), at("d")};
  ASSERT_FALSE(groups.pathOutside(neighbours).has_value());
  groups.merge(neighbours);
  EXPECT_EQ(at("a"), at("d"));
  // c depends on the group of a and d, and e on both: b between a and c may still join from the other side.
  const std::vector rest{at("b"), at("c"), at("e")};
  ASSERT_FALSE(groups.pathOutside(rest).has_value());
  groups.merge(rest);
  ASSERT_EQ(groups.ordered().size(), 2U);
  EXPECT_EQ(groups.ordered()[0], (std::vector{id("a"), id("d")}));
}

}  // namespace
}  // namespace fusescope
