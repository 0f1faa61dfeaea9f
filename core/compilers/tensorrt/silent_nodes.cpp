#include "compilers/tensorrt/silent_nodes.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analysis/users.h"
#include "compilers/tensorrt/layer_facts.h"
#include "ops/op_schema.h"
#include "planning/fusion/match.h"

namespace fusescope {
namespace {

/// Returns whether the name of a generated kernel contains only words for moves: "__myl_MoveTran_myl0_2".
bool onlyMoves(std::string_view name) {
  constexpr std::string_view kStart = "__myl_";
  constexpr std::string_view kMoves[] = {"Move", "Tran", "Resh", "Slic", "Conc", "Cast"};
  if (!name.starts_with(kStart)) return false;
  name.remove_prefix(kStart.size());
  name = name.substr(0, name.find('_'));
  while (!name.empty()) {
    const auto* const move =
        std::ranges::find_if(kMoves, [&](std::string_view word) { return name.starts_with(word); });
    if (move == std::end(kMoves)) return false;
    name.remove_prefix(move->size());
  }
  return true;
}

/// Returns whether the node only moves elements; it is at most a view.
bool movesOnly(const Graph& graph, const Node& node) {
  if (isView(graph, node)) return true;
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr) return false;
  return (schema->kind == OpKind::Movement || schema->kind == OpKind::View) &&
         node.textAttribute("reduction", "none") == "none";
}

class SilentNodes {
 public:
  SilentNodes(const Graph& graph, const std::vector<ListedLayer>& layers, ReadBack& readBack)
      : m_graph(graph), m_layers(layers), m_readBack(readBack), m_isSilent(graph.nodeIdLimit(), true) {
    for (const ReadBackKernel& kernel : readBack.kernels)
      for (const auto& [node, certainty] : kernel.nodes) m_isSilent[node.index] = false;
  }

  void run() {
    bindMoves();
    bindConditions();
    for (auto node = m_graph.order().rbegin(); node != m_graph.order().rend(); ++node)
      if (m_isSilent[node->index] && isUnused(*node)) m_readBack.fates[*node] = Fate::Removed;
    for (const NodeId node : m_graph.order())
      if (m_isSilent[node.index] && !m_readBack.fates.contains(node)) record(m_graph.node(node));
  }

 private:
  using Nodes = std::set<NodeId>;

  void bindMoves() {
    connect();
    for (const ReadBackKernel& kernel : m_readBack.kernels) m_isUnnamed.push_back(kernel.nodes.empty());
    struct Moves {
      std::size_t kernel;
      Nodes nodes;
      Certainty certainty;
    };
    std::vector<Moves> found;
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (m_isUnnamed[i] && onlyMoves(m_layers[i].name)) found.push_back({i, movedBy(i), certaintyOfMoves(i)});
    for (const Moves& moves : found)
      for (const NodeId node : moves.nodes) {
        m_readBack.kernels[moves.kernel].nodes.emplace_back(node, moves.certainty);
        m_isSilent[node.index] = false;
      }
  }

  /// If layers that may calculate and name no nodes are beside a kernel that moves, as in lists without metadata, the
  /// nodes between the named ones may belong to those layers.
  Certainty certaintyOfMoves(std::size_t kernel) const {
    const auto mayHold = [&](std::size_t layer) {
      return m_isUnnamed[layer] && !onlyMoves(m_layers[layer].name) && !onlySynchronises(m_layers[layer]);
    };
    for (const auto* next : {&m_sources, &m_users})
      if (std::ranges::any_of(around(kernel, *next), mayHold)) return Certainty::Guessed;
    return Certainty::Derived;
  }

  /// A jump that reads two tensors compares them itself, so that it contains the node that calculates the condition of
  /// its If.
  void bindConditions() {
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      if (m_layers[i].type != "cjmp" || m_layers[i].inputs.size() != 2) continue;
      auto& nodes = m_readBack.kernels[i].nodes;
      const auto choice =
          std::ranges::find_if(nodes, [&](const auto& held) { return m_graph.node(held.first).is("If"); });
      if (choice == nodes.end()) continue;
      const ValueId condition = m_graph.node(choice->first).input(0);
      const NodeId producer = m_graph.value(condition).producer;
      if (!producer.valid() || !m_isSilent[producer.index] || !hasSingleUse(m_graph, condition)) continue;
      if (m_graph.node(producer).inputs.size() != 2 || !isElementwise(m_graph.node(producer))) continue;
      nodes.emplace_back(producer, Certainty::Derived);
      m_isSilent[producer.index] = false;
    }
  }

  /// Determines for every layer which layers wrote its inputs. Names of tensors may be used again, so that the last
  /// writer counts.
  void connect() {
    std::unordered_map<std::string_view, std::size_t> writer;
    m_sources.resize(m_layers.size());
    m_users.resize(m_layers.size());
    for (std::size_t i = 0; i < m_layers.size(); ++i) {
      for (const ListedTensor& input : m_layers[i].inputs)
        if (const auto wrote = writer.find(input.name); wrote != writer.end()) {
          m_sources[i].push_back(wrote->second);
          m_users[wrote->second].push_back(i);
        }
      for (const ListedTensor& output : m_layers[i].outputs) writer[output.name] = i;
    }
  }

