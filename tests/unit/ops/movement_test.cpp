#include "ops/run_node.h"
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using List = std::vector<std::int64_t>;

const Tensor kSix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(View, ReshapeWorksOutExtents) {
  EXPECT_EQ(inferred("Reshape", {"f32[batch, 4, 64]"}, {ints({0, -1})}), "f32[batch, 256]");
  EXPECT_EQ(inferred("Reshape", {"f32[batch, 4, 64]"}, {ints({-1, 256})}), "f32[batch, 256]");
  EXPECT_EQ(inferred("Reshape", {"f32[batch, seq, 64]"}, {ints({0, 0, 4, 16})}), "f32[batch, seq, 4, 16]");
  EXPECT_EQ(inferred("Reshape", {"f32[batch, seq, 64]"}, {ints({0, -1, 4, 16})}), "f32[batch, seq, 4, 16]");
  EXPECT_EQ(inferred("Reshape", {"f32[batch, 6]"}, {ints({-1, 4})}), "f32[batch + batch/2, 4]");
  EXPECT_EQ(inferred("Reshape", {"f32[2, 3]", "int64[3]"}), "f32[?, ?, ?]");
  EXPECT_EQ(inferred("Reshape", {"f32[2, 3]"}, {ints({4, -1})}), "error: 6 elements are not divisible by 4");
  EXPECT_EQ(inferred("Reshape", {"f32[2, 3]"}, {ints({-1, -1})}), "error: the shape contains -1 more than once");
  EXPECT_EQ(inferred("Reshape", {"f32[0, 3]"}, {ints({3, 0})}, {{"allowzero", Int{1}}}), "f32[3, 0]");
  EXPECT_EQ(inferred("Reshape", {"f32[2, 3]"}, {ints({7})}), "error: 6 elements cannot be reshaped to the extents [7]");
  EXPECT_EQ(inferred("Flatten", {"f32[batch, 3, 4]"}), "f32[batch, 12]");
  EXPECT_EQ(inferred("Squeeze", {"f32[b, 1, 4]"}, {ints({1})}), "f32[b, 4]");
  EXPECT_EQ(inferred("Squeeze", {"f32[b, 2]"}, {ints({1})}),
            "error: axis 1 cannot be squeezed: its extent is 2, not 1");
  EXPECT_EQ(inferred("Unsqueeze", {"f32[b]"}, {ints({0, 2})}), "f32[1, b, 1]");
  expectFloats(run("Reshape", {kSix, ints({3, -1})}), {3, 2}, {1, 2, 3, 4, 5, 6});
}

TEST(Movement, TransposeConcatSplitSlice) {
  expectFloats(run("Transpose", {kSix}), {3, 2}, {1, 4, 2, 5, 3, 6});
  expectFloats(run("Concat", {kSix, floats({2, 1}, {7, 8})}, {{"axis", Int{1}}}), {2, 4}, {1, 2, 3, 7, 4, 5, 6, 8});
  const auto parts = run("Split", {kSix, ints({1, 2})}, {{"axis", Int{-1}}}, 2);
  expectFloats(parts, {2, 1}, {1, 4}, 0.0F, 0);
  expectFloats(parts, {2, 2}, {2, 3, 5, 6}, 0.0F, 1);
  expectFloats(run("Slice", {kSix, ints({-1}), ints({INT64_MIN}), ints({1}), ints({-2})}), {2, 2}, {3, 1, 6, 4});
  expectFloats(run("Slice", {kSix, ints({1}), ints({INT64_MAX})}), {1, 3}, {4, 5, 6});
  EXPECT_EQ(inferred("Slice", {"f32[b, 8]"}, {ints({2}), ints({-1}), ints({1})}), "f32[b, 5]");
  EXPECT_EQ(inferred("Slice", {"f32[b, 8]"}, {ints({0}), ints({INT64_MAX}), ints({0})}), "f32[b, 8]");
  EXPECT_EQ(inferred("Slice", {"f32[b, 8]"}, {ints({1}), ints({INT64_MAX}), ints({0})}), "f32[b - 1, 8]");
  EXPECT_EQ(inferred("Concat", {"f32[b, 2]", "f32[b, 3]"}, {}, {{"axis", Int{1}}}), "f32[b, 5]");
  EXPECT_EQ(inferred("Concat", {"f32[3, 2]", "f32[4, 3]"}, {}, {{"axis", Int{1}}}),
            "error: extents along axis 0 must be equal, but are 3 and 4");
  EXPECT_EQ(inferred("Transpose", {"f32[a, b, c]"}, {}, {{"perm", List{2, 0, 1}}}), "f32[c, a, b]");
  EXPECT_EQ(inferred("Transpose", {"f32[a, b]"}, {}, {{"perm", List{0, 0}}}),
            "error: [0, 0] is not a permutation of 2 axes");
  EXPECT_EQ(inferred("Split", {"f32[7]"}, {}, {{"num_outputs", Int{3}}}, 3), "f32[3] f32[3] f32[1]");
}

