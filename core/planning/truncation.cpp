#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

constexpr std::int64_t kLow = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHigh = std::numeric_limits<std::int32_t>::max();

DecisionArguments arguments(const std::string& value, DataType from, DataType to) {
  return {{"value", value}, {"from", toText(from)}, {"to", toText(to)}};
}

/// Returns the nodes whose bodies read `value` from outside.
std::vector<NodeId> capturersOf(const Graph& graph, ValueId value) {
  std::vector<NodeId> holders;
  for (const NodeId consumer : graph.value(value).consumers) {
    const bool captures = std::ranges::any_of(graph.node(consumer).attributes, [&](const auto& entry) {
      const auto* body = std::get_if<Subgraph>(&entry.second);
      return body != nullptr && std::ranges::find(body->captures, value) != body->captures.end();
    });
    if (captures && std::ranges::find(holders, consumer) == holders.end()) holders.push_back(consumer);
  }
  return holders;
}

/// Returns the same for a constant, and also whether and where bodies read it.
DecisionArguments constantArguments(const Graph& graph, ValueId constant, DataType from, DataType to) {
  DecisionArguments all = arguments(graph.value(constant).name, from, to);
  std::vector<std::string> holders;
  for (const NodeId holder : capturersOf(graph, constant)) holders.push_back(graph.node(holder).name);
  all["captured_by"] = holders;
  all["captured"] = holders.empty() ? "" : " (read from outside in bodies of " + joined(holders) + ")";
  return all;
}

/// Returns the first element that would be lost, as text, or nothing if there is none. For F64, an element is lost that
/// overflows or becomes zero.
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

/// Returns whether `node` reads `value` only where a number beyond the int32 range means that there is no limit: starts
/// and ends of Slice(data, starts, ends, axes, steps), which are clamped to the extent, and the maximum number of boxes
/// of a class in NonMaxSuppression(boxes, scores, most, …), of which there are fewer.
bool saturates(const Node& node, ValueId value) {
  const auto reads = [&](std::initializer_list<std::size_t> positions) {
    return std::ranges::any_of(positions, [&](std::size_t position) { return node.input(position) == value; });
  };
  if (node.is("Slice")) return !reads({0, 3, 4});
  return node.is("NonMaxSuppression") && !reads({0, 1, 3, 4});
}

/// A graph or the graph of a body, with tables that answer questions about its values in constant time.
class Scope {
 public:
  explicit Scope(const Graph& graph) : graph(graph), m_input(graph.valueIdLimit()), m_output(graph.valueIdLimit()) {
    for (const ValueId id : graph.inputs()) m_input[id.index] = 1;
    for (const ValueId id : graph.outputs()) m_output[id.index] = 1;
  }
  bool isInput(ValueId id) const { return m_input[id.index] != 0; }

  /// Returns the first reader of a value, if all its readers treat every number beyond the int32 range as no limit.
  NodeId saturatingReader(ValueId id) const {
    const std::vector<NodeId>& readers = graph.value(id).consumers;
    if (readers.empty() || m_output[id.index] != 0) return {};
    for (const NodeId reader : readers)
      if (!saturates(graph.node(reader), id)) return {};
    return readers.front();
  }

  const Graph& graph;

 private:
  std::vector<char> m_input, m_output;
};

/// What happens to a constant that could be narrowed.
struct ConstantVerdict {
  bool narrows = true;
  bool hasData = true;
  std::string loss;    ///< the first element that does not survive
  NodeId saturatesAt;  ///< who does not mind
};

ConstantVerdict judge(const Scope& scope, ValueId id, DataType from) {
  const Tensor* data = scope.graph.constantData(id);
  if (data == nullptr) return {.narrows = false, .hasData = false};
  const std::optional<std::string> loss = firstLoss(*data);
  if (!loss) return {};
  const NodeId reader = from == DataType::I64 ? scope.saturatingReader(id) : NodeId();
  return {.narrows = reader.valid(), .loss = *loss, .saturatesAt = reader};
}

class Truncator {
 public:
  Truncator(const Graph& graph, const Target& target, TruncateModes modes, GraphInputs inputs)
      : m_graph(graph), m_target(target), m_modes(modes), m_inputs(inputs) {
    m_result.saturatesAt.assign(graph.valueIdLimit(), NodeId());
    m_result.types.assign(graph.valueIdLimit(), DataType::Undefined);
    m_result.refused.assign(graph.valueIdLimit(), 0);
  }

