#pragma once

#include "ops/run_node.h"
#include "tests/unit/ops/ops_testing.h"

namespace fusescope::testing {

/// A body from the text form of a graph, without the quotes and braces around it. The last `captures` of its inputs
/// are captured; the operands that stand for them come behind a node's inputs.
inline Subgraph bodyOf(const std::string& lines, std::size_t captures = 0) {
  const auto graph = parseGraph("graph \"body\" {\n" + lines + "\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  Subgraph body;
  if (graph.ok()) body.graph = graph.value();
  for (std::size_t i = 0; i < captures; ++i) body.captures.emplace_back(i);
  return body;
}

inline Tensor texts(Dims dims, std::vector<std::string> values) {
  return Tensor::ofStrings(std::move(dims), std::move(values));
}
inline Tensor sequence(DataType type, std::vector<Tensor> elements) {
  return Tensor::ofElements(Container::Sequence, type, std::move(elements));
}

/// Types of the outputs as text. A type that begins with "sequence(" or "optional(" is a container's.
inline std::string inferredTypes(const std::string& op, const std::vector<std::string>& types, Attributes attributes,
                                 std::size_t outputs = 1, std::vector<const Tensor*> values = {}) {
  std::vector<TensorType> held;
  for (const std::string& text : types) {
    const bool optional = text.starts_with("optional("), list = text.find("sequence(") != std::string::npos;
    const std::size_t skip = (optional ? 9 : 0) + (list ? 9 : 0);
    TensorType type = typeOf(text.substr(skip, text.size() - skip - (optional ? 1 : 0) - (list ? 1 : 0)));
    type.container = optional && list ? Container::OptionalSequence
                     : optional       ? Container::Optional
                     : list           ? Container::Sequence
                                      : Container::None;
    held.push_back(std::move(type));
  }
  std::vector<const TensorType*> pointers;
  for (const TensorType& type : held) pointers.push_back(&type);
  values.resize(types.size(), nullptr);
  const auto result = inferNode(nodeOf(op, types.size(), std::move(attributes), outputs), pointers, values);
  if (!result.ok()) return "error: " + result.error().message;
  std::string text;
  for (const TensorType& type : result.value()) text += (text.empty() ? "" : " ") + type.text();
  return text;
}

}  // namespace fusescope::testing
