#include "tests/support/networks.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "frontends/importers.h"
#include "passes/pipelines.h"

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

std::shared_ptr<const Model> preparedModel(const std::filesystem::path& path) {
  auto imported = importModel(path);
  EXPECT_TRUE(imported.ok()) << (imported.ok() ? std::string() : imported.error().text());
  if (!imported.ok()) return nullptr;
  auto prepared = prepareModel(std::move(imported).value());
  EXPECT_TRUE(prepared.ok()) << (prepared.ok() ? std::string() : prepared.error().text());
  return prepared.ok() ? std::make_shared<const Model>(std::move(prepared).value()) : nullptr;
}

}  // namespace fusescope::test
