// Types that were asked of an engine that others built, and why they were not granted as far as its files tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "diff/diff_plans.h"
#include "session/artifact.h"
#include "session/explain.h"
#include "tests/unit/planning/plan_testing.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

using testing::pin;

/// mnist's engine in f32, asked for `pins`, with a log of these lines; empty: without one.
class AskedMnist {
 public:
  explicit AskedMnist(const Directives& pins, const std::string& log = {}) : m_imported(engineNamed("trt10.16-mnist")) {
    m_imported.request.options.directives = pins;
    if (!log.empty()) m_imported.request.files.log = m_imported.folder().write("build.log", log);
    auto artifact = importEngine(m_imported.request);
    EXPECT_TRUE(artifact.ok()) << (artifact.ok() ? "" : artifact.error().text());
    if (artifact.ok()) m_artifact = std::move(artifact).value();
  }
  const ReadBackPlan& made() const { return *m_artifact.made; }
  const Artifact& artifact() const { return m_artifact; }
  const ReadBackPin& only() const {
    EXPECT_EQ(made().pins.size(), 1U);
    return made().pins.front();
  }
  /// The codes of decisions about pins that are TensorRT's.
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (std::size_t i = made().requested->decisions.size(); i < made().decisions.size(); ++i)
      if (made().decisions[i].code.starts_with("build.pin_")) codes.push_back(made().decisions[i].code);
    return codes;
  }

 private:
  Imported m_imported;
  Artifact m_artifact;
};

std::string command(const std::string& options) {
  return "&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec --onnx=m.onnx" + options + "\n";
}

using Codes = std::vector<std::string>;

TEST(PinCauses, AnObeyedPinIsSaidToBe) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_softmax=f32")});
  EXPECT_EQ(asked.only().result, PinResult::Obeyed);
  EXPECT_EQ(asked.only().cause, PinCause::None);
  EXPECT_EQ(asked.codes(), Codes{"build.pin_obeyed"});
}

TEST(PinCauses, ARegionIsCompiledAsAWhole) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_softmax=f16")});
  const ReadBackPin& made = asked.only();
  EXPECT_EQ(made.result, PinResult::Widened);
  EXPECT_EQ(made.granted, DataType::F32);
  EXPECT_EQ(made.cause, PinCause::InRegion);
  EXPECT_NE(made.why.find("Myelin region 4"), std::string::npos) << made.why;
  EXPECT_FALSE(made.cut.empty());
  EXPECT_EQ(asked.codes(), Codes{"build.pin_in_region"});
  const auto advice = std::ranges::find(asked.made().decisions, "build.region_types_in_network", &Decision::code);
  ASSERT_NE(advice, asked.made().decisions.end());
  EXPECT_EQ(advice->subjects.front().text(), "node_softmax");
}

TEST(PinCauses, AKernelThatIsSharedHasTheTypeOfTheOthers) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_relu=f16")});
  const ReadBackPin& made = asked.only();
  EXPECT_EQ(made.cause, PinCause::SharesKernel);
  EXPECT_NE(made.why.find("node_conv2d"), std::string::npos) << made.why;
  ASSERT_EQ(made.cut.size(), 1U);
  EXPECT_EQ(asked.made().graph().value(made.cut.front()).name, "conv2d");
  EXPECT_EQ(asked.codes(), Codes{"build.pin_shares_kernel"});
}

