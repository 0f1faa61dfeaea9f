#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ir/model.h"
#include "planning/plan.h"
#include "planning/plan_json.h"
#include "planning/steps.h"

namespace fusescope::testing {

/// Builds a small model by hand: every node is its own origin.
class ModelBuilder {
 public:
  ValueId input(const std::string& name, Dims dims, DataType type = DataType::F32) {
    return m_editor.addInput(name, {type, Shape::of(dims)});
  }
  ValueId weight(const std::string& name, Dims dims, DataType type = DataType::F32) {
    return m_editor.addConstant(name, Tensor::zeros(type, std::move(dims)));
  }
  ValueId constant(const std::string& name, Tensor tensor) { return m_editor.addConstant(name, std::move(tensor)); }
  /// A node of one output, which has the node's name with "_out" and the type given.
  ValueId node(const std::string& op, const std::string& name, std::vector<ValueId> inputs, Dims dims,
               DataType type = DataType::F32, std::map<std::string, Attribute> attributes = {}) {
    const ValueId output = m_editor.addValue(name + "_out", {type, Shape::of(dims)});
    m_model.origins.push_back({name, op, ""});
    m_editor.addNode({.op = op,
                      .name = name,
                      .inputs = std::move(inputs),
                      .outputs = {output},
                      .attributes = std::move(attributes),
                      .origins = {OriginId(m_model.origins.size() - 1)}});
    return output;
  }
  void output(ValueId value) { m_editor.addOutput(value); }

  std::shared_ptr<const Model> build() {
    auto graph = m_editor.publish();
    EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().text());
    m_model.graph = graph.value();
    m_model.path = "model.onnx";
    m_model.contentHash = hashText(std::to_string(m_model.origins.size()));
    return std::make_shared<const Model>(m_model);
  }

 private:
  GraphEditor m_editor;
  Model m_model;
};

/// Options for a CPU whose capabilities do not depend on the machine.
inline PlanOptions cpuOptions(Directives directives = {}) {
  return {.target = "cpu:avx2", .directives = std::move(directives)};
}

/// Plans and verifies.
inline std::shared_ptr<const Plan> planned(const std::shared_ptr<const Model>& model, const PlanOptions& options) {
  auto plan = makePlan(model, options);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
  if (!plan.ok()) return nullptr;
  const Status verified = verifyPlan(*plan.value());
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : verified.error().text());
  return plan.value();
}

/// "conv{conv relu} gemm{fc}": every fused node's kind and members.
inline std::string fusions(const Plan& plan) {
  std::string text;
  for (const FusedNode& fused : plan.fusedNodes) {
    text += (text.empty() ? "" : " ") + fused.kind + "{";
    for (std::size_t i = 0; i < fused.nodes.size(); ++i) {
      text += (i == 0 ? "" : " ") + plan.graph().node(fused.nodes[i]).name;
    }
    text += "}";
  }
  return text;
}

/// "x:f32>f16(model_input)" for each cast.
inline std::string castsOf(const Plan& plan) {
  std::string text;
  for (const PlannedCast& cast : plan.casts) {
    text += (text.empty() ? "" : " ") + plan.graph().value(cast.value).name + ":" + std::string(name(cast.from)) + ">" +
            std::string(name(cast.to)) + "(" + cast.reason + ")";
  }
  return text;
}

/// The first decision with `code` that is about `subject` (any, if empty); null if there is none.
inline const Decision* findDecision(const Plan& plan, const std::string& code, const std::string& subject = {}) {
  for (const Decision& decision : plan.decisions) {
    if (decision.code != code) continue;
    const bool about = std::any_of(decision.subjects.begin(), decision.subjects.end(),
                                   [&](const Subject& entry) { return entry.text() == subject; });
    if (subject.empty() || about) return &decision;
  }
  return nullptr;
}

inline Directive withId(Directive directive, std::string id) {
  directive.id = std::move(id);
  return directive;
}

inline Directive pin(const std::string& text) {
  auto parsed = parsePin(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.value();
}

}  // namespace fusescope::testing
