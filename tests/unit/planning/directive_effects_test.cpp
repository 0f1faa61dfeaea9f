// What splits and forbidden fusions mean to a compiler that is not ours: asked, without effect, obeyed or ignored.
#include "planning/directive_effects.h"

#include "planning/structure.h"
#include "target/target_table.h"
#include "tests/unit/planning/plan_testing.h"
#include "tests/unit/planning/read_back_testing.h"

namespace fusescope {
namespace {

using testing::chainModel;
using testing::chainPlan;
using testing::cpuOptions;
using testing::findDecision;
using testing::fusions;
using testing::ModelBuilder;
using testing::planned;
using testing::Told;

Directive noFuse(const char* text) {
  return parseNoFuse(text).value();
}

PlanOptions forOnnxRuntime(Directives directives) {
  return {.compiler = "onnxruntime@there", .target = "onnxruntime", .directives = std::move(directives)};
}

std::string segmentOf(const Plan& plan, const char* node) {
  const NodeId id = *plan.graph().findNode(node);
  return plan.segments[plan.structure->partition.segmentOf[id.index].index].name;
}

/// x -> a -> b -> join, and a -> join; beside it, x -> c.
std::shared_ptr<const Model> bypassed() {
  ModelBuilder m;
  const ValueId x = m.input("x", {2, 2});
  const ValueId a = m.node("Exp", "a", {x}, {2, 2});
  const ValueId b = m.node("Abs", "b", {a}, {2, 2});
  m.output(m.node("Add", "join", {a, b}, {2, 2}));
  m.output(m.node("Neg", "c", {x}, {2, 2}));
  return m.build();
}

TEST(SplitsOfOthers, ASegmentEndsAfterTheNode) {
  const auto plan = chainPlan({splitDirective("relu")});
  ASSERT_EQ(plan->segments.size(), 2U);
  for (const Segment& segment : plan->segments) EXPECT_EQ(segment.kind, SegmentKind::Accelerated);
  EXPECT_EQ(segmentOf(*plan, "fc1"), segmentOf(*plan, "relu"));
  EXPECT_NE(segmentOf(*plan, "relu"), segmentOf(*plan, "flat"));
  EXPECT_EQ(segmentOf(*plan, "flat"), segmentOf(*plan, "fc2"));
  const Decision* ends = findDecision(*plan, "partition.segment_ends", "relu");
  ASSERT_NE(ends, nullptr);
  EXPECT_EQ(ends->by.text(), "split:1");
  EXPECT_EQ(message(*ends),
            "a segment of other ends after it, so that no kernel of other is on both sides of the split");
  const Decision* apart = findDecision(*plan, "partition.split", "flat");
  ASSERT_NE(apart, nullptr);
  EXPECT_EQ(message(*apart), "relu and flat are in different segments: a split was asked for after relu");
  EXPECT_EQ(findDecision(*plan, "fuse.split_honoured"), nullptr) << "only our own kernels are known to obey it";
}

TEST(SplitsOfOthers, OurOwnSegmentsStayWhole) {
  const auto plan = planned(chainModel(), cpuOptions({splitDirective("relu")}));
  EXPECT_EQ(plan->segments.size(), 1U);
  EXPECT_NE(findDecision(*plan, "fuse.split_honoured", "relu"), nullptr);
}

TEST(SplitsOfOthers, OnlyWhatNeedsTheNodeIsBehindIt) {
  PlanOptions options = cpuOptions({splitDirective("b")});
  options.compiler = "other";
  const auto plan = planned(bypassed(), options);
  ASSERT_EQ(plan->segments.size(), 2U);
  EXPECT_EQ(segmentOf(*plan, "a"), segmentOf(*plan, "b"));
  EXPECT_EQ(segmentOf(*plan, "a"), segmentOf(*plan, "c"));
  EXPECT_NE(segmentOf(*plan, "b"), segmentOf(*plan, "join"));
  const Decision* bypass = findDecision(*plan, "partition.split", "join");
  ASSERT_NE(bypass, nullptr);
  EXPECT_EQ(bypass->arguments["node"], "b") << bypass->arguments.toJson();
  ASSERT_FALSE(plan->structure->partition.separatedEdges.empty());
  EXPECT_EQ(plan->structure->partition.separatedEdges.front().through, *plan->graph().findNode("b"));
}

TEST(SplitsOfOthers, EveryNodeMayBeASegment) {
  const auto plan = chainPlan({splitDirective("*")});
  EXPECT_EQ(plan->segments.size(), 5U);
}

TEST(SplitsOfOthers, ANodeThatNothingReadsHasNothingToSplit) {
  const auto last = chainPlan({splitDirective("fc2")});
  EXPECT_EQ(last->segments.size(), 1U);
  EXPECT_NE(findDecision(*last, "fuse.nothing_to_keep_apart", "fc2"), nullptr);
  const auto ours = chainPlan({splitDirective("relu"), fallbackDirective("flat")});
  EXPECT_EQ(ours->segments.size(), 3U) << "the segment of our own engine is the border";
  EXPECT_NE(findDecision(*ours, "fuse.nothing_to_keep_apart", "relu"), nullptr);
}

/// A structure of another compiler, or of other splits, is not taken for this one.
TEST(SplitsOfOthers, ArePartOfTheStructure) {
  const auto before = chainPlan();
  PlanOptions options = before->options;
  options.directives = {splitDirective("relu")};
  const auto split = makePlan(before->model, options, nullptr, {}, before.get());
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split.value()->segments.size(), 2U);
  options.compiler = kOwnCompiler;
  const auto ours = makePlan(before->model, options, nullptr, {}, split.value().get());
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(ours.value()->segments.size(), 1U);
  EXPECT_NE(ours.value()->segments.front().backend, "other");
}

TEST(SplitsOfOthers, ARefusalOfOurRulesIsAPrediction) {
  const auto plan = chainPlan({splitDirective("relu")});
  for (const Decision& decision : plan->decisions)
    EXPECT_TRUE(decision.kind != DecisionKind::Fuse || decision.code.starts_with("fuse.predicted") ||
                decision.code == "fuse.other_segment")
        << decision.code << " " << message(decision);
  EXPECT_NE(findDecision(*plan, "fuse.predicted_alone", "fc2"), nullptr);
}

TEST(SplitsOfOthers, AreObeyedWhereNoKernelIsOnBothSides) {
  Told told(chainPlan({splitDirective("relu")}));
  told.kernel("first", {"fc1", "relu"});
  told.kernel("second", {"exp", "fc2"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  EXPECT_NE(findDecision(*made->requested, "partition.segment_ends", "relu"), nullptr);
  const auto obeyed = std::ranges::find(made->decisions, "build.split_obeyed", &Decision::code);
  ASSERT_NE(obeyed, made->decisions.end());
  EXPECT_EQ(message(*obeyed), "no kernel of other is on both sides of the split after it");
  EXPECT_EQ(obeyed->by.text(), "split:1");
}

TEST(SplitsOfOthers, AreIgnoredWhereAKernelIsOnBothSides) {
  Told told(chainPlan({splitDirective("exp")}));
  told.kernel("first", {"fc1", "relu"});
  told.kernel("second", {"exp", "fc2"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  const auto ignored = std::ranges::find(made->decisions, "build.split_ignored", &Decision::code);
  ASSERT_NE(ignored, made->decisions.end());
  EXPECT_EQ(message(*ignored), "a split was asked for after it, and other calculates it and fc2 in one kernel, second");
  EXPECT_EQ(std::ranges::count(made->decisions, "build.split_obeyed", &Decision::code), 0);
}

/// A plan of our own planning for an engine that was built elsewhere: nothing ended a segment there.
TEST(SplitsOfOthers, InOneSegmentWhatIsNotReportedIsNotDisclosed) {
  Told told(planned(chainModel(), cpuOptions({splitDirective("relu")})));
  told.kernel("second", {"exp", "fc2"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(std::ranges::count(made->decisions, "build.split_not_disclosed", &Decision::code), 1);
}

TEST(ForbiddenFusions, OfACompilerThatCannotBeAskedHaveNoEffect) {
  const auto plan = chainPlan({noFuse("matmul_epilogue"), noFuse("pointwise@exp")});
  const Decision* none = findDecision(*plan, "fuse.without_effect");
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(
      message(*none),
      "--no-fuse has no effect on other: matmul_epilogue is a rule of our own planning, and nothing that other can "
      "be asked to leave out corresponds to it");
  EXPECT_FALSE(none->allowed);
  EXPECT_EQ(directivesWithoutEffect(*plan).size(), 2U);
  EXPECT_EQ(findDecision(*plan, "fuse.no_fuse_honoured"), nullptr);
  EXPECT_EQ(fusions(*plan), fusions(*chainPlan())) << "the prediction does not follow it";
}

TEST(ForbiddenFusions, AreAskedOfACompilerThatCanLeaveThemOut) {
  const auto plan = planned(chainModel(), forOnnxRuntime({noFuse("matmul_epilogue")}));
  const Decision* asked = findDecision(*plan, "fuse.no_fuse_asked");
  ASSERT_NE(asked, nullptr);
  EXPECT_EQ(message(*asked),
            "onnxruntime@there is asked to switch off the optimisers that correspond to our rule matmul_epilogue: "
            "MatMulAddFusion, "
            "MatMulActivationFusion, MatMulScaleFusion");
  EXPECT_TRUE(directivesWithoutEffect(*plan).empty());
  EXPECT_EQ(optimisersToLeaveOut(*plan, plan->options.directives.front()).front(), "MatMulAddFusion");
  EXPECT_NE(fusions(*plan), fusions(*planned(chainModel(), forOnnxRuntime({})))) << "the prediction follows it";
  const Decision* apart = findDecision(*plan, "fuse.predicted_apart");
  ASSERT_NE(apart, nullptr);
  EXPECT_TRUE(
      message(*apart).starts_with("our own rules, which only predict what onnxruntime@there does, do not fuse "
                                  "it: a directive forbids rule matmul_epilogue"))
      << message(*apart);
}

TEST(ForbiddenFusions, AtOneNodeCannotBeAsked) {
  const auto plan = planned(chainModel(), forOnnxRuntime({noFuse("matmul_epilogue@fc1")}));
  ASSERT_EQ(directivesWithoutEffect(*plan).size(), 1U);
  EXPECT_EQ(directivesWithoutEffect(*plan).front().why,
            "it leaves out a way of fusing in the whole network or not at all; --no-fuse matmul_epilogue leaves out "
            "MatMulAddFusion, MatMulActivationFusion, MatMulScaleFusion");
}

TEST(ForbiddenFusions, OfOursAreHonoured) {
  const auto plan = planned(chainModel(), cpuOptions({noFuse("matmul_epilogue")}));
  EXPECT_NE(findDecision(*plan, "fuse.no_fuse_honoured"), nullptr);
  EXPECT_TRUE(directivesWithoutEffect(*plan).empty());
}

TEST(ForbiddenFusions, ItIsReadBackWhetherKernelsStillJoinNodes) {
  const auto asked = planned(chainModel(), forOnnxRuntime({noFuse("matmul_epilogue")}));
  Told apart(asked);
  apart.kernel("product", {"fc1"});
  apart.kernel("clip", {"relu"});
  apart.kernel("second", {"exp"});
  apart.kernel("third", {"fc2"});
  const auto obeyed = apart.make();
  ASSERT_NE(obeyed, nullptr);
  EXPECT_EQ(std::ranges::count(obeyed->decisions, "build.no_fuse_obeyed", &Decision::code), 1);
  Told together(asked);
  together.kernel("product", {"fc1", "relu"});
  const auto ignored = together.make();
  ASSERT_NE(ignored, nullptr);
  const auto why = std::ranges::find(ignored->decisions, "build.no_fuse_ignored", &Decision::code);
  ASSERT_NE(why, ignored->decisions.end());
  EXPECT_EQ(message(*why),
            "other still joins nodes with what our rule matmul_epilogue would join to them, in 1 kernel: product");
}

/// The rule joins relu and exp to the product; a kernel of these two alone is the work of another optimiser.
TEST(ForbiddenFusions, AreObeyedWhereNothingIsJoinedWithTheRoot) {
  const auto asked = planned(chainModel(), forOnnxRuntime({noFuse("matmul_epilogue")}));
  const auto& regions = asked->structure->fusion.regions;
  const auto region = std::ranges::find(regions, "matmul_epilogue", &Region::rule);
  ASSERT_NE(region, regions.end());
  ASSERT_EQ(asked->graph().node(region->root).name, "fc1");
  ASSERT_GE(region->nodes.size(), 3U) << "fc1, relu and exp";
  Told told(asked);
  told.kernel("product", {"fc1"});
  told.kernel("clip", {"relu", "exp"});
  told.kernel("second", {"fc2"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  const auto obeyed = std::ranges::find(made->decisions, "build.no_fuse_obeyed", &Decision::code);
  ASSERT_NE(obeyed, made->decisions.end());
  EXPECT_EQ(message(*obeyed), "no kernel of other joins a node with what our rule matmul_epilogue would join to it");
  EXPECT_EQ(std::ranges::count(made->decisions, "build.no_fuse_ignored", &Decision::code), 0);
}

/// The tables name rules of ours; a rule that is renamed is renamed there.
TEST(ForbiddenFusions, TablesNameRulesThatExist) {
  const std::vector<std::string> rules = fusionRuleNames();
  std::size_t named = 0;
  for (const std::string& target : targetNames())
    for (const auto& [rule, optimisers] : findTargetTable(target)->noFuse) {
      ++named;
      EXPECT_EQ(std::ranges::count(rules, rule), 1) << target << ": " << rule;
    }
  EXPECT_GE(named, 10U);
}

}  // namespace
}  // namespace fusescope
