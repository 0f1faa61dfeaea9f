// Conversions as ONNX's Cast defines them, and the bits of numbers.
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

constexpr std::int64_t kFloat = 1, kInt32 = 6, kString = 8, kBool = 9, kUint64 = 13, kE4M3 = 17, kE4M3Fnuz = 18,
                       kE5M2 = 19, kE5M2Fnuz = 20, kF4 = 23, kE8M0 = 24, kUint2 = 25, kInt2 = 26, kF6E2M3 = 27;

Attributes to(std::int64_t type) {
  return {{"to", type}};
}
Attributes unsaturated(std::int64_t type) {
  return {{"to", type}, {"saturate", std::int64_t{0}}};
}

TEST(Cast, ToFloat8WithAndWithoutSaturation) {
  const Tensor x = floats({5}, {1000, -1e6F, INFINITY, NAN, 0.5F});
  expectFloats(run("Cast", {x}, to(kE4M3)), {5}, {448, -448, 448, NAN, 0.5F});
  expectFloats(run("Cast", {x}, to(kE5M2)), {5}, {1024, -57344, 57344, NAN, 0.5F});
  expectFloats(run("Cast", {x}, to(kE4M3Fnuz)), {5}, {240, -240, 240, NAN, 0.5F});
  expectFloats(run("Cast", {x}, to(kE5M2Fnuz)), {5}, {1024, -57344, 57344, NAN, 0.5F});
  expectFloats(run("Cast", {x}, unsaturated(kE4M3)), {5}, {NAN, NAN, NAN, NAN, 0.5F});
  expectFloats(run("Cast", {x}, unsaturated(kE5M2)), {5}, {1024, -INFINITY, INFINITY, NAN, 0.5F});
  expectFloats(run("Cast", {x}, unsaturated(kE4M3Fnuz)), {5}, {NAN, NAN, NAN, NAN, 0.5F});
}

TEST(Cast, FromFloat8WithoutInfinities) {
  const Tensor codes =
      Tensor::copyOf<std::uint8_t>(DataType::F8E4M3FNUZ, {3}, std::vector<std::uint8_t>{0x40, 0xff, 0x80});
  expectFloats(run("Cast", {codes}, to(kFloat)), {3}, {1, -240, NAN});
}

TEST(Cast, ToScalesRoundsAsAsked) {
  const Tensor x = floats({3}, {1.1F, 3.0F, 0.25F});
  expectFloats(run("Cast", {x}, to(kE8M0)), {3}, {2, 4, 0.25F});
  expectFloats(run("Cast", {x}, {{"to", kE8M0}, {"round_mode", std::string("down")}}), {3}, {1, 2, 0.25F});
  expectFloats(run("Cast", {x}, {{"to", kE8M0}, {"round_mode", std::string("nearest")}}), {3}, {1, 4, 0.25F});
  EXPECT_EQ(errorOf(run("Cast", {x}, {{"to", kE8M0}, {"round_mode", std::string("odd")}})),
            "node 'n': attribute 'round_mode': 'odd' is none of up, down, nearest");
}

TEST(Cast, ToTypesNarrowerThanAByte) {
  expectFloats(run("Cast", {floats({5}, {0.3F, 5, -7, 1.5F, -0.2F})}, to(kF4)), {5}, {0.5F, 4, -6, 1.5F, 0});
  expectFloats(run("Cast", {floats({3}, {0.13F, 100, -1.3F})}, to(kF6E2M3)), {3}, {0.125F, 7.5F, -1.25F});
  expectInts(run("Cast", {ints({-2, 1, 5})}, to(kInt2)), {3}, {-2, 1, 1});  // the higher bits are dropped
  expectInts(run("Cast", {ints({3, 6, 1})}, to(kUint2)), {3}, {3, 2, 1});
  const auto four = run("Cast", {floats({3}, {1, 6, -3})}, to(kF4));
  ASSERT_TRUE(four.ok());
  expectInts(run("Cast", {four.value()[0]}, to(kInt32)), {3}, {1, 6, -3});
}

TEST(Cast, TextsAndNumbers) {
  expectFloats(run("Cast", {Tensor::ofStrings({6}, {"1e-5", "+INF", "-inf", "NaN", "1E400", "+2.5"})}, to(kFloat)), {6},
               {1e-5F, INFINITY, -INFINITY, NAN, INFINITY, 2.5F});
  const auto large = run("Cast", {Tensor::ofStrings({1}, {"18446744073709551615"})}, to(kUint64));
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(large.value()[0].data<std::uint64_t>()[0], 18446744073709551615U);
  expectInts(run("Cast", {Tensor::ofStrings({3}, {"True", "False", "2"})}, to(kBool)), {3}, {1, 0, 1});
  EXPECT_EQ(errorOf(run("Cast", {Tensor::ofStrings({1}, {"2.5"})}, to(kInt32))),
            "node 'n': '2.5' is not an integer that 64 bits can hold");
  EXPECT_EQ(errorOf(run("Cast", {Tensor::ofStrings({1}, {""})}, to(kFloat))), "node 'n': '' is not a number");
  const auto texts = run("Cast", {floats({5}, {1, 0.1F, -INFINITY, NAN, 314.15926F})}, to(kString));
  ASSERT_TRUE(texts.ok());
  EXPECT_EQ(texts.value()[0].strings(), (std::vector<std::string>{"1.0", "0.1", "-INF", "NaN", "314.15927"}));
}

TEST(Cast, LikeTakesTheTypeOfTheSecondInput) {
  const Tensor like = Tensor::zeros(DataType::F8E5M2, {1});
  expectFloats(run("CastLike", {floats({1}, {1e6F}), like}), {1}, {57344});
  expectFloats(run("CastLike", {floats({1}, {1e6F}), like}, {{"saturate", std::int64_t{0}}}), {1}, {INFINITY});
}

TEST(BitCast, ReadsTheSameBitsAsAnotherType) {
  expectInts(run("BitCast", {floats({2}, {1, -0.0F})}, to(kInt32)), {2}, {0x3f800000, INT32_MIN});
  expectFloats(run("BitCast", {Tensor::ofInt64({0b0110}).converted(DataType::U4)}, to(kF4)), {1}, {4});
  EXPECT_EQ(errorOf(run("BitCast", {floats({1}, {1})}, to(7))),
            "node 'n': attribute 'to': a BitCast from f32 (32 bits) to int64 (64 bits) is not possible, because the "
            "widths differ");
  EXPECT_EQ(errorOf(run("BitCast", {floats({1}, {1})}, to(kString))),
            "node 'n': attribute 'to': a BitCast to string is not defined");
}

TEST(BitShift, SignedShiftsKeepTheSign) {
  const auto shift = [](const char* direction, std::vector<std::int32_t> x, std::vector<std::int32_t> by) {
    const auto count = static_cast<std::int64_t>(x.size());
    return run("BitShift",
               {Tensor::copyOf<std::int32_t>(DataType::I32, {count}, x),
                Tensor::copyOf<std::int32_t>(DataType::I32, {count}, by)},
               {{"direction", std::string(direction)}});
  };
  expectInts(shift("RIGHT", {-8, 8, -1, -5, 7, -5}, {1, 1, 31, 32, 32, -1}), {6}, {-4, 4, -1, -1, 0, -1});
  expectInts(shift("LEFT", {-8, 1, 3, 5, 5}, {1, 31, 31, 32, -1}), {5}, {-16, INT32_MIN, INT32_MIN, 0, 0});
}

}  // namespace
}  // namespace fusescope::testing
