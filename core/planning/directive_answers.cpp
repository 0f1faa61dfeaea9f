#include "planning/directive_answers.h"

#include <algorithm>

#include "planning/directives/directive_form.h"

namespace fusescope {

namespace {

/// The answer to a directive that finds nothing to work on.
Decision nothingToDo(const Directive& directive, std::vector<Subject> subjects, std::string became) {
  return decide(formOf(directive).nothingToDo, std::move(subjects), directiveName(directive),
                {{"became", std::move(became)}});
}

/// Whether a node of a body computes, or leaves its output, in `type` anyway.
bool hasAlready(const BodyNode& found, DataType type) {
  if (found.node == nullptr) return false;
  const auto& outputs = found.node->outputs;
  const auto is = [&](ValueId value) { return value.valid() && found.body->value(value).type.dtype == type; };
  return isFloat(type) && std::any_of(outputs.begin(), outputs.end(), is);
}

}  // namespace

DirectiveAnswers::DirectiveAnswers(const Model& model) : m_model(model) {
  for (std::size_t i = 0; i < model.decisions.size(); ++i) {
    if (model.decisions[i].kind != DecisionKind::Normalise) continue;
    for (const Subject& subject : model.decisions[i].subjects)
      m_normalised[subject.place.name].push_back(static_cast<std::uint32_t>(i));
  }
}

Decision DirectiveAnswers::aboutRemoved(const Directive& directive, OriginId origin) const {
  const std::string& name = m_model.origins[origin.index].name;
  const auto known = m_normalised.find(name);
  std::string became = name + " is in the file, but no node of the network stands for it";
  if (known != m_normalised.end()) became = name + " " + message(m_model.decisions[known->second.back()]);
  Decision decision = nothingToDo(directive, {Subject::node(name)}, std::move(became));
  if (known != m_normalised.end()) decision.evidence = known->second;
  return decision;
}

Decision DirectiveAnswers::aboutBodyNode(const Directive& directive, const BodyNode& found) const {
  const std::string& holder = m_model.graph->node(found.holder).name;
  std::vector<Subject> subjects{Subject::node(found.place), Subject::node(holder)};
  const bool pin = formOf(directive).asks == AskedType::Calculated;
  if (!asksForAType(directive)) {
    return nothingToDo(directive, std::move(subjects),
                       found.place.text() + " is in the body of " + holder + ", which runs in fallback, node by node");
  }
  Json arguments{{"type", std::string(name(directive.type))}};
  if (hasAlready(found, directive.type)) {
    return decide(pin ? "precision.pin_granted" : "precision.output_granted", std::move(subjects),
                  directiveName(directive), std::move(arguments));
  }
  arguments["why"] = "it is in the body of " + holder + ", which runs in fallback and keeps the model's types";
  const bool obey = directive.strictness == Strictness::Obey;
  const char* code = pin    ? (obey ? "precision.pin_refused" : "precision.pin_not_honoured")
                     : obey ? "precision.output_refused"
                            : "precision.output_not_honoured";
  return decide(code, std::move(subjects), directiveName(directive), std::move(arguments));
}

Decision DirectiveAnswers::aboutUnmadeValue(const Directive& directive, ValueId value) const {
  const Value& named = m_model.graph->value(value);
  const char* what = named.constant != nullptr ? " is a constant" : " is an input of the network";
  return nothingToDo(directive, {Subject::value(named.name)}, named.name + what + "; no node makes it");
}

}  // namespace fusescope
