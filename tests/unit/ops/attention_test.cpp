// Attention and what takes its place, worked by hand. softmax(1, 0) is 0.731059, 0.268941.
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {
namespace {

Tensor query() {
  return floats({1, 1, 2, 2}, {1, 0, 0, 1});
}
Tensor key() {
  return floats({1, 1, 2, 2}, {1, 0, 0, 1});
}
Tensor value() {
  return floats({1, 1, 2, 2}, {1, 2, 3, 4});
}
const std::vector<float> kPlain = {1.537883F, 2.537883F, 2.462117F, 3.462117F};

Attributes unscaled(Attributes more = {}) {
  more["scale"] = 1.0F;
  return more;
}

TEST(Attention, FourAxes) {
  expectFloats(run("Attention", {query(), key(), value()}, unscaled()), {1, 1, 2, 2}, kPlain);
  // Without a scale: 1 / sqrt(2), softmax(0.707107, 0) = 0.669761, 0.330239.
  expectFloats(run("Attention", {query(), key(), value()}), {1, 1, 2, 2}, {1.660477F, 2.660477F, 2.339523F, 3.339523F});
}

TEST(Attention, PackedHeadsShareKeys) {
  // Two query heads, one key head; the heads lie side by side in the last axis.
  const Tensor q = floats({1, 1, 4}, {1, 0, 0, 1}), k = floats({1, 2, 2}, {1, 0, 0, 1}),
               v = floats({1, 2, 2}, {1, 2, 3, 4});
  const Attributes heads = unscaled({{"q_num_heads", std::int64_t{2}}, {"kv_num_heads", std::int64_t{1}}});
  expectFloats(run("Attention", {q, k, v}, heads), {1, 1, 4}, kPlain);
  EXPECT_EQ(inferred("Attention", {"f32[batch, 5, 8]", "f32[batch, 7, 4]", "f32[batch, 7, 6]"}, {}, heads, 4),
            "f32[batch, 5, 12] f32[batch, 1, 7, 4] f32[batch, 1, 7, 6] f32[batch, 2, 5, 7]");
  EXPECT_EQ(errorOf(run("Attention", {q, k, v})),
            "node 'n': attribute 'q_num_heads': must be given and positive if the inputs have three axes");
}

TEST(Attention, CausalAndWindows) {
  const Attributes causal = unscaled({{"is_causal", std::int64_t{1}}});
  expectFloats(run("Attention", {query(), key(), value()}, causal), {1, 1, 2, 2}, {1, 2, 2.462117F, 3.462117F});
  const Attributes self = unscaled({{"left_window_size", std::int64_t{0}}, {"right_window_size", std::int64_t{0}}});
  expectFloats(run("Attention", {query(), key(), value()}, self), {1, 1, 2, 2}, {1, 2, 3, 4});
}

TEST(Attention, MasksAddOrHide) {
  const Tensor hides = bools({2, 2}, {0, 1, 0, 0});  // the second query sees nothing
  expectFloats(run("Attention", {query(), key(), value(), hides}, unscaled()), {1, 1, 2, 2}, {3, 4, 0, 0});
  const Tensor adds = floats({1, 2}, {0, 1});  // scores (1, 1) and (0, 2)
  expectFloats(run("Attention", {query(), key(), value(), adds}, unscaled()), {1, 1, 2, 2},
               {2, 3, 2.761594F, 3.761594F});
  const Tensor isShort = bools({2, 1}, {1, 1});  // hides the last key
  expectFloats(run("Attention", {query(), key(), value(), isShort}, unscaled()), {1, 1, 2, 2}, {1, 2, 1, 2});
  EXPECT_EQ(errorOf(run("Attention", {query(), key(), value(), bools({3, 2}, {1, 1, 1, 1, 1, 1})})),
            "node 'n': the mask bool[3, 2] cannot be broadcast to the attention scores f32[1, 1, 2, 2]");
}

TEST(Attention, CachesGrow) {
  const Tensor pastKey = floats({1, 1, 1, 2}, {9, 9}), pastValue = floats({1, 1, 1, 2}, {5, 6});
  const Tensor q = floats({1, 1, 1, 2}, {0, 0}), k = floats({1, 1, 1, 2}, {1, 0}), v = floats({1, 1, 1, 2}, {1, 2});
  const auto result =
      run("Attention", {q, k, v, Tensor(), pastKey, pastValue}, unscaled({{"is_causal", std::int64_t{1}}}), 4);
  expectFloats(result, {1, 1, 1, 2}, {3, 4});  // equal weights of both keys
  expectFloats(result, {1, 1, 2, 2}, {9, 9, 1, 0}, 0, 1);
  expectFloats(result, {1, 1, 2, 2}, {5, 6, 1, 2}, 0, 2);
  expectFloats(result, {1, 1, 1, 2}, {0, 0}, 0, 3);
  EXPECT_EQ(errorOf(run("Attention", {q, k, v, Tensor(), pastKey})),
            "node 'n': past_key and past_value must be given together");
}

TEST(Attention, ValidKeysOfACacheOutside) {
  // One valid key for two queries: offset -1, so the first query sees nothing.
  const Attributes causal = unscaled({{"is_causal", std::int64_t{1}}});
  const std::vector<Tensor> inputs = {query(), key(), value(), Tensor(), Tensor(), Tensor(), ints({1})};
  expectFloats(run("Attention", inputs, causal), {1, 1, 2, 2}, {0, 0, 1, 2});
  expectFloats(run("Attention", inputs, unscaled()), {1, 1, 2, 2}, {1, 2, 1, 2});
}

TEST(Attention, ScoresAtEveryStage) {
  const Tensor hides = bools({1, 2}, {1, 0});
  const auto scores = [&](std::int64_t mode) {
    return run("Attention", {query(), key(), value(), hides},
               unscaled({{"qk_matmul_output_mode", mode}, {"softcap", 2.0F}}), 4);
  };
  expectFloats(scores(0), {1, 1, 2, 2}, {1, 0, 0, 1}, 1e-6F, 3);
  expectFloats(scores(1), {1, 1, 2, 2}, {0.924234F, 0, 0, 0.924234F}, 1e-6F, 3);  // 2 tanh(1/2)
  expectFloats(scores(2), {1, 1, 2, 2}, {0.924234F, -INFINITY, 0, -INFINITY}, 1e-6F, 3);
  expectFloats(scores(3), {1, 1, 2, 2}, {1, 0, 1, 0}, 1e-6F, 3);
  EXPECT_EQ(errorOf(scores(4)), "node 'n': attribute 'qk_matmul_output_mode': is 4, expected 0 to 3");
}

TEST(Attention, HeadsMustFit) {
  const Tensor three = floats({1, 3, 1, 2}, {1, 0, 0, 1, 1, 1}), two = floats({1, 2, 1, 2}, {1, 0, 0, 1});
  EXPECT_EQ(errorOf(run("Attention", {three, two, two})),
            "node 'n': the query has 3 heads, which is not a multiple of the 2 heads of the key");
}

Tensor line(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return floats({1, count, 1}, std::move(values));
}

TEST(LinearAttention, EveryRule) {
  const auto attend = [](const char* rule, const Tensor& decay, const Tensor& beta) {
    const Attributes attributes = {{"q_num_heads", std::int64_t{1}},
                                   {"kv_num_heads", std::int64_t{1}},
                                   {"scale", 1.0F},
                                   {"update_rule", std::string(rule)}};
    return run("LinearAttention", {line({1, 2}), line({3, 4}), line({5, 6}), Tensor(), decay, beta}, attributes, 2);
  };
  expectFloats(attend("linear", Tensor(), Tensor()), {1, 2, 1}, {15, 78});
  const Tensor decay = line({0, std::log(0.5F)}), beta = line({1, 0.5F});
  expectFloats(attend("gated", decay, Tensor()), {1, 2, 1}, {15, 63});     // 7.5 + 24 = 31.5
  expectFloats(attend("delta", Tensor(), beta), {1, 2, 1}, {15, -186});    // 0.5 (6 - 60) = -27; 15 - 108 = -93
  expectFloats(attend("gated_delta", decay, beta), {1, 2, 1}, {15, -81});  // 0.5 (6 - 30) = -12; 7.5 - 48 = -40.5
  expectFloats(attend("delta", Tensor(), beta), {1, 1, 1, 1}, {-93}, 0, 1);
  EXPECT_EQ(errorOf(attend("linear", decay, Tensor())),
            "node 'n': attribute 'update_rule': does not use the input decay");
  EXPECT_EQ(errorOf(attend("delta", Tensor(), Tensor())), "node 'n': attribute 'update_rule': requires the input beta");
}

TEST(CausalConvWithState, ReadsThePastAndKeepsTheEnd) {
  const Tensor x = floats({1, 1, 3}, {1, 2, 3}), w = floats({1, 1, 2}, {10, 1});
  const auto fresh = run("CausalConvWithState", {x, w}, {}, 2);
  expectFloats(fresh, {1, 1, 3}, {1, 12, 23});
  expectFloats(fresh, {1, 1, 1}, {3}, 0, 1);
  expectFloats(run("CausalConvWithState", {x, w, floats({1}, {1}), floats({1, 1, 1}, {5})}), {1, 1, 3}, {52, 13, 24});
  // silu(0) = 0, silu(1) = 0.731059
  expectFloats(run("CausalConvWithState", {floats({1, 1, 2}, {0, 1}), w}, {{"activation", std::string("silu")}}),
               {1, 1, 2}, {0, 0.731059F});
  EXPECT_EQ(errorOf(run("CausalConvWithState", {x, floats({2, 1, 2}, {1, 1, 1, 1})})),
            "node 'n': the channels of input and weight must be equal, but are 1 and 2");
}

}  // namespace
}  // namespace fusescope::testing