  Truncation run() {
    const Scope scope(m_graph);
    std::vector<char> wide(m_graph.valueIdLimit(), 0);
    for (const ValueId id : m_graph.inputs())
      wide[id.index] = m_inputs == GraphInputs::FromHolder || !narrows(m_modes.inputs, typeOf(m_graph, id)) ? 1 : 0;
    keepWide(m_graph, wide);
    for (ValueId id : m_graph.allValues()) value(scope, id, wide[id.index] != 0);
    for (const NodeId id : m_graph.order()) bodiesOf(id, m_graph, id, {m_result.types, wide});
    return std::move(m_result);
  }

 private:
  /// What is known of the values around a body, by ValueId of the graph that contains its holder.
  struct Around {
    const std::vector<DataType>& types;
    const std::vector<char>& wide;
  };

  static DataType typeOf(const Graph& graph, ValueId id) { return graph.value(id).type.dtype; }
  bool isNarrowedByAMode(DataType type) const {
    return narrows(m_modes.inputs, type) || narrows(m_modes.constants, type);
  }

  /// Determines by ValueId which values stay wide only because of the modes; those of the inputs are given. If an
  /// operand of the same type stays wide, so does the result of a node.
  void keepWide(const Graph& graph, std::vector<char>& wide) const {
    for (const ValueId id : graph.allValues())
      if (graph.isConstant(id)) wide[id.index] = narrows(m_modes.constants, typeOf(graph, id)) ? 0 : 1;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      for (const ValueId output : node.outputs) {
        if (!output.valid()) continue;
        const DataType type = typeOf(graph, output);
        const bool ofWide = std::ranges::any_of(operands(node), [&](ValueId operand) {
          return operand.valid() && wide[operand.index] != 0 && typeOf(graph, operand) == type;
        });
        wide[output.index] = ofWide || !isNarrowedByAMode(type) ? 1 : 0;
      }
    }
  }

  DataType truncated(DataType from, bool wide) const {
    return wide ? from : truncatedType(m_target, TruncateMode::All, from);
  }

  void value(const Scope& scope, ValueId id, bool wide) {
    const Value& value = m_graph.value(id);
    const DataType from = value.type.dtype;
    m_result.types[id.index] = from;
    if (value.type.container != Container::None) return;  // no segment that truncates includes them
    const DataType to = truncated(from, wide);
    if (to == from) {
      if (auto said = notChosen(scope, id)) m_result.decisions.push_back(std::move(*said));
      return;
    }
    if (m_graph.isConstant(id)) {
      const ConstantVerdict verdict = judge(scope, id, from);
      if (!verdict.narrows) return refuse(id, verdict, to);
      m_result.saturatesAt[id.index] = verdict.saturatesAt;
      m_result.plan.constants.push_back({id, from, to, capturersOf(m_graph, id)});
    } else {
      (scope.isInput(id) ? m_result.plan.inputs : m_result.plan.produced).push_back({id, from, to});
    }
    m_result.types[id.index] = to;
  }

  void refuse(ValueId id, const ConstantVerdict& verdict, DataType to) {
    Decision refused = refusal(m_graph, id, verdict, to);
    m_result.plan.refused.push_back({id, refused.code, message(refused)});
    m_result.refused[id.index] = 1;
    m_result.whyRefused[{NodeId(), m_graph.value(id).name}] = whyWide(verdict, to);
    m_result.decisions.push_back(std::move(refused));
  }

  /// Returns "holds 1e300, which does not fit into f32".
  static std::string whyWide(const ConstantVerdict& verdict, DataType to) {
    if (!verdict.hasData) return "has no data to prove that it fits into " + toText(to);
    return "holds " + verdict.loss + ", which does not fit into " + toText(to);
  }

  static Decision refusal(const Graph& graph, ValueId constant, const ConstantVerdict& verdict, DataType to) {
    const Value& value = graph.value(constant);
    DecisionArguments all = constantArguments(graph, constant, value.type.dtype, to);
    if (verdict.hasData) all["element"] = verdict.loss;
    return decide(verdict.hasData ? "truncate.constant_out_of_range" : "truncate.constant_without_data",
                  {Subject::value(value.name)}, "truncation", std::move(all));
  }

  /// If the target lacks the type and only a mode keeps the value wide, returns the decision with the option that would
  /// narrow it.
  std::optional<Decision> notChosen(const Scope& scope, ValueId id) const {
    const Value& value = scope.graph.value(id);
    const DataType from = value.type.dtype;
    if (truncatedType(m_target, TruncateMode::All, from) == from) return std::nullopt;
    const bool isConstant = scope.graph.isConstant(id), isInput = !isConstant && !value.producer.valid();
    if (isConstant && !judge(scope, id, from).narrows) return std::nullopt;
    // The input of a body, whose holder passes it in this type.
    if (isInput && narrows(m_modes.inputs, from)) return std::nullopt;
    const auto covered = [&](DataType type) {
      return type == from || (!isConstant && narrows(m_modes.inputs, type)) ||
             (!isInput && narrows(m_modes.constants, type));
    };
    const bool longs = covered(DataType::I64), doubles = covered(DataType::F64);
    const TruncateMode wanted = !doubles ? TruncateMode::Long : !longs ? TruncateMode::Double : TruncateMode::All;
    const bool alone = m_modes.inputs != m_modes.constants && (isConstant || isInput);
    const char* option = !alone ? "--truncate" : isConstant ? "--truncate-constants" : "--truncate-inputs";
    return decide("truncate.not_chosen", {Subject::value(value.name)}, "truncation",
                  {{"value", value.name},
                   {"from", toText(from)},
                   {"target", m_target.name},
                   {"option", option},
                   {"mode", std::string(name(wanted))}});
  }

  void bodiesOf(NodeId holder, const Graph& graph, NodeId node, const Around& around) {
    for (const auto& [key, attribute] : graph.node(node).attributes)
      if (const auto* body = std::get_if<Subgraph>(&attribute))
        insideBody(holder, graph, graph.node(node), *body, around);
  }

  /// Returns which inputs of a body stay wide: those that are captured or passed in wide.
  std::vector<char> wideInputs(const Graph& outer, const Node& node, const Subgraph& body, const Around& around) const {
    const Graph& graph = *body.graph;
    std::vector<char> wide(graph.valueIdLimit(), 0);
    const std::size_t own = graph.inputs().size() - body.captures.size();
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
      const ValueId input = graph.inputs()[i], from = i < own ? node.input(i) : body.captures[i - own];
      const DataType type = typeOf(graph, input);
      const bool isSame = from.valid() && typeOf(outer, from) == type;
      wide[input.index] = isSame ? around.wide[from.index] : isNarrowedByAMode(type) ? 0 : 1;
    }
    return wide;
  }

  void insideBody(NodeId holder, const Graph& outer, const Node& node, const Subgraph& body, const Around& around) {
    const Scope scope(*body.graph);
    TruncatedBody result{
        .holder = holder, .body = &body, .types = std::vector<DataType>(scope.graph.valueIdLimit()), .narrowed = {}};
    std::vector<char> wide = wideInputs(outer, node, body, around);
    keepWide(scope.graph, wide);
    const std::vector<ValueId>& inputs = scope.graph.inputs();
    const std::size_t own = inputs.size() - body.captures.size();
    std::vector<char> captured(scope.graph.valueIdLimit(), 0);
    for (std::size_t i = own; i < inputs.size(); ++i) {
      captured[inputs[i].index] = 1;
      result.types[inputs[i].index] = around.types[body.captures[i - own].index];
    }
    for (const ValueId id : scope.graph.allValues())
      if (captured[id.index] == 0) valueInside(scope, id, wide[id.index] != 0, result);
    for (const NodeId id : scope.graph.order()) bodiesOf(holder, scope.graph, id, {result.types, wide});
    const auto [known, added] = m_result.bodyIndex.emplace(&body, m_result.bodies.size());
    if (added) {
      m_result.bodies.push_back(std::move(result));
    } else {
      keepWidest(m_result.bodies[known->second], result);
    }
  }

  /// If the holder of a body occurs in two places, so does the body; a value that stays wide in one of them stays wide
  /// in both.
  static void keepWidest(TruncatedBody& known, const TruncatedBody& other) {
    const Graph& graph = *known.body->graph;
    for (const ValueId id : graph.allValues())
      if (other.types[id.index] != known.types[id.index]) known.types[id.index] = graph.value(id).type.dtype;
  }

  void valueInside(const Scope& scope, ValueId id, bool wide, TruncatedBody& result) {
    const Value& value = scope.graph.value(id);
    const DataType from = value.type.dtype;
    result.types[id.index] = from;
    if (value.type.container != Container::None) return;
    const DataType to = truncated(from, wide);
    if (to == from) {
      if (auto said = notChosen(scope, id)) m_result.decisions.push_back(std::move(*said));
      return;
    }
    const char* code = "truncate.produced";
    DecisionArguments all = arguments(value.name, from, to);
    if (scope.graph.isConstant(id)) {
      all = constantArguments(scope.graph, id, from, to);
      const ConstantVerdict verdict = judge(scope, id, from);
      if (!verdict.narrows) {
        m_result.decisions.push_back(refusal(scope.graph, id, verdict, to));
        m_result.whyRefused[{result.holder, value.name}] = whyWide(verdict, to);
        return;
      }
      code = verdict.saturatesAt.valid() ? "truncate.constant_saturates" : "truncate.constant";
      if (verdict.saturatesAt.valid()) {
        all["element"] = verdict.loss;
        all["consumer"] = scope.graph.node(verdict.saturatesAt).name;
      }
    }
    result.types[id.index] = to;
    result.narrowed.push_back(
        decide(code, {Subject::value(value.name), Subject::node(m_graph.node(result.holder).name)}, "truncation", all));
  }

  const Graph& m_graph;
  const Target& m_target;
  const TruncateModes m_modes;
  const GraphInputs m_inputs;
  Truncation m_result;
};

