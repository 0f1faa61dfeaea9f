// What `verify` found over the networks of the shared folder: kernels that were wrong, and what was none of their
// fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "session/inputs/load_samples.h"
#include "session/inputs/samples.h"
#include "session/open_model.h"
#include "tests/backends/backend_fixture.h"
#include "tests/support/paths.h"
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

// One number inside is rounded to f16 to the other side than by the reference: what becomes of it differs, and of no
// other.
TEST(VerifyNative, ARoundingInsideThatTurnsIsNoFault) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto folder = *test::sharedFolder() / "cases" / "found";
  Directive wide{.kind = DirectiveKind::Pin, .pattern = "mul_20", .type = DataType::F32};
  const auto model = openModel(folder / "bad930016.onnx");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto plan = planOf(model.value(), {.precisions = {DataType::F16}, .directives = {wide}});
  const auto samples = loadSamples(*plan, {.paths = {(folder / "bad930016.npz").string()}});
  ASSERT_TRUE(samples.ok()) << samples.error().text();
  expectRight(plan, samples.value().inputs(), 1);
}

// Of numbers that are whole but for what was rounded, integers and truth values are to either side.
TEST(VerifyNative, ANumberNextToAWholeOneIsEitherInteger) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[8, 32]
    const %seven: f32[] = [7]
    %l: f32[8, 32] = Log(%x) {name="log"}
    %e: f32[8, 32] = Exp(%l) {name="exp"}
    %i: int32[8, 32] = Cast(%e) <to=6> {name="cast"}
    %g: bool[8, 32] = Greater(%e, %seven) {name="greater"}
    %f: f32[8, 32] = Floor(%e) {name="floor"}
    output %i
    output %g
    output %f)"));
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  Tensor whole = Tensor::zeros(DataType::F32, {8, 32});
  for (std::size_t i = 0; i < 256; ++i) whole.mutableData<float>()[i] = static_cast<float>(1 + i % 20);
  expectRight(plan, {{{"x", whole}}}, 0);
}

// What a sum is off by is scaled before most of the sums are clipped.
TEST(VerifyNative, ASumThatIsScaledBeforeItIsClipped) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[256, 256]
    input %w: f32[256, 256]
    const %scale: f32[] = [1000]
    const %least: f32[] = [-10]
    const %most: f32[] = [10]
    %p: f32[256, 256] = MatMul(%x, %w) {name="product"}
    %s: f32[256, 256] = Mul(%p, %scale) {name="scale"}
    %y: f32[256, 256] = Clip(%s, %least, %most) {name="clip"}
    output %y)"));
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  expectRight(plan, {{{"x", noise({256, 256}, 3)}, {"w", noise({256, 256}, 4)}}}, 0);
}

// The mean of denormals has no digits to be exact in, and what is divided by the least epsilon makes that large.
TEST(VerifyNative, ANormOfDenormals) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[8, 32]
    input %g: f32[32]
    input %b: f32[32]
    %y: f32[8, 32] = LayerNormalization(%x, %g, %b) <axis=-1, epsilon=1e-12> {name="norm"}
    output %y)"));
  Tensor least = noise({8, 32}, 3), ones = noise({32}, 4);
  for (float& value : least.mutableData<float>())
    value = std::round(8 * value) * std::numeric_limits<float>::denorm_min();
  std::ranges::fill(ones.mutableData<float>(), 1.0F);
  expectRight(plan, {{{"x", least}, {"g", ones}, {"b", Tensor::zeros(DataType::F32, {32})}}}, 0);
}

// NaN among the given inputs stays NaN; as an integer it has no value that anybody could expect.
TEST(VerifyNative, GivenInputsMayHoldNaN) {
  const auto plan = planOf(modelOfText(R"(
    input %x: f32[4, 32]
    input %w: f32[32, 16]
    const %scale: f32[] = [0.05]
    const %zero: int8[] = [3]
    %p: f32[4, 16] = MatMul(%x, %w) {name="product"}
    %r: f32[4, 16] = Relu(%p) {name="relu"}
    %i: int32[4, 16] = Cast(%r) <to=6> {name="cast"}
    %q: int8[4, 16] = QuantizeLinear(%r, %scale, %zero) {name="quantise"}
    %m: f32[] = ReduceMax(%x) <keepdims=0> {name="max"}
    output %r
    output %i
    output %q
    output %m)"));
  Tensor x = noise({4, 32}, 3);
  x.mutableData<float>()[40] = NAN;
  expectRight(plan, {{{"x", x}, {"w", noise({32, 16}, 4)}}}, 0);
}

}  // namespace
}  // namespace fusescope::testing
