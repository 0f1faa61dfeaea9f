#include "planning/plan_bodies.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "calibration/quantize_graph.h"
#include "calibration/ranges.h"
#include "planning/directive_answers.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/match_pattern.h"
#include "planning/quantized_model.h"
#include "planning/structure.h"
#include "planning/types/type_answers.h"

namespace fusescope {

namespace {

/// Returns a test of whether a node is in the body or in a body inside it.
auto isIn(const ModelBody& body) {
  return [&body](const BodyNode& found) { return found.holder == body.holder && found.attribute() == body.attribute; };
}

class BodiesPlanner {
 public:
  BodiesPlanner(Plan& plan, const DirectiveMap& directives, const BodyPlanner& planBody)
      : m_plan(plan), m_graph(plan.graph()), m_directives(directives), m_planBody(planBody) {}

  Result<Explanations> run() {
    for (const NodeId id : m_graph.order()) {
      if (!m_plan.structure->accelerated[id.index]) continue;
      for (const auto& [key, attribute] : m_graph.node(id).attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute)) TRY(plan(m_graph.node(id), key, *body));
    }
    answerTheRest();
    return std::move(m_said);
  }

 private:
  Status plan(const Node& holder, const std::string& attribute, const Subgraph& body) {
    const auto entry = std::ranges::find_if(m_plan.model->bodies, [&](const ModelBody& known) {
      return known.holder == holder.id && known.attribute == attribute && known.model->graph == body.graph;
    });
    if (entry == m_plan.model->bodies.end()) return Done{};
    std::set<Cause> handed;
    const PlanOptions options = TRY(optionsFor(*entry, handed));
    auto planned = m_planBody(TRY(atBorderTypes(entry->model, body)), options, holder.id, attribute);
    if (!planned.ok()) {
      Diagnostic error = std::move(planned).error();
      if (!error.where.node.empty()) error.where.node = BodyPath().into(holder, attribute).of(error.where.node);
      return error;
    }
    lift(BodyPath().into(holder, attribute), *planned.value(), handed);
    m_plan.bodies.push_back({holder.id, attribute, std::move(planned).value()});
    return Done{};
  }

  /// Returns the body with inputs and outputs of the types that its holder passes, where the target narrows them.
  Result<std::shared_ptr<const Model>> atBorderTypes(std::shared_ptr<const Model> model, const Subgraph& body) const {
    const Graph& graph = *model->graph;
    GraphEditor editor(graph);
    std::string narrowed;
    for (const auto* border : {&graph.inputs(), &graph.outputs()}) {
      for (const ValueId value : *border) {
        TensorType type = graph.value(value).type;
        const DataType inside = m_plan.structure->truncation.typeInside(body, value);
        if (inside == type.dtype || graph.isConstant(value)) continue;
        narrowed += graph.value(value).name + " " + std::string(name(inside)) + " ";
        type.dtype = inside;
        editor.setType(value, std::move(type));
      }
    }
    if (narrowed.empty()) return model;
    Model retyped = *model;
    retyped.graph = TRY(std::move(editor).publish());
    retyped.contentHash = hashText(model->contentHash.hex() + " " + narrowed);
    return std::make_shared<const Model>(std::move(retyped));
  }

  /// Directives about the whole network are passed to every body, and directives that match something in a body to that
  /// body.
  Result<PlanOptions> optionsFor(const ModelBody& body, std::set<Cause>& handed) const {
    PlanOptions options = m_plan.options;
    options.directives.clear();
    options.support.reset();  // it is about the network's nodes
    for (std::size_t i = 0; i < m_plan.options.directives.size(); ++i) {
      Directive directive = m_plan.options.directives[i];
      const DirectiveForm& form = formOf(directive);
      const bool ofAll = form.inBodies && directive.pattern.empty();
      const auto named = std::ranges::find_if(m_directives.inBodiesOf[i], isIn(body));
      if (!ofAll && named == m_directives.inBodiesOf[i].end()) continue;
      if (named != m_directives.inBodiesOf[i].end()) {
        handed.insert(causeOf(directive));
        directive.pattern = named->rest;
      }
      options.directives.push_back(std::move(directive));
    }
    if (options.ranges == nullptr) return options;
    if (!asksForIntegers(options)) {
      options.ranges.reset();
    } else {
      options.ranges = TRY(rangesFor(body));
    }
    return options;
  }

