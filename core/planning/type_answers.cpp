#include "planning/type_answers.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

namespace {

bool isGranted(std::string_view code) {
  return code == "precision.pin_granted" || code == "precision.pin_by_edit";
}

/// How a directive is named in a grant and in its decision.
std::string byOf(const Plan& plan, const TypeChoice& choice) {
  if (choice.directive >= 0) return directiveName(plan.options.directives[static_cast<std::size_t>(choice.directive)]);
  if (choice.code == "precision.default") return "default";
  if (choice.code == "precision.measured") return "price_model";
  return "precision";
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

  std::vector<Decision> run() {
    for (const PrecisionGrant& grant : m_plan.precisionMap) {
      answerNode(grant);
      for (const ValueId value : m_graph.node(grant.node).outputs)
        if (value.valid() && m_directives.outputType[value.index] >= 0) answerOutput(grant.node, value);
    }
    answerCosts();
    return std::move(m_decisions);
  }

 private:
  const Directive& directive(int index) const { return m_plan.options.directives[static_cast<std::size_t>(index)]; }
  std::string nameOf(int index) const { return directiveName(directive(index)); }

  void record(std::string_view code, NodeId node, std::string by, Json arguments = Json::object()) {
    m_decisions.push_back(decide(code, {Subject::node(m_graph.node(node).name)}, std::move(by), std::move(arguments)));
  }

  std::string editFor(NodeId node, DataType type) const {
    const std::string& own = m_graph.node(node).name;
    return "a Cast to " + toText(type) + " on each float operand of " + own + ", and a Cast back to " +
           toText(m_structure.facts[node.index].natural) + " on its result";
  }

  void answerNode(const PrecisionGrant& grant) {
    const NodeId id = grant.node;
    const TypeChoice& choice = m_solver.choice(id);
    Json arguments{{"type", toText(grant.granted)}};
    if (choice.code == "precision.type_kept") arguments["target"] = m_target.name;
    if (choice.code == "precision.operator_lacks") arguments["why"] = choice.why;
    if (choice.code == "precision.author") arguments["author"] = authorText(id);
    if (choice.code == "precision.lowered_by_edit") arguments["edit"] = editFor(id, grant.granted);
    if (choice.directive >= 0) {
      arguments["type"] = toText(grant.asked);
      if (isGranted(choice.code)) ++m_granted[static_cast<std::size_t>(choice.directive)];
      if (choice.code == "precision.pin_by_edit") arguments["edit"] = editFor(id, grant.asked);
      if (choice.code == "precision.nothing_to_pin") arguments["became"] = choice.why;
      if (!choice.why.empty()) {
        arguments["why"] = choice.why;
        arguments["granted"] = toText(grant.granted);
      }
    }
    record(choice.code, id, grant.by, std::move(arguments));
  }

  std::string authorText(NodeId id) const {
    const NodeFacts& facts = m_structure.facts[id.index];
    if (facts.author == NodeFacts::Author::CastUp) return "the Cast " + m_graph.node(facts.cast).name;
    return "the type that the network declares";
  }

  void answerOutput(NodeId id, ValueId value) {
    const int index = m_directives.outputType[value.index];
    const Directive& wish = directive(index);
    Json arguments{{"type", toText(wish.type)}, {"value", m_graph.value(value).name}};
    const std::string& why = m_solver.outputObstacle(value);
    if (!why.empty()) {
      arguments["why"] = why;
      const bool obey = wish.strictness == Strictness::Obey;
      return record(obey ? "precision.output_refused" : "precision.output_not_honoured", id, nameOf(index),
                    std::move(arguments));
    }
    ++m_granted[static_cast<std::size_t>(index)];
    const FusedNode& fused = *m_plan.fusedNodeOf(id);
    const bool real = std::ranges::find(fused.outputs, value, &FusedOutput::value) != fused.outputs.end();
    if (!real) arguments["held"] = toText(m_plan.storedType(value));
    record(real ? "precision.output_granted" : "precision.output_inner", id, nameOf(index), std::move(arguments));
  }

  /// Adds what a decision about pins in a body says that they cost; `apart`: as if they shared nothing.
  static void addCost(const Decision& decision, const BodyPath& path, DirectiveCost& cost, bool apart) {
    const Json& said = decision.arguments;
    const auto number = [&](const std::string& key) {
      return said.at(key).get<std::int64_t>() - (apart ? said.value("shared_" + key, std::int64_t{0}) : 0);
    };
    cost.kernels += number("kernels");
    cost.casts += number("casts");
    const bool known = cost.bytes && !said.at("bytes").is_null();
    cost.bytes = known ? std::optional(*cost.bytes + number("bytes")) : std::nullopt;
    for (const Json& lost : said.at("lost_fusions")) cost.lostFusions.push_back(path.of(lost.get<std::string>()));
  }

  static Json costArguments(const DirectiveCost& cost) {
    return {{"lost_fusions", cost.lostFusions},
            {"lost", cost.lostFusions.empty() ? "none" : joined(cost.lostFusions)},
            {"kernels", cost.kernels},
            {"casts", cost.casts},
            {"bytes", cost.bytes ? Json(*cost.bytes) : Json(nullptr)}};
  }

  /// The nodes that read memory and calculate in another type for the pin: their kernels are other kernels.
  std::vector<std::string> retyped(int index) const {
    std::vector<std::string> names;
    if (formOf(directive(index)).asks != AskedType::Calculated) return names;
    for (const NodeId id : m_directives.nodesOf[static_cast<std::size_t>(index)]) {
      const TypeChoice& choice = m_solver.choice(id);
      if (choice.directive != index || !isGranted(choice.code) || !m_plan.readsMemory(id)) continue;
      if (m_solver.typeWithout(id, index) != choice.type) names.push_back(m_graph.node(id).name);
    }
    return names;
  }

  /// Why a pin costs nothing.
  std::string becauseOf(int index) const {
    const bool same = std::ranges::all_of(m_directives.nodesOf[static_cast<std::size_t>(index)], [&](NodeId id) {
      const TypeChoice& choice = m_solver.choice(id);
      return choice.directive != index || !isGranted(choice.code) || m_solver.typeWithout(id, index) == choice.type;
    });
    return same ? "it would be so without it"
                : "its kernel holds what it calculates with in this type or a wider one, and nothing is read or "
                  "converted "
                  "for it";
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
      sum.kernels += cost.kernels;
      sum.casts += cost.casts;
      sum.bytes = sum.bytes && cost.bytes ? std::optional(*sum.bytes + *cost.bytes) : std::nullopt;
      Json arguments = costArguments(cost);
      arguments["type"] = toText(directive(index).type);
      const std::vector<std::string> others = retyped(index);
      arguments["retyped"] = others.size();
      const bool free = cost.free() && others.empty();
      if (free) arguments["because"] = becauseOf(index);
      m_decisions.push_back(decide(free ? "precision.pin_free" : "precision.pin_price", namedBy(index), nameOf(index),
                                   std::move(arguments)));
    }
    answerTogether(pins, std::move(sum));
  }