  Nodes movedBy(std::size_t kernel) const {
    Nodes forward, backward, moved;
    for (const std::size_t before : around(kernel, m_sources)) {
      if (m_readBack.kernels[before].nodes.empty())
        for (const KernelValue& input : m_readBack.kernels[before].inputs)
          if (input.value.valid()) follow(input.value, forward);
      for (const auto& [node, certainty] : m_readBack.kernels[before].nodes)
        for (const ValueId value : m_graph.node(node).outputs)
          if (value.valid()) follow(value, forward);
    }
    for (const std::size_t behind : around(kernel, m_users)) {
      if (m_readBack.kernels[behind].nodes.empty())
        for (const KernelValue& output : m_readBack.kernels[behind].outputs)
          if (output.value.valid()) trace(output.value, backward);
      for (const auto& [node, certainty] : m_readBack.kernels[behind].nodes)
        for (const ValueId value : valuesRead(m_graph.node(node))) trace(value, backward);
    }
    std::ranges::set_intersection(forward, backward, std::inserter(moved, moved.end()));
    std::erase_if(moved, [&](NodeId node) {
      return isView(m_graph, m_graph.node(node)) || !movesOnly(m_graph, m_graph.node(node));
    });
    return moved;
  }

  /// Returns `kernel` and the layers to which `next` leads from it, through layers that name no nodes.
  std::set<std::size_t> around(std::size_t kernel, const std::vector<std::vector<std::size_t>>& next) const {
    std::set<std::size_t> seen{kernel};
    std::vector<std::size_t> open{kernel};
    while (!open.empty()) {
      const std::size_t layer = open.back();
      open.pop_back();
      for (const std::size_t each : next[layer])
        if (seen.insert(each).second && m_readBack.kernels[each].nodes.empty()) open.push_back(each);
    }
    return seen;
  }

  /// Collects the silent nodes that can be reached from `start`.
  void follow(ValueId start, Nodes& reached) const {
    std::vector<ValueId> open{start};
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      for (const NodeId user : m_graph.value(value).consumers) {
        if (!m_isSilent[user.index] || !reached.insert(user).second) continue;
        std::ranges::copy_if(m_graph.node(user).outputs, std::back_inserter(open), &ValueId::valid);
      }
    }
  }
  /// Collects the silent nodes from which `start` can be reached.
  void trace(ValueId start, Nodes& reached) const {
    std::vector<ValueId> open{start};
    while (!open.empty()) {
      const NodeId producer = m_graph.value(open.back()).producer;
      open.pop_back();
      if (!producer.valid() || !m_isSilent[producer.index] || !reached.insert(producer).second) continue;
      std::ranges::copy(valuesRead(m_graph.node(producer)), std::back_inserter(open));
    }
  }

  bool isUnused(NodeId node) const {
    const auto isUnneeded = [&](NodeId user) {
      const auto fate = m_readBack.fates.find(user);
      return fate != m_readBack.fates.end() && fate->second == Fate::Removed;
    };
    return std::ranges::all_of(m_graph.node(node).outputs, [&](ValueId value) {
      return !value.valid() ||
             (!m_graph.isOutput(value) && std::ranges::all_of(m_graph.value(value).consumers, isUnneeded));
    });
  }

  void record(const Node& node) {
    if (isFolded(node))
      m_readBack.fates[node.id] = Fate::Folded;
    else if (doesNothing(node))
      m_readBack.fates[node.id] = Fate::Removed;
    else if (movesOnly(m_graph, node))
      m_readBack.fates[node.id] = Fate::View;
  }

  /// Returns whether the node reads only constants, or returns extents that are known.
  bool isFolded(const Node& node) const {
    const OpSchema* schema = OpRegistry::standard().find(node);
    if (schema == nullptr || !schema->deterministic) return false;
    if (node.is("Shape") || node.is("Size")) return m_graph.value(node.inputs[0]).type.shape.fixed().has_value();
    return std::ranges::all_of(valuesRead(node), [&](ValueId value) {
      const NodeId producer = m_graph.value(value).producer;
      const auto fate = producer.valid() ? m_readBack.fates.find(producer) : m_readBack.fates.end();
      return m_graph.isConstant(value) || (fate != m_readBack.fates.end() && fate->second == Fate::Folded);
    });
  }

  /// TensorRT calculates doubles as floats, so that a Cast between the two does nothing.
  bool doesNothing(const Node& node) const {
    if (!node.is("Cast")) return false;
    const auto asTaken = [&](ValueId value) {
      const DataType type = m_graph.value(value).type.dtype;
      return type == DataType::F64 ? DataType::F32 : type;
    };
    return asTaken(node.inputs[0]) == asTaken(node.outputs[0]);
  }

  const Graph& m_graph;
  const std::vector<ListedLayer>& m_layers;
  ReadBack& m_readBack;
  std::vector<bool> m_isUnnamed;  ///< by layer: whether it named no nodes before nodes were bound here
  std::vector<bool> m_isSilent;   ///< by NodeId
  std::vector<std::vector<std::size_t>> m_sources, m_users;  ///< by layer
};

}  // namespace

void bindSilentNodes(const Graph& graph, const std::vector<ListedLayer>& layers, ReadBack& readBack) {
  SilentNodes(graph, layers, readBack).run();
}

}  // namespace fusescope