  /// Returns the ranges for this body.
  Result<std::shared_ptr<const Ranges>> rangesFor(const ModelBody& body) const {
    const Ranges& all = *m_plan.options.ranges;
    auto ranges = std::make_shared<Ranges>(all.inBody({m_graph.node(body.holder).name, body.attribute}));
    std::erase_if(ranges->edges, [&](const auto& edge) { return !namesValue(*body.model->graph, edge.first); });
    if (all.settings.exclude.empty()) return std::shared_ptr<const Ranges>(ranges);
    PatternMatcher matcher(*unquantized(m_plan.model));
    for (const std::string& pattern : all.settings.exclude) {
      const auto match = TRY(matcher.match(pattern));
      const auto named = std::ranges::find_if(match.inBodies, isIn(body));
      if (named != match.inBodies.end()) ranges->settings.exclude.push_back(named->rest);
    }
    return std::shared_ptr<const Ranges>(ranges);
  }

  /// Adds the body's answers to directives that were passed to it, with places as seen from here. Their evidence stays
  /// in the body.
  void lift(const BodyPath& path, const Plan& body, const std::set<Cause>& handed) {
    auto answer = body.answers.begin();
    for (std::uint32_t i = 0; i < body.decisions.size(); ++i) {
      const bool answers = answer != body.answers.end() && answer->decision == i;
      const DirectiveAnswer* ofThis = answers ? &*answer++ : nullptr;
      if (!handed.contains(body.decisions[i].by)) continue;
      Decision decision = body.decisions[i];
      decision.evidence.clear();
      for (Subject& subject : decision.subjects) subject.place.bodies = subject.place.bodies.within(path);
      if (ofThis == nullptr) {
        m_said.add(std::move(decision));
      } else {
        DirectiveAnswer lifted = liftedAnswer(path, *ofThis, decision.arguments);
        m_said.add(std::move(decision), std::move(lifted));
      }
    }
  }

  /// `arguments` are those of the decision that explains the answer.
  static DirectiveAnswer liftedAnswer(const BodyPath& path, const DirectiveAnswer& inside,
                                      DecisionArguments& arguments) {
    DirectiveAnswer answer{.outcome = inside.outcome, .value = inside.value, .cost = inside.cost};
    if (answer.value) {
      answer.value->bodies = answer.value->bodies.within(path);
      arguments["value"] = answer.value->text();
    }
    if (answer.cost) {
      for (std::string& lost : answer.cost->lostFusions) lost = path.of(lost);
      sayCost(*answer.cost, arguments);
    }
    return answer;
  }

  void answerTheRest() {
    const DirectiveAnswers answers(*m_plan.model);
    for (std::size_t i = 0; i < m_directives.inBodiesOf.size(); ++i)
      for (const BodyNode& found : m_directives.inBodiesOf[i])
        if (m_plan.bodyPlan(found.holder, found.attribute()) == nullptr)
          answers.aboutBodyNode(m_plan.options.directives[i], found, m_said);
  }

  Plan& m_plan;
  const Graph& m_graph;
  const DirectiveMap& m_directives;
  const BodyPlanner& m_planBody;
  Explanations m_said;
};

}  // namespace

Result<Explanations> planBodies(Plan& plan, const DirectiveMap& directives, const BodyPlanner& planBody) {
  return BodiesPlanner(plan, directives, planBody).run();
}

const Json* recordedBody(const Json& plan, const std::string& holder, const std::string& attribute) {
  for (const Json& fused : plan.at("fused_nodes")) {
    if (!fused.contains("bodies") || fused.at("root") != holder) continue;
    for (const Json& body : fused.at("bodies"))
      if (body.at("attribute") == attribute) return &body.at("plan");
  }
  return nullptr;
}

}  // namespace fusescope
