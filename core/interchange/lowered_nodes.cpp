#include "interchange/lowered_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/name_hints.h"
#include "base/text.h"
#include "interchange/export_notes.h"
#include "interchange/source_network.h"
#include "onnxlib/onnxlib.h"
#include "planning/structure.h"
#include "planning/types/typing.h"

namespace fusescope {
namespace {

/// Returns whether a plan, or that of one of its bodies, lowers a node.
bool lowersSomething(const Plan& plan) {
  const auto lowered = [](DataType type) { return isNarrow(type); };
  return std::ranges::any_of(plan.calculates, lowered) ||
         std::ranges::any_of(plan.bodies, [](const CoverBody& body) { return lowersSomething(plannedBody(body)); });
}

class Divider {
 public:
  Divider(const Plan& plan, std::optional<onnxlib::FileModel> file)
      : m_plan(plan), m_file(std::move(file)), m_nodes(plan.model->origins.size()) {
    for (const NodeId id : plan.graph().order())
      for (const OriginId origin : plan.graph().node(id).origins) m_nodes[origin.index].push_back(id);
    if (m_file)
      for (const onnxlib::FileTensor& tensor : m_file->graph.initializers)
        if (isFloat(tensor.dtype)) m_weights.insert(tensor.name);
  }

  std::vector<LoweredNode> run() const {
    std::vector<LoweredNode> nodes;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
      const Origin& origin = m_plan.model->origins[i];
      LoweredNode node{.name = origin.name,
                       .shown = origin.name,
                       .op = origin.op,
                       .module = origin.module,
                       .programNode = origin.programNode};
      if (const onnxlib::FileNode* own = ofFile(i)) {
        node.name = own->name;
        node.outputs = own->outputs;
        for (const std::string& input : own->inputs)
          if (m_weights.contains(input)) node.weights.push_back(input);
      } else {
        addValues(i, node);
      }
      std::erase(node.outputs, "");
      node.type = typeOf(i, origin);
      if (isFloat(node.type) || node.type == DataType::I8) nodes.push_back(std::move(node));
    }
    return nodes;
  }

 private:
  void addValues(std::size_t origin, LoweredNode& node) const {
    for (const NodeId id : m_nodes[origin]) {
      for (const ValueId value : m_plan.graph().node(id).outputs)
        if (value.valid()) node.outputs.push_back(m_plan.graph().value(value).name);
      for (const ValueId value : m_plan.graph().node(id).inputs)
        if (value.valid() && m_plan.graph().isConstant(value) && isFloat(m_plan.graph().value(value).type.dtype))
          node.weights.push_back(m_plan.graph().value(value).name);
    }
  }

  const onnxlib::FileNode* ofFile(std::size_t origin) const {
    return m_file && origin < m_file->graph.nodes.size() ? &m_file->graph.nodes[origin] : nullptr;
  }

  DataType typeOf(std::size_t origin, const Origin& about) const {
    if (isHolder(about.op)) return DataType::F32;
    DataType calculated = DataType::Undefined, moved = DataType::Undefined;
    for (const NodeId id : m_nodes[origin]) {
      const DataType type = typeOfNode(id);
      if (type == DataType::I8) return DataType::I8;
      DataType& known = moves(id) ? moved : calculated;
      known = widest(known, type);
    }
    if (calculated != DataType::Undefined) return calculated;
    return m_nodes[origin].empty() ? typeOfRemoved(origin) : moved;
  }

  bool moves(NodeId id) const {
    const NodeFacts& facts = m_plan.structure->facts[id.index];
    return facts.moves || !facts.floats;
  }

  DataType typeOfNode(NodeId id) const {
    const DataType calculated = m_plan.calculates[id.index];
    if (calculated == DataType::I8) return DataType::I8;
    return moves(id) ? typeOfMove(id) : isFloat(calculated) ? calculated : DataType::Undefined;
  }