  std::vector<Subject> namedBy(int index) const {
    std::vector<Subject> subjects;
    for (const NodeId id : m_directives.nodesOf[static_cast<std::size_t>(index)])
      subjects.push_back(Subject::node(m_graph.node(id).name));
    return subjects;
  }

  /// A pin without which there would be other codes in the network: another network, not other types in this one.
  void answerInFloats(int index, const std::vector<NodeId>& nodes) {
    std::vector<std::string> names;
    for (const NodeId id : nodes) names.push_back(m_graph.node(id).name);
    Json arguments{{"type", toText(directive(index).type)}, {"count", names.size()}, {"nodes", joined(names)}};
    m_decisions.push_back(decide("precision.pin_in_floats", namedBy(index), nameOf(index), std::move(arguments)));
  }

  /// All pins, those in bodies included, whose plans have answered for them: what is in a body shares nothing with what
  /// is around it, since its borders keep their types.
  void answerTogether(const std::vector<int>& pins, DirectiveCost sum) {
    std::set<std::string> names;
    for (const int index : pins) names.insert(nameOf(index));
    std::vector<std::pair<const Decision*, BodyPath>> inside;  // with the body that each is of
    for (const PlannedBody& body : m_plan.bodies) {
      const Decision* together = nullptr;
      std::vector<const Decision*> single;
      for (const Decision& decision : body.plan->decisions) {
        if (decision.code == "precision.pins_together") together = &decision;
        if (decision.code != "precision.pin_free" && decision.code != "precision.pin_price") continue;
        names.insert(decision.by);
        single.push_back(&decision);
      }
      if (together != nullptr) single = {together};
      const BodyPath path = BodyPath().into(m_graph.node(body.holder), body.attribute);
      for (const Decision* decision : single) inside.emplace_back(decision, path);
    }
    if (names.size() < 2) return;
    DirectiveCost all = pins.empty() ? DirectiveCost() : m_solver.costOf(pins);
    for (const auto& [decision, path] : inside) {
      addCost(*decision, path, all, false);
      addCost(*decision, path, sum, true);
    }
    Json arguments = costArguments(all);
    arguments["pins"] = names.size();
    arguments["shared_casts"] = all.casts - sum.casts;
    arguments["shared_kernels"] = all.kernels - sum.kernels;
    arguments["shared_bytes"] = all.bytes && sum.bytes ? Json(*all.bytes - *sum.bytes) : Json(nullptr);
    m_decisions.push_back(decide("precision.pins_together", {}, "precision", std::move(arguments)));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  const Target& m_target;
  const Structure& m_structure;
  const DirectiveMap& m_directives;
  TypeSolver& m_solver;
  const std::map<int, std::vector<NodeId>>& m_keptInFloats;
  std::vector<int> m_granted;  ///< by directive: on how many nodes or values
  std::vector<Decision> m_decisions;
};

}  // namespace

std::vector<PrecisionGrant> typeGrants(const Plan& plan, const Structure& structure, const TypeSolver& solver) {
  std::vector<PrecisionGrant> grants;
  grants.reserve(plan.graph().nodeCount());
  for (const NodeId id : plan.graph().order()) {
    const TypeChoice& choice = solver.choice(id);
    PrecisionGrant grant{
        .node = id, .granted = choice.type, .by = byOf(plan, choice), .code = std::string(choice.code)};
    if (choice.directive >= 0) grant.asked = plan.options.directives[static_cast<std::size_t>(choice.directive)].type;
    const auto& outputs = plan.graph().node(id).outputs;
    const auto result = std::ranges::find_if(outputs, [](ValueId value) { return value.valid(); });
    // What moves has the type of its result.
    if (choice.type == DataType::Undefined)
      grant.granted = result == outputs.end() ? structure.facts[id.index].natural : plan.storedType(*result);
    grants.push_back(std::move(grant));
  }
  return grants;
}

std::vector<Decision> answerTypes(const Plan& plan, const DirectiveMap& directives, TypeSolver& solver,
                                  const std::map<int, std::vector<NodeId>>& keptInFloats) {
  return TypeAnswerer(plan, directives, solver, keptInFloats).run();
}

}  // namespace fusescope
