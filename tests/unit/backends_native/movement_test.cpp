// Movement of elements and arithmetic of integers: every tactic against the reference kernel.
#include <gtest/gtest.h>

#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// In squares that fill vectors, and what is left of them.
TEST(Movement, TransposesOfBytes) {
  for (const DataType type : {DataType::U8, DataType::I8}) {
    for (const Dims& dims : {Dims{128, 64}, Dims{17, 35}, Dims{1, 70}, Dims{70, 1}, Dims{16, 15}}) {
      Net net;
      EXPECT_GE(net.check(net.add("Transpose", {net.input(dims, type)}, {{"perm", Ints{1, 0}}}), {}, 0), 1);
    }
    Net heads;
    EXPECT_GE(
        heads.check(heads.add("Transpose", {heads.input({2, 37, 3, 40}, type)}, {{"perm", Ints{0, 2, 3, 1}}}), {}, 0),
        1);
  }
}

TEST(Movement, EveryKind) {
  for (const MemoryFormat& format :
       {MemoryFormat(), MemoryFormat::channelsLast(4), MemoryFormat::blockedChannels(4, 8)}) {
    Net concat;
    EXPECT_GE(concat.check(concat.add("Concat", {concat.input({2, 8, 3, 5}), concat.input({2, 16, 3, 5})},
                                      {{"axis", std::int64_t{1}}}),
                           format),
              1);
    Net odd;
    EXPECT_GE(
        odd.check(odd.add("Concat", {odd.input({2, 8, 3, 5}), odd.input({2, 3, 3, 5})}, {{"axis", std::int64_t{-3}}}),
                  format),
        1);
  }
  Net transpose;
  EXPECT_GE(
      transpose.check(transpose.add("Transpose", {transpose.input({3, 40, 2, 35})}, {{"perm", Ints{3, 0, 2, 1}}})), 1);
  Net slice;
  EXPECT_GE(slice.check(slice.add("Slice", {slice.input({5, 9}), slice.ints({-1, 1}), slice.ints({-100, 8}),
                                            slice.ints({0, 1}), slice.ints({-2, 3})})),
            1);
  Net gather;
  EXPECT_GE(gather.check(gather.add("Gather", {gather.weights({4, 6, 3}), gather.input({2, 5}, DataType::I64)},
                                    {{"axis", std::int64_t{1}}})),
            1);
  Net expand;
  EXPECT_GE(expand.check(expand.add("Expand", {expand.input({3, 1, 5}), expand.ints({2, 3, 4, 5})})), 1);
  Net pad;
  EXPECT_GE(pad.check(pad.add("Pad", {pad.input({3, 4}), pad.ints({1, -1, 2, 3}), pad.number(0.5f)})), 1);
}

TEST(Movement, OfTypesNarrowerThanAByteIsTheReferences) {
  for (const DataType type : {DataType::I4, DataType::U4, DataType::I2, DataType::U2, DataType::F4E2M1}) {
    Net transpose;
    EXPECT_EQ(transpose.check(transpose.add("Transpose", {transpose.input({3, 5}, type)})), 0) << name(type);
  }
}

TEST(Integers, ArithmeticAndComparison) {
  for (const DataType type : {DataType::I64, DataType::I32, DataType::I8, DataType::U8}) {
    for (const char* op :
         {"Add", "Sub", "Mul", "Max", "Min", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
      Net net;
      expectOwnKernels(net, net.add(op, {net.input({2, 3, 4}, type), net.input({3, 1}, type)}));
    }
  }
  Net division;
  expectOwnKernels(division, division.add("Div", {division.input({2, 3}, DataType::I64), division.ints({2, -1, 3})}));
  for (const std::int64_t fmod : {0, 1}) {
    Net net;
    expectOwnKernels(net, net.add("Mod", {net.add("Neg", {net.input({4, 3}, DataType::I64)}), net.ints({2, -1, 3})},
                                  {{"fmod", fmod}}));
  }
  Net sign;
  expectOwnKernels(sign, sign.add("Abs", {sign.add("Neg", {sign.input({5}, DataType::I32)})}));
}

TEST(Integers, Choice) {
  for (const DataType type : {DataType::I64, DataType::I32, DataType::I16, DataType::I8}) {
    Net net;
    expectOwnKernels(
        net, net.add("Where", {net.input({4, 1}, DataType::Bool), net.input({4, 5}, type), net.input({1, 5}, type)}));
  }
}

TEST(Integers, DivisionByZeroIsAnError) {
  Net net;
  net.editor.addOutput(net.add("Div", {net.input({3}, DataType::I64), net.ints({1, 0, 2})}));
  for (const TacticOutcome& outcome : tryAllTactics(*planned(net.editor), MemoryFormat()))
    EXPECT_NE(outcome.problem.find("divided by zero"), std::string::npos) << outcome.tactic;
}

TEST(Gather, NdWithBatches) {
  for (const std::int64_t batch : {0, 1}) {
    Net net;
    const ValueId data = net.input({3, 3, 4, 5}), at = net.input({3, 6, 2}, DataType::I64);
    expectOwnKernels(net, net.add("GatherND", {data, at}, {{"batch_dims", batch}}));
  }
  Net outside;
  const ValueId far = outside.editor.addConstant("far", Tensor::ofInt64({2}).reshaped({1, 1}));
  outside.editor.addOutput(outside.add("GatherND", {outside.input({2, 3}), far}));
  for (const TacticOutcome& outcome : tryAllTactics(*planned(outside.editor), MemoryFormat()))
    EXPECT_NE(outcome.problem, "") << outcome.tactic;
}

}  // namespace
}  // namespace fusescope::testing
