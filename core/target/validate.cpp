#include <algorithm>

#include "base/text.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "target/node_request.h"
#include "target/node_types.h"
#include "target/restrictions.h"
#include "target/runs_in.h"
#include "target/target_table.h"

namespace fusescope {

namespace {

/// A type for which a node is refused, and the value that has it.
struct Obstacle {
  std::string value;
  TensorType type;
  bool operatorLacks = false;  ///< the target has the type, the operator does not take it
};

/// "f32, f16 or int32".
/// Whether a Cast leaves numbers more or less as they are: a type of a byte or less holds codes, which a Cast does not
/// make of numbers, nor of codes of another sign.
bool castKeepsNumbers(DataType from, DataType to) {
  if (bitWidth(to) > 8 || from == DataType::Bool) return true;
  return isInteger(from) && isInteger(to) && bitWidth(from) < bitWidth(to);
}

std::string alternatives(const std::vector<DataType>& types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i)
    text += (i == 0 ? "" : i + 1 == types.size() ? " or " : ", ") + std::string(name(types[i]));
  return text;
}

/// Returns the row of the node's operator. Nothing is copied for operators of ONNX's own domain.
const OperatorRow* rowOf(const TargetTable& table, const Node& node) {
  return node.domain.empty() ? table.find(node.op) : table.find(operatorText(node.domain, node.op));
}

class Validator {
 public:
  explicit Validator(const NodeRequest& request)
      : m_request(request), m_table(*request.target.table), m_row(rowOf(m_table, request.node)) {}

  TargetVerdict run() {
    if (m_row == nullptr && m_table.unlisted == Unlisted::Accepted)
      return {.why = explained("validate.supported"), .supported = true};
    if (m_table.unlisted == Unlisted::ReferenceOnly) {
      const OpSchema* schema = OpRegistry::standard().find(m_request.node);
      if (schema == nullptr || !schema->kernel) {
        const auto [why, help] = whyNoKernel(m_request.node);
        return refused("validate.no_kernel", {{"why", help.empty() ? why : why + ". " + help}});
      }
    } else if (m_row == nullptr || !m_row->supported) {
      return operatorRefused();
    }
    if (auto obstacle = firstObstacle()) return typeRefused(*obstacle);
    if (m_row == nullptr) return refused("validate.reference_only", {{"backend", m_table.backend}});
    if (auto refusal = checkRestrictions()) return *refusal;
    if (auto refusal = checkBodies()) return *refusal;
    return supported();
  }

 private:
  Decision explained(std::string_view code, DecisionArguments arguments = {}) const {
    arguments["op"] = m_request.node.op;
    // If the machine decides which types there are, it is named.
    arguments["target"] = m_table.defaultCapability.empty() ? m_request.target.name : m_request.target.canonical();
    if (m_row != nullptr) arguments["source"] = m_row->source;
    return decide(code, {Subject::node(m_request.node.name)}, m_request.target.name, std::move(arguments));
  }

  TargetVerdict refused(std::string_view code, DecisionArguments arguments = {}) const {
    return {.why = explained(code, std::move(arguments))};
  }

  TargetVerdict supported() const {
    if (!m_conditions.empty()) {
      const std::string condition = joined(m_conditions, ", and that ");
      return {.why = explained("validate.supported_with_condition", {{"condition", condition}}),
              .supported = true,
              .qualified = true,
              .condition = condition};
    }
    if (!m_row->caveat.empty())
      return {.why = explained("validate.supported_with_caveat", {{"caveat", m_row->caveat}}),
              .supported = true,
              .qualified = true};
    return {.why = explained("validate.supported"), .supported = true};
  }

  TargetVerdict operatorRefused() const {
    DecisionArguments arguments = {{"hint", ""}};
    const std::string equivalent = m_row == nullptr ? std::string() : m_row->equivalent;
    if (!equivalent.empty()) {
      arguments["equivalent"] = equivalent;
      arguments["hint"] = "; it can be replaced by " + equivalent;
    }
    if (m_row == nullptr && m_request.node.domain.empty() && m_table.unlisted == Unlisted::Unknown) {
      arguments["version"] = m_table.operatorsOf;
      return refused("validate.unknown_for_version", std::move(arguments));
    }
    TargetVerdict verdict = refused("validate.operator_not_supported", std::move(arguments));
    verdict.equivalent = equivalent;
    return verdict;
  }

  bool operatorTakes(DataType type) const { return m_row == nullptr || m_row->anyType || m_row->types.contains(type); }