TEST(Movement, ExpandTilePadAndFriends) {
  expectFloats(run("Expand", {floats({2, 1}, {1, 2}), ints({2, 2})}), {2, 2}, {1, 1, 2, 2});
  EXPECT_EQ(inferred("Expand", {"f32[1, 4]"}, {ints({3, 1, 1})}), "f32[3, 1, 4]");
  expectFloats(run("Tile", {floats({2}, {1, 2}), ints({2})}), {4}, {1, 2, 1, 2});
  const Tensor three = floats({3}, {1, 2, 3});
  const auto mode = [](const char* text) { return Attributes{{"mode", std::string(text)}}; };
  expectFloats(run("Pad", {three, ints({1, 2}), floats({}, {9})}), {6}, {9, 1, 2, 3, 9, 9});
  expectFloats(run("Pad", {three, ints({2, 2})}, mode("reflect")), {7}, {3, 2, 1, 2, 3, 2, 1});
  expectFloats(run("Pad", {three, ints({1, 1})}, mode("edge")), {5}, {1, 1, 2, 3, 3});
  expectFloats(run("Pad", {three, ints({1, 1})}, mode("wrap")), {5}, {3, 1, 2, 3, 1});
  expectFloats(run("Pad", {three, ints({-1, 0})}), {2}, {2, 3});
  expectFloats(run("CenterCropPad", {three, ints({1})}), {1}, {2});
  expectFloats(run("Trilu", {floats({2, 2}, {1, 2, 3, 4})}, {{"upper", Int{0}}}), {2, 2}, {1, 0, 3, 4});
  expectFloats(run("DepthToSpace", {floats({1, 4, 1, 1}, {1, 2, 3, 4})}, {{"blocksize", Int{2}}}), {1, 1, 2, 2},
               {1, 2, 3, 4});
  expectFloats(run("SpaceToDepth", {floats({1, 1, 2, 2}, {1, 2, 3, 4})}, {{"blocksize", Int{2}}}), {1, 4, 1, 1},
               {1, 2, 3, 4});
  expectFloats(run("OneHot", {ints({1, -1, 7}), ints({}, {3}), floats({2}, {0, 5})}), {3, 3},
               {0, 5, 0, 0, 0, 5, 0, 0, 0});
}

TEST(Movement, GatherAndScatter) {
  expectFloats(run("Gather", {kSix, ints({2, -3})}, {{"axis", Int{1}}}), {2, 2}, {3, 1, 6, 4});
  expectFloats(run("GatherElements", {kSix, ints({1, 3}, {1, 0, -1})}, {{"axis", Int{0}}}), {1, 3}, {4, 2, 6});
  expectFloats(run("GatherND", {kSix, ints({2, 2}, {0, 1, 1, -1})}), {2}, {2, 6});
  expectFloats(run("GatherND", {kSix, ints({2, 1}, {2, 0})}, {{"batch_dims", Int{1}}}), {2}, {3, 4});
  expectFloats(run("ScatterElements", {floats({3}, {1, 2, 3}), ints({0, 0}), floats({2}, {10, 20})},
                   {{"reduction", std::string("add")}}),
               {3}, {31, 2, 3});
  expectFloats(run("ScatterND", {kSix, ints({1, 1}, {1}), floats({1, 3}, {7, 8, 9})}), {2, 3}, {1, 2, 3, 7, 8, 9});
  EXPECT_EQ(errorOf(run("Gather", {kSix, ints({2})})), "node 'n': index 2 is outside an axis of extent 2");
  EXPECT_EQ(errorOf(run("GatherND", {kSix, ints({1, 2}, {0, 3})})), "node 'n': index 3 is outside an axis of extent 3");
  EXPECT_EQ(inferred("Gather", {"f32[1000, 64]", "int64[batch, seq]"}), "f32[batch, seq, 64]");
  EXPECT_EQ(inferred("Gather", {"f32[1000, 64]", "f32[2]"}),
            "error: input 1 of Gather is f32, expected one of int64, int32");
}

TEST(Movement, StringsAndNibblesMoveToo) {
  const auto texts = run("Transpose", {Tensor::ofStrings({1, 2}, {"a", "b"})});
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(texts.value()[0].strings(), (std::vector<std::string>{"a", "b"}));
  const Tensor nibbles = ints({2, 2}, {-8, -1, 0, 7}).converted(DataType::I4);
  const auto turned = run("Transpose", {nibbles});
  expectInts(turned, {2, 2}, {-8, 0, -1, 7});
  EXPECT_EQ(turned.value()[0].type(), DataType::I4);
}

