// Norms that several nodes spell out, as their bindings say, and norms of one node.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// Our tactics are `name` alone, it agrees with the reference and leaves nothing in memory on its way.
void expectOneKernel(const std::vector<TacticOutcome>& outcomes, const std::string& name) {
  expectAgreement(outcomes, 1e-5);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].tactic, name);
  EXPECT_EQ(outcomes[0].scratchBytes, 0U);
}

/// (x - mean) / sqrt(mean of squares + epsilon) over `axes`; x itself where it is not centred.
struct Core {
  ValueId x, epsilon, result;
};
Core normCore(Net& net, ValueId x, const Ints& axes, bool centred) {
  Core core{.x = x, .epsilon = net.number(1e-3f)};
  const ValueId d = centred ? net.add("Sub", {x, net.add("ReduceMean", {x, net.ints(axes)})}) : x;
  const ValueId squares = net.add("ReduceMean", {net.add("Mul", {d, d}), net.ints(axes)});
  core.result = net.add("Div", {d, net.add("Sqrt", {net.add("Add", {squares, core.epsilon})})});
  return core;
}

TEST(BoundNorm, RowsWithScaleAndBias) {
  for (const bool centred : {false, true}) {
    for (const auto& [axes, weights] :
         {std::pair(Ints{-1}, Dims{16}), std::pair(Ints{-1}, Dims{1, 1, 16}), std::pair(Ints{1, 2}, Dims{5, 16})}) {
      Net net;
      const Core core = normCore(net, net.input({3, 5, 16}), axes, centred);
      const ValueId scale = net.weights(weights), bias = net.weights(weights);
      const ValueId scaled = net.add("Mul", {scale, core.result});
      const ValueId result = net.add("Add", {scaled, bias});
      net.editor.addOutput(net.add("Reshape", {result, net.ints({15, 16})}));
      const std::string kind = centred ? "layer_norm" : "rms_norm";
      const Plan plan = asOneKernel(*planned(net.editor), kind,
                                    {{roles::kInput, core.x, {}},
                                     {roles::kEpsilon, core.epsilon, {}},
                                     {roles::kScale, scale, scaled},
                                     {roles::kBias, bias, result},
                                     {roles::kResult, result, result}});
      expectOneKernel(tryAllTactics(plan), "native:" + kind);
    }
  }
}

TEST(BoundNorm, WithoutWeights) {
  Net net;
  const Core core = normCore(net, net.input({4, 33}), {1}, true);
  net.editor.addOutput(core.result);
  const Plan plan = asOneKernel(
      *planned(net.editor), "layer_norm",
      {{roles::kInput, core.x, {}}, {roles::kEpsilon, core.epsilon, {}}, {roles::kResult, core.result, core.result}});
  expectOneKernel(tryAllTactics(plan), "native:layer_norm");
}

/// One over the root of the mean of d · d + epsilon, times a weight.
ValueId weightedInverse(Net& net, ValueId d, ValueId weight) {
  const ValueId squares = net.add("ReduceMean", {net.add("Mul", {d, d}), net.ints({-1})});
  const ValueId root = net.add("Sqrt", {net.add("Add", {squares, net.number(1e-3f)})});
  return net.add("Mul", {net.add("Reciprocal", {root}), weight});
}

/// What the planner makes of a network is one kernel, and ours runs it in one step.
void expectPlannedAsOneKernel(Net& net, ValueId result, const std::string& name) {
  net.editor.addOutput(result);
  const auto plan = planned(net.editor);
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  expectOneKernel(tryAllTactics(*plan), name);
}

TEST(PlannedNorm, AWeightThatMeetsTheInverseFirst) {
  Net net;
  const ValueId x = net.input({3, 5, 16});
  expectPlannedAsOneKernel(net, net.add("Mul", {x, weightedInverse(net, x, net.weights({16}))}), "native:rms_norm");
  Net centred;
  const ValueId y = centred.input({6, 16});
  const ValueId d = centred.add("Sub", {y, centred.add("ReduceMean", {y, centred.ints({-1})})});
  const ValueId scaled = centred.add("Mul", {weightedInverse(centred, d, centred.weights({1, 16})), d});
  expectPlannedAsOneKernel(centred, centred.add("Add", {scaled, centred.weights({16})}), "native:layer_norm");
}

TEST(PlannedNorm, PooledMeansOverSeveralAxes) {
  Net net;
  const ValueId x = net.input({2, 3, 4, 8});
  const ValueId d = net.add("Sub", {x, net.add("GlobalAveragePool", {x})});
  const ValueId squares = net.add("GlobalAveragePool", {net.add("Mul", {d, d})});
  const ValueId root = net.add("Sqrt", {net.add("Add", {squares, net.number(1e-3f)})});
  expectPlannedAsOneKernel(net, net.add("Div", {d, root}), "native:layer_norm");
}

