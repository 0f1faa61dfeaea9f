#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"

namespace fusescope::test {

/// The model of a graph in ONNX's textual syntax, imported and prepared. Fails the test if it cannot be.
inline Model prepared(const std::string& graph, int opset = 18) {
  auto imported = importText(graph, opset);
  EXPECT_TRUE(imported.ok()) << imported.error().text();
  auto model = prepareModel(std::move(imported).value());
  EXPECT_TRUE(model.ok()) << model.error().text();
  return std::move(model).value();
}

inline std::shared_ptr<const Model> sharedModel(const std::string& graph) {
  return std::make_shared<const Model>(prepared(graph));
}

inline std::string typeOfValue(const Model& model, const std::string& name) {
  const auto id = model.graph->findValue(name);
  EXPECT_TRUE(id.has_value()) << name;
  return id ? model.graph->value(*id).type.text() : std::string();
}

}  // namespace fusescope::test