/// Adds the decisions about the values that are narrowed.
void recordNarrowed(const Graph& graph, const std::vector<char>& accelerated, Truncation& truncation) {
  const auto record = [&](const char* code, const std::vector<TruncatedValue>& entries) {
    for (const TruncatedValue& entry : entries) {
      const std::string& name = graph.value(entry.value).name;
      const bool isConstant = graph.isConstant(entry.value);
      DecisionArguments all = isConstant ? constantArguments(graph, entry.value, entry.from, entry.to)
                                         : arguments(name, entry.from, entry.to);
      const NodeId reader = truncation.saturatesAt[entry.value.index];
      if (reader.valid()) {
        all["consumer"] = graph.node(reader).name;
        all["element"] = firstLoss(*graph.constantData(entry.value)).value_or("");
      }
      truncation.decisions.push_back(decide(reader.valid() ? "truncate.constant_saturates" : code,
                                            {Subject::value(name)}, "truncation", std::move(all)));
    }
  };
  record("truncate.input", truncation.plan.inputs);
  record("truncate.constant", truncation.plan.constants);
  record("truncate.produced", truncation.plan.produced);
  for (const TruncatedBody& inside : truncation.bodies) {
    if (accelerated[inside.holder.index] == 0) continue;
    truncation.decisions.insert(truncation.decisions.end(), inside.narrowed.begin(), inside.narrowed.end());
  }
}

}  // namespace

