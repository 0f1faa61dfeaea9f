// Which nodes, inputs and outputs a part of a file has.
#include "interchange/network_part.h"

#include <gtest/gtest.h>

#include "onnxlib/onnx_text.h"
#include "tests/support/paths.h"

namespace fusescope {
namespace {

using Nodes = std::set<std::size_t>;
using Names = std::vector<std::string>;

class NetworkPartTest : public ::testing::Test {
 protected:
  const FileValues& values(const std::string& text) {
    const auto bytes = onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18]>\n" + text);
    EXPECT_TRUE(bytes.ok()) << bytes.error().text();
    auto file = onnxlib::readModel(m_folder.write("model.onnx", bytes.value()));
    EXPECT_TRUE(file.ok()) << file.error().text();
    m_file = std::move(file).value();
    m_values.emplace(m_file.graph);
    return *m_values;
  }

  static PartFacts facts(std::set<std::string> constants = {}, Nodes removed = {}) {
    return {.isConstant = [constants](const std::string& value) { return constants.contains(value); },
            .isRemoved = [removed](std::size_t node) { return removed.contains(node); }};
  }

  test::TemporaryFolder m_folder;
  onnxlib::FileModel m_file;
  std::optional<FileValues> m_values;
};

constexpr const char* kShaped =
    "net (float[N, 4] x) => (float[M] y) <float[4] w = {1, 2, 3, 4}, int64[1] flat = {-1}> "
    "{ half = Constant <value_float = 0.5>() v = Mul(w, half) a = Mul(x, v) s = Shape(a) t = Concat <axis = 0>(flat) "
    "p = ReduceProd <keepdims = 1>(s) y = Reshape(a, p) }";

TEST_F(NetworkPartTest, ValuesDependOnWeightsExtentsOrData) {
  using Depends = FileValues::Depends;
  const FileValues& of = values(kShaped);
  const std::vector<std::pair<std::string, Depends>> wanted{
      {"x", Depends::Data},    {"w", Depends::Weights}, {"half", Depends::Weights},
      {"v", Depends::Weights}, {"a", Depends::Data},    {"s", Depends::Extents},
      {"p", Depends::Extents}, {"t", Depends::Weights}, {"y", Depends::Data}};
  for (const auto& [name, depends] : wanted) EXPECT_EQ(of.depends(name), depends) << name;
}

TEST_F(NetworkPartTest, WeightsAndExtentsGoAlongAndConstantsAreFrozen) {
  const FileValues& of = values(kShaped);
  auto part = partOfNodes(of, {2}, facts());
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().nodes, (Nodes{0, 1, 2}));
  EXPECT_EQ(part.value().inputs, Names{"x"});
  EXPECT_EQ(part.value().outputs, Names{"a"});
  part = partOfNodes(of, {6}, facts());
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().constantNodes, (Nodes{3, 5}));
  EXPECT_EQ(part.value().inputs, Names{"a"});
  part = partOfNodes(of, {6}, facts({"p"}));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().nodes, Nodes{6});
  EXPECT_EQ(part.value().frozen, Names{"p"});
}

/// Removed nodes between chosen ones belong to the part, those beside do not.
TEST_F(NetworkPartTest, RemovedNodesBetweenBelongToThePart) {
  const FileValues& of = values(
      "net (float[4] x) => (float[4] y, float[4] z) { a = Relu(x) b = Identity(a) c = Identity(b) y = Tanh(c) "
      "d = Identity(x) z = Neg(d) }");
  const auto part = partOfNodes(of, {0, 3, 5}, facts({}, {1, 2, 4}));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().nodes, (Nodes{0, 1, 2, 3, 5}));
  EXPECT_EQ(part.value().inputs, (Names{"x", "d"}));
  EXPECT_EQ(part.value().outputs, (Names{"y", "z"}));
}

/// What nobody reads is an output where nothing else of its node is read; else only what is read.
TEST_F(NetworkPartTest, OutputsAreWhatIsReadOrAllThatIsNot) {
  const FileValues& of =
      values("net (float[4] x, int64[1] k) => (float[A] y) { v, i = TopK(x, k) y = Relu(v) n, m = TopK(x, k) }");
  auto part = partOfNodes(of, {0}, facts());
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().outputs, Names{"v"});
  part = partOfNodes(of, {2}, facts());
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().outputs, (Names{"n", "m"}));
  EXPECT_FALSE(partOfNodes(of, {}, facts()).ok());
}

TEST_F(NetworkPartTest, WhatMakesAValueIsAllBeforeIt) {
  const FileValues& of =
      values("net (float[4] x) => (float[4] y) { a = Relu(x) b = Tanh(a) c = Neg(a) y = Add(b, c) }");
  const NetworkPart part = partThatMakes(of, {"c"});
  EXPECT_EQ(part.nodes, (Nodes{0, 2}));
  EXPECT_EQ(part.inputs, Names{"x"});
  EXPECT_EQ(part.outputs, Names{"c"});
}

}  // namespace
}  // namespace fusescope
