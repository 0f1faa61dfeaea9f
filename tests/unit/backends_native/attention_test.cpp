// Attention of several nodes, as its bindings say: every term, in every way in which it broadcasts.
#include <gtest/gtest.h>

#include "planning/directive.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// softmax(terms(q · k)) · v
struct AttentionNet {
  Net net;
  ValueId q, k, scores, at;
  std::vector<Role> terms;

  AttentionNet(const Dims& query, const Dims& key) {
    q = net.input(query);
    k = net.input(key);
    at = scores = net.add("MatMul", {q, k});
  }
  /// The scores become op(…), in which they are operand `place`.
  void change(const std::string& op, std::vector<ValueId> operands, std::size_t place) {
    const ValueId before = at;
    operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(place), before);
    at = net.add(op, std::move(operands));
    terms.push_back({roles::kTerm, before, at});
  }
  void view(const Dims& dims) { at = net.add("Reshape", {at, net.ints(dims)}); }

  std::vector<TacticOutcome> outcomes(const Dims& values, const std::optional<Dims>& probabilities = {}) {
    const ValueId softmax = net.add("Softmax", {at}, {{"axis", std::int64_t{-1}}});
    at = softmax;
    if (probabilities) view(*probabilities);
    const ValueId v = net.input(values);
    const ValueId result = net.add("MatMul", {at, v});
    net.editor.addOutput(result);
    std::vector<Role> bound = {
        {roles::kQuery, q, {}}, {roles::kKey, k, {}}, {roles::kValues, v, {}}, {roles::kScores, scores, scores}};
    bound.insert(bound.end(), terms.begin(), terms.end());
    bound.push_back({roles::kSoftmax, softmax, softmax});
    bound.push_back({roles::kProduct, result, result});
    return tryAllTactics(asOneKernel(*planned(net.editor), "attention", bound));
  }
};

/// Our one tactic is the kernel, and it agrees with the reference.
void expectOneKernel(const std::vector<TacticOutcome>& outcomes) {
  expectAgreement(outcomes, 1e-5);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].tactic, "native:attention");
  EXPECT_EQ(outcomes[1].tactic, "reference");
}

TEST(BoundAttention, TermsByTensorsAndNumbers) {
  AttentionNet at({2, 3, 5, 4}, {2, 3, 4, 9});
  at.change("Mul", {at.net.input({3, 1, 1})}, 1);        // a factor per head, in front
  at.change("Div", {at.net.positive({2, 1, 1, 1})}, 0);  // and per batch
  at.change("Add", {at.net.input({2, 1, 5, 9})}, 0);     // a mask
  at.change("Sub", {at.net.input({5, 1})}, 0);           // one number per row
  at.change("Add", {at.net.input({9})}, 1);              // one per key
  at.change("Mul", {at.net.number(0.7f)}, 0);
  expectOneKernel(at.outcomes({2, 3, 9, 6}));
}

TEST(BoundAttention, ChoicesBetweenScoresTensorsAndNumbers) {
  for (const bool keepsTrue : {false, true}) {
    AttentionNet at({2, 2, 7, 4}, {2, 2, 4, 9});
    const auto choose = [&](const Dims& when, ValueId instead) {
      const ValueId before = at.at, condition = at.net.input(when, DataType::Bool);
      at.at = at.net.add("Where", {condition, keepsTrue ? before : instead, keepsTrue ? instead : before});
      at.terms.push_back({roles::kTerm, before, at.at});
    };
    choose({1, 1, 7, 9}, at.net.input({2, 2, 7, 9}));
    choose({2, 1, 1, 9}, at.net.input({2, 7, 1}));
    choose({7, 9}, at.net.number(-3.0f));
    expectOneKernel(at.outcomes({2, 2, 9, 5}));
  }
}

// Windows as shifted-window networks have them: the mask sees the batches as images and windows.
TEST(BoundAttention, TermsBehindViewsOfTheBatches) {
  AttentionNet at({6, 2, 5, 4}, {6, 2, 4, 5});
  at.change("Add", {at.net.input({1, 2, 5, 5})}, 0);
  at.view({2, 3, 2, 5, 5});
  at.change("Add", {at.net.input({1, 3, 1, 5, 5})}, 0);
  at.view({6, 2, 5, 5});
  expectOneKernel(at.outcomes({6, 2, 5, 3}));

  AttentionNet open({6, 2, 5, 4}, {6, 2, 4, 5});  // and stays so
  open.view({2, 3, 2, 5, 5});
  open.change("Add", {open.net.input({3, 1, 5, 5})}, 0);
  expectOneKernel(open.outcomes({2, 3, 2, 5, 3}));

  AttentionNet merged({2, 3, 5, 4}, {2, 3, 4, 7});
  expectOneKernel(merged.outcomes({6, 7, 3}, Dims{6, 5, 7}));
}

