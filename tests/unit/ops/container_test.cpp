#include "tests/unit/ops/body_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;

const Tensor kList = sequence(DataType::F32, {floats({1}, {1}), floats({2}, {2, 3}), floats({1}, {4})});

/// The elements of the first output, each as its numbers.
std::vector<std::vector<double>> elementsOf(const Result<std::vector<Tensor>>& result) {
  EXPECT_TRUE(result.ok()) << result.error().text();
  std::vector<std::vector<double>> lists;
  if (!result.ok()) return lists;
  for (const Tensor& element : result.value()[0].elements()) {
    lists.emplace_back();
    for (Int i = 0; i < element.count(); ++i) lists.back().push_back(element.asDouble(i));
  }
  return lists;
}
using Lists = std::vector<std::vector<double>>;

TEST(Sequence, IsMadeAndChanged) {
  EXPECT_EQ(elementsOf(run("SequenceEmpty", {})), Lists{});
  EXPECT_EQ(elementsOf(run("SequenceConstruct", {floats({1}, {1}), floats({2}, {2, 3})})), (Lists{{1}, {2, 3}}));
  const Tensor nine = floats({1}, {9});
  EXPECT_EQ(elementsOf(run("SequenceInsert", {kList, nine})), (Lists{{1}, {2, 3}, {4}, {9}}));
  EXPECT_EQ(elementsOf(run("SequenceInsert", {kList, nine, ints({}, {3})})), (Lists{{1}, {2, 3}, {4}, {9}}));
  EXPECT_EQ(elementsOf(run("SequenceInsert", {kList, nine, ints({}, {-1})})), (Lists{{1}, {2, 3}, {9}, {4}}));
  EXPECT_EQ(elementsOf(run("SequenceErase", {kList})), (Lists{{1}, {2, 3}}));
  EXPECT_EQ(elementsOf(run("SequenceErase", {kList, ints({}, {-3})})), (Lists{{2, 3}, {4}}));
  expectFloats(run("SequenceAt", {kList, ints({}, {1})}), {2}, {2, 3});
  expectFloats(run("SequenceAt", {kList, ints({}, {-1})}), {1}, {4});
  expectInts(run("SequenceLength", {kList}), {}, {3});
}

TEST(Sequence, RefusesPlacesOutsideAndWrongTypes) {
  EXPECT_EQ(errorOf(run("SequenceAt", {kList, ints({}, {3})})),
            "node 'n': position 3 is outside a sequence of 3 elements");
  EXPECT_EQ(errorOf(run("SequenceErase", {sequence(DataType::F32, {})})),
            "node 'n': the sequence is empty, so no element can be erased");
  EXPECT_EQ(errorOf(run("SequenceInsert", {kList, ints({1}, {1})})),
            "node 'n': a tensor of type int64 cannot be inserted into sequence(f32[...])");
  EXPECT_EQ(errorOf(run("SequenceLength", {floats({1}, {1})})), "node 'n': input 0 is f32[1], expected a sequence");
  EXPECT_EQ(errorOf(run("Relu", {kList})), "node 'n': input 0 of Relu is sequence(f32[...]), expected a tensor");
}

TEST(Sequence, HasTheTypeOfItsElements) {
  EXPECT_EQ(inferredTypes("SequenceConstruct", {"f32[2, n]", "f32[3, n]"}, {}), "sequence(f32[?, n])");
  EXPECT_EQ(inferredTypes("SequenceEmpty", {}, {{"dtype", Int{7}}}), "sequence(int64[...])");
  EXPECT_EQ(inferredTypes("SequenceInsert", {"sequence(f32[2])", "f32[3]"}, {}), "sequence(f32[?])");
  EXPECT_EQ(inferredTypes("SequenceAt", {"sequence(f32[2])", "int64[]"}, {}), "f32[2]");
  EXPECT_EQ(inferredTypes("Identity", {"optional(sequence(f32[2]))"}, {}), "optional(sequence(f32[2]))");
}