TEST(Movement, ChosenByValue) {
  const auto best = run("TopK", {floats({4}, {3, 1, 3, 2}), ints({2})}, {}, 2);
  expectFloats(best, {2}, {3, 3});
  expectInts(best, {2}, {0, 2}, 1);
  expectFloats(run("Compress", {kSix, bools({2}, {0, 1})}, {{"axis", Int{0}}}), {1, 3}, {4, 5, 6});
  const auto distinct = run("Unique", {ints({2, 1, 1, 3, 2})}, {}, 4);
  expectInts(distinct, {3}, {1, 2, 3}, 0);
  expectInts(distinct, {3}, {1, 0, 3}, 1);
  expectInts(distinct, {5}, {1, 0, 0, 2, 1}, 2);
  expectInts(distinct, {3}, {2, 2, 1}, 3);
}

TEST(Movement, ResizeNearestLinearCubic) {
  const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), none;
  const Tensor twice = floats({4}, {1, 1, 2, 2});
  expectFloats(run("Resize", {x, none, twice}), {1, 1, 4, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
  expectFloats(
      run("Resize", {floats({1, 1, 1, 2}, {1, 2}), none, floats({4}, {1, 1, 1, 2})}, {{"mode", std::string("linear")}}),
      {1, 1, 1, 4}, {1, 1.25F, 1.75F, 2});
  EXPECT_EQ(inferred("Resize", {"f32[n, 3, 8, 8]", "f32[0]"}, {floats({4}, {1, 1, 2, 0.5F})}), "f32[n, 3, 16, 4]");
  EXPECT_EQ(inferred("Resize", {"f32[n, 3, 8, 8]", "f32[0]", "f32[0]"}, {ints({1, 3, 5, 5})}), "f32[1, 3, 5, 5]");
}

TEST(Shape, ExtentsAndTensorsMadeFromThem) {
  expectInts(run("Shape", {kSix}), {2}, {2, 3});
  expectInts(run("Shape", {kSix}, {{"start", Int{-1}}}), {1}, {3});
  expectInts(run("Size", {kSix}), {}, {6});
  expectInts(run("ConstantOfShape", {ints({2})}, {{"value", ints({7})}}), {2}, {7, 7});
  expectInts(run("Range", {ints({}, {5}), ints({}, {0}), ints({}, {-2})}), {3}, {5, 3, 1});
  expectFloats(run("EyeLike", {floats({2, 3}, {0, 0, 0, 0, 0, 0})}, {{"k", Int{1}}}), {2, 3}, {0, 1, 0, 0, 0, 1});
  EXPECT_EQ(inferred("Shape", {"f32[b, 2, 3]"}), "int64[3]");
  EXPECT_EQ(inferred("ConstantOfShape", {"int64[2]"}), "f32[?, ?]");
  EXPECT_EQ(inferred("ConstantOfShape", {}, {ints({4, 5})}), "f32[4, 5]");
}

TEST(Shape, AbsurdExtentsAreErrors) {
  EXPECT_EQ(
      inferred("ConstantOfShape", {}, {ints({Int{1} << 40, Int{1} << 40})}),
      "error: the result of ConstantOfShape would have extents [1099511627776, 1099511627776], which is too large");
  EXPECT_EQ(inferred("ConstantOfShape", {}, {ints({-1})}),
            "error: the shape contains -1, but an extent cannot be negative");
  EXPECT_EQ(errorOf(run("ConstantOfShape", {ints({Int{1} << 41})})),
            "node 'n': a tensor of extents [2199023255552] is too large for the memory");
  EXPECT_EQ(errorOf(run("Range", {ints({}, {0}), ints({}, {5}), ints({}, {0})})), "node 'n': delta must not be 0");
}

TEST(Registry, EveryOperatorCanBeInferredWithoutAnyKnowledge) {
  std::size_t count = 0;
  for (const OpSchema* schema : OpRegistry::standard().all()) {
    SCOPED_TRACE(schema->op);
    ASSERT_TRUE(schema->infer) << "no shape function";
    EXPECT_EQ(OpRegistry::standard().find(schema->domain, schema->op), schema);
    const TensorType unknown;
    const std::vector<const TensorType*> inputs(static_cast<std::size_t>(schema->minInputs), &unknown);
    const std::vector<const Tensor*> values(inputs.size(), nullptr);
    const auto result = inferNode(nodeOf(schema->op, inputs.size()), inputs, values);
    if (!result.ok()) {
      EXPECT_EQ(result.error().where.node, "n");
    }
    ++count;
  }
  EXPECT_GE(count, 150U);
}

}  // namespace
}  // namespace fusescope::testing