  /// A move rounds nothing: it goes in the narrower type where what it moves has that already, or where all that reads
  /// it takes that. A kernel may hold such a value wider.
  DataType typeOfMove(NodeId id) const {
    if (const auto known = m_moves.find(id); known != m_moves.end()) return known->second;
    const Node& node = m_plan.graph().node(id);
    DataType type = DataType::Undefined;
    for (const ValueId value : node.outputs)
      if (value.valid() && isFloat(m_plan.storedType(value))) type = widest(type, m_plan.storedType(value));
    if (type == DataType::F32) {
      const DataType before = ofOperands(node);
      const DataType narrow = isNarrow(before) ? before : wantedBehind(id, 0);
      if (isNarrow(narrow)) type = narrow;
    }
    return m_moves[id] = type;
  }

  /// What the nodes are in that make the floats that a node reads: the widest.
  DataType ofOperands(const Node& node) const {
    DataType type = DataType::Undefined;
    for (const ValueId value : node.inputs) {
      if (!value.valid() || m_plan.graph().isConstant(value) || !isFloat(m_plan.graph().value(value).type.dtype))
        continue;
      const NodeId producer = m_plan.graph().value(value).producer;
      type = widest(type, producer.valid() ? typeOfNode(producer) : DataType::F32);
    }
    return type;
  }

  /// The one narrower type that all that reads what a move makes calculates in; else f32.
  DataType wantedBehind(NodeId id, int depth) const {
    constexpr int kMostMoves = 64;
    DataType wanted = DataType::Undefined;
    for (const ValueId value : m_plan.graph().node(id).outputs) {
      if (!value.valid()) continue;
      if (depth > kMostMoves || m_plan.graph().isOutput(value)) return DataType::F32;
      for (const NodeId reader : m_plan.graph().value(value).consumers) {
        const DataType type = moves(reader) ? wantedBehind(reader, depth + 1) : typeOfNode(reader);
        if (!isNarrow(type) || (wanted != DataType::Undefined && wanted != type)) return DataType::F32;
        wanted = type;
      }
    }
    return wanted == DataType::Undefined ? DataType::F32 : wanted;
  }

  /// A node that normalisation took out, as an Identity, hands on what it reads.
  DataType typeOfRemoved(std::size_t origin) const {
    const onnxlib::FileNode* node = ofFile(origin);
    if (node == nullptr) return DataType::Undefined;
    for (const auto* names : {&node->inputs, &node->outputs}) {
      for (const std::string& name : *names) {
        const auto value = name.empty() ? std::nullopt : m_plan.graph().findValue(name);
        if (!value || m_plan.graph().isConstant(*value) || !isFloat(m_plan.storedType(*value))) continue;
        const NodeId producer = m_plan.graph().value(*value).producer;
        return producer.valid() ? typeOfNode(producer) : m_plan.storedType(*value);
      }
    }
    return DataType::Undefined;
  }

  const Plan& m_plan;
  std::optional<onnxlib::FileModel> m_file;
  std::vector<std::vector<NodeId>> m_nodes;    ///< by origin
  std::set<std::string> m_weights;             ///< initializers of floats
  mutable std::map<NodeId, DataType> m_moves;  ///< types that were told
};

Status refuseCodes(const Plan& plan, std::string_view format) {
  const bool weights = plan.options.weightOnly.type != DataType::Undefined;
  if (plan.model->unquantized == nullptr && !weights) return Done{};
  return Diagnostic{
      .message = fmt::format("{} can only say which nodes are in a narrower float, and this plan {} as integers",
                             format, weights ? "holds weights" : "calculates"),
      .where = {.attribute = "--to"},
      .help =
          "Use --to onnx, which writes codes into the network too, or plan without --ranges and "
          "--weight-only."};
}

/// The one type below f32.
Result<DataType> lowType(const std::vector<LoweredNode>& nodes, std::string_view format) {
  std::vector<std::string> f16, bf16;
  for (const LoweredNode& node : nodes) {
    if (node.type == DataType::F16) f16.push_back(node.shown);
    if (node.type == DataType::BF16) bf16.push_back(node.shown);
  }
  if (f16.empty() && bf16.empty())
    return Diagnostic{.message = fmt::format("the plan calculates nothing below float32, so {} would be empty", format),
                      .help = "Add --precision f16 or bf16, or pins to one of them."};
  if (f16.empty()) return DataType::BF16;
  if (bf16.empty()) return DataType::F16;
  const auto& fewer = f16.size() < bf16.size() ? f16 : bf16;
  return Diagnostic{.message = fmt::format("{} has one type below float32, and the plan has {} in f16 and {} in bf16",
                                           format, counted(std::ssize(f16), "node"), std::ssize(bf16)),
                    .where = {.node = fewer.front()},
                    .help = fmt::format("Give all of them one type (those in {} are {}), or use --to onnx.",
                                        f16.size() < bf16.size() ? "f16" : "bf16", listed(fewer))};
}

}  // namespace