TEST(BoundAttention, ScoresOfFewerBatchesThanTheValues) {
  AttentionNet at({3, 5, 4}, {3, 4, 7});
  at.change("Add", {at.net.input({3, 1, 7})}, 0);
  expectOneKernel(at.outcomes({2, 3, 7, 4}));
}

// Few rows of a query read keys and values where they are, whichever axis is contiguous.
TEST(Attention, FewRows) {
  for (const std::int64_t rows : {1, 3, 4, 5}) {
    for (const std::int64_t depth : {1, 7, 64}) {
      for (const bool transposed : {false, true}) {
        Net net;
        const ValueId q = net.input({2, 2, rows, depth});
        const ValueId k = transposed
                              ? net.add("Transpose", {net.input({2, 2, 37, depth})}, {{"perm", Ints{0, 1, 3, 2}}})
                              : net.input({2, 2, depth, 37});
        const ValueId v = transposed
                              ? net.add("Transpose", {net.input({2, 2, depth, 37})}, {{"perm", Ints{0, 1, 3, 2}}})
                              : net.input({2, 2, 37, depth});
        const ValueId p = net.add("Softmax", {net.add("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
        net.editor.addOutput(net.add("MatMul", {p, v}));
        expectOneKernel(tryAllTactics(*planned(net.editor)));
      }
    }
  }
}

/// Scratch of attention whose query and key are views, scaled before those or not at all.
std::size_t scratchWithScales(bool scaled) {
  Net net;
  const auto heads = [&](ValueId x, bool divides, const Ints& order) {
    if (scaled) x = divides ? net.add("Div", {x, net.number(1.7f)}) : net.add("Mul", {net.number(0.6f), x});
    return net.add("Transpose", {net.add("Reshape", {x, net.ints({2, 6, 3, 8})})}, {{"perm", order}});
  };
  const ValueId q = heads(net.input({2, 6, 24}), false, {0, 2, 1, 3});
  const ValueId k = heads(net.input({2, 6, 24}), true, {0, 2, 3, 1});
  const ValueId p = net.add("Softmax", {net.add("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
  net.editor.addOutput(net.add("MatMul", {p, net.input({2, 3, 6, 8})}));
  const auto plan = planned(net.editor);
  EXPECT_EQ(plan->fusedNodes.size(), 1U);
  const auto outcomes = tryAllTactics(*plan);
  expectOneKernel(outcomes);
  return outcomes[0].scratchBytes;
}

TEST(Attention, ScalesBeforeViewsLeaveNothingInMemory) {
  EXPECT_EQ(scratchWithScales(true), scratchWithScales(false));
}

// One number scales query and key, and one of both Muls is pinned: it reads the number at another type than the other
// does. 2.0078125 lies half-way between two bf16, so that reading it at the wrong type shows.
TEST(Attention, AScaleThatQueryAndKeyShareIsReadByEachAtItsType) {
  for (const bool pinsQuery : {true, false}) {
    Net net;
    const ValueId scale = net.number(2.0078125F);
    const auto scaled = [&](const Dims& dims, bool pinned, Directives& directives) {
      const ValueId made = net.add("Mul", {net.input(dims), scale});
      if (pinned) directives.push_back(parsePin("Mul" + std::to_string(net.names) + "=f32:obey").value());
      return made;
    };
    Directives directives;
    const ValueId q = scaled({2, 3, 20, 8}, pinsQuery, directives), k = scaled({2, 3, 8, 20}, !pinsQuery, directives);
    const ValueId p = net.add("Softmax", {net.add("MatMul", {q, k})}, {{"axis", std::int64_t{-1}}});
    net.editor.addOutput(net.add("MatMul", {p, net.input({2, 3, 20, 8})}));
    directives.push_back(parseOutputType("MatMul" + std::to_string(net.names) + "=f32:obey").value());
    const auto plan = planned(net.editor, {.precisions = {DataType::BF16}, .directives = directives});
    ASSERT_EQ(plan->fusedNodes.size(), 1U);
    const auto outcomes = tryAllTactics(*plan);
    EXPECT_EQ(expectAgreement(outcomes, 3e-3), 1);
    EXPECT_EQ(outcomes[0].tactic, "native:attention");
  }
}

// A term that reads the scores twice is beyond the kernel: its parts run one by one, under that name.
TEST(BoundAttention, WhatTheKernelCannotTakeRunsNodeByNode) {
  AttentionNet at({2, 5, 4}, {2, 4, 7});
  const ValueId scores = at.at;
  at.at = at.net.add("Mul", {scores, scores});
  at.terms.push_back({roles::kTerm, scores, at.at});
  const auto outcomes = at.outcomes({2, 7, 4});
  expectAgreement(outcomes, 1e-5);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].tactic, "composite");
}

}  // namespace
}  // namespace fusescope::testing
