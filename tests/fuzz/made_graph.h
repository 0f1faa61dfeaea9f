#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ir/model.h"

namespace fusescope::fuzz {

/// A small network that is made by hand, each node its own origin.
class MadeGraph {
 public:
  ValueId input(const std::string& name, const TensorType& type) { return m_editor.addInput(name, type); }
  ValueId constant(const std::string& name, Tensor tensor) { return m_editor.addConstant(name, std::move(tensor)); }
  /// A node of one output, and that.
  ValueId node(const std::string& op, const std::string& name, std::vector<ValueId> inputs, const std::string& output,
               const TensorType& type, std::map<std::string, Attribute> attributes = {}) {
    const ValueId made = m_editor.addValue(output, type);
    m_model.origins.push_back({name, op, ""});
    m_editor.addNode({.id = {},
                      .op = op,
                      .domain = {},
                      .name = name,
                      .inputs = std::move(inputs),
                      .outputs = {made},
                      .attributes = std::move(attributes),
                      .origins = {OriginId(m_model.origins.size() - 1)}});
    return made;
  }
  std::size_t nodeCount() const { return m_model.origins.size(); }

  /// With `output` as its output; at the end.
  Model take(ValueId output) {
    m_editor.addOutput(output);
    m_model.graph = m_editor.publish().value();
    return std::move(m_model);
  }

 private:
  GraphEditor m_editor;
  Model m_model;
};

}  // namespace fusescope::fuzz
