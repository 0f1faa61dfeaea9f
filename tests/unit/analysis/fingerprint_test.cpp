#include "analysis/structural_key.h"
#include "ir/graph.h"

#include <gtest/gtest.h>

namespace fusescope {
namespace {

struct Options {
  float weight = 1;
  std::int64_t columns = 4;
  std::vector<std::int64_t> shape{-1};
  std::string op = "MatMul";
  bool swapped = false;
};

/// MatMul (or another) by a weight, then Reshape.
std::shared_ptr<const Graph> network(const Options& options, const std::string& prefix) {
  GraphEditor editor;
  const TensorType type{DataType::F32, Shape::of(Dims{2, 4})};
  const ValueId x = editor.addInput(prefix + "x", type);
  Tensor weight = Tensor::zeros(DataType::F32, {4, options.columns});
  for (float& element : weight.mutableData<float>()) element = options.weight;
  const ValueId w = editor.addConstant(prefix + "w", weight);
  const ValueId shape = editor.addConstant(prefix + "shape", Tensor::ofInt64(options.shape));
  const ValueId product = editor.addValue(prefix + "product", type), y = editor.addValue(prefix + "y", type);
  const std::vector<ValueId> inputs = options.swapped ? std::vector{w, x} : std::vector{x, w};
  editor.addNode({.op = options.op, .name = prefix + "first", .inputs = inputs, .outputs = {product}});
  editor.addNode({.op = "Reshape", .name = prefix + "second", .inputs = {product, shape}, .outputs = {y}});
  editor.addOutput(y);
  return editor.publish().value();
}

std::string keyOf(const Options& options, const std::string& prefix = "") {
  const auto graph = network(options, prefix);
  return structuralKey({.graph = graph.get(), .nodes = graph->order(), .describe = [&](ValueId value) {
                          return graph->value(value).type.text();
                        }});
}

TEST(StructuralKey, IgnoresNamesAndWeights) {
  EXPECT_EQ(keyOf({}), keyOf({}, "other_"));
  EXPECT_EQ(keyOf({}), keyOf({.weight = 5}));
}

TEST(StructuralKey, SeesEverythingElse) {
  EXPECT_NE(keyOf({}), keyOf({.columns = 8}));
  EXPECT_NE(keyOf({}), keyOf({.shape = {8}}));
  EXPECT_NE(keyOf({}), keyOf({.op = "Add"}));
  EXPECT_NE(keyOf({}), keyOf({.swapped = true}));
}

}  // namespace
}  // namespace fusescope
