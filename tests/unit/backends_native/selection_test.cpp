// TopK and RoiAlign: every tactic against the reference kernel.
#include <gtest/gtest.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// Values or places of the k first along `axis`.
ValueId topK(Net& net, ValueId x, std::int64_t k, std::int64_t axis, bool largest, bool places) {
  std::vector<ValueId> results;
  for (int i = 0; i < 2; ++i)
    results.push_back(
        net.editor.addValue("top" + std::to_string(net.names++), {DataType::Undefined, Shape::unknown()}));
  net.editor.addNode({.op = "TopK",
                      .name = "top",
                      .inputs = {x, net.ints({k})},
                      .outputs = results,
                      .attributes = {{"axis", axis}, {"largest", std::int64_t{largest}}}});
  return results[places ? 1 : 0];
}

TEST(Selection, TopKOfEveryAxis) {
  for (const std::int64_t axis : {0, 1, -1})
    for (const bool largest : {true, false})
      for (const bool places : {false, true}) {
        Net net;
        expectOwnKernels(net, topK(net, net.input({5, 7, 6}), 4, axis, largest, places));
      }
}

TEST(Selection, TopKOfAllAndOfNone) {
  for (const std::int64_t k : {0, 6}) {
    Net net;
    expectOwnKernels(net, topK(net, net.input({3, 6}), k, 1, true, true));
  }
}

TEST(Selection, TopKOfEqualElementsTakesTheFirst) {
  for (const bool largest : {true, false}) {
    Net net;
    const ValueId steps = net.add("Floor", {net.add("Mul", {net.input({4, 64}), net.number(3)})});
    net.editor.addOutput(steps);
    net.editor.addOutput(topK(net, steps, 20, 1, largest, true));
    expectAgreement(tryAllTactics(*planned(net.editor)), 0);
  }
}

TEST(Selection, RoiAlignOfEveryKind) {
  for (const char* mode : {"avg", "max"})
    for (const char* shift : {"half_pixel", "output_half_pixel"})
      for (const std::int64_t samples : {0, 2}) {
        Net net;
        const ValueId regions = net.add("Mul", {net.input({5, 4}), net.number(9)});
        const ValueId images = net.editor.addConstant("of", Tensor::ofInt64({0, 1, 1, 0, 1}));
        EXPECT_GE(net.check(net.add("RoiAlign", {net.input({2, 3, 8, 10}), regions, images},
                                    {{"mode", std::string(mode)},
                                     {"coordinate_transformation_mode", std::string(shift)},
                                     {"sampling_ratio", samples},
                                     {"output_height", std::int64_t{3}},
                                     {"output_width", std::int64_t{2}},
                                     {"spatial_scale", 0.5F}})),
                  1);
      }
}

}  // namespace
}  // namespace fusescope::testing
