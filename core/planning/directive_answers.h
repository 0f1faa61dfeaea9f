#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/model.h"
#include "planning/directive.h"
#include "planning/patterns/match_pattern.h"
#include "planning/types/explanations.h"

namespace fusescope {

/// Answers directives whose pattern matches something that is in no segment: a node that normalisation removed, a node
/// in a body, or a value that no node computes. Each function adds one decision, whose cause is the directive.
class DirectiveAnswers {
 public:
  explicit DirectiveAnswers(const Model& model);

  /// Answers a directive whose pattern matches a node that normalisation removed. The evidence of the decision is the
  /// decisions of normalisation about the node.
  void aboutRemoved(const Directive& directive, OriginId origin, Explanations& explanations) const;
  /// Answers for a node in a body without a plan: the body runs in fallback, node by node, in the model's types.
  void aboutBodyNode(const Directive& directive, const BodyNode& found, Explanations& explanations) const;
  void aboutUnmadeValue(const Directive& directive, ValueId value, Explanations& explanations) const;

 private:
  const Model& m_model;
  /// The indices of decisions, by node of the file.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> m_normalised;
};

}  // namespace fusescope
