// ONNX's Attention as one node: our kernel against the reference one.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

struct AttentionCase {
  Dims query, key, value;
  std::map<std::string, Attribute> attributes;
  std::vector<std::pair<std::string, TensorType>> more;  ///< by the names of ONNX's schema
  int outputs = 1;
};

bool has(const AttentionCase& c, const std::string& name) {
  return std::ranges::any_of(c.more, [&](const auto& input) { return input.first == name; });
}

/// How many outcomes were of the kernel for attention; all that ran agree with the reference.
std::int64_t ours(const AttentionCase& c) {
  OneNode node{.op = "Attention",
               .inputs = {{"q", f32(c.query)}, {"k", f32(c.key)}, {"v", f32(c.value)}},
               .order = {"q", "k", "v"},
               .attributes = c.attributes,
               .outputs = c.outputs};
  for (const char* name : {"mask", "past_key", "past_value", "valid"})
    node.order.emplace_back(has(c, name) ? name : "");
  while (node.order.back().empty()) node.order.pop_back();
  node.inputs.insert(node.inputs.end(), c.more.begin(), c.more.end());
  const auto outcomes = tryAllTactics(*planned(node));
  expectAgreement(outcomes);
  return std::ranges::count_if(outcomes, [](const auto& outcome) { return outcome.tactic == "native:attention"; });
}

constexpr std::int64_t kYes = 1;

TEST(AttentionNode, FourAxesAndPackedHeads) {
  EXPECT_EQ(ours({{2, 3, 7, 8}, {2, 3, 9, 8}, {2, 3, 9, 5}}), 1);
  EXPECT_EQ(ours({{2, 3, 7, 8}, {2, 3, 9, 8}, {2, 3, 9, 5}, {{"scale", 0.3F}, {"softcap", 2.0F}}}), 1);
  const std::map<std::string, Attribute> heads = {{"q_num_heads", std::int64_t{6}}, {"kv_num_heads", std::int64_t{2}}};
  EXPECT_EQ(ours({{2, 7, 48}, {2, 60, 16}, {2, 60, 10}, heads}), 1);
  EXPECT_EQ(ours({{1, 6, 7, 8}, {1, 2, 7, 8}, {1, 2, 7, 8}}), 1);  // heads share keys
}

TEST(AttentionNode, MasksAndPlaces) {
  const Dims q = {2, 4, 6, 8}, k = {2, 2, 9, 8};
  EXPECT_EQ(ours({q, k, k, {{"is_causal", kYes}}}), 1);
  EXPECT_EQ(ours({q, k, k, {{"left_window_size", std::int64_t{1}}, {"right_window_size", std::int64_t{2}}}}), 1);
  EXPECT_EQ(ours({q, k, k, {}, {{"mask", f32({2, 1, 6, 9})}}}), 1);
  EXPECT_EQ(ours({q, k, k, {}, {{"mask", f32({4, 1, 9})}}}), 1);
  EXPECT_EQ(ours({q, k, k, {{"is_causal", kYes}}, {{"mask", {DataType::Bool, Shape::of(Dims{6, 9})}}}}), 1);
}

TEST(AttentionNode, CachesGrow) {
  const Dims q = {2, 4, 1, 8}, k = {2, 2, 1, 8}, past = {2, 2, 5, 8};
  EXPECT_EQ(ours({q, k, k, {{"is_causal", kYes}}, {{"past_key", f32(past)}, {"past_value", f32(past)}}, 3}), 1);
  EXPECT_EQ(ours({q, k, k, {}, {{"past_key", f32(past)}, {"past_value", f32(past)}}, 1}), 1);
}

TEST(AttentionNode, WhatTheKernelCannotDoRunsTheReferenceWay) {
  const Dims q = {1, 2, 3, 4};
  EXPECT_EQ(ours({q, q, q, {}, {}, 4}), 0);                    // the scores are wanted
  EXPECT_EQ(ours({q, q, q, {}, {{"mask", f32({3, 2})}}}), 0);  // a mask that is shorter than the keys
}

}  // namespace
}  // namespace fusescope::testing
