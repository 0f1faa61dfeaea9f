// Products of floats by constant matrices that are held as codes: of 8 and 4 bits, by one scale, by one for each column
// and by blocks, against the reference kernel.
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/unit/backends_native/tactic_testing.h"

namespace fusescope::testing {
namespace {

/// One product of rows [m, k] by a matrix [k, n], or [n, k] where it is turned.
struct WeightOnlyCase {
  DataType type = DataType::I8;
  std::int64_t m = 1, k = 64, n = 48;
  enum class Scales { One, PerColumn, Blocks } scales = Scales::PerColumn;
  std::int64_t block = 16;
  bool zeros = false;
  enum class Turned { No, ByTranspose, ByGemm } turned = Turned::No;
};

std::string text(const WeightOnlyCase& c) {
  return std::string(name(c.type)) + " m " + std::to_string(c.m) + " k " + std::to_string(c.k) + " n " +
         std::to_string(c.n) + " scales " + std::to_string(static_cast<int>(c.scales)) + " block " +
         std::to_string(c.block) + (c.zeros ? " zeros" : "") + " turned " + std::to_string(static_cast<int>(c.turned));
}

struct WeightOnlyNet : Net {
  /// Codes over the whole range of `type`.
  ValueId codes(const Dims& dims, DataType type) {
    const bool isSigned = type == DataType::I8 || type == DataType::I4, halves = isPacked(type);
    Tensor numbers = Tensor::zeros(DataType::F32, dims);
    std::uint32_t i = seed++;
    for (float& number : numbers.mutableData<float>()) {
      const std::uint32_t code = (i = i * 1664525u + 1013904223u) >> 16 & (halves ? 15u : 255u);
      number = static_cast<float>(code) - (isSigned ? halves ? 8.0f : 128.0f : 0.0f);
    }
    return editor.addConstant("q" + std::to_string(names++), numbers.converted(type));
  }

  ValueId scales(const Dims& dims) {
    Tensor numbers = Tensor::zeros(DataType::F32, dims);
    std::uint32_t i = seed++;
    for (float& number : numbers.mutableData<float>())
      number = 0.002f + static_cast<float>((i = i * 1664525u + 1013904223u) >> 16 & 0xffu) * 1e-4f;
    return editor.addConstant("s" + std::to_string(names++), std::move(numbers));
  }

  ValueId matrix(const WeightOnlyCase& c) {
    using Scales = WeightOnlyCase::Scales;
    const bool turned = c.turned != WeightOnlyCase::Turned::No;
    const Dims dims = turned ? Dims{c.n, c.k} : Dims{c.k, c.n};
    const std::int64_t along = turned ? 1 : 0, blocks = (c.k + c.block - 1) / c.block;
    const Dims held = c.scales == Scales::One         ? Dims{}
                      : c.scales == Scales::PerColumn ? Dims{c.n}
                      : turned                        ? Dims{c.n, blocks}
                                                      : Dims{blocks, c.n};
    std::vector<ValueId> inputs = {codes(dims, c.type), scales(held)};
    if (c.zeros) inputs.push_back(codes(held, c.type));
    std::map<std::string, Attribute> how{{"axis", c.scales == Scales::Blocks ? along : 1 - along}};
    if (c.scales == Scales::Blocks) how["block_size"] = c.block;
    const ValueId wide = add("DequantizeLinear", inputs, how);
    return c.turned == WeightOnlyCase::Turned::ByTranspose ? add("Transpose", {wide}, {{"perm", Ints{1, 0}}}) : wide;
  }
};

void expectCodes(const WeightOnlyCase& c) {
  SCOPED_TRACE(text(c));
  WeightOnlyNet net;
  const bool gemm = c.turned == WeightOnlyCase::Turned::ByGemm;
  const ValueId x = net.input({c.m, c.k}), w = net.matrix(c);
  const ValueId product = gemm ? net.add("Gemm", {x, w}, {{"transB", std::int64_t{1}}}) : net.add("MatMul", {x, w});
  net.editor.addOutput(net.add("Add", {product, net.scales({c.n})}));
  const auto plan = planned(net.editor);
  ASSERT_EQ(plan->fusedNodes.size(), 1U);
  const auto outcomes = tryAllTactics(*plan);
  bool own = false;
  for (const TacticOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.problem, "") << outcome.tactic;
    EXPECT_LE(outcome.worst, 1e-5) << outcome.tactic;
    if (outcome.tactic != "native:matmul") continue;
    own = true;
    const std::int64_t bits = isPacked(c.type) ? 4 : 8, columns = (c.n + 31) / 32 * 32;
    EXPECT_LE(outcome.packedBytes, columns * c.k * bits / 8 + (c.k / c.block + 2) * columns * 8 + columns * 4)
        << "its weights are held as codes";
  }
  EXPECT_TRUE(own);
}

TEST(WeightOnly, OfEachTypeAndForm) {
  using Scales = WeightOnlyCase::Scales;
  using Turned = WeightOnlyCase::Turned;
  int cases = 0;
  for (const DataType type : {DataType::I8, DataType::U8, DataType::I4, DataType::U4})
    for (const Scales scales : {Scales::One, Scales::PerColumn, Scales::Blocks})
      for (const bool zeros : {false, true})
        for (const Turned turned : {Turned::No, Turned::ByTranspose, Turned::ByGemm}) {
          expectCodes({.type = type, .m = 3, .scales = scales, .zeros = zeros, .turned = turned});
          ++cases;
        }
  EXPECT_EQ(cases, 72);
}

TEST(WeightOnly, OfExtentsThatFillNoPanelAndNoStretch) {
  int cases = 0;
  for (const std::int64_t m : {1, 2, 13, 40})
    for (const std::int64_t k : {1, 33, 256, 600})
      for (const std::int64_t n : {1, 17, 33, 130}) {
        expectCodes({.type = DataType::I8, .m = m, .k = k, .n = n, .zeros = true});
        expectCodes({.type = DataType::U4,
                     .m = m,
                     .k = k,
                     .n = n,
                     .scales = WeightOnlyCase::Scales::Blocks,
                     .block = 32,
                     .zeros = true,
                     .turned = WeightOnlyCase::Turned::ByTranspose});
        cases += 2;
      }
  EXPECT_EQ(cases, 128);
}

}  // namespace
}  // namespace fusescope::testing
