#include "passes/fit_input_specs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {
namespace {

Model fitted(const std::string& graph) {
  auto imported = importText(graph);
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? std::move(model).value() : Model();
}

const InputSpec& specOf(const Model& model, std::string_view input) {
  const auto found = std::ranges::find(model.inputSpecs, input, &InputSpec::name);
  EXPECT_NE(found, model.inputSpecs.end()) << input;
  return *found;
}

/// The sentence of the decision about an input's extents.
std::string saidOf(const Model& model, std::string_view input) {
  for (const Decision& decision : model.decisions)
    if (decision.kind == DecisionKind::Input && decision.subjects.front().text() == input) return message(decision);
  return "nothing";
}

/// That the network can work at the extents its specs give.
void expectWorks(const Model& model) {
  std::map<std::string, Dims> extents;
  for (const InputSpec& spec : model.inputSpecs) extents[spec.name] = spec.opt;
  const auto types = inferShapes(*model.graph, extents);
  EXPECT_TRUE(types.ok()) << types.error().text();
}

void expectSaid(const Model& model, std::string_view input, const std::vector<std::string>& parts) {
  const std::string said = saidOf(model, input);
  for (const std::string& part : parts)
    EXPECT_NE(said.find(part), std::string::npos) << "'" << part << "' in: " << said;
}

TEST(FitInputSpecs, WhatTheNetworkTakesIsAsUsual) {
  const Model model = fitted("g (float[batch,3,h,w] x, float[2] z) => (float[batch,3,h,w] y) { y = Relu (x) }");
  EXPECT_EQ(specOf(model, "x").opt, (Dims{1, 3, 224, 224}));
  EXPECT_EQ(specOf(model, "x").min, (Dims{1, 3, 1, 1}));
  EXPECT_EQ(specOf(model, "x").source, "assumed");
  EXPECT_EQ(countCode(model, "input.assumed"), 1U) << "the other input is as the file says";
  expectSaid(model, "x", {"[1, 3, 224, 224] is assumed", "batch is 1, because the network accepts it", "h is 224"});
}

TEST(FitInputSpecs, AWindowHasToFit) {
  const Model model = fitted(
      "g (float[batch,1,samples] x, float[4,1,256] w) => (y) { y = Conv <kernel_shape = [256], strides = [128]> (x, "
      "w) "
      "}");
  EXPECT_EQ(specOf(model, "x").opt, (Dims{1, 1, 256}));
  expectSaid(model, "x", {"samples is 256, because with 128 node", "a window of 256 does not fit"});
}

TEST(FitInputSpecs, TheRangeIsWhatTheNetworkCanRun) {
  const Model model = fitted("g (float[b,3,h,w] x, float[8,3,5,5] k) => (y) { y = Conv (x, k) }");
  EXPECT_EQ(specOf(model, "x").min, (Dims{1, 3, 5, 5}));
  EXPECT_EQ(specOf(model, "x").max, (Dims{64, 3, 1024, 1024}));
  expectSaid(model, "x", {"h is 224", "not below 5 (node 'node_of_y': a window of 5 does not fit"});
  std::map<std::string, Dims> least, most;
  for (const InputSpec& spec : model.inputSpecs) {
    least[spec.name] = spec.min;
    most[spec.name] = spec.max;
  }
  EXPECT_TRUE(inferShapes(*model.graph, least).ok());
  EXPECT_TRUE(inferShapes(*model.graph, most).ok());
}

TEST(FitInputSpecs, AMultipleOfASmallNumberIsFoundAsTheLeast) {
  const Model model = fitted(R"(g (float[1,1,h,1] x) => (y) <float[4] s = {1, 1, 8, 1}> {
    a = MaxPool <kernel_shape = [8, 1], strides = [8, 1]> (x) b = Resize <mode = "nearest"> (a, , s)
    y = Concat <axis = 1> (x, b) })");
  EXPECT_EQ(specOf(model, "x").opt[2], 224);
  EXPECT_EQ(specOf(model, "x").min[2], 8);
  EXPECT_EQ(specOf(model, "x").max[2], 1024);
}