  /// Returns the obstacle of a value with this type. `spokenOf` is true if the operator's list of types is about the
  /// value.
  std::optional<Obstacle> obstacleAt(const TensorType* type, ValueId value, bool spokenOf) const {
    if (type == nullptr) return std::nullopt;
    const bool has = type->container == Container::None && m_request.target.types.contains(type->dtype);
    if (has && (!spokenOf || operatorTakes(type->dtype))) return std::nullopt;
    return Obstacle{m_request.nameOf(value), *type, has};
  }

  std::optional<Obstacle> firstObstacle() const {
    const Node& node = m_request.node;
    for (std::size_t i = 0; i < m_request.inputs.size(); ++i) {
      const bool spokenOf = m_row != nullptr && m_row->concernsInput(i);
      if (auto found = obstacleAt(m_request.inputs[i], node.input(i), spokenOf)) return found;
    }
    for (std::size_t i = 0; i < m_request.outputs.size(); ++i) {
      const ValueId value = i < node.outputs.size() ? node.outputs[i] : ValueId();
      const bool spokenOf = m_row != nullptr && m_row->typedOutputs;
      if (auto found = obstacleAt(m_request.outputs[i], value, spokenOf)) return found;
    }
    return std::nullopt;
  }

  TargetVerdict typeRefused(const Obstacle& obstacle) const {
    if (obstacle.type.dtype == DataType::Undefined && obstacle.type.container == Container::None) {
      return refused("validate.type_unknown", {{"value", obstacle.value}});
    }
    const std::string type = containerText(obstacle.type.container, std::string(name(obstacle.type.dtype)));
    DecisionArguments arguments = {{"type", type},
                                   {"value", obstacle.value},
                                   {"lacking", obstacle.operatorLacks ? "operator" : "target"},
                                   {"mend", ""}};
    std::vector<DataType> types = takenTypes();
    std::erase_if(types, [&](DataType to) { return !castKeepsNumbers(obstacle.type.dtype, to); });
    if (obstacle.operatorLacks && !types.empty())
      arguments["mend"] = "; with a Cast of it to " + alternatives(types) + " it would be supported";
    TargetVerdict verdict = refused("validate.type_not_supported", std::move(arguments));
    verdict.refusedType = {obstacle.value, type};
    return verdict;
  }

  /// Returns the types in the operator's row, in the order of the target's types.
  std::vector<DataType> takenTypes() const {
    std::vector<DataType> types;
    for (const TargetType& entry : m_table.types)
      if (m_row != nullptr && !m_row->anyType && m_row->types.contains(entry.type) &&
          m_request.target.types.contains(entry.type))
        types.push_back(entry.type);
    return types;
  }

  std::optional<TargetVerdict> checkRestrictions() {
    if (!m_row->since.empty()) m_conditions.push_back("the version is " + m_row->since + " or later");
    for (std::size_t i = 0; i < m_request.inputs.size(); ++i) {
      const TensorType* type = m_request.inputs[i];
      if (type == nullptr || !m_row->concernsInput(i) || !m_row->typesSince.contains(type->dtype)) continue;
      m_conditions.push_back("the version is " + m_row->typesSince.at(type->dtype) + " or later, for " +
                             std::string(name(type->dtype)));
      break;
    }
    for (const Restriction& restriction : m_row->restrictions) {
      const std::optional<Finding> finding = findBroken(m_request, restriction);
      if (!finding) continue;
      if (finding->holds == Holds::No) return refused(finding->code, finding->arguments);
      m_conditions.push_back(finding->statement);
    }
    return std::nullopt;
  }

  std::optional<TargetVerdict> checkBodies() {
    if (m_table.bodies == BodyRule::Parts) return checkParts();
    for (const auto& [key, attribute] : m_request.node.attributes) {
      const auto* body = std::get_if<Subgraph>(&attribute);
      if (body == nullptr) continue;
      if (auto refusal = checkBody(key, *body)) return refusal;
    }
    return std::nullopt;
  }

  /// The parts of the bodies that can run decide. If nothing can, the reason is that of the first node.
  std::optional<TargetVerdict> checkParts() const {
    std::optional<TargetVerdict> first;
    for (const auto& [key, attribute] : m_request.node.attributes) {
      const auto* body = std::get_if<Subgraph>(&attribute);
      if (body == nullptr) continue;
      const ValueScope scope(*body, m_request.scope);
      for (const NodeId id : body->graph->order()) {
        const Node& node = body->graph->node(id);
        const TargetVerdict inner = verdictInside(*body, scope, node);
        if (inner.supported) return std::nullopt;
        if (!first) first = bodyRefused(key, node.name, inner);
      }
    }
    return first;
  }