bool isHolder(std::string_view op) {
  return op == "If" || op == "Loop" || op == "Scan";
}

std::vector<std::string> LoweredNodes::wideNames() const {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const LoweredNode& node : wide)
    if (!node.name.empty() && seen.insert(node.name).second) names.push_back(node.name);
  return names;
}

Result<LoweredNodes> loweredNodes(const Plan& plan, std::string_view format, const StopToken& stop) {
  if (plan.structure == nullptr || plan.source != CoverSource::Planned)
    return Diagnostic{.message = "a plan that was read back from an engine does not contain the types of single nodes",
                      .help = "Export a plan of the model instead."};
  TRY(refuseCodes(plan, format));
  std::optional<onnxlib::FileModel> file;
  if (!plan.model->files.empty())
    file = TRY(onnxlib::readModel(TRY(sourceNetwork(plan, stop)), {.takesMissingData = true}));
  std::vector<LoweredNode> all = Divider(plan, std::move(file)).run();
  LoweredNodes nodes{.low = TRY(lowType(all, format)), .wide = {}, .narrow = {}, .notes = pinsNotHonoured(plan)};
  for (LoweredNode& node : all) (node.type == nodes.low ? nodes.narrow : nodes.wide).push_back(std::move(node));
  for (const CoverBody& body : plan.bodies)
    if (lowersSomething(plannedBody(body)))
      nodes.notes.push_back(
          {fmt::format("the nodes that the plan lowers in the {} of '{}' stay in float32: {} covers only the main "
                       "graph; --to onnx writes bodies too",
                       body.attribute, plan.graph().node(body.holder).name, format)});
  const bool stores = std::ranges::any_of(
      plan.answers, [](const DirectiveAnswer& answer) { return answer.outcome == DirectiveOutcome::Stored; });
  if (stores)
    nodes.notes.push_back(
        {fmt::format("--output-type is left out: {} has the types in which nodes calculate, not those in which they "
                     "store; --to onnx writes both",
                     format)});
  return nodes;
}

Status checkNodeNames(const LoweredNodes& nodes, std::string_view format) {
  std::set<std::string_view> narrow;
  for (const LoweredNode& node : nodes.narrow) narrow.insert(node.name);
  std::vector<std::string> nameless, shared;
  for (const LoweredNode& node : nodes.wide) {
    if (node.name.empty()) nameless.push_back(node.shown);
    if (!node.name.empty() && narrow.contains(node.name)) shared.push_back(node.shown);
  }
  if (!nameless.empty())
    return Diagnostic{
        .message = fmt::format("{} finds nodes by name, and {} that {} in float32 {} none in the file", format,
                               counted(std::ssize(nameless), "node"), nameless.size() == 1 ? "stays" : "stay",
                               nameless.size() == 1 ? "has" : "have"),
        .where = {.node = nameless.front()},
        .help = "Give the nodes of the model names, or use --to onnx, which needs none."};
  if (!shared.empty())
    return Diagnostic{
        .message = fmt::format(
            "{} finds nodes by name, and in the file this node has the same name as a node that the plan lowers",
            format),
        .where = {.node = shared.front()},
        .help = "Give the nodes of the model different names, or use --to onnx, which needs none."};
  return Done{};
}

}  // namespace fusescope
