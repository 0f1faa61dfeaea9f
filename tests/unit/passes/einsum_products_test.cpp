#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

struct Product {
  std::string equation;
  std::string left, right;  ///< extents as a file has them
  Dims leftDims, rightDims;
};

Model imported(const Product& product) {
  auto model = importText("g (float[" + product.left + "] a, float[" + product.right +
                          "] b) => (y) { [sum] y = Einsum <equation = \"" + product.equation + "\"> (a, b) }");
  EXPECT_TRUE(model.ok()) << model.error().text();
  return model.ok() ? std::move(model).value() : Model();
}

Tensor waves(const Dims& dims, double step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < elementCount(dims).value(); ++i)
    values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i))));
  return Tensor::copyOf<float>(DataType::F32, dims, values);
}

/// Prepares the network, and holds that it calculates what the Einsum did; the operators it has then.
std::map<std::string, int> operatorsOf(const Product& product) {
  const Model file = imported(product);
  const auto model = prepareModel(file);
  EXPECT_TRUE(model.ok()) << model.error().text();
  if (!model.ok()) return {};
  const std::vector<Tensor> inputs{waves(product.leftDims, 0.7), waves(product.rightDims, 1.3)};
  const auto wanted = runGraph(*file.graph, inputs), got = runGraph(*model.value().graph, inputs);
  EXPECT_EQ(got.at(0).dims(), wanted.at(0).dims()) << product.equation;
  const auto a = numbersOf(got.at(0)), b = numbersOf(wanted.at(0));
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) EXPECT_NEAR(a[i], b[i], 1e-4) << product.equation;
  std::map<std::string, int> operators;
  for (const NodeId id : model.value().graph->order()) {
    const Node& node = model.value().graph->node(id);
    ++operators[node.op];
    EXPECT_EQ(node.origins, std::vector{OriginId(0)}) << node.name;
  }
  EXPECT_EQ(countCode(model.value(), "normalise.einsum_product"), operators.contains("Einsum") ? 0U : 1U);
  return operators;
}

using Operators = std::map<std::string, int>;

TEST(EinsumProducts, AreWrittenAsMatMul) {
  EXPECT_EQ(operatorsOf({"ij,jk->ik", "2,3", "3,4", {2, 3}, {3, 4}}), (Operators{{"MatMul", 1}}));
  EXPECT_EQ(operatorsOf({"bij,bjk->bik", "b,i,3", "b,3,4", {2, 5, 3}, {2, 3, 4}}), (Operators{{"MatMul", 1}}));
  EXPECT_EQ(operatorsOf({"bqhd,bkhd->bhqk", "b,q,2,3", "b,k,2,3", {2, 5, 2, 3}, {2, 4, 2, 3}}),
            (Operators{{"MatMul", 1}, {"Transpose", 2}}));
  EXPECT_EQ(operatorsOf({"bhqk,bkhd->bqhd", "b,2,q,k", "b,k,2,3", {2, 2, 5, 4}, {2, 4, 2, 3}}),
            (Operators{{"MatMul", 1}, {"Transpose", 2}}));
  EXPECT_EQ(operatorsOf({"...ij,...jk->...ik", "2,3,4,5", "2,3,5,6", {2, 3, 4, 5}, {2, 3, 5, 6}}),
            (Operators{{"MatMul", 1}}));
}

TEST(EinsumProducts, JoinAxesWhereSeveralArePlayedTogether) {
  EXPECT_EQ(operatorsOf({"btd,dhe->bthe", "b,t,6", "6,2,3", {2, 5, 6}, {6, 2, 3}}),
            (Operators{{"MatMul", 1}, {"Reshape", 2}}));
  EXPECT_EQ(operatorsOf({"bthe,hed->btd", "b,t,2,3", "2,3,6", {2, 5, 2, 3}, {2, 3, 6}}),
            (Operators{{"MatMul", 1}, {"Reshape", 2}}));
  EXPECT_EQ(operatorsOf({"bij,bj->bi", "b,i,4", "b,4", {2, 5, 4}, {2, 4}}), (Operators{{"MatMul", 1}, {"Reshape", 2}}));
  EXPECT_EQ(operatorsOf({"i,ij->j", "4", "4,3", {4}, {4, 3}}), (Operators{{"MatMul", 1}}));
  EXPECT_EQ(operatorsOf({"ij,kj->ki", "2,3", "5,3", {2, 3}, {5, 3}}), (Operators{{"MatMul", 1}, {"Transpose", 2}}));
}

TEST(EinsumProducts, WhatIsNoProductStays) {
  const Operators einsum{{"Einsum", 1}};
  EXPECT_EQ(operatorsOf({"ii,ij->j", "3,3", "3,4", {3, 3}, {3, 4}}), einsum) << "a diagonal";
  EXPECT_EQ(operatorsOf({"ij,kl->ik", "2,3", "4,5", {2, 3}, {4, 5}}), einsum) << "sums over one operand alone";
  EXPECT_EQ(operatorsOf({"i,j->ij", "2", "3", {2}, {3}}), einsum) << "no sum";
  EXPECT_EQ(operatorsOf({"bij,bjk->bik", "1,2,3", "4,3,5", {1, 2, 3}, {4, 3, 5}}), einsum) << "an extent of 1";
  EXPECT_EQ(operatorsOf({"bij,bjk->bik", "b,2,3", "c,3,5", {4, 2, 3}, {4, 3, 5}}), einsum) << "perhaps an extent of 1";
  EXPECT_EQ(operatorsOf({"abcd,cdef->abef", "a,b,c,d", "c,d,e,f", {2, 1, 3, 2}, {3, 2, 2, 4}}), einsum)
      << "a Reshape cannot say two open extents";
}

}  // namespace
}  // namespace fusescope::test
