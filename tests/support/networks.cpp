#include "tests/support/networks.h"

#include <stdexcept>

namespace fusescope::test {

std::shared_ptr<const Model> networkOfOneNameTwice() {
  GraphEditor editor;
  Model model;
  const TensorType type{DataType::F32, Shape::of(Dims{4, 8})};
  const ValueId x = editor.addInput("x", type);
  const ValueId w = editor.addConstant("w", Tensor::zeros(DataType::F32, {8, 8}));
  const auto add = [&](const char* op, const char* name, std::vector<ValueId> inputs) {
    const ValueId result = editor.addValue(std::string(name) + "_out", type);
    model.origins.push_back({name, op, ""});
    editor.addNode({.op = op,
                    .name = name,
                    .inputs = std::move(inputs),
                    .outputs = {result},
                    .attributes = {},
                    .origins = {OriginId(model.origins.size() - 1)}});
    return result;
  };
  editor.addOutput(add("Relu", "b", {add("MatMul", "a", {x, w})}));
  editor.addOutput(add("Softmax", "a + b", {x}));
  auto graph = editor.publish();
  if (!graph.ok()) throw std::runtime_error(graph.error().text());
  model.graph = graph.value();
  return std::make_shared<const Model>(std::move(model));
}

}  // namespace fusescope::test
