#include <chrono>
#include <thread>

#include "ops/run_node.h"
#include "tests/unit/ops/body_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<std::int64_t>;

/// s ← s + x, and s as scan output. x is captured.
Subgraph addingBody() {
  return bodyOf(R"(input %i: int64[] input %go: bool[] input %s: f32[1] input %x: f32[1]
    %t: f32[1] = Add(%s, %x) {name="add"}
    %on: bool[] = Identity(%go) {name="on"}
    output %on output %t output %t)",
                1);
}

Attributes ifAttributes() {
  return {{"then_branch", bodyOf(R"(input %x: f32[...]
             %y: f32[...] = Relu(%x) {name="relu"} output %y)",
                                 1)},
          {"else_branch", bodyOf(R"(const %z: f32[3] = [7.0, 8.0, 9.0] output %z)")}};
}

TEST(If, RunsTheBranchOfTheCondition) {
  // Operands: the condition, then what then_branch captures (else_branch stands first and captures nothing).
  const Tensor x = floats({2}, {-1, 2});
  expectFloats(run("If", {bools({}, {1}), x}, ifAttributes()), {2}, {0, 2});
  expectFloats(run("If", {bools({1}, {0}), x}, ifAttributes()), {3}, {7, 8, 9});
  EXPECT_EQ(errorOf(run("If", {bools({2}, {0, 1}), x}, ifAttributes())),
            "node 'n': the condition must be a single bool, but is bool[2]");
  EXPECT_EQ(errorOf(run("If", {ints({}, {1}), x}, ifAttributes())), "node 'n': input 0 is int64[], expected bool");
}

TEST(If, IsOfTheTypeThatBranchesAgreeOn) {
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f32[3]"}, ifAttributes()), "f32[3]");
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f32[n]"}, ifAttributes()), "f32[?]");
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f32[2, 3]"}, ifAttributes()), "f32[...]");
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f64[3]"}, ifAttributes()), "undefined[...]");
  const Tensor yes = bools({}, {1});
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f32[2, 3]"}, ifAttributes(), 1, {&yes}), "f32[2, 3]");
}

TEST(If, ABranchThatCannotWorkIsOneThatIsNotTaken) {
  Attributes attributes = ifAttributes();
  attributes["then_branch"] = bodyOf(R"(input %x: f32[...]
    const %axes: int64[1] = [0]
    %y: f32[...] = Squeeze(%x, %axes) {name="squeeze"} output %y)",
                                     1);
  EXPECT_EQ(inferredTypes("If", {"bool[]", "f32[4]"}, attributes), "f32[3]");
  expectFloats(run("If", {bools({}, {0}), floats({2}, {1, 2})}, attributes), {3}, {7, 8, 9});
  EXPECT_EQ(errorOf(run("If", {bools({}, {1}), floats({2}, {1, 2})}, attributes)),
            "node 'squeeze': axis 0 cannot be squeezed: its extent is 2, not 1");
}

TEST(Loop, CarriesAndScans) {
  const Attributes attributes{{"body", addingBody()}};
  const auto result = run("Loop", {ints({}, {3}), bools({}, {1}), floats({1}, {1}), floats({1}, {2})}, attributes, 2);
  expectFloats(result, {1}, {7});
  expectFloats(result, {3, 1}, {3, 5, 7}, 0.0F, 1);
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[1]", "f32[1]"}, attributes, 2), "f32[1] f32[?, 1]");
  const Tensor three = ints({}, {3}), yes = bools({}, {1});
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[1]", "f32[1]"}, attributes, 2, {&three, &yes}),
            "f32[1] f32[3, 1]");
}

TEST(Loop, WithoutAnIterationHandsItsStateThrough) {
  const Attributes attributes{{"body", addingBody()}};
  for (const auto& [trips, condition] : {std::pair<Int, std::uint8_t>{0, 1}, {3, 0}}) {
    const auto result =
        run("Loop", {ints({}, {trips}), bools({}, {condition}), floats({1}, {1}), floats({1}, {2})}, attributes, 2);
    expectFloats(result, {1}, {1});
    expectFloats(result, {0, 1}, {}, 0.0F, 1);
  }
}

/// Runs while the state is below 10: no trip count, no first condition.
TEST(Loop, StopsWhenItsBodySaysSo) {
  const Subgraph body = bodyOf(R"(input %i: int64[] input %go: bool[] input %s: f32[]
    const %two: f32[] = [2.0] const %ten: f32[] = [10.0]
    %t: f32[] = Mul(%s, %two) {name="mul"}
    %on: bool[] = Less(%t, %ten) {name="less"}
    output %on output %t output %i)");
  const auto result = run("Loop", {Tensor(), Tensor(), floats({}, {3})}, {{"body", body}}, 2);
  expectFloats(result, {}, {12});
  expectInts(result, {2}, {0, 1}, 1);
}

TEST(Loop, WidensTheTypeOfWhatGrows) {
  const Subgraph body = bodyOf(R"(input %i: int64[] input %go: bool[] input %s: f32[2]
    %t: f32[2] = Concat(%s, %s) <axis=0> {name="double"}
    output %go output %t)");
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[2]"}, {{"body", body}}), "f32[?]");
  const auto result = run("Loop", {ints({}, {2}), Tensor(), floats({1}, {5})}, {{"body", body}});
  expectFloats(result, {4}, {5, 5, 5, 5});
}