  TargetVerdict verdictInside(const Subgraph& body, const ValueScope& scope, const Node& node) const {
    const auto typeOf = [&](ValueId value) { return m_request.bodyTypes(body, value); };
    const NodeTypes types = typesOf(*body.graph, node, typeOf);
    return Validator({m_request.target, scope, node, types.inputs, types.outputs, m_request.bodyTypes}).run();
  }

  /// Checks the nodes of a body, then its inputs and outputs.
  std::optional<TargetVerdict> checkBody(const std::string& key, const Subgraph& body) {
    const ValueScope scope(body, m_request.scope);
    const Graph& graph = *body.graph;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const TargetVerdict inner = verdictInside(body, scope, node);
      if (!inner.supported) return bodyRefused(key, node.name, inner);
      if (!inner.condition.empty()) m_conditions.push_back("for " + node.name + " in " + key + ", " + inner.condition);
    }
    return checkEnds(key, body);
  }

  /// Checks the inputs and outputs of a body by themselves; what nodes read was checked with the nodes.
  std::optional<TargetVerdict> checkEnds(const std::string& key, const Subgraph& body) const {
    const Graph& graph = *body.graph;
    std::vector<ValueId> ends(graph.inputs().begin(),
                              graph.inputs().end() - static_cast<std::ptrdiff_t>(body.captures.size()));
    ends.insert(ends.end(), graph.outputs().begin(), graph.outputs().end());
    for (const ValueId id : ends) {
      TensorType type = graph.value(id).type;
      type.dtype = m_request.bodyTypes(body, id);
      const bool tensor = type.container == Container::None;
      if (tensor && (type.dtype == DataType::Undefined || m_request.target.types.contains(type.dtype))) continue;
      return bodyRefused(key, key, typeRefused({graph.value(id).name, type}));
    }
    return std::nullopt;
  }

  /// `inner` is the verdict on something in the body `key`; it names itself what is deeper.
  TargetVerdict bodyRefused(const std::string& key, const std::string& what, const TargetVerdict& inner) const {
    TargetVerdict::Inside inside{what, key + "/" + what, inner.why.code, message(inner.why)};
    if (inner.inside)
      inside = {inner.inside->inner, inside.path + "/" + inner.inside->path, inner.inside->code, inner.inside->reason};
    DecisionArguments arguments = {
        {"inner", inside.inner}, {"path", inside.path}, {"inner_code", inside.code}, {"reason", inside.reason}};
    for (const char* passed : {"type", "value", "equivalent"})
      if (inner.why.arguments.contains(passed)) arguments[passed] = inner.why.arguments[passed];
    TargetVerdict verdict = refused("validate.body_not_supported", std::move(arguments));
    verdict.equivalent = inner.equivalent;
    verdict.refusedType = inner.refusedType;
    verdict.inside = std::move(inside);
    return verdict;
  }

  const NodeRequest& m_request;
  const TargetTable& m_table;
  const OperatorRow* m_row;
  std::vector<std::string> m_conditions;
};

}  // namespace

bool runsIn(const Target& target, const Node& node, DataType type) {
  const TargetTable& table = *target.table;
  const OperatorRow* row = rowOf(table, node);
  if (row == nullptr || std::ranges::find(table.widened, type) != table.widened.end()) return true;
  if (!row->anyType && row->types.contains(DataType::F32) && !row->types.contains(type)) return false;
  return std::ranges::all_of(row->restrictions, [&](const Restriction& each) {
    const bool aboutTypes = each.subject == Restriction::Subject::Input && each.rule == Restriction::Rule::Types;
    const bool speaks =
        aboutTypes && appliesTo(each, target) && row->concernsInput(each.position) && node.input(each.position).valid();
    return !speaks || each.types.contains(type);
  });
}

TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs) {
  return validateNode(target, graph, node, inputs, outputs,
                      [](const Subgraph& body, ValueId value) { return body.graph->value(value).type.dtype; });
}

TargetVerdict validateNode(const Target& target, const Graph& graph, const Node& node,
                           std::span<const TensorType* const> inputs, std::span<const TensorType* const> outputs,
                           const BodyTypes& bodyTypes) {
  const ValueScope scope(graph);
  const NodeRequest request{target, scope, node, inputs, outputs, bodyTypes};
  return Validator(request).run();
}

}  // namespace fusescope