bool narrows(TruncateMode mode, DataType type) {
  if (type == DataType::I64) return mode == TruncateMode::Long || mode == TruncateMode::All;
  return type == DataType::F64 && (mode == TruncateMode::Double || mode == TruncateMode::All);
}

DataType truncatedType(const Target& target, TruncateMode mode, DataType type) {
  if (!narrows(mode, type)) return type;
  if (type == DataType::I64) return target.lacksInt64 ? DataType::I32 : type;
  return target.lacksFloat64 ? DataType::F32 : type;
}

Truncation planTruncation(const Graph& graph, const Target& target, TruncateModes modes, GraphInputs inputs) {
  return Truncator(graph, target, modes, inputs).run();
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
  recordNarrowed(graph, accelerated, truncation);
  const auto answer = [&](int index, TruncateMode mode, std::size_t values) {
    if (index < 0) return;
    const Directive& directive = options.directives[static_cast<std::size_t>(index)];
    truncation.decisions.push_back(
        decide("truncate.mode", {}, causeOf(directive),
               {{"mode", std::string(name(mode))}, {"values", values}, {"target", target.name}}));
  };
  const std::size_t ofInputs = truncation.plan.inputs.size() + truncation.plan.produced.size();
  const std::size_t ofConstants = truncation.plan.constants.size();
  const bool isOne = directives.truncateInputsDirective == directives.truncateConstantsDirective;
  answer(directives.truncateInputsDirective, directives.truncate.inputs, isOne ? ofInputs + ofConstants : ofInputs);
  if (!isOne) answer(directives.truncateConstantsDirective, directives.truncate.constants, ofConstants);
}

}  // namespace fusescope
