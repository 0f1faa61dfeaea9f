// Causes of what differs between two networks that one other compiler made with several other options.
#include <gtest/gtest.h>

#include <algorithm>

#include "diff/diff_plans.h"
#include "tests/unit/diff/made_blocks.h"
#include "tests/unit/diff/rebuilt_networks.h"

namespace fusescope::test {
namespace {

using CompilerOptionMap = std::map<std::string, std::string>;

std::shared_ptr<const Plan> askedWith(CompilerOptionMap options, const Names& pins = {},
                                      std::vector<DataType> precisions = {}) {
  PlanOptions asked{.compiler = "onnxruntime", .target = "cpu:avx2", .precisions = std::move(precisions)};
  asked.compilerOptions = std::move(options);
  for (const std::string& pin : pins) asked.directives.push_back(parsePin(pin).value());
  auto plan = makePlan(chainOfBlocks({8}), asked);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? plan.value() : nullptr;
}

ReadBackKernel madeBy(const std::string& optimiser, ReadBackKernel kernel) {
  kernel.optimiser = optimiser;
  return kernel;
}

/// The product and the sum behind it are one kernel, which MatMulAddFusion made.
std::shared_ptr<const ReadBackPlan> fused(const std::shared_ptr<const Plan>& asked) {
  return madeOf(asked, {kernelOver(*asked, "first", {"wide0", "relu0"}),
                        madeBy("MatMulAddFusion", kernelOver(*asked, "second", {"narrow0", "sum0"}))});
}

/// They are two kernels. `first` says by what the other kernel was made.
std::shared_ptr<const ReadBackPlan> apart(const std::shared_ptr<const Plan>& asked, const std::string& first = {}) {
  return madeOf(asked, {madeBy(first, kernelOver(*asked, "first", {"wide0", "relu0"})),
                        kernelOver(*asked, "second", {"narrow0"}), kernelOver(*asked, "third", {"sum0"})});
}

PlanDiff diffOfMade(const ReadBackPlan& a, const ReadBackPlan& b) {
  auto diff = diffPlans({.cover = &a, .label = "a"}, {.cover = &b, .label = "b"});
  EXPECT_TRUE(diff.ok()) << diff.error().text();
  return diff.ok() ? std::move(diff).value() : PlanDiff();
}

TEST(MadeCauses, AnOptimiserThatOneSideLeavesOutByNameIsNamed) {
  const auto without = askedWith({{"disable", "NchwcTransformer, MatMulAddFusion"}});
  const auto a = apart(without), b = fused(askedWith({}));
  const PlanDiff diff = diffOfMade(*a, *b), turned = diffOfMade(*b, *a);
  ASSERT_EQ(diff.fusions.size(), 1U) << printDiff(diff);
  const std::string option =
      "MatMulAddFusion, which --compiler-option disable=NchwcTransformer, MatMulAddFusion leaves out in ";
  EXPECT_EQ(diff.fusions[0].because, Causes{option + "A"});
  ASSERT_EQ(turned.fusions.size(), 1U);
  EXPECT_EQ(turned.fusions[0].because, Causes{option + "B"});
  EXPECT_TRUE(diff.causesKnown);
}

TEST(MadeCauses, AnOptimiserThatALevelLeavesOutIsNamedIfItMakesNothingThere) {
  const auto basic = askedWith({{"level", "basic"}});
  const auto b = fused(askedWith({{"level", "all"}}));
  const PlanDiff diff = diffOfMade(*apart(basic), *b);
  ASSERT_EQ(diff.fusions.size(), 1U);
  EXPECT_EQ(diff.fusions[0].because, Causes{"MatMulAddFusion, which --compiler-option level=basic leaves out in A"});
  const PlanDiff itRanInBoth = diffOfMade(*apart(basic, "MatMulAddFusion"), *b);
  ASSERT_EQ(itRanInBoth.fusions.size(), 1U);
  EXPECT_EQ(itRanInBoth.fusions[0].because, Causes{"--compiler-option level=basic → level=all"})
      << "the level does not leave it out, but it is all that differs";
}

TEST(MadeCauses, AnOptimiserIsNamedAlsoIfOtherOptionsDiffer) {
  const auto a = apart(askedWith({{"disable", "MatMulAddFusion"}}));
  const auto b = fused(askedWith({}, {"wide0=f16"}));
  const PlanDiff diff = diffOfMade(*a, *b);
  ASSERT_EQ(diff.differences.size(), 2U) << printDiff(diff);
  ASSERT_EQ(diff.fusions.size(), 1U);
  EXPECT_EQ(diff.fusions[0].because,
            Causes{"MatMulAddFusion, which --compiler-option disable=MatMulAddFusion leaves out in A"})
      << "the pin is elsewhere";
}

TEST(MadeCauses, APinAndATypeThatChangedTogetherAreTold) {
  const auto asked = askedWith({}, {"narrow0=f32"}, {DataType::F16});
  const auto a = fused(askedWith({}));
  const auto b = madeOf(asked, {kernelOver(*asked, "first", {"wide0", "relu0"}, DataType::F16),
                                kernelOver(*asked, "second", {"narrow0"}, DataType::F32),
                                kernelOver(*asked, "third", {"sum0"}, DataType::F16)});
  const PlanDiff diff = diffOfMade(*a, *b);
  const std::string pin = "--pin narrow0=f32 (only in B)", precision = "--precision f32 → f16";
  ASSERT_EQ(diff.differences.size(), 2U) << printDiff(diff);
  ASSERT_EQ(diff.fusions.size(), 1U);
  EXPECT_EQ(diff.fusions[0].because, (Causes{pin, precision}));
  std::size_t ofPrecision = 0;
  for (const TypeChange& change : diff.types) ofPrecision += change.because == Causes{precision};
  EXPECT_GT(ofPrecision, 0U) << printDiff(diff);
}

TEST(MadeCauses, AHintIsACauseLikeAPrecision) {
  const auto narrow = askedWith({{"hint", "f16"}}, {"sum0=f32"});
  const auto b = madeOf(narrow, {kernelOver(*narrow, "first", {"wide0", "relu0"}, DataType::F16),
                                 kernelOver(*narrow, "second", {"narrow0", "sum0"})});
  const PlanDiff diff = diffOfMade(*fused(askedWith({})), *b);
  const auto first = std::ranges::find(diff.types, "first", &TypeChange::name);
  ASSERT_NE(first, diff.types.end()) << printDiff(diff);
  EXPECT_EQ(first->because, Causes{"--compiler-option hint=f16 (only in B)"});
}

TEST(MadeCauses, WhatNothingExplainsIsNotDisclosed) {
  const auto asked = askedWith({{"threads", "2"}}, {"wide0=f16"});
  const auto b =
      madeOf(asked, {kernelOver(*asked, "first", {"wide0"}, DataType::F16), kernelOver(*asked, "relu", {"relu0"}),
                     kernelOver(*asked, "second", {"narrow0"}), kernelOver(*asked, "third", {"sum0"})});
  const PlanDiff diff = diffOfMade(*fused(askedWith({})), *b);
  ASSERT_EQ(diff.fusions.size(), 2U) << printDiff(diff);
  EXPECT_EQ(diff.fusions[0].because, Causes{"--pin wide0=f16 (only in B)"});
  EXPECT_TRUE(diff.fusions[1].because.empty());
  EXPECT_FALSE(diff.causesKnown);
  const std::string text = printDiff(diff);
  EXPECT_NE(text.find("causes that are not named are not disclosed: "), std::string::npos) << text;
  EXPECT_NE(text.find("cause not disclosed"), std::string::npos) << text;
}

}  // namespace
}  // namespace fusescope::test
