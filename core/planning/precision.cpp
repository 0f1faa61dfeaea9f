#include <algorithm>
#include <map>

#include "base/text.h"
#include "ops/op_schema.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

/// Whether nodes compute in the type. Floats of a byte and less are only stored and converted.
bool computesIn(DataType type) {
  return isFloat(type) && bitWidth(type) >= 16;
}

/// The float types that precision may exchange for one another. F64 and float8 are what the model says.
bool exchangeable(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

class PrecisionStep {
 public:
  PrecisionStep(const Graph& graph, const Target& target, const Partitioning& partition, const Truncation& truncation,
                const DirectiveMap& directives, const PlanOptions& options, const std::vector<DataType>& measured)
      : m_graph(graph),
        m_target(target),
        m_partition(partition),
        m_truncation(truncation),
        m_directives(directives),
        m_options(options),
        m_measured(measured) {
    for (DataType type : options.precisions) {
      if (type != DataType::F32) m_asked.push_back(type);
    }
    m_result.compute.assign(graph.nodeIdLimit(), DataType::Undefined);
    m_result.isFloat.assign(graph.nodeIdLimit(), 0);
    m_result.outputType.assign(graph.valueIdLimit(), DataType::Undefined);
  }

  PrecisionMap run() {
    for (NodeId id : m_graph.order()) {
      assign(m_graph.node(id));
      assignOutputs(m_graph.node(id));
    }
    return std::move(m_result);
  }

 private:
  bool inFallback(const Node& node) const {
    return m_partition.segments[m_partition.segmentOf[node.id.index].index].kind == SegmentKind::Fallback;
  }

  DataType typeOf(const Node& node, ValueId value) const {
    return inFallback(node) ? m_graph.value(value).type.dtype : m_truncation.types[value.index];
  }

  /// The type a node computes in if nobody asks for another: that of its first float output, else of its first float
  /// operand, else of its first output. Operators about extents read no elements.
  DataType naturalType(const Node& node) const {
    const OpSchema* schema = OpRegistry::standard().find(node);
    const bool aboutExtents = schema != nullptr && schema->kind == OpKind::Shape && node.op != "ConstantOfShape";
    DataType first = DataType::Undefined;
    for (ValueId value : node.outputs) {
      if (!value.valid()) continue;
      const DataType type = typeOf(node, value);
      if (computesIn(type)) return type;
      if (first == DataType::Undefined) first = type;
    }
    if (aboutExtents) return first;
    for (ValueId value : node.inputs) {
      if (value.valid() && computesIn(typeOf(node, value))) return typeOf(node, value);
    }
    return first;
  }

  struct Choice {
    DataType type;
    const char* code;
    std::string by;
    Json arguments = Json::object();
  };

  Choice unpinned(const Node& node, DataType natural) const {
    const std::string typeName(name(natural));
    if (!computesIn(natural)) return {natural, "precision.not_float", "precision"};
    if (inFallback(node)) return {natural, "precision.fallback", "precision", {{"type", typeName}}};
    if (m_asked.empty()) return {natural, "precision.default", "default", {{"type", typeName}}};
    if (!exchangeable(natural) || natural != DataType::F32) {
      return {natural, "precision.type_kept", "precision", {{"type", typeName}, {"target", m_target.name}}};
    }
    if (m_asked.size() > 1) {
      const DataType fastest = m_measured.empty() ? DataType::Undefined : m_measured[node.id.index];
      if (fastest == DataType::Undefined) {
        return {natural, "precision.not_measured", "precision", {{"type", typeName}}};
      }
      return {fastest, "precision.measured", "cost_model", {{"type", std::string(name(fastest))}}};
    }
    if (!m_target.computeTypes.contains(m_asked.front())) {
      return {natural, "precision.type_kept", "precision", {{"type", typeName}, {"target", m_target.name}}};
    }
    return {m_asked.front(), "precision.lowered", "precision", {{"type", std::string(name(m_asked.front()))}}};
  }

  /// Why `type` cannot be granted; empty if it can.
  std::string obstacle(const Node& node, DataType natural, DataType type) const {
    if (type == natural) return {};
    if (!computesIn(natural)) return "it computes no floats";
    if (inFallback(node)) return "it runs in fallback, which keeps the model's types";
    if (!exchangeable(natural)) return "it computes in " + std::string(name(natural)) + ", which is never exchanged";
    if (!m_target.computeTypes.contains(type)) {
      return "target " + m_target.name + " does not compute in " + std::string(name(type));
    }
    return {};
  }

  void assign(const Node& node) {
    const DataType natural = naturalType(node);
    Choice choice = unpinned(node, natural);
    PrecisionGrant grant{.node = node.id};
    if (const int index = m_directives.pin[node.id.index]; index >= 0) {
      const Directive& pin = m_options.directives[static_cast<std::size_t>(index)];
      grant.asked = pin.type;
      const std::string why = obstacle(node, natural, pin.type);
      Json arguments{{"type", std::string(name(pin.type))}};
      if (why.empty()) {
        choice = {pin.type, "precision.pin_granted", directiveName(pin), std::move(arguments)};
      } else {
        arguments["why"] = why;
        arguments["granted"] = std::string(name(choice.type));
        const bool obey = pin.strictness == Strictness::Obey;
        choice.code = obey ? "precision.pin_refused" : "precision.pin_not_honoured";
        choice.by = directiveName(pin);
        choice.arguments = std::move(arguments);
      }
    }
    grant.granted = choice.type;
    grant.by = choice.by;
    grant.code = choice.code;
    m_result.compute[node.id.index] = choice.type;
    m_result.isFloat[node.id.index] = computesIn(natural);
    m_result.grants.push_back(grant);
    m_result.decisions.push_back(
        decide(choice.code, {Subject::node(node.name)}, choice.by, std::move(choice.arguments)));
  }

  void assignOutputs(const Node& node) {
    std::map<int, std::vector<ValueId>> wishes;
    for (const ValueId value : node.outputs)
      if (value.valid() && m_directives.outputType[value.index] >= 0)
        wishes[m_directives.outputType[value.index]].push_back(value);
    for (const auto& [index, values] : wishes) assignOutput(node, values, index);
  }

  void assignOutput(const Node& node, const std::vector<ValueId>& values, int index) {
    const Directive& wish = m_options.directives[static_cast<std::size_t>(index)];
    const bool anyFloat =
        std::any_of(values.begin(), values.end(), [&](ValueId value) { return exchangeable(typeOf(node, value)); });
    std::string why;
    if (!anyFloat) why = "it leaves no float that could be exchanged";
    if (why.empty() && inFallback(node)) why = "it runs in fallback, which keeps the model's types";
    if (why.empty() && !m_target.computeTypes.contains(wish.type)) {
      why = "target " + m_target.name + " does not store " + std::string(name(wish.type));
    }
    Json arguments{{"type", std::string(name(wish.type))}};
    const char* code = "precision.output_granted";
    if (why.empty()) {
      for (const ValueId value : values) m_result.outputType[value.index] = wish.type;
    } else {
      arguments["why"] = why;
      const bool obey = wish.strictness == Strictness::Obey;
      code = obey ? "precision.output_refused" : "precision.output_not_honoured";
    }
    m_result.decisions.push_back(decide(code, {Subject::node(node.name)}, directiveName(wish), std::move(arguments)));
  }

  const Graph& m_graph;
  const Target& m_target;
  const Partitioning& m_partition;
  const Truncation& m_truncation;
  const DirectiveMap& m_directives;
  const PlanOptions& m_options;
  const std::vector<DataType>& m_measured;
  std::vector<DataType> m_asked;
  PrecisionMap m_result;
};

}  // namespace

PrecisionMap assignPrecision(const Graph& graph, const Target& target, const Partitioning& partition,
                             const Truncation& truncation, const DirectiveMap& directives, const PlanOptions& options,
                             const std::vector<DataType>& measuredFaster) {
  return PrecisionStep(graph, target, partition, truncation, directives, options, measuredFaster).run();
}

}  // namespace fusescope