TEST(Loop, CarriesASequence) {
  const Subgraph body = bodyOf(R"(input %i: int64[] input %go: bool[] input %s: sequence(int64[])
    %t: sequence(int64[]) = SequenceInsert(%s, %i) {name="insert"}
    output %go output %t)");
  const auto result = run("Loop", {ints({}, {3}), Tensor(), sequence(DataType::I64, {})}, {{"body", body}});
  ASSERT_TRUE(result.ok()) << result.error().text();
  ASSERT_EQ(result.value()[0].elements().size(), 3U);
  EXPECT_EQ(result.value()[0].elements()[2].asInt64(0), 2);
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "sequence(int64[])"}, {{"body", body}}), "sequence(int64[])");
}

TEST(Loop, RunsALoopInsideALoop) {
  // The inner loop adds x to s twice; the outer one runs it three times. x is captured through two levels.
  const Subgraph outer = bodyOf(R"(input %i: int64[] input %go: bool[] input %s: f32[1] input %x: f32[1]
    const %two: int64[] = [2]
    %t: f32[1] = Loop(%two, %go, %s) <body=body (%x) graph "inner" {
        input %j: int64[] input %inner_go: bool[] input %u: f32[1] input %v: f32[1]
        %w: f32[1] = Add(%u, %v) {name="add"}
        output %inner_go output %w
      }> {name="inner"}
    output %go output %t)",
                                1);
  const auto result = run("Loop", {ints({}, {3}), Tensor(), floats({1}, {1}), floats({1}, {10})}, {{"body", outer}});
  expectFloats(result, {1}, {61});
}

TEST(Loop, WithoutAnEndIsStopped) {
  const Subgraph body = bodyOf("input %i: int64[] input %go: bool[] input %s: f32[] output %go output %s");
  const Node node = nodeOf("Loop", 3, {{"body", body}});
  const Tensor s = floats({}, {1});
  const std::vector<const Tensor*> inputs{nullptr, nullptr, &s};
  std::stop_source source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const auto result = runNode(node, inputs, source.get_token());
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.error().cancelled);
}

TEST(If, SaysThatAWeightHasNoData) {
  Attributes attributes = ifAttributes();
  attributes["else_branch"] = bodyOf("const %w: f32[70] = dense output %w");
  EXPECT_EQ(errorOf(run("If", {bools({}, {0}), floats({1}, {1})}, attributes)), "node 'n': tensor 'w': has no data");
}

TEST(Loop, RefusesABodyThatDoesNotFit) {
  const Subgraph tooFew = bodyOf("input %i: int64[] input %go: bool[] output %go");
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[1]"}, {{"body", tooFew}}),
            "error: its graph has 1 outputs, expected at least 2: the condition and the loop-carried values");
  const Subgraph noState = bodyOf("input %i: int64[] input %go: bool[] output %go output %i");
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[1]"}, {{"body", noState}}),
            "error: its graph has 2 inputs, but the node passes 3");
  EXPECT_EQ(inferredTypes("Loop", {"int64[]", "bool[]", "f32[1]"}, {}), "error: is missing");
  EXPECT_EQ(inferredTypes("Loop", {"f32[]", "bool[]"}, {{"body", noState}}), "error: input 0 is f32[], expected int64");
}

/// s ← s + x, and s as output: a running sum.
Attributes sumAttributes() {
  return {{"body", bodyOf(R"(input %s: f32[...] input %x: f32[...]
             %t: f32[...] = Add(%s, %x) {name="add"} output %t output %t)")},
          {"num_scan_inputs", Int{1}}};
}

TEST(Scan, MakesARunningSum) {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto result = run("Scan", {floats({2}, {0, 0}), x}, sumAttributes(), 2);
  expectFloats(result, {2}, {9, 12});
  expectFloats(result, {3, 2}, {1, 2, 4, 6, 9, 12}, 0.0F, 1);
  EXPECT_EQ(inferredTypes("Scan", {"f32[2]", "f32[n, 2]"}, sumAttributes(), 2), "f32[2] f32[n, 2]");
}

TEST(Scan, GoesAlongAnyAxisInBothDirections) {
  Attributes attributes = sumAttributes();
  attributes["scan_input_axes"] = List{-1};
  attributes["scan_output_axes"] = List{1};
  attributes["scan_input_directions"] = List{1};
  attributes["scan_output_directions"] = List{1};
  // Columns from the last: (3, 6), (2, 5), (1, 4). Sums (3, 6), (5, 11), (6, 15), put in from the back.
  const auto result = run("Scan", {floats({2}, {0, 0}), floats({2, 3}, {1, 2, 3, 4, 5, 6})}, attributes, 2);
  expectFloats(result, {2}, {6, 15});
  expectFloats(result, {2, 3}, {6, 5, 3, 15, 11, 6}, 0.0F, 1);
  EXPECT_EQ(inferredTypes("Scan", {"f32[2]", "f32[2, 3]"}, attributes, 2), "f32[2] f32[2, 3]");
}

TEST(Scan, RefusesWhatDoesNotFit) {
  Attributes attributes = sumAttributes();
  attributes["scan_input_axes"] = List{0, 1};
  EXPECT_EQ(inferredTypes("Scan", {"f32[2]", "f32[3, 2]"}, attributes, 2), "error: has 2 entries, expected 1");
  attributes = sumAttributes();
  attributes["num_scan_inputs"] = Int{3};
  EXPECT_EQ(inferredTypes("Scan", {"f32[2]", "f32[3, 2]"}, attributes, 2), "error: is 3, but the node has 2 inputs");
}

}  // namespace
}  // namespace fusescope::testing
