// Transposed convolutions whose kernel is as large as its strides: every tactic against the reference kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// Agrees, and says whether our own kernel ran it.
bool runsByUpsampling(Net& net, ValueId result) {
  net.editor.addOutput(result);
  const auto outcomes = tryAllTactics(*planned(net.editor));
  expectAgreement(outcomes);
  return std::ranges::any_of(outcomes,
                             [](const TacticOutcome& outcome) { return outcome.tactic.starts_with("native:conv"); });
}

std::map<std::string, Attribute> strided(Ints strides, Ints pads = {0, 0, 0, 0}) {
  return {{"strides", std::move(strides)}, {"pads", std::move(pads)}};
}

TEST(Upsampling, OfFewChannels) {
  for (const std::int64_t channels : {1, 3})
    for (const Ints& kernel : {Ints{2, 2}, Ints{3, 1}, Ints{1, 4}}) {
      Net net;
      const ValueId up =
          net.add("ConvTranspose",
                  {net.input({2, 5, 4, 7}), net.weights({5, channels, kernel[0], kernel[1]}), net.weights({channels})},
                  strided(kernel));
      EXPECT_TRUE(runsByUpsampling(net, up)) << channels << " channels, kernel " << kernel[0] << " x " << kernel[1];
    }
}

TEST(Upsampling, WithWhatFollows) {
  Net net;
  const ValueId up = net.add("ConvTranspose", {net.input({1, 6, 5, 8}), net.weights({6, 2, 2, 2})}, strided({2, 2}));
  const ValueId norm =
      net.add("BatchNormalization", {up, net.weights({2}), net.weights({2}), net.weights({2}), net.positive({2})});
  EXPECT_TRUE(runsByUpsampling(net, net.add("Sigmoid", {norm})));
}

TEST(Upsampling, NotWherePlacesMeetOrAreCut) {
  for (const auto& attributes : {strided({1, 1}), strided({2, 2}, {1, 0, 0, 1})}) {
    Net net;
    EXPECT_FALSE(runsByUpsampling(
        net, net.add("ConvTranspose", {net.input({1, 4, 5, 6}), net.weights({4, 1, 2, 2})}, attributes)));
  }
  Net wide;
  EXPECT_FALSE(runsByUpsampling(
      wide, wide.add("ConvTranspose", {wide.input({1, 4, 5, 6}), wide.weights({4, 8, 2, 2})}, strided({2, 2}))));
}

}  // namespace
}  // namespace fusescope::testing
