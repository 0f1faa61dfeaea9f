#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

using Int = std::int64_t;
using Texts = std::vector<std::string>;

// Affine with its defaults leaves its input as it is, so that every number can be worked by hand.
Attributes linear(std::size_t functions) {
  return {{"activations", Texts(functions, "Affine")}};
}

Tensor lengths(std::vector<std::int32_t> values) {
  const Dims dims{std::ssize(values)};
  return Tensor::copyOf<std::int32_t>(DataType::I32, dims, values);
}

TEST(Rnn, EachStepAddsWhatTheLastOneLeft) {
  const std::vector<Tensor> inputs{floats({2, 1, 1}, {1, 3}), floats({1, 1, 1}, {2}), floats({1, 1, 1}, {0.5F}),
                                   floats({1, 2}, {0.1F, 0.2F})};
  const auto forward = run("RNN", inputs, linear(1), 2);
  expectFloats(forward, {2, 1, 1, 1}, {2.3F, 7.45F});
  expectFloats(forward, {1, 1, 1}, {7.45F}, 1e-5F, 1);
  Attributes backwards = linear(1);
  backwards["direction"] = "reverse";
  const auto reverse = run("RNN", inputs, backwards, 2);
  expectFloats(reverse, {2, 1, 1, 1}, {5.45F, 6.3F});
  expectFloats(reverse, {1, 1, 1}, {5.45F}, 1e-5F, 1);
}

TEST(Rnn, SequencesOfTheirOwnLengthsInBothDirectionsAndLayouts) {
  const Tensor w = floats({2, 1, 1}, {2, 1}), r = floats({2, 1, 1}, {0.5F, 0});
  Attributes both = linear(2);
  both["direction"] = "bidirectional";
  const auto result = run("RNN", {floats({2, 2, 1}, {1, 10, 3, 99}), w, r, Tensor(), lengths({2, 1})}, both, 2);
  expectFloats(result, {2, 2, 2, 1}, {2, 20, 1, 10, 7, 0, 3, 0});
  expectFloats(result, {2, 2, 1}, {7, 20, 1, 10}, 1e-5F, 1);
  both["layout"] = Int{1};
  const auto batchFirst = run("RNN", {floats({2, 2, 1}, {1, 3, 10, 99}), w, r, Tensor(), lengths({2, 1})}, both, 2);
  expectFloats(batchFirst, {2, 2, 2, 1}, {2, 1, 7, 3, 20, 10, 0, 0});
  expectFloats(batchFirst, {2, 2, 1}, {7, 1, 20, 10}, 1e-5F, 1);
}

TEST(Rnn, ActivationsTakeTheirParametersInOrder) {
  const std::vector<Tensor> inputs{floats({1, 1, 1}, {-2}), floats({2, 1, 1}, {1, 1}), floats({2, 1, 1}, {0, 0})};
  const auto with = [&](Texts functions, std::vector<float> alpha, std::vector<float> beta) {
    return run("RNN", inputs,
               {{"direction", "bidirectional"},
                {"activations", std::move(functions)},
                {"activation_alpha", std::move(alpha)},
                {"activation_beta", std::move(beta)}});
  };
  expectFloats(with({"Relu", "LeakyRelu"}, {0.5F}, {}), {1, 2, 1, 1}, {0, -1});
  expectFloats(with({"HardSigmoid", "LeakyRelu"}, {}, {}), {1, 2, 1, 1}, {0.1F, -0.02F});
  expectFloats(with({"Affine", "ScaledTanh"}, {3, 2}, {1, 0.5F}), {1, 2, 1, 1}, {-5, 2 * std::tanh(-1.0F)});
  expectFloats(with({"Elu", "Softsign"}, {2}, {}), {1, 2, 1, 1}, {2 * std::expm1(-2.0F), -2.0F / 3});
  expectFloats(with({"Softplus", "ThresholdedRelu"}, {-3}, {}), {1, 2, 1, 1}, {std::log1p(std::exp(-2.0F)), -2});
  expectFloats(with({"sigmoid", "tanh"}, {}, {}), {1, 2, 1, 1}, {0.1192029F, -0.9640276F});
}

std::vector<Tensor> lstmInputs(Tensor peepholes = Tensor()) {
  return {floats({1, 1, 1}, {1}),
          floats({1, 4, 1}, {1, 2, 3, 4}),
          floats({1, 4, 1}, {0, 0, 0, 0}),
          Tensor(),
          Tensor(),
          Tensor(),
          floats({1, 1, 1}, {0.5F}),
          std::move(peepholes)};
}

