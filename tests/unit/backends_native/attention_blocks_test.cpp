// Attention in blocks of rows and keys: extents that fill none, masks that hide whole blocks, rows that see nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

struct Extents {
  std::int64_t batches, rows, keys, depth, width;
};

/// softmax(q · k · 0.3, changed by `mask`) · v; checks that the kernel ran and agrees.
template <class Mask>
void expectAttention(const Extents& at, const Mask& mask) {
  Net net;
  const ValueId q = net.input({at.batches, 2, at.rows, at.depth});
  const ValueId k = net.add("Transpose", {net.input({at.batches, 2, at.keys, at.depth})}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId scores = net.add("Mul", {net.add("MatMul", {q, k}), net.number(0.3f)});
  const ValueId p = net.add("Softmax", {mask(net, scores)}, {{"axis", std::int64_t{-1}}});
  net.editor.addOutput(net.add("MatMul", {p, net.input({at.batches, 2, at.keys, at.width})}));
  const auto outcomes = tryAllTactics(*planned(net.editor));
  expectAgreement(outcomes);
  ASSERT_FALSE(outcomes.empty());
  EXPECT_EQ(outcomes[0].tactic, "native:attention") << at.rows << " rows, " << at.keys << " keys";
}

void expectAttention(const Extents& at) {
  expectAttention(at, [](Net&, ValueId scores) { return scores; });
}

/// A constant [rows, keys] that is `hidden` where `hides` says so, else 0.
template <class Hides>
ValueId maskOf(Net& net, std::int64_t rows, std::int64_t keys, float hidden, const Hides& hides) {
  Tensor mask = Tensor::zeros(DataType::F32, {rows, keys});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      if (hides(i, j)) mask.mutableData<float>()[static_cast<std::size_t>(i * keys + j)] = hidden;
  return net.editor.addConstant("mask", mask);
}

TEST(AttentionBlocks, RowsAndKeysThatFillNone) {
  for (const std::int64_t rows : {5, 49, 64, 65, 131})
    for (const std::int64_t keys : {1, 33, 256, 257, 530}) expectAttention({1, rows, keys, 9, 20});
}

TEST(AttentionBlocks, SmallAndLargeWidths) {
  for (const std::int64_t width : {1, 3, 15, 16, 17, 24, 33, 64, 129}) {
    expectAttention({2, 50, 70, width, width});
    expectAttention({2, 3, 70, width, width});
  }
}

// By a causal mask, whole blocks of keys are hidden behind the last key that a block of rows sees; by a window, in
// front of the first one as well.
TEST(AttentionBlocks, HiddenKeysAreLeftOut) {
  for (const float hidden : {-INFINITY, -3.4e38f, -1e4f}) {
    for (const auto& extents : {std::pair(150, 150), std::pair(70, 400), std::pair(3, 100)}) {
      const auto rows = extents.first, keys = extents.second;
      const auto causal = [&](std::int64_t i, std::int64_t j) { return j > i + keys - rows; };
      const auto window = [&](std::int64_t i, std::int64_t j) { return causal(i, j) || j < i + keys - rows - 5; };
      expectAttention({1, rows, keys, 8, 24}, [&](Net& net, ValueId scores) {
        return net.add("Add", {scores, maskOf(net, rows, keys, hidden, causal)});
      });
      expectAttention({1, rows, keys, 8, 24}, [&](Net& net, ValueId scores) {
        return net.add("Add", {maskOf(net, rows, keys, hidden, window), scores});
      });
    }
  }
}

TEST(AttentionBlocks, HiddenByTruth) {
  for (const float hidden : {-INFINITY, -3.4e38f, -1e9f, -1001.0f, -5.0f}) {
    for (const bool keepsTrue : {true, false}) {
      const std::int64_t rows = 140, keys = 300;
      expectAttention({2, rows, keys, 8, 24}, [&](Net& net, ValueId scores) {
        Tensor truths = Tensor::zeros(DataType::Bool, {rows, keys});
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < keys; ++j)
            truths.mutableData<bool>()[static_cast<std::size_t>(i * keys + j)] = (j <= i + 100) == keepsTrue;
        const ValueId when = net.editor.addConstant("truths", truths), instead = net.number(hidden);
        return keepsTrue ? net.add("Where", {when, scores, instead}) : net.add("Where", {when, instead, scores});
      });
    }
  }
}

// Where a row sees no key, a finite mask makes it weigh all of them, whatever other rows of its block see.
TEST(AttentionBlocks, RowsThatSeeNothing) {
  const std::int64_t rows = 20, keys = 120;
  for (const float hidden : {-3.4e38f, -1e32f}) {
    expectAttention({1, rows, keys, 8, 8}, [&](Net& net, ValueId scores) {
      return net.add("Add", {scores, maskOf(net, rows, keys, hidden,
                                            [](std::int64_t i, std::int64_t j) { return i == 4 || j > 40; })});
    });
  }
}

// ONNX's Attention gives 0 where a row sees nothing.
TEST(AttentionBlocks, GuardedRowsAndGroupedHeads) {
  for (const std::int64_t rows : {2, 40, 90}) {
    Net net;
    const std::int64_t keys = 310;
    const ValueId q = net.input({1, 6, rows, 16}), k = net.input({1, 2, keys, 16}), v = net.input({1, 2, keys, 24});
    const ValueId mask = maskOf(net, rows, keys, -INFINITY,
                                [](std::int64_t i, std::int64_t j) { return i == 1 || j % 7 == 3 || j < 40; });
    net.editor.addOutput(net.add("Attention", {q, k, v, mask}, {{"is_causal", std::int64_t{0}}}));
    EXPECT_GE(expectAgreement(tryAllTactics(*planned(net.editor)), 2e-5), 1);
  }
}

TEST(AttentionBlocks, ManyHeadsOfSmallWindows) {
  for (const std::int64_t extent : {9, 16, 49, 64}) {
    expectAttention({12, extent, extent, 32, 32}, [&](Net& net, ValueId scores) {
      return net.add("Add", {scores, net.input({12, 1, extent, extent})});
    });
  }
}

}  // namespace
}  // namespace fusescope::testing
