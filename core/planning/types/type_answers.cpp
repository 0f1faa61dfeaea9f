#include "planning/types/type_answers.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

namespace {

Cause causeOf(const Plan& plan, const TypeChoice& choice) {
  if (choice.directive >= 0) return causeOf(plan.options.directives[static_cast<std::size_t>(choice.directive)]);
  if (choice.reason == TypeReason::Default) return "default";
  if (choice.reason == TypeReason::Measured) return "price_model";
  return "precision";
}

/// Returns the outcome of a pin for a single node.
std::optional<DirectiveOutcome> outcomeOf(TypeReason reason) {
  switch (reason) {
    case TypeReason::PinGranted:
      return DirectiveOutcome::Granted;
    case TypeReason::PinByEdit:
      return DirectiveOutcome::ByEdit;
    case TypeReason::PinRefused:
      return DirectiveOutcome::Refused;
    case TypeReason::PinNotHonoured:
      return DirectiveOutcome::NotHonoured;
    case TypeReason::NothingToPin:
      return DirectiveOutcome::Nothing;
    default:
      return std::nullopt;
  }
}

class TypeAnswerer {
 public:
  TypeAnswerer(const Plan& plan, const DirectiveMap& directives, TypeSolver& solver,
               const std::map<int, std::vector<NodeId>>& keptInFloats)
      : m_plan(plan),
        m_graph(plan.graph()),
        m_target(plan.target),
        m_structure(*plan.structure),
        m_directives(directives),
        m_solver(solver),
        m_keptInFloats(keptInFloats),
        m_granted(plan.options.directives.size(), 0) {}

  TypeAnswers run() {
    for (const PrecisionGrant& grant : m_plan.precisionMap) {
      answerNode(grant);
      for (const ValueId value : m_graph.node(grant.node).outputs)
        if (value.valid() && m_directives.outputType[value.index] >= 0) answerOutput(grant.node, value);
    }
    answerCosts();
    return std::move(m_said);
  }

 private:
  const Directive& directive(int index) const { return m_plan.options.directives[static_cast<std::size_t>(index)]; }
  Decision explained(std::string_view code, NodeId node, Cause by, DecisionArguments arguments) const {
    return decide(code, {Subject::node(m_graph.node(node).name)}, std::move(by), std::move(arguments));
  }

  void answerNode(const PrecisionGrant& grant) {
    const NodeId id = grant.node;
    const TypeChoice& choice = m_solver.choice(id);
    DecisionArguments arguments{{"type", toText(grant.granted)}};
    if (choice.reason == TypeReason::TypeKept) arguments["target"] = m_target.name;
    if (choice.reason == TypeReason::OperatorLacks) arguments["why"] = choice.why;
    if (choice.reason == TypeReason::Author) arguments["author"] = authorText(id);
    if (choice.reason == TypeReason::LoweredByEdit) arguments["edit"] = editFor(m_plan, id, grant.granted);
    if (choice.directive >= 0) {
      arguments["type"] = toText(grant.asked);
      if (isGranted(choice.reason)) ++m_granted[static_cast<std::size_t>(choice.directive)];
      if (choice.reason == TypeReason::PinByEdit) arguments["edit"] = editFor(m_plan, id, grant.asked);
      if (choice.reason == TypeReason::NothingToPin) arguments["became"] = choice.why;
      if (!choice.why.empty()) {
        arguments["why"] = choice.why;
        arguments["granted"] = toText(grant.granted);
      }
    }
    Decision decision = explained(codeOf(choice.reason), id, grant.by, std::move(arguments));
    const auto outcome = choice.directive >= 0 ? outcomeOf(choice.reason) : std::nullopt;
    if (outcome) return m_said.add(std::move(decision), {.outcome = *outcome});
    m_said.add(std::move(decision));
  }

  std::string authorText(NodeId id) const {
    const NodeFacts& facts = m_structure.facts[id.index];
    if (facts.author == NodeFacts::Author::CastUp) return "the Cast " + m_graph.node(facts.cast).name;
    return "the type that the network declares";
  }

