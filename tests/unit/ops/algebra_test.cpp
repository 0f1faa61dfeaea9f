#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;

TEST(Det, OfEachMatrixWithPivoting) {
  expectFloats(run("Det", {floats({2, 2}, {0, 2, 3, 4})}), {}, {-6});
  expectFloats(run("Det", {floats({2, 2, 2}, {1, 2, 2, 4, 2, 0, 0, 3})}), {2}, {0, 6});
  expectFloats(run("Det", {floats({1, 0, 0}, {})}), {1}, {1});
  EXPECT_EQ(inferred("Det", {"f32[b, 3, 4]"}), "error: the extents of a square matrix must be equal, but are 4 and 3");
}

TEST(CumProd, ExclusiveAndReverse) {
  const Tensor x = ints({1, 2, 3}), axis = ints({}, {0});
  expectInts(run("CumProd", {x, axis}), {3}, {1, 2, 6});
  expectInts(run("CumProd", {x, axis}, {{"exclusive", Int{1}}}), {3}, {1, 1, 2});
  expectInts(run("CumProd", {x, axis}, {{"reverse", Int{1}}}), {3}, {6, 6, 3});
  expectInts(run("CumProd", {x, axis}, {{"reverse", Int{1}}, {"exclusive", Int{1}}}), {3}, {6, 3, 1});
  expectFloats(run("CumProd", {floats({2, 2}, {1, 2, 3, 4}), ints({}, {-1})}), {2, 2}, {1, 2, 3, 12});
}

TEST(BitCast, SameBitsOtherType) {
  const auto bits = run("BitCast", {floats({1}, {1})}, {{"to", Int{12}}});
  ASSERT_TRUE(bits.ok()) << bits.error().text();
  EXPECT_EQ(bits.value()[0].type(), DataType::U32);
  EXPECT_EQ(bits.value()[0].asInt64(0), 0x3f800000);
  EXPECT_EQ(errorOf(run("BitCast", {floats({1}, {1})}, {{"to", Int{7}}})),
            "node 'n': attribute 'to': a BitCast from f32 (32 bits) to int64 (64 bits) is not possible, because the "
            "widths differ");
  EXPECT_EQ(errorOf(run("BitCast", {floats({1}, {1})}, {{"to", Int{8}}})),
            "node 'n': attribute 'to': a BitCast to string is not defined");
}

TEST(TensorScatter, WritesAtEachSamplesPlace) {
  const Tensor cache = floats({2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}), update = floats({2, 2, 1}, {10, 11, 12, 13});
  expectFloats(run("TensorScatter", {cache, update}), {2, 4, 1}, {10, 11, 3, 4, 12, 13, 7, 8});
  expectFloats(run("TensorScatter", {cache, update, ints({2, 1})}), {2, 4, 1}, {1, 2, 10, 11, 5, 12, 13, 8});
  expectFloats(run("TensorScatter", {cache, update, ints({3, 5})}, {{"mode", "circular"}}), {2, 4, 1},
               {11, 2, 3, 10, 5, 12, 13, 8});
  EXPECT_EQ(errorOf(run("TensorScatter", {cache, update, ints({3, 0})})),
            "node 'n': write_indices contains 3, but an update of extent 2 does not fit at this position into a cache "
            "of extent 4");
  EXPECT_EQ(errorOf(run("TensorScatter", {cache, update}, {{"axis", Int{0}}})),
            "node 'n': attribute 'axis': is the batch axis, which cannot be the sequence axis");
}

TEST(SwiGlu, GateTimesValue) {
  expectFloats(run("SwiGLU", {floats({2}, {0, 1}), floats({2}, {5, 2})}), {2}, {0, 1.4621172F});
  EXPECT_EQ(errorOf(run("SwiGLU", {floats({2}, {0, 1}), floats({1}, {5})})),
            "node 'n': input 1 (B) is f32[1], expected f32[2]");
}

}  // namespace
}  // namespace fusescope::testing