TEST(PinCauses, TheLogSaysWhatTensorrtWasTold) {
  FUSESCOPE_REQUIRE_SHARED();
  const Directives pins{pin("node_conv2d=f16")};
  const std::map<PinCause, std::string> codes{{PinCause::TypeNotEnabled, "build.pin_type_not_enabled"},
                                              {PinCause::NotApplied, "build.pin_not_applied"},
                                              {PinCause::OnlyPreferred, "build.pin_only_preferred"},
                                              {PinCause::NoTactic, "build.pin_no_tactic"}};
  const auto causeOf = [&](const std::string& log) {
    const AskedMnist asked(pins, log);
    EXPECT_EQ(asked.codes(), Codes{codes.at(asked.only().cause)});
    return asked.only().cause;
  };
  const auto whyOf = [&](const std::string& log) { return AskedMnist(pins, log).only().why; };
  const std::string allowed = "[01/01/2026-00:00:00] [I] Precision: FP32+FP16\n";
  const std::string set = "[01/01/2026-00:00:00] [I] Set layer node_conv2d to precision fp16\n";
  EXPECT_EQ(causeOf(command(" --layerPrecisions=node_conv2d:fp16 --precisionConstraints=obey") +
                    "[01/01/2026-00:00:00] [I] Precision: FP32\n" + set),
            PinCause::TypeNotEnabled);
  EXPECT_EQ(causeOf(command(" --fp16") + allowed), PinCause::NotApplied);
  EXPECT_NE(whyOf(command(" --fp16") + allowed).find("has no --layerPrecisions"), std::string::npos);
  // trtexec leaves layers' types out unless it is told to constrain.
  const std::string noConstraints = command(" --fp16 --layerPrecisions=node_conv2d:fp16") + allowed;
  EXPECT_EQ(causeOf(noConstraints), PinCause::NotApplied);
  EXPECT_NE(whyOf(noConstraints).find("--precisionConstraints is obey or prefer"), std::string::npos);
  // A name that is of no layer, as of a fused one, is left out without a word.
  const std::string fusedName =
      command(" --fp16 --layerPrecisions=node_conv2d + node_relu:fp16 --precisionConstraints=obey") + allowed +
      "[01/01/2026-00:00:00] [V] [TRT] Registering layer: node_conv2d_7 for ONNX node: node_conv2d\n";
  EXPECT_EQ(causeOf(fusedName), PinCause::NotApplied);
  EXPECT_NE(whyOf(fusedName).find("here node_conv2d_7"), std::string::npos) << whyOf(fusedName);
  EXPECT_EQ(
      causeOf(command(" --fp16 --layerPrecisions=node_conv2d:fp16 --precisionConstraints=prefer") + allowed + set),
      PinCause::OnlyPreferred);
  EXPECT_EQ(causeOf(command(" --fp16 --layerPrecisions=node_conv2d:fp16 --precisionConstraints=obey") + allowed + set +
                    "[01/01/2026-00:00:00] [W] [TRT] No implementation of layer node_conv2d[Conv] + node_relu[Relu] "
                    "obeys the requested constraints in strict mode.\n"),
            PinCause::NoTactic);
  EXPECT_EQ(causeOf(command(" --stronglyTyped")), PinCause::NotApplied);
  EXPECT_NE(whyOf(command(" --stronglyTyped")).find("strongly typed"), std::string::npos);
}

TEST(PinCauses, WhatSetsATypeAndIsIgnoredAllTheSameIsNotExplained) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_max_pool2d=f16")},
                         command(" --fp16 --layerPrecisions=node_max_pool2d:fp16 --precisionConstraints=obey") +
                             "[01/01/2026-00:00:00] [I] Precision: FP32+FP16\n"
                             "[01/01/2026-00:00:00] [I] Set layer node_max_pool2d to precision fp16\n");
  EXPECT_EQ(asked.only().cause, PinCause::NotDisclosed);
  EXPECT_EQ(asked.codes(), Codes{"build.pin_unexplained"});
}

TEST(PinCauses, WhatTheRulesOfTheTargetRefuseIsRefusedByThem) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_relu=f8e4m3:prefer")});
  EXPECT_EQ(asked.only().cause, PinCause::TargetRefuses);
  EXPECT_EQ(asked.codes(), Codes{"build.pin_refused_by_target"});
}

TEST(PinCauses, AreKeptInThePlanOnce) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_softmax=f16"), pin("node_relu=f16")});
  const Json json = toJson(asked.made());
  EXPECT_EQ(json["pins"][1]["cause"], "in_region");
  const auto again = readBackPlanFromJson(json, asked.made().requested);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()), json);
}

TEST(PinCauses, ExplainHasTheDecisionsOfTheEngine) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({pin("node_softmax=f16")});
  const auto explained = explainJson(asked.artifact(), "node_softmax");
  ASSERT_TRUE(explained.ok()) << explained.error().text();
  EXPECT_EQ(explained.value()["made"]["pin"]["cause"], "in_region");
  const auto has = [&](const std::string& code) {
    return std::ranges::any_of(explained.value()["decisions"], [&](const Json& said) { return said["code"] == code; });
  };
  EXPECT_TRUE(has("build.pin_in_region"));
  EXPECT_TRUE(has("precision.pin_granted")) << "what the plan says of it is its evidence";
}

TEST(PinCauses, FusionsThatCameOtherwiseHaveWhatIsToldOfThem) {
  FUSESCOPE_REQUIRE_SHARED();
  const AskedMnist asked({});
  const PlanDiff diff = changesBetween({.cover = asked.made().requested.get(), .label = "planned"},
                                       {.cover = &asked.made(), .label = "made"});
  ASSERT_FALSE(diff.fusions.empty()) << "the region's kernels are not those that are planned";
  const bool isDisclosed = std::ranges::any_of(diff.fusions, [](const FusionChange& change) {
    return std::ranges::any_of(
        change.reported, [](const std::string& fact) { return fact.find("in Myelin region 4") != std::string::npos; });
  });
  EXPECT_TRUE(isDisclosed);
  EXPECT_NE(printDiff(diff).find("reported: tensorrt made its kernels in Myelin region 4"), std::string::npos)
      << printDiff(diff);
}

}  // namespace
}  // namespace fusescope::test
