#include "planning/types/type_choice.h"

#include <algorithm>

#include "planning/fusion/match.h"
#include "planning/types/pin_choices.h"
#include "target/runs_in.h"

namespace fusescope {

TypeChooser::TypeChooser(const Graph& graph, const Target& target, const Structure& structure,
                         const PlanOptions& options, std::vector<DataType> priced)
    : m_graph(graph), m_target(target), m_structure(structure), m_options(options), m_priced(std::move(priced)) {
  m_floats = floatPrecisions(options);
  for (const DataType type : m_floats)
    if (type != DataType::F32) m_asked.push_back(type);
}

TypeChoice TypeChooser::unpinned(NodeId node) const {
  const NodeFacts& facts = m_structure.facts[node.index];
  if (facts.moves) {
    const bool casts = isFloatCast(m_graph, m_graph.node(node));
    return {DataType::Undefined, casts ? TypeReason::AuthorCast : TypeReason::Moved};
  }
  if (!facts.floats) return {facts.natural, facts.quantised ? TypeReason::Quantised : TypeReason::NotFloat};
  if (!m_structure.accelerated[node.index]) return {facts.natural, TypeReason::Fallback};
  return facts.quantised ? TypeChoice{DataType::I8, TypeReason::Quantised} : chooseUnquantised(node);
}

TypeChoice TypeChooser::chooseUnquantised(NodeId node) const {
  const NodeFacts& facts = m_structure.facts[node.index];
  if (m_floats.empty() || (m_asked.empty() && facts.author == NodeFacts::Author::Silent))
    return {facts.natural, TypeReason::Default};
  if (facts.author != NodeFacts::Author::Silent) return {facts.natural, TypeReason::Author};
  if (facts.natural != DataType::F32) return {facts.natural, TypeReason::TypeKept};
  if (m_floats.size() > 1) {
    const DataType priced = m_priced.empty() ? DataType::Undefined : m_priced[node.index];
    if (priced == DataType::Undefined) return {facts.natural, TypeReason::NotMeasured};
    return whereItRuns(node, {priced, TypeReason::Measured});
  }
  if (!m_target.computeTypes.contains(m_asked.front())) return {facts.natural, TypeReason::TypeKept};
  return whereItRuns(node, {m_asked.front(), m_target.stronglyTyped ? TypeReason::LoweredByEdit : TypeReason::Lowered});
}

std::string TypeChooser::operatorObstacle(NodeId node, DataType type) const {
  const Node& of = m_graph.node(node);
  if (runsIn(m_target, of, type)) return {};
  return "target " + m_target.name + " does not run " + of.op + " in " + std::string(name(type));
}

TypeChoice TypeChooser::whereItRuns(NodeId node, TypeChoice choice) const {
  const DataType natural = m_structure.facts[node.index].natural;
  if (choice.type == natural) return choice;
  std::string obstacle = operatorObstacle(node, choice.type);
  if (obstacle.empty()) return choice;
  return {.type = natural, .reason = TypeReason::OperatorLacks, .why = std::move(obstacle)};
}

std::string TypeChooser::whyNoFloats(const NodeFacts& facts) {
  return facts.quantised ? "it is written as a product of 8-bit integers" : "it computes no floats";
}

std::string TypeChooser::obstacle(NodeId node, DataType type) const {
  const NodeFacts& facts = m_structure.facts[node.index];
  if (type == DataType::I8 && facts.quantised) return {};
  if (!facts.floats) return whyNoFloats(facts);
  if (type == facts.natural) return {};
  if (type == DataType::I8)
    return "it does not multiply integers: a decision quantize.* says why, or --ranges is missing";
  if (!m_structure.accelerated[node.index]) return "it runs in fallback, which keeps the model's types";
  if (!isExchangeable(facts.natural))
    return "it computes in " + std::string(name(facts.natural)) + ", which is never replaced by another type";
  return whyNotCalculatedIn(m_target, m_graph.node(node), type);
}

bool TypeChooser::namesExactly(const Directive& pin, const Node& node) const {
  return pin.pattern == node.name;
}

TypeChoice TypeChooser::choose(NodeId node, int pin) const {
  TypeChoice choice = unpinned(node);
  if (pin < 0) return choice;
  const Directive& directive = m_options.directives[static_cast<std::size_t>(pin)];
  const NodeFacts& facts = m_structure.facts[node.index];
  choice.directive = pin;
  const bool asksForCodes = facts.quantised && directive.type == DataType::I8;
  const bool byWholesale = !facts.floats && !asksForCodes && !namesExactly(directive, m_graph.node(node));
  if (facts.moves || byWholesale) {
    choice.why = facts.moves ? "it moves elements and keeps their type" : whyNoFloats(facts);
    choice.reason = TypeReason::NothingToPin;
    return choice;
  }
  choice.why = obstacle(node, directive.type);
  if (!choice.why.empty()) {
    choice.reason = directive.strictness == Strictness::Obey ? TypeReason::PinRefused : TypeReason::PinNotHonoured;
    return choice;
  }
  const bool byEdit = m_target.stronglyTyped && directive.type != facts.natural;
  choice.type = directive.type;
  choice.reason = byEdit ? TypeReason::PinByEdit : TypeReason::PinGranted;
  return choice;
}

std::string TypeChooser::outputObstacle(ValueId value, DataType type) const {
  const NodeId producer = m_graph.value(value).producer;
  if (!producer.valid() || !isExchangeable(m_structure.truncation.types[value.index]))
    return "its result has no float type that could be replaced";
  if (!m_structure.accelerated[producer.index]) return "it runs in fallback, which keeps the model's types";
  if (hasBody(m_graph.node(producer))) return "its bodies store the types that they declare";
  return whyNotStoredIn(m_target, type);
}

}  // namespace fusescope
