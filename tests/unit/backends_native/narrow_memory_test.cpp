// Floats of 16 bits are widened in registers: no kernel keeps a widened copy of a whole tensor between its steps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "tests/unit/backends_native/narrow_net.h"

namespace fusescope::testing {
namespace {

constexpr std::int64_t kCount = 128 * 1024;

struct Operator {
  const char* name;
  std::function<ValueId(TypedNet&)> make;
  std::int64_t count = kCount;     ///< elements of its largest tensor
  bool needsInstructions = false;  ///< without such of the narrow float its operands are widened, by oneDNN
};

void PrintTo(const Operator& op, std::ostream* out) {
  *out << op.name;
}

ValueId recurrence(TypedNet& net, const char* op, std::int64_t gates) {
  const ValueId x = net.input({64, 1, 256});
  const ValueId w = net.weights({1, gates * 128, 256}, 0.1f), r = net.weights({1, gates * 128, 128}, 0.1f);
  const ValueId b = net.weights({1, 2 * gates * 128});
  return net.add(op, {x, w, r, b}, {{"hidden_size", std::int64_t{128}}});
}

ValueId attention(TypedNet& net, std::int64_t rows) {
  const Dims keys{1, 32, 256, 64};
  const ValueId q = net.input({1, 32, rows, 64}), k = net.input(keys), v = net.input(keys);
  const ValueId turned = net.add("Transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId scores = net.add("Mul", {net.add("MatMul", {q, turned}), net.number(0.125f)});
  return net.add("MatMul", {net.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), v});
}

const std::vector<Operator>& operators() {
  static const std::vector<Operator> kOperators = {
      {"Add",
       [](TypedNet& net) {
         return net.add("Add", {net.input({512, 256}), net.input({512, 256})});
       }},
      {"Where",
       [](TypedNet& net) {
         return net.add("Where", {net.input({512, 256}, DataType::Bool), net.input({512, 256}), net.input({512, 256})});
       }},
      {"Softmax",
       [](TypedNet& net) {
         return net.add("Softmax", {net.input({512, 256})});
       }},
      {"SoftmaxOverRows",
       [](TypedNet& net) {
         return net.add("Softmax", {net.input({4, 128, 256})}, {{"axis", std::int64_t{1}}});
       }},
      {"LayerNormalization",
       [](TypedNet& net) {
         return net.add("LayerNormalization", {net.input({512, 256}), net.weights({256}), net.weights({256})});
       }},
      {"InstanceNormalization",
       [](TypedNet& net) {
         return net.add("InstanceNormalization", {net.input({1, 32, 64, 64}), net.weights({32}), net.weights({32})});
       }},
      {"ReduceMean",
       [](TypedNet& net) {
         return net.add("ReduceMean", {net.input({512, 256}), net.ints({-1})});
       }},
      {"ReduceMeanOverRows",
       [](TypedNet& net) {
         return net.add("ReduceMean", {net.input({4, 128, 256}), net.ints({1})});
       }},
      {"ReduceMaxOverOuterAndInner",
       [](TypedNet& net) {
         return net.add("ReduceMax", {net.input({8, 64, 256}), net.ints({0, 2})});
       }},
      {"GlobalAveragePool",
       [](TypedNet& net) {
         return net.add("GlobalAveragePool", {net.input({1, 32, 64, 64})});
       }},
      {"MaxPool",
       [](TypedNet& net) {
         return net.add("MaxPool", {net.input({1, 32, 64, 64})},
                        {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
       }},
      {"AveragePool",
       [](TypedNet& net) {
         return net.add("AveragePool", {net.input({1, 32, 64, 64})},
                        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{1, 1}}, {"pads", Ints{1, 1, 1, 1}}});
       }},
      {"ResizeNearest",
       [](TypedNet& net) {
         return net.add("Resize", {net.input({1, 32, 32, 32}), ValueId(), net.numbers({1, 1, 2, 2})},
                        {{"mode", std::string("nearest")}});
       }},
      {"ResizeLinear",
       [](TypedNet& net) {
         return net.add("Resize", {net.input({1, 32, 32, 32}), ValueId(), net.numbers({1, 1, 2, 2})},
                        {{"mode", std::string("linear")}});
       }},
      {"Concat",
       [](TypedNet& net) {
         const ValueId x = net.add("Relu", {net.input({512, 128})});
         return net.add("Concat", {x, net.input({512, 128})}, {{"axis", std::int64_t{1}}});
       }},
      {"Gather",
       [](TypedNet& net) {
         return net.add("Gather", {net.weights({512, 256}), net.input({256}, DataType::I64)});
       }},
      {"TransposeThenAdd",
       [](TypedNet& net) {
         const ValueId turned = net.add("Transpose", {net.input({512, 256})}, {{"perm", Ints{1, 0}}});
         return net.add("Add", {turned, net.input({256, 512})});
       }},
      {"Pad",
       [](TypedNet& net) {
         return net.add("Pad", {net.input({510, 256}), net.ints({1, 0, 1, 0})});
       }},
      {"TopK",
       [](TypedNet& net) {
         return net.add("TopK", {net.input({64, 2048}), net.ints({5})}, {{"axis", std::int64_t{-1}}});
       }},
      {"LSTM", [](TypedNet& net) { return recurrence(net, "LSTM", 4); }},
      {"GRU", [](TypedNet& net) { return recurrence(net, "GRU", 3); }},
      {"MatMulOfOneRow",
       [](TypedNet& net) {
         return net.add("MatMul", {net.input({1, 512}), net.weights({512, 256})});
       }},
      {"MatMulOfRows",
       [](TypedNet& net) {
         return net.add("MatMul", {net.input({2048, 512}), net.weights({512, 512})});
       },
       2048 * 512},
      {"MatMulOfBatches",
       [](TypedNet& net) {
         return net.add("MatMul", {net.input({8, 128, 128}), net.input({8, 128, 128})});
       },
       kCount, true},
      {"Gemm",
       [](TypedNet& net) {
         return net.add("Gemm", {net.input({2048, 512}), net.weights({512, 512}), net.weights({512})},
                        {{"transB", std::int64_t{1}}});
       },
       2048 * 512},
      {"Conv",
       [](TypedNet& net) {
         return net.add("Conv", {net.input({1, 32, 64, 64}), net.weights({32, 32, 3, 3})},
                        {{"pads", Ints{1, 1, 1, 1}}});
       },
       kCount, true},
      {"AttentionOfOneRow", [](TypedNet& net) { return attention(net, 1); }, 4 * kCount},
      {"Attention", [](TypedNet& net) { return attention(net, 256); }, 4 * kCount},
  };
  return kOperators;
}

class NarrowMemory : public ::testing::TestWithParam<std::tuple<Operator, DataType>> {};

// Rows, planes, heads and narrow copies in another order are all that a kernel may keep.
TEST_P(NarrowMemory, NoTensorIsWidenedWhole) {
  const auto& [op, type] = GetParam();
  TypedNet net(type);
  net.net.editor.addOutput(op.make(net));
  const auto plan = planned(net.net.editor);
  const auto outcomes = tryAllTactics(*plan);
  ASSERT_FALSE(outcomes.empty());
  std::map<std::string, std::size_t> least;  // by fused node
  bool hasInstructions = false;
  for (const TacticOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.problem, "") << outcome.tactic;
    EXPECT_LE(outcome.worst, type == DataType::BF16 ? 0.05 : 0.01) << outcome.tactic;
    hasInstructions = hasInstructions || outcome.tactic.ends_with(":" + std::string(name(type)));
    const auto [entry, isNew] = least.emplace(outcome.fusedNode, outcome.scratchBytes);
    if (outcome.tactic != "reference")
      entry->second = isNew ? outcome.scratchBytes : std::min(entry->second, outcome.scratchBytes);
  }
  if (op.needsInstructions && !hasInstructions) GTEST_SKIP() << "no instructions for " << name(type) << " here";
  for (const auto& [fusedNode, bytes] : least) {
    fmt::print("suite: {} in {}: {} bytes beside its tensors of {}\n", op.name, name(type), bytes,
               byteSize(type, op.count));
    EXPECT_LT(bytes, byteSize(DataType::F32, op.count) * 3 / 4) << fusedNode;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, NarrowMemory,
                         ::testing::Combine(::testing::ValuesIn(operators()),
                                            ::testing::Values(DataType::BF16, DataType::F16)),
                         [](const auto& info) { return caseName(info.param); });

}  // namespace
}  // namespace fusescope::testing
