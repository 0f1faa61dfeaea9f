// Products of one value by constants that the plan runs as one kernel, each with an epilogue and an output of its own.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// Every tactic agrees; those of our own kernel, of oneDNN and node by node are there. The kernel of our own.
TacticOutcome outcomeOfOwn(Net& net, const std::string& kind, const std::vector<ValueId>& roots) {
  std::vector<Role> bound;
  for (const ValueId root : roots) bound.push_back({roles::kRoot, root, root});
  const auto outcomes = tryAllTactics(asOneKernel(*planned(net.editor), kind, bound));
  expectAgreement(outcomes, 1e-5);
  const auto starts = [&](std::string_view name) {
    return std::ranges::count_if(outcomes, [&](const auto& outcome) { return outcome.tactic.starts_with(name); });
  };
  EXPECT_EQ(starts("native:matmul"), 1);
  EXPECT_EQ(starts("onednn:matmul:"), 1);
  EXPECT_EQ(starts("composite"), 1);
  return outcomes.empty() ? TacticOutcome() : outcomes.front();
}

TEST(ParallelProducts, WriteTheirColumnsToTheirOwnOutputs) {
  for (const Dims& rows : {Dims{1, 24}, Dims{7, 24}, Dims{3, 5, 24}}) {
    Net net;
    const ValueId x = net.input(rows);
    std::vector<ValueId> roots;
    for (const std::int64_t columns : {40, 8, 33, 1})
      roots.push_back(net.add("MatMul", {x, net.weights({24, columns})}));
    net.editor.addOutput(roots[0]);
    net.editor.addOutput(net.add("Add", {roots[1], net.weights({8})}));
    net.editor.addOutput(net.add("Add", {net.weights({33}), roots[2]}));
    net.editor.addOutput(roots[3]);
    const TacticOutcome own = outcomeOfOwn(net, "matmul", {roots[2], roots[0], roots[3], roots[1]});
    EXPECT_EQ(own.tactic, "native:matmul");
    EXPECT_EQ(own.scratchBytes, 0U);  // nothing stands between input and outputs
  }
}

TEST(ParallelProducts, EpiloguesThatJoin) {  // silu(x · gate) · (x · up)
  Net net;
  const ValueId x = net.input({5, 16});
  const ValueId gate = net.add("MatMul", {x, net.weights({16, 24})}),
                up = net.add("MatMul", {x, net.weights({16, 24})});
  const ValueId silu = net.add("Mul", {gate, net.add("Sigmoid", {gate})});
  net.editor.addOutput(net.add("Mul", {silu, up}));
  outcomeOfOwn(net, "matmul", {gate, up});
}

TEST(ParallelProducts, GemmsAndViews) {
  Net net;
  const ValueId x = net.input({6, 16});
  const ValueId a = net.add("Gemm", {x, net.weights({24, 16}), net.weights({24})}, {{"transB", std::int64_t{1}}});
  const ValueId b = net.add("Gemm", {x, net.weights({16, 8})});
  net.editor.addOutput(net.add("Reshape", {net.add("Relu", {a}), net.ints({2, 3, 24})}));
  net.editor.addOutput(net.add("Gelu", {b}));
  outcomeOfOwn(net, "gemm", {a, b});
}

/// The names of what is offered for x · weights, in the order of preference.
std::vector<std::string> offeredForProduct(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  Net net;
  net.editor.addOutput(net.add("MatMul", {net.input({rows, inner}), net.weights({inner, columns})}));
  std::vector<std::string> names;
  for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor))) names.push_back(outcome.tactic);
  return names;
}

TEST(Products, OneDnnsWideKernelIsGuessedForLargeOnesAlone) {
  const auto small = offeredForProduct(8, 64, 64), large = offeredForProduct(128, 512, 512);
  EXPECT_EQ(small.front(), "native:matmul");
  const bool hasWide =
      std::ranges::any_of(large, [](const std::string& name) { return name.starts_with("onednn:matmul:brg:avx512"); });
  EXPECT_EQ(large.front().starts_with(hasWide ? "onednn:matmul:brg:avx512" : "native:matmul"), true)
      << ::testing::PrintToString(large);
  EXPECT_TRUE(std::ranges::find(large, "native:matmul") != large.end()) << "measuring may find it faster";
}

}  // namespace
}  // namespace fusescope::testing