TEST(FitInputSpecs, WhatATableHoldsIsTheMost) {
  const Model model = fitted(
      "g (float[b,n,4] x, float[1,512,4] places) => (y) { s = Shape <start = 1, end = 2> (x) z = Constant <value = "
      "int64[1] {0}> () a = Constant <value = int64[1] {1}> () p = Slice (places, z, s, a) y = Add (x, p) }");
  EXPECT_EQ(specOf(model, "x").opt, (Dims{1, 128, 4}));
  EXPECT_EQ(specOf(model, "x").max, (Dims{64, 512, 4}));
  expectSaid(model, "x", {"not above 512 (node 'node_of_y'"});
}

TEST(FitInputSpecs, AHeightThatIsPooledAwayIsOneThatWindowsDivide) {
  const Model pooled = fitted(R"(g (float[1,1,h,9] x) => (z) <int64[2] s = {1, 9}> {
    a = MaxPool <kernel_shape = [2, 1], strides = [16, 1]> (x)
    b = AveragePool <kernel_shape = [3, 1], strides = [3, 1]> (a)
    z = Reshape (b, s) })");
  EXPECT_EQ(specOf(pooled, "x").opt[2], 48);
  EXPECT_EQ(specOf(pooled, "x").min[2], 34);
  EXPECT_EQ(specOf(pooled, "x").max[2], 81);
  expectSaid(
      pooled, "x",
      {"h is 48, because with 224", "the nearest accepted extent at which the pooling windows divide the axis evenly",
       "not below 34", "not above 81"});
}

TEST(FitInputSpecs, AReshapeHasToHaveItsElements) {
  const Model model = fitted("g (float[n,1,h,w] x) => (y) <int64[4] s = {0, 1, 28, 120}> { y = Reshape (x, s) }");
  const Dims& dims = specOf(model, "x").opt;
  EXPECT_EQ(dims[0], 1);
  EXPECT_EQ(dims[2] * dims[3], 28 * 120);
  expectWorks(model);
  expectSaid(model, "x", {"elements cannot be reshaped to the extents"});
}

TEST(FitInputSpecs, BothExtentsOfAnImageAreFoundTogether) {
  const Model model =
      fitted("g (float[n,1,h,w] x, float[16,784] m) => (y) { f = Flatten (x) y = Gemm <transB = 1> (f, m) }");
  EXPECT_EQ(specOf(model, "x").opt[2] * specOf(model, "x").opt[3], 784);
  expectWorks(model);
}

TEST(FitInputSpecs, APartnerOfAConcatIsAsLarge) {
  const Model model = fitted(
      "g (float[b,past,8] state, float[b,4,8] x) => (y) { half = Relu (x) y = Concat <axis = 2> "
      "(state, half) }");
  EXPECT_EQ(specOf(model, "state").opt, (Dims{1, 4, 8}));
  EXPECT_EQ(specOf(model, "x").opt, (Dims{1, 4, 8}));
  EXPECT_EQ(specOf(model, "state").max, (Dims{64, 4, 8})) << "it is demanded, not assumed";
  EXPECT_EQ(countCode(model, "infer.demand"), 1U);
}

TEST(FitInputSpecs, WhatIsHalvedAndDoubledHasToBeAMultiple) {
  const Model model = fitted(R"(g (float[1,1,h,1] x) => (y) <float[4] s = {1, 1, 2, 1}> {
    a = MaxPool <kernel_shape = [7, 1], strides = [7, 1]> (x)
    b = MaxPool <kernel_shape = [2, 1], strides = [2, 1]> (a)
    c = Resize <mode = "nearest"> (b, , s)
    y = Concat <axis = 1> (a, c) })");
  const std::int64_t h = specOf(model, "x").opt[2];
  EXPECT_EQ(h / 7 % 2, 0) << h;
  expectWorks(model);
}