TEST(PlannedNorm, AMeanThatIsTakenOffAtTheEnd) {
  Net net;
  const ValueId x = net.input({6, 16});
  const ValueId mean = net.add("ReduceMean", {x, net.ints({-1})});
  const ValueId by = weightedInverse(net, net.add("Sub", {x, mean}), net.weights({16}));
  const ValueId shift = net.add("Sub", {net.weights({16}), net.add("Mul", {mean, by})});
  expectPlannedAsOneKernel(net, net.add("Add", {shift, net.add("Mul", {x, by})}), "native:layer_norm");
}

TEST(BoundNorm, GroupsOfChannels) {
  Net net;
  const ValueId x = net.input({2, 6, 3, 4});
  const ValueId groups = net.add("Reshape", {x, net.ints({2, 3, -1})});
  const ValueId normed =
      net.add("InstanceNormalization", {groups, net.numbers({1, 1, 1}), net.numbers({0, 0, 0})}, {{"epsilon", 0.01f}});
  const ValueId scale = net.weights({6, 1, 1}), bias = net.weights({1, 6, 1, 1});
  const ValueId scaled = net.add("Mul", {net.add("Reshape", {normed, net.ints({2, 6, 3, 4})}), scale});
  const ValueId result = net.add("Add", {scaled, bias});
  net.editor.addOutput(result);
  Plan plan = asOneKernel(*planned(net.editor), "group_norm",
                          {{roles::kInput, x, {}},
                           {"groups", groups, groups},
                           {roles::kScale, scale, scaled},
                           {roles::kBias, bias, result},
                           {roles::kResult, result, result}});
  plan.fusedNodes[0].root = plan.graph().value(normed).producer;
  expectOneKernel(tryAllTactics(plan), "native:group_norm");
}

/// The norm of `groups` of channels as networks spell it, each value 100 off, where sums of squares alone would fail.
ValueId spelledGroupNorm(Net& net, const Dims& dims, std::int64_t groups) {
  const std::int64_t channels = dims[1];
  const auto count = static_cast<std::size_t>(groups);
  const ValueId x = net.add("Add", {net.input(dims), net.number(100)});
  const ValueId normed = net.add("InstanceNormalization",
                                 {net.add("Reshape", {x, net.ints({dims[0], groups, -1})}),
                                  net.numbers(std::vector<float>(count, 1)), net.numbers(std::vector<float>(count, 0))},
                                 {{"epsilon", 0.01f}});
  const ValueId back = net.add("Reshape", {normed, net.ints(dims)});
  return net.add("Add", {net.add("Mul", {back, net.weights({channels, 1, 1})}), net.weights({1, channels, 1, 1})});
}

// Channels that lie innermost: by chunks of positions and blocks of channels, groups smaller and larger than a block.
TEST(PlannedNorm, GroupsOfChannelsInTheFormatsOfConvolutions) {
  const std::pair<MemoryFormat, std::string> formats[] = {
      {MemoryFormat::channelsLast(4), "native:group_norm:nhwc"},
      {MemoryFormat::blockedChannels(4, 8), "native:group_norm:nChw8c"},
      {MemoryFormat::blockedChannels(4, 16), "native:group_norm:nChw16c"}};
  const std::pair<Dims, std::int64_t> shapes[] = {
      {{2, 32, 3, 5}, 8}, {{1, 32, 40, 33}, 1}, {{3, 48, 17, 19}, 48}, {{1, 96, 1, 1}, 3}, {{1, 512, 9, 9}, 32}};
  for (const auto& [format, name] : formats) {
    for (const auto& [dims, groups] : shapes) {
      Net net;
      net.editor.addOutput(spelledGroupNorm(net, dims, groups));
      const std::vector<TacticOutcome> outcomes = tryAllTactics(*planned(net.editor), format);
      expectAgreement(outcomes, 2e-3);  // of numbers near 100, which are f32
      EXPECT_TRUE(std::ranges::any_of(outcomes, [&name = name](const TacticOutcome& one) {
        return one.tactic == name;
      })) << name;
    }
  }
}

TEST(Norm, OneNodeInTheFormatsOfConvolutions) {
  for (const MemoryFormat& format : {MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 16)}) {
    for (const std::int64_t groups : {4, 32}) {
      Net net;
      net.check(net.add("GroupNormalization", {net.input({2, 32, 9, 13}), net.weights({32}), net.weights({32})},
                        {{"num_groups", groups}}),
                format, 1e-5);
    }
    Net net;
    net.check(net.add("InstanceNormalization", {net.input({2, 32, 9, 13}), net.weights({32}), net.weights({32})}),
              format, 1e-5);
  }
}

TEST(Norm, GroupNormalizationIsOwn) {
  Net net;
  expectOwnKernels(net, net.add("GroupNormalization", {net.input({2, 6, 5, 3}), net.weights({6}), net.weights({6})},
                                {{"num_groups", std::int64_t{3}}}));
}

}  // namespace
}  // namespace fusescope::testing
