#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/model.h"
#include "planning/directive.h"
#include "planning/match_pattern.h"
#include "planning/wish_answers.h"

namespace fusescope {

/// What directives are told whose pattern names something that no segment holds: a node that normalisation removed, a
/// node in a body, a value that no node makes. Each adds one decision, by the directive.
class DirectiveAnswers {
 public:
  explicit DirectiveAnswers(const Model& model);

  /// Evidence: the normalise decisions about the node.
  void aboutRemoved(const Directive& directive, OriginId origin, Explanations& said) const;
  /// Of a body that has no plan: it runs in fallback, node by node, and keeps the model's types.
  void aboutBodyNode(const Directive& directive, const BodyNode& found, Explanations& said) const;
  void aboutUnmadeValue(const Directive& directive, ValueId value, Explanations& said) const;

 private:
  const Model& m_model;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> m_normalised;  ///< decisions by node of the file
};

}  // namespace fusescope