TEST(Sequence, ComesFromATensorAndGoesBack) {
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(elementsOf(run("SplitToSequence", {x})), (Lists{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(elementsOf(run("SplitToSequence", {x, ints({}, {2})})), (Lists{{1, 2, 3, 4}, {5, 6}}));
  EXPECT_EQ(elementsOf(run("SplitToSequence", {x, ints({1, 2})})), (Lists{{1, 2}, {3, 4, 5, 6}}));
  EXPECT_EQ(errorOf(run("SplitToSequence", {x, ints({1, 1})})),
            "node 'n': the extents of the parts sum to 2, but the axis has extent 3");
  EXPECT_EQ(inferredTypes("SplitToSequence", {"f32[3, 2]"}, {{"keepdims", Int{0}}, {"axis", Int{1}}}),
            "sequence(f32[3])");
  const auto columns = run("SplitToSequence", {x}, {{"keepdims", Int{0}}, {"axis", Int{1}}});
  EXPECT_EQ(elementsOf(columns), (Lists{{1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(columns.value()[0].elements()[0].dims(), Dims{3});

  expectFloats(run("ConcatFromSequence", {kList}, {{"axis", Int{0}}}), {4}, {1, 2, 3, 4});
  const Tensor pair = sequence(DataType::F32, {floats({2}, {1, 2}), floats({2}, {3, 4})});
  expectFloats(run("ConcatFromSequence", {pair}, {{"axis", Int{-1}}, {"new_axis", Int{1}}}), {2, 2}, {1, 3, 2, 4});
  EXPECT_EQ(inferredTypes("ConcatFromSequence", {"sequence(f32[2])"}, {{"axis", Int{-1}}, {"new_axis", Int{1}}}),
            "f32[2, ?]");
}

TEST(Sequence, IsMapped) {
  const Subgraph body = bodyOf(R"(input %x: f32[...] input %y: f32[...] input %z: f32[...]
    %a: f32[...] = Mul(%x, %y) {name="mul"} %b: f32[...] = Add(%a, %z) {name="add"} output %b)",
                               1);
  // Each element times 10 (a tensor that every element gets) plus 1 (captured).
  const auto result = run("SequenceMap", {kList, floats({}, {10}), floats({}, {1})}, {{"body", body}});
  EXPECT_EQ(elementsOf(result), (Lists{{11}, {21, 31}, {41}}));
  EXPECT_EQ(inferredTypes("SequenceMap", {"sequence(f32[n])", "f32[]", "f32[]"}, {{"body", body}}), "sequence(f32[n])");
}

TEST(Optional, HoldsAnElementOrNothing) {
  const auto full = run("Optional", {floats({1}, {5})});
  ASSERT_TRUE(full.ok()) << full.error().text();
  EXPECT_EQ(full.value()[0].container(), Container::Optional);
  expectFloats(run("OptionalGetElement", {full.value()[0]}), {1}, {5});
  expectInts(run("OptionalHasElement", {full.value()[0]}), {}, {1});

  const Attributes type{{"type", std::string("sequence(int64[...])")}};
  const auto empty = run("Optional", {}, type);
  ASSERT_TRUE(empty.ok()) << empty.error().text();
  EXPECT_EQ(empty.value()[0].container(), Container::OptionalSequence);
  expectInts(run("OptionalHasElement", {empty.value()[0]}), {}, {0});
  EXPECT_EQ(run("OptionalGetElement", {empty.value()[0]}).error().message, "the optional is empty");

  expectInts(run("OptionalHasElement", {}), {}, {0});
  expectInts(run("OptionalHasElement", {kList}), {}, {1});
  expectFloats(run("OptionalGetElement", {floats({1}, {5})}), {1}, {5});
  EXPECT_EQ(elementsOf(run("OptionalGetElement", {kList})), (Lists{{1}, {2, 3}, {4}}));
}

TEST(Optional, HasTheTypeOfItsElement) {
  EXPECT_EQ(inferredTypes("Optional", {"sequence(f32[2])"}, {}), "optional(sequence(f32[2]))");
  EXPECT_EQ(inferredTypes("Optional", {}, {{"type", std::string("f32[2]")}}), "optional(f32[2])");
  EXPECT_EQ(inferredTypes("OptionalGetElement", {"optional(sequence(f32[2]))"}, {}), "sequence(f32[2])");
  EXPECT_EQ(inferredTypes("Optional", {}, {}), "error: is missing, and no input defines the type of the element");
  EXPECT_EQ(inferredTypes("Optional", {"optional(f32[2])"}, {}), "error: an optional cannot contain optional(f32[2])");
  EXPECT_EQ(inferredTypes("Optional", {}, {{"type", std::string("list(f32[2])")}}),
            "error: line 1: 'list' is not an element type");
}

}  // namespace
}  // namespace fusescope::testing
