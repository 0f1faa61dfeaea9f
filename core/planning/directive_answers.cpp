#include "planning/directive_answers.h"

#include <algorithm>

#include "ir/graph.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

namespace {

/// Adds the answer to a directive that has nothing to apply to.
void nothingToDo(const Directive& directive, std::vector<Subject> subjects, std::string became,
                 std::vector<std::uint32_t> evidence, Explanations& explanations) {
  Decision decision =
      decide(formOf(directive).nothingToDo, std::move(subjects), causeOf(directive), {{"became", std::move(became)}});
  decision.evidence = std::move(evidence);
  if (asksForAType(directive)) return explanations.add(std::move(decision), {.outcome = DirectiveOutcome::Nothing});
  explanations.add(std::move(decision));
}

/// Returns whether a node of a body calculates in `type`, or writes its output in it, without any directive.
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

void DirectiveAnswers::aboutRemoved(const Directive& directive, OriginId origin, Explanations& explanations) const {
  const std::string& name = m_model.origins[origin.index].name;
  const auto known = m_normalised.find(name);
  if (known == m_normalised.end())
    return nothingToDo(directive, {Subject::node(name)},
                       name + " is in the file, but no node of the network represents it", {}, explanations);
  nothingToDo(directive, {Subject::node(name)}, name + " " + message(m_model.decisions[known->second.back()]),
              known->second, explanations);
}

void DirectiveAnswers::aboutBodyNode(const Directive& directive, const BodyNode& found,
                                     Explanations& explanations) const {
  const std::string& holder = m_model.graph->node(found.holder).name;
  std::vector<Subject> subjects{Subject::node(found.place), Subject::node(holder)};
  const bool pin = formOf(directive).asks == RequestedType::Calculated;
  if (!asksForAType(directive)) {
    return nothingToDo(directive, std::move(subjects),
                       found.place.text() + " is in the body of " + holder + ", which runs in fallback, node by node",
                       {}, explanations);
  }
  DecisionArguments arguments{{"type", std::string(name(directive.type))}};
  if (hasAlready(found, directive.type)) {
    const char* code = pin ? "precision.pin_granted" : "precision.output_granted";
    return explanations.add(decide(code, std::move(subjects), causeOf(directive), std::move(arguments)),
                            {.outcome = pin ? DirectiveOutcome::Granted : DirectiveOutcome::Stored});
  }
  arguments["why"] = "it is in the body of " + holder + ", which runs in fallback and keeps the model's types";
  const bool obey = directive.strictness == Strictness::Obey;
  const char* code = pin    ? (obey ? "precision.pin_refused" : "precision.pin_not_honoured")
                     : obey ? "precision.output_refused"
                            : "precision.output_not_honoured";
  explanations.add(decide(code, std::move(subjects), causeOf(directive), std::move(arguments)),
                   {.outcome = obey ? DirectiveOutcome::Refused : DirectiveOutcome::NotHonoured});
}

void DirectiveAnswers::aboutUnmadeValue(const Directive& directive, ValueId value, Explanations& explanations) const {
  const Value& named = m_model.graph->value(value);
  const char* what = named.constant != nullptr ? " is a constant" : " is an input of the network";
  nothingToDo(directive, {Subject::value(named.name)}, named.name + what + "; no node calculates it", {}, explanations);
}

}  // namespace fusescope
