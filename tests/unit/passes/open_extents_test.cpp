// What inference makes of extents that a file leaves open, what it takes for granted, and what is normalised for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/passes/prepared_model.h"

namespace fusescope::test {
namespace {

std::vector<std::string> conditionsOf(const Model& model) {
  std::vector<std::string> texts;
  for (const ExtentCondition& condition : model.conditions)
    texts.push_back((condition.demanded ? condition.node + " needs " : "") + condition.text());
  return texts;
}

std::size_t decisions(const Model& model, const std::string& code) {
  return static_cast<std::size_t>(std::ranges::count(model.decisions, code, &Decision::code));
}

TEST(OpenExtents, WindowsComputeThem) {
  const Model model = prepared(
      "g (float[n, 2, h, w] x, float[2, 2, 3, 3] k) => (float[a, b, c, d] y, float[e, f, g, i] z) {"
      "  y1 = Conv <strides=[2,2], pads=[1,1,1,1]> (x, k) y = Conv <strides=[2,2], pads=[1,1,1,1]> (y1, k)"
      "  z = MaxPool <kernel_shape=[2,2], strides=[2,2], ceil_mode=1> (x) }");
  EXPECT_EQ(typeOfValue(model, "y1"), "f32[n, 2, ceil(h/2), ceil(w/2)]");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[n, 2, ceil(h/4), ceil(w/4)]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[n, 2, ceil(h/2), ceil(w/2)]");
}

TEST(OpenExtents, JoiningAndCuttingAddsAndSubtracts) {
  const Model model = prepared(
      "g (float[b, past, 4] p, float[b, seq, 4] x) => (float[i, j, k] c, float[l, m, n] s, float[o, q, r] t)"
      "  <int64[1] one = {1}, int64[1] far = {9223372036854775807}, int64[6] pads = {0, 1, 0, 0, 2, 0}> {"
      "  c = Concat <axis=1> (p, x) s = Slice (x, one, far, one) t = Pad (x, pads) }");
  EXPECT_EQ(typeOfValue(model, "c"), "f32[b, past + seq, 4]");
  EXPECT_EQ(typeOfValue(model, "s"), "f32[b, seq - 1, 4]");
  EXPECT_EQ(typeOfValue(model, "t"), "f32[b, seq + 3, 4]");
}

TEST(OpenExtents, WhatIsNotKnownHasASymbolOfItsOwn) {
  const Model model =
      prepared("g (float[n] x) => (float[m, k] y) { places = NonZero (x) f = Cast <to=1> (places) y = Relu (f) }");
  EXPECT_EQ(typeOfValue(model, "places"), "int64[1, places#1]");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[1, places#1]");
  EXPECT_TRUE(model.conditions.empty());
}

TEST(OpenExtents, BroadcastingTakesThemToBeEqual) {
  const Model model = prepared("g (float[h, 4] x, float[w, 4] y) => (float[a, 4] z) { s = Add (x, y) z = Relu (s) }");
  EXPECT_EQ(conditionsOf(model), std::vector<std::string>{"w == h"});
  EXPECT_EQ(typeOfValue(model, "y"), "f32[h, 4]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[h, 4]");
  ASSERT_EQ(model.declaredInputs.size(), 2U);
  EXPECT_EQ(model.declaredInputs[1].text(), "f32[w, 4]");
  EXPECT_EQ(decisions(model, "infer.condition"), 1U);
  // The second time nothing is new.
  const auto again = prepareModel(model);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again.value().conditions, model.conditions);
  EXPECT_EQ(printGraph(*again.value().graph), printGraph(*model.graph));
}

TEST(OpenExtents, AJoinOfTwoScalesTakesThemToBeDivisible) {
  const Model model = prepared(
      "g (float[1, 1, h, 8] x, float[1, 1, 3, 3] k) => (float[a, b, c, d] y)"
      "  <float[4] scales = {1, 1, 2, 2}> {"
      "  half = Conv <strides=[2,2], pads=[1,1,1,1]> (x, k)"
      "  whole = Resize <mode=\"nearest\"> (half, , scales) y = Add (whole, x) }");
  EXPECT_EQ(conditionsOf(model), std::vector<std::string>{"h % 2 == 0"});
  EXPECT_EQ(typeOfValue(model, "half"), "f32[1, 1, h/2, 4]");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[1, 1, h, 8]");
}

using Texts = std::vector<std::string>;

TEST(OpenExtents, WhatMustBeEqualIsDemanded) {
  const Model model = prepared(
      "g (float[h, 4] x, float[w, 4] y) => (float[a, 8] z) { [join] c = Concat <axis=1> (x, y) z = Relu (c) }");
  EXPECT_EQ(conditionsOf(model), Texts{"join needs w == h"});
  EXPECT_EQ(decisions(model, "infer.demand"), 1U);
  EXPECT_EQ(decisions(model, "infer.condition"), 0U);
  EXPECT_EQ(typeOfValue(model, "y"), "f32[h, 4]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[h, 8]");
}

TEST(OpenExtents, ChecksOfOpenExtentsAreDemands) {
  EXPECT_EQ(conditionsOf(prepared("g (float[n, c, 8, 8] x, float[4, 3, 3, 3] k) => (float[a, b, d, e] y) {"
                                  "  [conv] y = Conv (x, k) }")),
            Texts{"conv needs c == 3"});
  EXPECT_EQ(conditionsOf(prepared("g (float[n, k] x, float[m, 5] w) => (float[a, b] y) { [dot] y = MatMul (x, w) }")),
            Texts{"dot needs m == k"});
  EXPECT_EQ(conditionsOf(prepared("g (float[n, 3] x) => (float[a, b] y) <int64[2] shape = {-1, 12}> {"
                                  "  [rows] y = Reshape (x, shape) }")),
            Texts{"rows needs n % 4 == 0"});
  EXPECT_EQ(conditionsOf(prepared("g (float[n, 3] x) => (float[a, b] y, float[c, d] z) <int64[2] parts = {2, 4}> {"
                                  "  [parts_of] y, z = Split <axis=0> (x, parts) }")),
            Texts{"parts_of needs n == 6"});
  EXPECT_EQ(conditionsOf(prepared("g (float[1, 2, n] x, float[4, 2, 7] k) => (float[a, b, c] y) {"
                                  "  [window] y = Conv (x, k) }")),
            Texts{"window needs 7 <= n"});
}

TEST(OpenExtents, WhatIsProvedIsNotDemanded) {
  EXPECT_EQ(conditionsOf(prepared("g (float[n, 12] x, float[12, 5] w) => (float[a, b] y) <int64[3] shape = {-1, 3, 4},"
                                  "  int64[2] back = {-1, 12}> { r = Reshape (x, shape) s = Reshape (r, back)"
                                  "  y = MatMul (s, w) }")),
            Texts{});
  EXPECT_EQ(conditionsOf(prepared("g (float[1, 2, n] x, float[4, 2, 3] k) => (float[a, b, c] y) {"
                                  "  y = Conv <pads=[1, 1]> (x, k) }")),
            Texts{});
}

TEST(OpenExtents, ATableThatIsCutReachesAsFarAsTheSequence) {
  const Model model = prepared(
      "g (float[batch, seq, 4] x, float[512, 4] table) => (float[a, b, c] y) <int64 one = {1}, int64[1] axis = {0}> {"
      "  s = Shape (x) n = Gather <axis=0> (s, one) end = Unsqueeze (n, axis)"
      "  rows = Slice (table, axis, end, axis) [sum] y = Add (x, rows) }");
  EXPECT_EQ(conditionsOf(model), Texts{"seq <= 512"});
  EXPECT_EQ(typeOfValue(model, "y"), "f32[batch, seq, 4]");
}

TEST(OpenExtents, ATableReachesAsFarAsThePositionsThatAreCounted) {
  const Model model = prepared(
      "g (float[batch, seq, 4] x, float[batch, past, 4] kept, float[1024, 4] table) => (float[a, b, c] y)"
      "  <int64 one = {1}> {"
      "  s = Shape (x) n = Gather <axis=0> (s, one) t = Shape (kept) p = Gather <axis=0> (t, one)"
      "  end = Add (p, n) places = Range (p, end, one) [look_up] rows = Gather <axis=0> (table, places)"
      "  y = Add (x, rows) }");
  EXPECT_EQ(conditionsOf(model), Texts{"look_up needs past + seq <= 1024"});
}

TEST(OpenExtents, ExtentsThatTheFileDoesNotNameStandInConditions) {
  const Model model = prepared(
      "g (float[?, 4] x, float[?, 4] y) => (float[a, 8] z) { [join] c = Concat <axis=1> (x, y) z = Relu (c) }");
  EXPECT_EQ(conditionsOf(model), Texts{"join needs y#0 == x#0"});
  EXPECT_EQ(model.declaredInputs.at(1).text(), "f32[y#0, 4]");
}

TEST(OpenExtents, ExtentsThatAConstantSaysAreNotComputed) {
  const Model model = prepared(
      "g (float[batch, seq, 12] x) => (float[b, s, h, d] y) <int64 one = {1}, int64[1] first = {0},"
      "  int64[1] rest = {-1}, int64[2] heads = {3, 4}> {"
      "  s = Shape (x) s1 = Gather <axis=0> (s, one) s2 = Unsqueeze (s1, first)"
      "  wanted = Concat <axis=0> (rest, s2, heads) [split] y = Reshape (x, wanted) }");
  EXPECT_EQ(model.graph->nodeCount(), 1U);
  const Node& split = model.graph->node(model.graph->order()[0]);
  EXPECT_EQ(int64Values(*model.graph->constantData(split.input(1))), (std::vector<std::int64_t>{0, 0, 3, 4}));
  EXPECT_EQ(typeOfValue(model, "y"), "f32[batch, seq, 3, 4]");
  EXPECT_EQ(decisions(model, "infer.shape_constant"), 1U);
}

TEST(OpenExtents, ViewsAroundAnOperatorOnRowsGo) {
  const Model model = prepared(
      "g (float[batch, seq, 12] x) => (float[b, s, d] y) {"
      "  s = Shape (x) [flat] m = Flatten <axis=2> (x) [rows] r = Softmax <axis=-1> (m) [back] y = Reshape (r, s) }");
  ASSERT_EQ(model.graph->nodeCount(), 1U);
  EXPECT_EQ(model.graph->node(model.graph->order()[0]).name, "rows");
  EXPECT_EQ(typeOfValue(model, "y"), "f32[batch, seq, 12]");
  EXPECT_EQ(decisions(model, "normalise.rows_kept"), 2U);
}

TEST(OpenExtents, ProductsOfRowsAreProductsOfWhatHasThem) {
  const Model model = prepared(
      "g (float[batch, seq, 12] x, float[12, 8] w, float[8] c) => (float[b, s, d] y, float[b1, s1, d1] z)"
      "  <int64[2] rows = {-1, 12}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] eight = {8}> {"
      "  s = Shape (x) lead = Slice (s, zero, two) wide = Concat <axis=0> (lead, eight) [flat] m = Reshape (x, rows)"
      "  [one] p = Gemm (m, w, c) [back] y = Reshape (p, wide) [two] q = Gemm (m, w) [back2] z = Reshape (q, wide) }");
  ASSERT_EQ(model.graph->nodeCount(), 3U);
  EXPECT_EQ(typeOfValue(model, "y"), "f32[batch, seq, 8]");
  EXPECT_EQ(typeOfValue(model, "z"), "f32[batch, seq, 8]");
  for (const NodeId id : model.graph->order())
    EXPECT_TRUE(model.graph->node(id).is(model.graph->node(id).name == "one/bias" ? "Add" : "MatMul"));
  EXPECT_EQ(decisions(model, "normalise.rows_kept"), 3U);
}

TEST(OpenExtents, AGemmThatScalesKeepsItsViews) {
  const Model model = prepared(
      "g (float[2, 3, 12] x, float[12, 8] w) => (float[2, 3, 8] y) <int64[2] rows = {6, 12}, int64[3] back = {2, 3, "
      "8}> {"
      "  m = Reshape (x, rows) p = Gemm <alpha=2.0> (m, w) y = Reshape (p, back) }");
  EXPECT_EQ(model.graph->nodeCount(), 3U);
}

TEST(OpenExtents, RowsOfAnotherLengthKeepTheirViews) {
  const Model model = prepared(
      "g (float[batch, seq, 12] x) => (float[b, s, d] y) {"
      "  s = Shape (x) m = Flatten <axis=1> (x) r = Softmax <axis=-1> (m) y = Reshape (r, s) }");
  EXPECT_GT(model.graph->nodeCount(), 1U);
  EXPECT_EQ(decisions(model, "normalise.rows_kept"), 0U);
}

}  // namespace
}  // namespace fusescope::test
