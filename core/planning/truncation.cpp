#include <algorithm>
#include <cmath>
#include <limits>

#include "planning/steps.h"

namespace fusescope {

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();

std::string text(DataType type) {
  return std::string(name(type));
}

/// Whether the consumer of input `position` treats every number beyond the int32 range as its end: starts and ends
/// of Slice are clamped to the extent. Slice(data, starts, ends, axes, steps).
bool saturatesAt(const Node& node, std::size_t position) {
  return node.is("Slice") && (position == 1 || position == 2);
}

bool everyConsumerSaturates(const Graph& graph, ValueId value) {
  const auto& consumers = graph.value(value).consumers;
  if (consumers.empty() || graph.isOutput(value)) return false;
  return std::all_of(consumers.begin(), consumers.end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == value && !saturatesAt(node, i)) return false;
    }
    return true;
  });
}

/// The first element that does not survive, as text; nothing if all do. F64: what overflows or becomes zero.
std::optional<std::string> firstLoss(const Tensor& tensor) {
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (tensor.type() == DataType::I64) {
      const std::int64_t element = tensor.asInt64(i);
      if (element < kLow || element > kHigh) return std::to_string(element);
      continue;
    }
    const double element = tensor.asDouble(i);
    const float narrow = static_cast<float>(element);
    const bool overflows = std::isfinite(element) && !std::isfinite(narrow);
    if (overflows || (element != 0 && narrow == 0)) return jsonNumber(element).dump();
  }
  return std::nullopt;
}

Json arguments(const std::string& value, DataType from, DataType to) {
  return {{"value", value}, {"from", text(from)}, {"to", text(to)}};
}

class Truncator {
 public:
  Truncator(const Graph& graph, const Target& target, TruncateMode mode)
      : m_graph(graph), m_target(target), m_mode(mode) {
    m_result.types.assign(graph.valueIdLimit(), DataType::Undefined);
    m_result.refused.assign(graph.valueIdLimit(), 0);
  }

  Truncation run() {
    for (ValueId id : m_graph.allValues()) {
      const DataType from = m_graph.value(id).type.dtype;
      m_result.types[id.index] = from;
      if (m_graph.value(id).type.container != Container::None) continue;  // no segment that truncates takes them
      const DataType to = truncatedType(m_target, m_mode, from);
      if (to == from) continue;
      if (m_graph.isConstant(id)) {
        constant(id, from, to);
      } else {
        (m_graph.isInput(id) ? m_result.plan.inputs : m_result.plan.produced).push_back({id, from, to});
        m_result.types[id.index] = to;
      }
    }
    return std::move(m_result);
  }

 private:
  void constant(ValueId id, DataType from, DataType to) {
    const Value& value = m_graph.value(id);
    const Tensor* data = m_graph.constantData(id);
    if (data == nullptr) {
      // A small integer constant decides extents and must be proved; a weightless weight is looked at, never run.
      return accept(id, from, to);
    }
    const std::optional<std::string> loss = firstLoss(*data);
    if (!loss || (from == DataType::I64 && everyConsumerSaturates(m_graph, id))) return accept(id, from, to);
    const Decision refusal = decide("truncate.constant_out_of_range", {Subject::value(value.name)}, "truncation", [&] {
      Json all = arguments(value.name, from, to);
      all["element"] = *loss;
      return all;
    }());
    m_result.plan.refused.push_back({id, refusal.code, message(refusal)});
    m_result.refused[id.index] = 1;
    m_result.decisions.push_back(refusal);
  }

  void accept(ValueId id, DataType from, DataType to) {
    m_result.plan.constants.push_back({id, from, to});
    m_result.types[id.index] = to;
  }

  const Graph& m_graph;
  const Target& m_target;
  TruncateMode m_mode;
  Truncation m_result;
};

}  // namespace

DataType truncatedType(const Target& target, TruncateMode mode, DataType type) {
  const bool longs = mode == TruncateMode::Long || mode == TruncateMode::All;
  const bool doubles = mode == TruncateMode::Double || mode == TruncateMode::All;
  if (type == DataType::I64 && target.lacksInt64 && longs) return DataType::I32;
  if (type == DataType::F64 && target.lacksFloat64 && doubles) return DataType::F32;
  return type;
}

Truncation planTruncation(const Graph& graph, const Target& target, TruncateMode mode) {
  return Truncator(graph, target, mode).run();
}

void settleTruncation(const Graph& graph, const Target& target, const std::vector<char>& accelerated,
                      const DirectiveMap& directives, const PlanOptions& options, Truncation& truncation) {
  const auto readInside = [&](const TruncatedValue& entry) {
    const auto& consumers = graph.value(entry.value).consumers;
    return std::any_of(consumers.begin(), consumers.end(), [&](NodeId id) { return accelerated[id.index] != 0; });
  };
  const auto madeInside = [&](const TruncatedValue& entry) {
    const NodeId producer = graph.value(entry.value).producer;
    return producer.valid() && accelerated[producer.index] != 0;
  };
  std::erase_if(truncation.plan.inputs, [&](const auto& entry) { return !readInside(entry); });
  std::erase_if(truncation.plan.constants, [&](const auto& entry) { return !readInside(entry); });
  std::erase_if(truncation.plan.produced, [&](const auto& entry) { return !madeInside(entry); });
  const auto record = [&](const char* code, const std::vector<TruncatedValue>& entries) {
    for (const TruncatedValue& entry : entries) {
      const std::string& name = graph.value(entry.value).name;
      truncation.decisions.push_back(
          decide(code, {Subject::value(name)}, "truncation", arguments(name, entry.from, entry.to)));
    }
  };
  record("truncate.input", truncation.plan.inputs);
  record("truncate.constant", truncation.plan.constants);
  record("truncate.produced", truncation.plan.produced);
  if (directives.truncateDirective >= 0) {
    const Directive& directive = options.directives[static_cast<std::size_t>(directives.truncateDirective)];
    const std::size_t values =
        truncation.plan.inputs.size() + truncation.plan.constants.size() + truncation.plan.produced.size();
    truncation.decisions.push_back(
        decide("truncate.mode", {}, directiveName(directive),
               {{"mode", std::string(name(directives.truncate))}, {"values", values}, {"target", target.name}}));
  }
}

}  // namespace fusescope