/// At 3 and 7 the network works, too, but the plan, whose types are for multiples of 4, does not hold there.
TEST(FitInputSpecs, TheRangeBeginsAndEndsWhereThePlanHolds) {
  const Model model = fitted(R"(g (float[1,1,h,1] x) => (y) <float[4] s = {1, 1, 2, 1}> {
    a = MaxPool <kernel_shape = [2, 1], strides = [2, 1], ceil_mode = 1> (x)
    b = MaxPool <kernel_shape = [2, 1], strides = [2, 1], ceil_mode = 1> (a)
    c = Resize <mode = "nearest"> (b, , s)
    y = Concat <axis = 1> (a, c) })");
  const auto types = inferShapes(*model.graph, {{"x", {1, 1, 3, 1}}});
  EXPECT_TRUE(types.ok()) << types.error().text();
  EXPECT_EQ(specOf(model, "x").min[2], 4);
  EXPECT_EQ(specOf(model, "x").max[2] % 4, 0);
  expectSaid(model, "x", {"not below 4 (the plan is valid if h % 4 == 0)"});
}

TEST(FitInputSpecs, AStateGoesWithItsInput) {
  const Model model = fitted(R"(g (float[?,n,16] x, float[1,?,8] state, float[1,32,16] w, float[1,32,8] r) => (y, h)
    { y, h = LSTM <hidden_size = 8> (x, w, r, , , state) })");
  EXPECT_EQ(specOf(model, "state").opt[1], specOf(model, "x").opt[1]);
  expectWorks(model);
}

TEST(FitInputSpecs, ASymbolIsOneExtentWhereverItStands) {
  const Model model = fitted(R"(g (float[b,n,4] x, float[n,b] z) => (y) {
    t = Transpose <perm = [1, 0]> (z) a = ReduceSum <keepdims = 0> (x, axes) axes = Constant <value = int64[1] {2}> ()
    y = Add (a, t) })");
  EXPECT_EQ(specOf(model, "x").opt[0], specOf(model, "z").opt[1]);
  EXPECT_EQ(specOf(model, "x").opt[1], specOf(model, "z").opt[0]);
  expectWorks(model);
}

TEST(FitInputSpecs, AnExpressionOfSymbolsFollowsThem) {
  auto imported = importText(
      "g (float[b,past,4] state, float[b,seq,4] x, float[b,total] mask) => (y) { c = Concat <axis = 1> (state, x) s = "
      "ReduceSum <keepdims = 0> (c, axes) axes = Constant <value = int64[1] {2}> () y = Add (s, mask) }");
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  GraphEditor editor(*imported.value().graph);
  const ValueId mask = imported.value().graph->inputs()[2];
  TensorType type = imported.value().graph->value(mask).type;
  type.shape.dims[1] = Dim::named("past + seq");
  editor.setType(mask, type);
  imported.value().graph = std::move(editor.publish()).value();
  const auto model = prepareModel(std::move(imported).value());
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_EQ(specOf(model.value(), "mask").opt[1],
            specOf(model.value(), "state").opt[1] + specOf(model.value(), "x").opt[1]);
  EXPECT_EQ(specOf(model.value(), "mask").min[1], 2);
  expectWorks(model.value());
}

TEST(FitInputSpecs, BothBranchesOfAnIfHaveToWork) {
  const Model model = fitted(R"(g (float[1,1,n] x, float[1,1,200] w, bool c) => (y) {
    y = If (c) <then_branch = t () => (float[1,1,m] p) { p = Conv <kernel_shape = [200]> (x, w) },
                else_branch = e () => (float[1,1,k] q) { q = Relu (x) }> })");
  EXPECT_GE(specOf(model, "x").opt[2], 200);
  expectSaid(model, "x", {"a window of 200 does not fit"});
}

