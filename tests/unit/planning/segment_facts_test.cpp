// Why the nodes of a segment run where they do, by what, and how long its kernels take.
#include "planning/segment_facts.h"

#include "base/json.h"
#include "planning/read_back/pins_made.h"
#include "tests/unit/planning/read_back_testing.h"

namespace fusescope {
namespace {

using testing::chainModel;
using testing::chainPlan;
using testing::cpuOptions;
using testing::findDecision;
using testing::planned;
using testing::Told;

TEST(SegmentFacts, FallbackBesideAnotherCompilerIsOurEngine) {
  const auto beside = chainPlan({fallbackDirective("exp")});
  ASSERT_EQ(beside->segments.size(), 3U);
  EXPECT_EQ(beside->segments[0].backend, "other");
  EXPECT_EQ(beside->segments[1].backend, "fusescope");
  Told told(beside);
  told.kernel("first", {"fc1", "relu"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  for (std::size_t i = 0; i < made->segments.size(); ++i)
    EXPECT_EQ(made->segments[i].backend, beside->segments[i].backend);
  const auto ours = planned(chainModel(), cpuOptions({fallbackDirective("exp")}));
  EXPECT_EQ(ours->segments[1].backend, "reference");
}

TEST(SegmentFacts, ASegmentHasTheReasonsOfItsNodes) {
  const auto plan = chainPlan({fallbackDirective("exp")});
  const std::vector<SegmentFacts> facts = segmentFacts(*plan);
  ASSERT_EQ(facts.size(), 3U);
  ASSERT_EQ(facts[1].reasons.size(), 1U);
  EXPECT_EQ(facts[1].reasons[0].code, "partition.forced_fallback");
  EXPECT_EQ(facts[1].reasons[0].nodes, 1);
  EXPECT_EQ(reasonText(facts[1]), "falls back because a directive asks for it");
  ASSERT_EQ(facts[0].reasons.size(), 1U);
  EXPECT_EQ(facts[0].reasons[0].code, "partition.supported");
  EXPECT_EQ(facts[0].reasons[0].nodes, std::ssize(plan->segments[0].nodes));
  EXPECT_EQ(toJson(*plan)["segments"][1]["reasons"][0]["code"], "partition.forced_fallback");
}

TEST(SegmentFacts, ARefusalIsTheReasonAndNotThatItFallsBack) {
  PlanOptions options = cpuOptions();
  options.compiler = "other";
  options.support = std::make_shared<const CompilerSupport>(
      CompilerSupport{{{.node = "exp", .isAccepted = false, .code = "", .message = "there is no kernel for it"},
                       {.node = "relu", .isAccepted = false, .code = "", .message = "it is not liked"}}});
  const auto plan = planned(chainModel(), options);
  const std::vector<SegmentFacts> facts = segmentFacts(*plan);
  std::int64_t refused = 0;
  for (const Segment& segment : plan->segments) {
    if (segment.kind != SegmentKind::Fallback) continue;
    const auto& reasons = facts[segment.id.index].reasons;
    ASSERT_FALSE(reasons.empty());
    EXPECT_EQ(reasons.front().code, "validate.compiler_refused");
    EXPECT_TRUE(reasons.front().message.find("there is no kernel for it") != std::string::npos ||
                reasons.front().message.find("it is not liked") != std::string::npos)
        << reasons.front().message;
    refused += reasons.front().nodes;
  }
  EXPECT_EQ(refused, 2);
}

TEST(SegmentFacts, ACauseIsBeforeItsConsequences) {
  PlanOptions options = cpuOptions();
  options.compiler = "other";
  const auto notAsked = [](const char* node) {
    return NodeSupport{
        .node = node, .isAccepted = std::nullopt, .code = "validate.not_asked", .message = "exp is refused"};
  };
  options.support = std::make_shared<const CompilerSupport>(
      CompilerSupport{{notAsked("fc1"),
                       notAsked("relu"),
                       {.node = "exp", .isAccepted = false, .code = "", .message = "there is no kernel for it"}}});
  const auto plan = planned(chainModel(), options);
  for (const SegmentFacts& facts : segmentFacts(*plan)) {
    if (facts.reasons.size() < 2) continue;
    EXPECT_NE(facts.reasons.front().code, "validate.not_asked");
  }
}

TEST(SegmentFacts, ASegmentThatASplitBeginsSaysSo) {
  const auto plan = chainPlan({splitDirective("relu")});
  ASSERT_EQ(plan->segments.size(), 2U);
  const std::vector<SegmentFacts> facts = segmentFacts(*plan);
  ASSERT_FALSE(facts[1].reasons.empty());
  EXPECT_EQ(facts[1].reasons.front().code, "partition.split");
}

TEST(SegmentFacts, TimesOfKernelsAreAdded) {
  Told told(chainPlan({fallbackDirective("exp")}));
  told.kernel("first", {"fc1"}).ms = 0.5;
  told.kernel("second", {"relu"}).ms = 0.25;
  told.kernel("third", {"fc2"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  const std::vector<SegmentFacts> facts = segmentFacts(*made);
  EXPECT_EQ(facts[0].time.ms, 0.75);
  EXPECT_EQ(facts[0].time.unknown, 0);
  EXPECT_TRUE(facts[0].time.isMeasured);
  EXPECT_EQ(facts[2].time.ms, std::nullopt);
  EXPECT_EQ(facts[2].time.unknown, 1);
  EXPECT_EQ(toJson(facts[2])["ms"], nullptr);
  EXPECT_FALSE(segmentFacts(*told.asked)[0].time.isMeasured);
}

Directive outputType(const char* value, DataType type, Strictness strictness) {
  return {.kind = DirectiveKind::PinOutput, .pattern = value, .type = type, .strictness = strictness};
}

TEST(OutputTypesOfOthers, AreComparedWithWhatIsStored) {
  PlanOptions options = cpuOptions({outputType("fc1", DataType::BF16, Strictness::Obey),
                                    outputType("relu", DataType::BF16, Strictness::Obey),
                                    outputType("exp", DataType::BF16, Strictness::Prefer)});
  options.compiler = "other";
  options.precisions = {DataType::BF16};
  Told told(planned(chainModel(), options));
  const auto writes = [&](const char* node, DataType type) {
    ReadBackKernel& kernel = told.kernel(std::string("k_") + node, {node});
    kernel.outputs = {{.value = told.value(node + std::string("_out")), .type = type}};
  };
  writes("fc1", DataType::BF16);
  writes("relu", DataType::F32);
  writes("exp", DataType::F32);
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  const auto count = [&](const char* code) { return std::ranges::count(made->decisions, code, &Decision::code); };
  EXPECT_EQ(count("build.output_type_obeyed"), 1);
  EXPECT_EQ(count("build.output_type_ignored"), 2);
  const std::vector<UnobeyedPin> unobeyed = unobeyedPins(*made);
  ASSERT_EQ(unobeyed.size(), 1U) << "one is obeyed, and one is only preferred";
  EXPECT_EQ(unobeyed[0].about, Subject::value("relu_out"));
  EXPECT_EQ(unobeyed[0].words, "must be stored in bf16, and other stores it in f32");
}

TEST(OutputTypesOfOthers, OfWhichNothingIsReportedAreNotDisclosed) {
  PlanOptions options = cpuOptions({outputType("relu", DataType::BF16, Strictness::Obey)});
  options.compiler = "other";
  options.precisions = {DataType::BF16};
  Told told(planned(chainModel(), options));
  told.kernel("first", {"fc1", "relu"});
  const auto made = told.make();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(std::ranges::count(made->decisions, "build.output_type_not_disclosed", &Decision::code), 1);
  const std::vector<UnobeyedPin> unobeyed = unobeyedPins(*made);
  ASSERT_EQ(unobeyed.size(), 1U);
  EXPECT_EQ(unobeyed[0].result, PinResult::NotDisclosed);
}

}  // namespace
}  // namespace fusescope
