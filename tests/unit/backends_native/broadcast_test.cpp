// Pointwise chains whose operands repeat: per channel, per row, per column, one number, in every format and over
// extents that fill no tiles and no vectors.
#include <gtest/gtest.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

class Broadcast : public ::testing::TestWithParam<std::tuple<Dims, MemoryFormat>> {};

TEST_P(Broadcast, BatchNormReluAndFactorsPerChannelRowAndColumn) {
  const auto& [dims, format] = GetParam();
  Net net;
  const std::int64_t c = dims[1];
  const ValueId norm = net.add(
      "BatchNormalization", {net.input(dims), net.weights({c}), net.weights({c}), net.weights({c}), net.positive({c})});
  const ValueId relu = net.add("Relu", {norm});
  const ValueId scaled = net.add("Mul", {relu, net.input({dims[0], c, 1, 1})});
  const ValueId rows = net.add("Add", {scaled, net.weights({dims[2], 1})});
  const ValueId columns = net.add("Sub", {net.weights({1, 1, 1, dims[3]}), rows});
  const ValueId batches = net.add("Add", {columns, net.weights({dims[0], 1, 1, 1})});
  EXPECT_GE(net.check(net.add("Max", {batches, net.weights({1, c, dims[2], 1})}), format), 1);
}

TEST_P(Broadcast, ChoiceByTruthPerChannel) {
  const auto& [dims, format] = GetParam();
  Net net;
  const ValueId truth = net.input({dims[1], 1, 1}, DataType::Bool);
  EXPECT_GE(net.check(net.add("Where", {truth, net.input(dims), net.weights({1, 1, dims[2], dims[3]})}), format), 1);
}

TEST_P(Broadcast, OneOperandPerChannelAlone) {
  const auto& [dims, format] = GetParam();
  Net net;
  EXPECT_GE(net.check(net.add("Add", {net.input(dims), net.input({dims[1], 1, 1})}), format), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Broadcast,
    ::testing::Combine(::testing::Values(Dims{1, 3, 7, 7}, Dims{2, 24, 23, 23}, Dims{1, 16, 33, 33}, Dims{3, 32, 1, 5},
                                         Dims{1, 1040, 2, 2}, Dims{2, 8, 1, 601}, Dims{1, 40, 65, 16},
                                         Dims{2, 64, 7, 7}, Dims{1, 8, 1, 1}, Dims{4, 1, 3, 521}, Dims{1, 16, 3, 512}),
                       ::testing::Values(MemoryFormat(), MemoryFormat::channelsLast(4),
                                         MemoryFormat::blockedChannels(4, 8), MemoryFormat::blockedChannels(4, 16))));

// A channel that is last has one number for each element of a row.
TEST(Broadcasting, AlongTheLastAxis) {
  for (const std::int64_t width : {1, 5, 16, 31, 96, 511, 513, 1030}) {
    Net net;
    const ValueId scaled = net.add("Mul", {net.input({3, 37, width}), net.weights({width})});
    EXPECT_GE(net.check(net.add("Add", {scaled, net.weights({37, 1})})), 1) << width;
  }
}

// Operands that are seen through a transposition or a slice are no rows of memory.
TEST(Broadcasting, ThroughViews) {
  Net net;
  const ValueId moved = net.add("Transpose", {net.input({2, 19, 33})}, {{"perm", Ints{0, 2, 1}}});
  const ValueId cut = net.add("Slice", {net.input({2, 33, 40}), net.ints({3}), net.ints({22}), net.ints({2})});
  EXPECT_GE(net.check(net.add("Add", {net.add("Mul", {moved, cut}), net.weights({33, 1})})), 1);
}

}  // namespace
}  // namespace fusescope::testing
