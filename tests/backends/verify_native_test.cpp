// What `verify` found over the networks of the shared folder: kernels that were wrong, and what was none of their
// fault.
#include <gtest/gtest.h>

#include "tests/backends/backend_fixture.h"
#include "verify/verify_regions.h"

namespace fusescope::testing {
namespace {

using Inputs = std::map<std::string, Tensor>;

void expectRight(const std::shared_ptr<const Plan>& plan, const std::vector<Inputs>& samples, int seeds) {
  const auto report = verifyRegions(plan, samples, {.backend = "native", .threads = 1, .seeds = seeds});
  ASSERT_TRUE(report.ok()) << report.error().text();
  std::size_t tactics = 0;
  for (const RegionVerdict& region : report.value().regions) tactics += region.tactics.size();
  EXPECT_GT(tactics, 0U);
  if (const auto& wrong = report.value().mismatch)
    ADD_FAILURE() << wrong->failure.tactic << " on " << wrong->failure.caseName << ": " << wrong->failure.what;
}

// Squares of what it is the norm of are below the least float, or beyond the largest.
TEST(VerifyNative, ANormOfNumbersWhoseSquaresNoFloatHolds) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[2, 37]
    const %axes: int64[1] = [1]
    %m: f32[2, 1] = ReduceL2(%x, %axes) {name="norm"}
    output %m)"));
  std::vector<Inputs> samples;
  for (const float size : {1e-40F, 1e-25F, 1e-15F, 1e30F})
    samples.push_back({{"x", floats({2, 37}, std::vector<float>(74, size))}});
  expectRight(plan, samples, 1);
}

// In a long row a few numbers are much larger than the rest: what the sum that all are divided by is off by, they are.
TEST(VerifyNative, AQuotientIsAsExactAsWhatItIsDividedBy) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[16, 4096]
    %y: f32[16, 4096] = Softmax(%x) <axis=1> {name="softmax"}
    output %y)"));
  Tensor peaks = noise({16, 4096}, 5);
  for (float& value : peaks.mutableData<float>()) value = 7 * value * value * value;
  expectRight(plan, {{{"x", peaks}}}, 4);
}

// Of large sums Clip leaves small numbers, whose digits are those that the sums had no room for.
TEST(VerifyNative, WhatIsClippedIsAsExactAsTheSumItIsOf) {
  GraphEditor editor;
  Tensor weights = noise({256, 512}, 3);
  for (float& weight : weights.mutableData<float>()) weight *= 1e-3F;
  const ValueId x = editor.addInput("x", f32({64, 256})), product = editor.addValue("p", f32({64, 512}));
  const ValueId y = editor.addValue("y", f32({64, 512}));
  editor.addNode(
      {.op = "MatMul", .name = "product", .inputs = {x, editor.addConstant("w", weights)}, .outputs = {product}});
  const ValueId least = editor.addConstant("least", Tensor::scalar(0)),
                most = editor.addConstant("most", Tensor::scalar(6));
  editor.addNode({.op = "Clip", .name = "clip", .inputs = {product, least, most}, .outputs = {y}});
  editor.addOutput(y);
  const auto plan = planOf(modelOf(editor));
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  expectRight(plan, {inputsOf(*plan)}, 0);
}

// A code inside is one off, from zero on, and what is dequantised from it is rounded: that is one step, and no more.
// All sums come to half a step of the second scale, which kernels round to either side.
TEST(VerifyNative, AStepOfCodesInsideIsRoundedWhereItIsStored) {
  const auto model = modelOfText(R"(
    input %x: f32[1, 1, 8, 8]
    const %s: f32[] = [0.050254907]
    const %t: f32[] = [0.20204444]
    const %z: int8[] = [0]
    const %w: int8[1, 1, 1, 1] = [1]
    %q: int8[1, 1, 8, 8] = QuantizeLinear(%x, %s, %z) {name="quantise"}
    %d: f32[1, 1, 8, 8] = DequantizeLinear(%q, %s, %z) {name="dequantise"}
    %v: f32[1, 1, 1, 1] = DequantizeLinear(%w, %s, %z) {name="weights"}
    %c: f32[1, 1, 8, 8] = Conv(%d, %v) {name="conv"}
    %k: int8[1, 1, 8, 8] = QuantizeLinear(%c, %t, %z) {name="again"}
    %y: f32[1, 1, 8, 8] = DequantizeLinear(%k, %t, %z) {name="last"}
    output %y)");
  const auto plan = planOf(model, {.precisions = {DataType::BF16}});
  expectRight(plan, {{{"x", floats({1, 1, 8, 8}, std::vector<float>(64, 40 * 0.050254907F))}}}, 0);
}

}  // namespace
}  // namespace fusescope::testing
