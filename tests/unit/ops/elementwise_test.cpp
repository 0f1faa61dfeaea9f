#include <cmath>

#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

struct UnaryCase {
  std::string op;
  float x, y;
  Attributes attributes;
};

TEST(Elementwise, FunctionsOfOneNumber) {
  const std::vector<UnaryCase> cases = {
      {"Abs", -2, 2, {}},
      {"Acos", 0.5F, 1.0471976F, {}},
      {"Atanh", 0.5F, 0.5493061F, {}},
      {"Ceil", 1.2F, 2, {}},
      {"Celu", -1, -0.7869387F, {{"alpha", 2.0F}}},  // 2 · (e^-0.5 - 1)
      {"Elu", -1, -0.6321206F, {}},
      {"Erf", 0.5F, 0.5204999F, {}},
      {"Exp", 1, 2.7182818F, {}},
      {"Floor", -1.2F, -2, {}},
      {"Gelu", 1, 0.8413447F, {}},
      {"Gelu", 1, 0.8411920F, {{"approximate", std::string("tanh")}}},
      {"HardSigmoid", 1, 0.7F, {}},
      {"HardSwish", 1, 0.6666667F, {}},
      {"LeakyRelu", -2, -0.02F, {}},
      {"Log", 2.7182818F, 1, {}},
      {"Mish", 1, 0.8650984F, {}},
      {"Neg", 3, -3, {}},
      {"Reciprocal", 4, 0.25F, {}},
      {"Relu", -1, 0, {}},
      {"Round", 2.5F, 2, {}},
      {"Round", -1.5F, -2, {}},
      {"Selu", -1, -1.1113307F, {}},
      {"Shrink", 2, 1.5F, {{"bias", 0.5F}, {"lambd", 1.0F}}},
      {"Sigmoid", -100, 0, {}},
      {"Sigmoid", 1, 0.7310586F, {}},
      {"Sign", -5, -1, {}},
      {"Softplus", 1, 1.3132617F, {}},
      {"Softsign", -1, -0.5F, {}},
      {"Sqrt", 9, 3, {}},
      {"Swish", 1, 0.7310586F, {}},
      {"Tanh", 0.5F, 0.4621172F, {}},
      {"ThresholdedRelu", 0.5F, 0, {}},
  };
  for (const UnaryCase& c : cases) {
    SCOPED_TRACE(c.op);
    expectFloats(run(c.op, {floats({1}, {c.x})}, c.attributes), {1}, {c.y});
  }
}

TEST(Elementwise, NarrowFloatsAreRoundedOnce) {
  const Tensor x = floats({2}, {1.0009765625F, 3.0F}).converted(DataType::F16);
  const auto result = run("Mul", {x, x});
  expectFloats(result, {2}, {1.001953125F, 9.0F}, 0.0F);  // 1.00195408… rounded to float16
  EXPECT_EQ(result.value()[0].type(), DataType::F16);
}

TEST(Elementwise, BroadcastsBothWays) {
  expectFloats(run("Add", {floats({2, 1}, {10, 20}), floats({3}, {1, 2, 3})}), {2, 3}, {11, 12, 13, 21, 22, 23});
  expectFloats(run("Sub", {floats({}, {1}), floats({2}, {1, 2})}), {2}, {0, -1});
}

TEST(Elementwise, IntegersKeepIntegerMeaning) {
  expectInts(run("Div", {ints({-7, 7}), ints({2, -2})}), {2}, {-3, -3});
  expectInts(run("Mod", {ints({-7, 7, 6}), ints({3, -3, 3})}), {3}, {2, -2, 0});
  expectInts(run("Mod", {ints({-7, 7, 6}), ints({3, -3, 3})}, {{"fmod", std::int64_t{1}}}), {3}, {-1, 1, 0});
  expectInts(run("Pow", {ints({2, -3}), floats({2}, {3, 2})}), {2}, {8, 9});
  expectInts(run("Div", {ints({INT64_MIN}), ints({-1})}), {1}, {INT64_MIN});
  EXPECT_EQ(errorOf(run("Div", {ints({1}), ints({0})})), "node 'n': an integer is divided by zero");
}

TEST(Elementwise, VariadicOperators) {
  expectFloats(run("Max", {floats({2}, {1, 5}), floats({1}, {3}), floats({2}, {2, 9})}), {2}, {3, 9});
  expectFloats(run("Mean", {floats({2}, {1, 5}), floats({2}, {3, 7})}), {2}, {2, 6});
  expectFloats(run("Min", {floats({1}, {NAN}), floats({1}, {3})}), {1}, {NAN});
}

TEST(Elementwise, ClipTakesBoundsInAnyCombination) {
  expectFloats(run("Clip", {floats({3}, {-5, 0, 5}), floats({}, {-1}), floats({}, {1})}), {3}, {-1, 0, 1});
  expectFloats(run("Clip", {floats({3}, {-5, 0, 5}), Tensor(), floats({}, {1})}), {3}, {-5, 0, 1});
  expectFloats(run("Clip", {floats({2}, {-5, 5}), floats({}, {3}), floats({}, {1})}), {2}, {1, 1});  // min above max
}