  void answerOutput(NodeId id, ValueId value) {
    const int index = m_directives.outputType[value.index];
    const Directive& asked = directive(index);
    DecisionArguments arguments{{"type", toText(asked.type)}, {"value", m_graph.value(value).name}};
    const Cause by = causeOf(asked);
    const NetworkPlace place{{}, m_graph.value(value).name};
    const std::string& why = m_solver.outputObstacle(value);
    if (!why.empty()) {
      arguments["why"] = why;
      const bool obey = asked.strictness == Strictness::Obey;
      const char* code = obey ? "precision.output_refused" : "precision.output_not_honoured";
      return m_said.add(explained(code, id, by, std::move(arguments)),
                        {.outcome = obey ? DirectiveOutcome::Refused : DirectiveOutcome::NotHonoured, .value = place});
    }
    ++m_granted[static_cast<std::size_t>(index)];
    const FusedNode& fused = *m_plan.fusedNodeOf(id);
    const bool real = std::ranges::find(fused.outputs, value, &FusedOutput::value) != fused.outputs.end();
    if (!real) arguments["held"] = toText(m_plan.storedType(value));
    m_said.add(explained(real ? "precision.output_granted" : "precision.output_inner", id, by, std::move(arguments)),
               {.outcome = real ? DirectiveOutcome::Stored : DirectiveOutcome::Inner, .value = place});
  }

  /// Adds the cost of pins in a body.
  static void addCost(const DirectiveCost& more, const BodyPath& path, DirectiveCost& cost) {
    cost.kernels += more.kernels;
    cost.casts += more.casts;
    cost.bytes = sumOf(cost.bytes, more.bytes);
    cost.castBytes = sumOf(cost.castBytes, more.castBytes);
    for (const std::string& lost : more.lostFusions) cost.lostFusions.push_back(path.of(lost));
  }

  /// Returns the nodes that read memory and calculate in another type because of the pin, so that their kernels differ.
  std::vector<std::string> retyped(int index) const {
    std::vector<std::string> names;
    if (formOf(directive(index)).asks != RequestedType::Calculated) return names;
    for (const NodeId id : m_directives.nodesOf[static_cast<std::size_t>(index)]) {
      const TypeChoice& choice = m_solver.choice(id);
      if (choice.directive != index || !isGranted(choice.reason) || !m_plan.readsMemory(id)) continue;
      if (m_solver.typeWithout(id, index) != choice.type) names.push_back(m_graph.node(id).name);
    }
    return names;
  }

  /// Returns why a pin is free.
  std::string becauseOf(int index) const {
    const bool same = std::ranges::all_of(m_directives.nodesOf[static_cast<std::size_t>(index)], [&](NodeId id) {
      const TypeChoice& choice = m_solver.choice(id);
      return choice.directive != index || !isGranted(choice.reason) || m_solver.typeWithout(id, index) == choice.type;
    });
    return same ? "the result would be the same without it"
                : "its kernel keeps what it calculates with in this type or a wider one, and nothing is read or "
                  "converted for it";
  }

  void answerCosts() {
    std::vector<int> pins;
    DirectiveCost sum;
    for (int index = 0; index < static_cast<int>(m_granted.size()); ++index) {
      if (m_granted[static_cast<std::size_t>(index)] == 0) continue;
      if (const auto kept = m_keptInFloats.find(index); kept != m_keptInFloats.end()) {
        answerInFloats(index, kept->second);
        continue;
      }
      pins.push_back(index);
      const DirectiveCost cost = m_solver.costOf(std::span(&index, 1));
      addCost(cost, {}, sum);
      DecisionArguments arguments;
      sayCost(cost, arguments);
      arguments["type"] = toText(directive(index).type);
      const std::vector<std::string> others = retyped(index);
      arguments["retyped"] = others.size();
      const bool free = cost.free() && others.empty();
      if (free) arguments["because"] = becauseOf(index);
      m_said.add(decide(free ? "precision.pin_free" : "precision.pin_price", namedBy(index), causeOf(directive(index)),
                        std::move(arguments)),
                 {.outcome = free ? DirectiveOutcome::Free : DirectiveOutcome::Price, .cost = cost});
    }
    answerTogether(pins, std::move(sum));
  }

  std::vector<Subject> namedBy(int index) const {
    std::vector<Subject> subjects;
    for (const NodeId id : m_directives.nodesOf[static_cast<std::size_t>(index)])
      subjects.push_back(Subject::node(m_graph.node(id).name));
    return subjects;
  }

  /// Answers a pin without which the network would have other quantised codes; it changes the network, not only types.
  void answerInFloats(int index, const std::vector<NodeId>& nodes) {
    std::vector<std::string> names;
    for (const NodeId id : nodes) names.push_back(m_graph.node(id).name);
    DecisionArguments arguments{
        {"type", toText(directive(index).type)}, {"count", names.size()}, {"nodes", joined(names)}};
    m_said.add(decide("precision.pin_in_floats", namedBy(index), causeOf(directive(index)), std::move(arguments)),
               {.outcome = DirectiveOutcome::InFloats});
  }