TEST(Lstm, GatesPeepholesCouplingAndClip) {
  const auto plain = run("LSTM", lstmInputs(), linear(3), 3);  // i 1, o 2, f 3, c 4
  expectFloats(plain, {1, 1, 1, 1}, {11});
  expectFloats(plain, {1, 1, 1}, {11}, 1e-5F, 1);
  expectFloats(plain, {1, 1, 1}, {5.5F}, 1e-5F, 2);
  const auto peeping = run("LSTM", lstmInputs(floats({1, 3}, {1, 1, 1})), linear(3), 3);
  expectFloats(peeping, {1, 1, 1, 1}, {75.5625F});
  expectFloats(peeping, {1, 1, 1}, {7.75F}, 1e-5F, 2);
  Attributes coupled = linear(3);
  coupled["input_forget"] = Int{1};
  expectFloats(run("LSTM", lstmInputs(), coupled), {1, 1, 1, 1}, {8});
  Attributes clipped = linear(3);
  clipped["clip"] = 2.0F;
  const auto held = run("LSTM", lstmInputs(), clipped, 3);
  expectFloats(held, {1, 1, 1, 1}, {4});
  expectFloats(held, {1, 1, 1}, {3}, 1e-5F, 2);
}

TEST(Lstm, DefaultsAreSigmoidAndTanh) {
  const std::vector<Tensor> inputs{floats({1, 1, 1}, {1}),
                                   floats({1, 4, 1}, {0, 0, 0, 0}),
                                   floats({1, 4, 1}, {0, 0, 0, 0}),
                                   Tensor(),
                                   Tensor(),
                                   Tensor(),
                                   floats({1, 1, 1}, {1})};
  expectFloats(run("LSTM", inputs, {{"hidden_size", Int{1}}}), {1, 1, 1, 1}, {0.5F * std::tanh(0.5F)});
}

TEST(Gru, ResetBeforeOrAfterTheLinearMap) {
  const std::vector<Tensor> inputs{floats({1, 1, 1}, {1}),
                                   floats({1, 3, 1}, {0.5F, 2, 3}),
                                   floats({1, 3, 1}, {0, 0, 1}),
                                   floats({1, 6}, {0, 0, 0, 0, 0, 1}),
                                   Tensor(),
                                   floats({1, 1, 1}, {4})};
  expectFloats(run("GRU", inputs, linear(2)), {1, 1, 1, 1}, {8});
  Attributes after = linear(2);
  after["linear_before_reset"] = Int{1};
  expectFloats(run("GRU", inputs, after), {1, 1, 1, 1}, {8.5F});
  std::vector<Tensor> half;
  for (const Tensor& input : inputs)
    half.push_back(input.type() == DataType::Undefined ? input : input.converted(DataType::F16));
  const auto result = run("GRU", half, after);
  expectFloats(result, {1, 1, 1, 1}, {8.5F});
  EXPECT_EQ(result.value()[0].type(), DataType::F16);
}

TEST(Recurrence, AnEmptySequenceKeepsTheInitialState) {
  const auto result = run("RNN",
                          {floats({1, 1, 1}, {7}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {1}), Tensor(),
                           lengths({0}), floats({1, 1, 1}, {3})},
                          linear(1), 2);
  expectFloats(result, {1, 1, 1, 1}, {0});
  expectFloats(result, {1, 1, 1}, {3}, 1e-5F, 1);
}

TEST(Recurrence, TypesFollowTheWeights) {
  EXPECT_EQ(inferred("LSTM", {"f32[t, b, 3]", "f32[1, 20, 3]", "f32[1, 20, 5]"}, {}, {}, 3),
            "f32[t, 1, b, 5] f32[1, b, 5] f32[1, b, 5]");
  EXPECT_EQ(
      inferred("GRU", {"f32[b, t, 3]", "f32[...]", "f32[...]"}, {}, {{"layout", Int{1}}, {"hidden_size", Int{5}}}, 2),
      "f32[b, t, 1, 5] f32[b, 1, 5]");
}

TEST(Recurrence, WhatDoesNotFitIsSaid) {
  const Tensor x = floats({1, 1, 1}, {1}), one = floats({1, 1, 1}, {1});
  EXPECT_EQ(errorOf(run("RNN", {x, one, one}, {{"hidden_size", Int{2}}})),
            "node 'n': hidden_size and the last extent of R must be equal, but are 2 and 1");
  EXPECT_EQ(errorOf(run("RNN", {x, one, one}, {{"hidden_size", Int{1} << 62}})),
            "node 'n': attribute 'hidden_size': is 4611686018427387904, expected 1 to 1073741824");
  EXPECT_EQ(errorOf(run("LSTM", {x, one, one})), "node 'n': input 1 (W) is f32[1, 1, 1], expected f32[1, 4, 1]");
  EXPECT_EQ(errorOf(run("RNN", {x, one, one}, {{"activations", Texts{"Gelu"}}})),
            "node 'n': attribute 'activations': 'Gelu' is not an activation that ONNX has");
  EXPECT_EQ(errorOf(run("RNN", {x, one, one}, linear(2))),
            "node 'n': attribute 'activations': has 2 entries, expected 1 for each of 1 directions");
  EXPECT_EQ(errorOf(run("RNN", {x, one, one, Tensor(), lengths({2})})),
            "node 'n': sequence_lens contains 2, but the sequences have 1 steps");
  EXPECT_EQ(errorOf(run("RNN", {x, one, one}, {{"clip", -1.0F}})), "node 'n': attribute 'clip': must not be negative");
}

}  // namespace
}  // namespace fusescope::testing