TEST(Elementwise, ComparisonsAndLogic) {
  expectInts(run("Greater", {floats({3}, {1, 2, NAN}), floats({1}, {1})}), {3}, {0, 1, 0});
  expectInts(run("Equal", {ints({1, 2}), ints({1, 3})}), {2}, {1, 0});
  expectInts(run("IsNaN", {floats({2}, {NAN, 1})}), {2}, {1, 0});
  expectInts(run("IsInf", {floats({2}, {INFINITY, -INFINITY})}, {{"detect_negative", std::int64_t{0}}}), {2}, {1, 0});
  expectInts(run("Not", {bools({2}, {0, 1})}), {2}, {1, 0});
  expectInts(run("Xor", {bools({2}, {0, 1}), bools({1}, {1})}), {2}, {1, 0});
  expectFloats(run("Where", {bools({2, 1}, {1, 0}), floats({2}, {1, 2}), floats({}, {9})}), {2, 2}, {1, 2, 9, 9});
  const std::vector<std::uint8_t> bytes{1, 128};
  const Tensor b = Tensor::copyOf<std::uint8_t>(DataType::U8, {2}, bytes);
  const Attributes left{{"direction", std::string("LEFT")}};
  expectInts(
      run("BitShift", {b, Tensor::copyOf<std::uint8_t>(DataType::U8, {2}, std::vector<std::uint8_t>{1, 1})}, left), {2},
      {2, 0});
  expectInts(run("BitwiseNot", {b}), {2}, {254, 127});
  // Signed values keep their sign to the right, whatever the shift.
  const Tensor values = ints({-8, -8, 5, -1}), by = ints({1, 64, -1, 63});
  expectInts(run("BitShift", {values, by}, {{"direction", "RIGHT"}}), {4}, {-4, -1, 0, -1});
  expectInts(run("BitShift", {values, by}, left), {4}, {-16, 0, 0, std::numeric_limits<std::int64_t>::min()});
}

TEST(Elementwise, CastConvertsAndRefuses) {
  const auto to = [](std::int64_t number) { return Attributes{{"to", number}}; };
  expectInts(run("Cast", {floats({3}, {-1.9F, 1.9F, 3})}, to(7)), {3}, {-1, 1, 3});
  expectInts(run("Cast", {floats({2}, {0, 0.5F})}, to(9)), {2}, {0, 1});
  expectFloats(run("Cast", {floats({1}, {70000})}, to(10)), {1}, {INFINITY});
  expectFloats(run("Cast", {floats({2}, {1000, 1.06F})}, to(17)), {2}, {448, 1.0F});  // saturates
  const auto texts = run("Cast", {Tensor::ofStrings({2}, {"1.5", "-2"})}, to(1));
  expectFloats(texts, {2}, {1.5F, -2});
  EXPECT_EQ(errorOf(run("Cast", {Tensor::ofStrings({1}, {"x"})}, to(1))), "node 'n': 'x' is not a number");
  EXPECT_EQ(errorOf(run("Cast", {floats({1}, {0})}, to(99))),
            "node 'n': attribute 'to': 99 is not the number of an ONNX element type that Fusescope knows");
}

TEST(Elementwise, SymbolicShapes) {
  EXPECT_EQ(inferred("Add", {"f32[batch, 1, 4]", "f32[3, 1]"}), "f32[batch, 3, 4]");
  EXPECT_EQ(inferred("Add", {"f32[a]", "f32[b]"}), "f32[broadcast(a, b)]");
  EXPECT_EQ(inferred("Add", {"f32[a]", "f32[a]"}), "f32[a]");
  EXPECT_EQ(inferred("Add", {"f32[?]", "f32[4]"}), "f32[4]");
  EXPECT_EQ(inferred("Add", {"f32[...]", "f32[4]"}), "f32[...]");
  EXPECT_EQ(inferred("Less", {"f32[n]", "f32[1]"}), "bool[n]");
  EXPECT_EQ(inferred("Pow", {"f16[2]", "int64[1]"}), "f16[2]");
}

TEST(Elementwise, WrongNetworksAreErrorsThatNameTheNode) {
  EXPECT_EQ(inferred("Add", {"f32[2]", "f32[3]"}),
            "error: [2] and [3] cannot be broadcast together: extents 2 and 3 differ and neither is 1");
  EXPECT_EQ(inferred("Add", {"f32[2]", "int64[2]"}),
            "error: inputs 0 and 1 of Add must have the same type, but are f32 and int64");
  EXPECT_EQ(inferred("Add", {"f32[2]"}), "error: Add takes 2 inputs, but the node has 1");
  EXPECT_EQ(inferred("Erf", {"int64[2]"}),
            "error: input 0 of Erf is int64, expected one of f64, f32, f16, bf16, f8e4m3, f8e5m2");
  EXPECT_EQ(errorOf(run("Elu", {floats({1}, {1})}, {{"alpha", std::string("x")}})),
            "node 'n': attribute 'alpha': is a text, expected a float");
  EXPECT_EQ(errorOf(run("Nonsense", {floats({1}, {1})})), "node 'n': operator Nonsense is not known");
  EXPECT_EQ(
      errorOf(run("ImageDecoder", {Tensor::copyOf<std::uint8_t>(DataType::U8, {1}, std::vector<std::uint8_t>{0})})),
      "node 'n': no kernel for ImageDecoder exists yet");
}

}  // namespace
}  // namespace fusescope::testing