  /// Answers all pins together, including those in bodies, whose plans have answered them. What is in a body shares no
  /// cost with what is outside, because values at its border keep their types.
  void answerTogether(const std::vector<int>& pins, DirectiveCost sum) {
    std::set<Cause> directives;
    for (const int index : pins) directives.insert(causeOf(directive(index)));
    DirectiveCost inside, single;  // cost of pins in bodies: together, and as the sum of single costs
    for (const CoverBody& body : m_plan.bodies) {
      const BodyPath path = BodyPath().into(m_graph.node(body.holder), body.attribute);
      const auto& together = plannedBody(body).pinsTogether;
      for (const DirectiveAnswer& answer : plannedBody(body).answers) {
        if (!answer.cost) continue;
        directives.insert(answer.directive);
        if (together) continue;
        addCost(*answer.cost, path, inside);
        addCost(*answer.cost, path, single);
      }
      if (!together) continue;
      addCost(together->all, path, inside);
      addCost(minus(together->all, together->shared), path, single);
    }
    if (directives.size() < 2) return;
    DirectiveCost all = pins.empty() ? DirectiveCost() : m_solver.costOf(pins);
    addCost(inside, {}, all);
    addCost(single, {}, sum);
    const DirectiveCost shared = minus(all, sum);
    DecisionArguments arguments;
    sayCost(all, arguments);
    arguments["pins"] = directives.size();
    arguments["shared_casts"] = shared.casts;
    arguments["shared_kernels"] = shared.kernels;
    arguments["shared_bytes"] = shared.bytes;
    const auto place = static_cast<std::uint32_t>(m_said.decisions.size());
    m_said.pinsTogether = PinsTogether{directives.size(), std::move(all), shared, place};
    m_said.add(decide("precision.pins_together", {}, "precision", std::move(arguments)));
  }

  static DirectiveCost minus(const DirectiveCost& a, const DirectiveCost& b) {
    return {.lostFusions = {},
            .kernels = a.kernels - b.kernels,
            .casts = a.casts - b.casts,
            .bytes = differenceOf(a.bytes, b.bytes),
            .castBytes = differenceOf(a.castBytes, b.castBytes)};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const Target& m_target;
  const Structure& m_structure;
  const DirectiveMap& m_directives;
  TypeSolver& m_solver;
  const std::map<int, std::vector<NodeId>>& m_keptInFloats;
  std::vector<int> m_granted;  ///< by directive: on how many nodes or values
  TypeAnswers m_said;
};

}  // namespace

std::string editFor(const Plan& plan, NodeId node, DataType type) {
  return "a Cast to " + toText(type) + " on each float operand of " + plan.graph().node(node).name +
         ", and a Cast back to " + toText(plan.structure->facts[node.index].natural) + " on its result";
}

void sayCost(const DirectiveCost& cost, DecisionArguments& arguments) {
  arguments["lost_fusions"] = cost.lostFusions;
  arguments["lost"] = cost.lostFusions.empty() ? "none" : joined(cost.lostFusions);
  arguments["kernels"] = cost.kernels;
  arguments["casts"] = cost.casts;
  arguments["bytes"] = cost.bytes;
  arguments["cast_bytes"] = cost.castBytes;
  const auto kernels = differenceOf(cost.bytes, cost.castBytes);
  arguments["kernel_bytes"] = kernels;
}

std::vector<PrecisionGrant> typeGrants(const Plan& plan, const Structure& structure, const TypeSolver& solver) {
  std::vector<PrecisionGrant> grants;
  grants.reserve(plan.graph().nodeCount());
  for (const NodeId id : plan.graph().order()) {
    const TypeChoice& choice = solver.choice(id);
    PrecisionGrant grant{.node = id, .granted = choice.type, .by = causeOf(plan, choice), .reason = choice.reason};
    if (choice.directive >= 0) grant.asked = plan.options.directives[static_cast<std::size_t>(choice.directive)].type;
    const auto& outputs = plan.graph().node(id).outputs;
    const auto result = std::ranges::find_if(outputs, [](ValueId value) { return value.valid(); });
    // A node that moves elements has the type of its result.
    if (choice.type == DataType::Undefined)
      grant.granted = result == outputs.end() ? structure.facts[id.index].natural : plan.storedType(*result);
    grants.push_back(std::move(grant));
  }
  return grants;
}

TypeAnswers answerTypes(const Plan& plan, const DirectiveMap& directives, TypeSolver& solver,
                        const std::map<int, std::vector<NodeId>>& keptInFloats) {
  return TypeAnswerer(plan, directives, solver, keptInFloats).run();
}

}  // namespace fusescope