TEST(FitInputSpecs, OneBranchIsEnoughWhereBothCannotWork) {
  const Model model = fitted(R"(g (float[1,1,n] x, float[1,1,200] w, bool c) => (y) <int64[3] s = {1, 5, 7}> {
    y = If (c) <then_branch = t () => (float[1,1,m] p) { p = Conv <kernel_shape = [200]> (x, w) },
                else_branch = e () => (float[1,5,7] q) { q = Reshape (x, s) }> })");
  EXPECT_EQ(countCode(model, "input.assumed"), 1U) << saidOf(model, "x");
  expectWorks(model);
}

TEST(FitInputSpecs, EachBranchOfAnIfHasItsOwnRange) {
  const Model model = fitted(R"(g (float[1,1,n] x, float[1,1,200] w, float[400] t, bool c) => (y) {
    y = If (c) <then_branch = t () => (float[1,1,m] p) { p = Conv <kernel_shape = [200]> (x, w) },
                else_branch = e () => (float[1,1,k] q) {
                  s = Shape <start = 2, end = 3> (x) z = Constant <value = int64[1] {0}> ()
                  a = Slice (t, z, s) q = Add (x, a) }> })");
  EXPECT_EQ(specOf(model, "x").min, (Dims{1, 1, 200})) << "what every branch takes";
  EXPECT_EQ(specOf(model, "x").max, (Dims{1, 1, 400}));
  expectSaid(model, "x",
             {"else_branch of 'node_of_y' alone accepts extents from [1, 1, 1] to [1, 1, 400]",
              "then_branch of 'node_of_y' alone accepts extents from [1, 1, 200] to [1, 1, 1024]"});
}

TEST(FitInputSpecs, WhatHoldsForEveryBranchIsNotSaidOfEach) {
  const Model model = fitted(R"(g (float[1,1,n] x, float[1,1,200] w, bool c) => (y) {
    v = Conv <kernel_shape = [200]> (x, w)
    y = If (c) <then_branch = t () => (float[1,1,m] p) { p = Neg (v) },
                else_branch = e () => (float[1,1,k] q) { q = Relu (v) }> })");
  EXPECT_EQ(saidOf(model, "x").find("alone accepts"), std::string::npos) << saidOf(model, "x");
}

TEST(FitInputSpecs, ABatchThatNothingRelatesGoesTogether) {
  const Model model = fitted(
      "g (float[a,4] x, float[1,b,4] h) => (y) <int64[1] z = {0}> { q = Unsqueeze (x, z) y = "
      "Concat <axis = 0> (q, h) }");
  EXPECT_EQ(specOf(model, "x").max, (Dims{64, 4})) << saidOf(model, "x");
  EXPECT_EQ(specOf(model, "h").max, (Dims{1, 64, 4})) << saidOf(model, "h");
}

TEST(FitInputSpecs, WhatCannotBeAssumedIsAskedFor) {
  const Model model = fitted(
      "g (float[batch,n] x, float[batch,3] z) => (y) <int64[3] s = {7919, 7907, 7901}> "
      "{ a = Reshape (x, s) y = Relu (a) w = Relu (z) }");
  EXPECT_EQ(countCode(model, "input.not_assumed"), 1U);
  EXPECT_EQ(specOf(model, "x").opt, (Dims{-1, -1}));
  EXPECT_EQ(specOf(model, "z").opt, (Dims{1, 3}));
  expectSaid(
      model, "x",
      {"--input x=batch,n", "no extents were found that the network accepts", "cannot be reshaped to the extents"});
}

TEST(FitInputSpecs, IsDoneOnce) {
  Model model = fitted("g (float[batch,3] x) => (float[batch,3] y) { y = Relu (x) }");
  const auto decisions = model.decisions.size();
  ASSERT_TRUE(fitInputSpecs(model).ok());
  EXPECT_EQ(model.decisions.size(), decisions);
}

TEST(FitInputSpecs, IsCancelled) {
  auto imported = importText("g (float[batch,3] x) => (float[batch,3] y) { y = Relu (x) }");
  ASSERT_TRUE(imported.ok());
  std::stop_source source;
  source.request_stop();
  const auto status = fitInputSpecs(imported.value(), source.get_token());
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().cancelled);
}

}  // namespace
}  // namespace fusescope::test
