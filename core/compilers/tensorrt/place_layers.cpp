#include "compilers/tensorrt/place_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "compilers/probed/slices.h"
#include "compilers/tensorrt/between_layers.h"
#include "compilers/tensorrt/layer_facts.h"
#include "compilers/tensorrt/named_nodes.h"

namespace fusescope {
namespace {

/// The number of names of a layer that are shown to people.
constexpr std::size_t kMostNames = 3;
constexpr std::size_t kMostNearest = 5;

using Role = LayerPlace::Role;

class LayerPlacer {
 public:
  LayerPlacer(const CompilerInput& network, const std::vector<ListedLayer>& layers, const EngineLog* log)
      : m_network(network), m_graph(network.plan->graph()), m_layers(layers), m_log(log), m_known(network, log) {
    m_made.places.resize(layers.size());
    m_names.resize(layers.size());
    m_isNamed.resize(m_graph.nodeIdLimit());
  }

  LayerPlaces run() {
    for (std::size_t i = 0; i < m_layers.size(); ++i) readNames(i);
    for (std::size_t i = 0; i < m_layers.size(); ++i) takeNames(i);
    std::vector<bool> containsNodes;
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      containsNodes.push_back(!m_made.places[i].nodes.empty() || m_names[i].ends.has_value() || !isMove(i));
    m_made.edges = layerEdges(m_layers, m_network, containsNodes);
    for (std::size_t i = 0; i < m_layers.size(); ++i) checkTensors(i);
    takeBetween();
    for (std::size_t i = 0; i < m_layers.size(); ++i) judge(i);
    return std::move(m_made);
  }

 private:
  struct Names {
    std::vector<std::string> nodes, likely, unknown;
    std::optional<std::pair<std::string, std::string>> ends;
    bool isInserted = false;
  };

  void readNames(std::size_t i) {
    const ListedLayer& layer = m_layers[i];
    Names& names = m_names[i];
    for (const std::string& name : namesInMetadata(layer.metadata)) {
      const std::vector<std::string_view> nodes = fileNodesOf(m_network, name);
      if (nodes.empty()) names.unknown.push_back(name);
      for (const std::string_view node : nodes) names.nodes.emplace_back(node);
    }
    LayerName own = readLayerName(layer.name, m_known);
    names.isInserted = own.isInserted;
    if (!names.nodes.empty() || !names.unknown.empty()) return settle(names);
    names.nodes = std::move(own.nodes);
    names.likely = std::move(own.likely);
    names.unknown = std::move(own.unknown);
    names.ends = std::move(own.ends);
    if (names.ends) takeRegion(layer.name, names);
    settle(names);
  }

  static void settle(Names& names) {
    sortDistinct(names.nodes);
    sortDistinct(names.likely);
    std::erase_if(names.likely, [&](const std::string& name) { return std::ranges::count(names.nodes, name) > 0; });
  }

  /// The log names all nodes of a region; the region's own name contains two of them.
  void takeRegion(const std::string& region, Names& names) const {
    if (m_log != nullptr)
      if (const auto found = m_log->regions.find(region); found != m_log->regions.end() && !found->second.empty()) {
        for (const std::string& name : found->second)
          for (const std::string_view node : fileNodesOf(m_network, name)) names.nodes.emplace_back(node);
        names.ends.reset();
        return;
      }
    for (const std::string& end : {names.ends->first, names.ends->second}) {
      LayerName read = readLayerName(end, m_known);
      names.nodes.insert(names.nodes.end(), read.nodes.begin(), read.nodes.end());
      names.likely.insert(names.likely.end(), read.likely.begin(), read.likely.end());
    }
  }

  /// The parts that became of a node of the file may be in several layers that name it.
  void takeNames(std::size_t i) {
    if (m_layersOf.empty())
      for (const Names& names : m_names)
        for (const std::string& node : names.nodes) ++m_layersOf[node];
    for (const std::string& node : m_names[i].nodes) {
      const std::vector<NodeId>& held = m_network.nodes.find(node)->second;
      take(i, held, held.size() == 1 || m_layersOf[node] == 1 ? Certainty::Named : Certainty::Guessed);
    }
    for (const std::string& node : m_names[i].likely) take(i, m_network.nodes.find(node)->second, Certainty::Guessed);
  }

  void take(std::size_t i, const std::vector<NodeId>& nodes, Certainty certainty) {
    for (const NodeId node : nodes) {
      m_isNamed[node.index] = true;
      const auto [known, isNew] = m_made.places[i].nodes.emplace(node, certainty);
      known->second = std::min(known->second, certainty);
    }
  }

  /// Each tensor that a layer writes must have as many elements as the result of one of its nodes, or as a value that
  /// follows from it without another layer.
  void checkTensors(std::size_t i) {
    LayerPlace& place = m_made.places[i];
    if (place.nodes.empty() || m_layers[i].outputs.empty()) return;
    const auto isMade = [&](const ListedTensor& tensor, NodeId node) {
      const auto& outputs = m_graph.node(node).outputs;
      return std::ranges::any_of(outputs, [&](ValueId value) {
        return value.valid() && mayHaveSameElements(tensor, m_graph.value(value).type);
      });
    };
    std::set<NodeId> reached;
    std::vector<NodeId> open;
    for (const auto& [node, certainty] : place.nodes) open.push_back(node);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (!reached.insert(node).second) continue;
      if (std::ranges::any_of(m_layers[i].outputs, [&](const auto& tensor) { return isMade(tensor, node); })) return;
      for (const ValueId value : m_graph.node(node).outputs)
        if (value.valid() && !isHeldElsewhere(value))
          for (const NodeId user : m_graph.value(value).consumers) open.push_back(user);
    }
    if (m_layers[i].metadata.empty() || isWhole(i)) contradict(i);
  }

  /// A part of a node, such as the sums before a softmax, may have any extents.
  bool isWhole(std::size_t i) const {
    return std::ranges::all_of(m_names[i].nodes, [&](const std::string& node) {
      const auto layers = m_layersOf.find(node);
      return layers == m_layersOf.end() || layers->second == 1;
    });
  }

  bool isHeldElsewhere(ValueId value) const {
    return std::ranges::any_of(m_graph.value(value).consumers, [&](NodeId user) { return isNamed(user); });
  }
  bool isNamed(NodeId node) const { return m_isNamed[node.index]; }

  void contradict(std::size_t i) {
    LayerPlace& place = m_made.places[i];
    std::vector<std::string> written;
    for (const ListedTensor& tensor : m_layers[i].outputs) written.push_back(toText(tensor.dims));
    const Node& node = m_graph.node(place.nodes.begin()->first);
    const std::string made = node.outputs.empty() ? "nothing" : m_graph.value(node.outputs.front()).type.text();
    place.why = fmt::format(
        "it writes {}, but {} of this network, which it names, calculates {}: the engine was built from another "
        "network, or "
        "for other extents",
        joined(written), node.name, made);
    for (const auto& [id, certainty] : place.nodes) place.nearest.push_back(id);
    place.nodes.clear();
  }

  void takeBetween() {
    std::vector<bool> moves;
    for (std::size_t i = 0; i < m_layers.size(); ++i) moves.push_back(isMove(i));
    const std::vector<ValueId> same = equalValues();
    BetweenLayers between(m_graph, m_made, moves, same);
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (place(i).why.empty() && (!place(i).nodes.empty() || !isMove(i))) between.takeInside(i);
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (place(i).why.empty() && m_names[i].ends && place(i).nodes.size() > 1) between.takeWays(i);
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (place(i).why.empty() && place(i).nodes.empty() && !isMove(i)) between.takeAround(i);
    between.nameTensors();
    for (const LayerPlace& place : m_made.places)
      for (const auto& [node, certainty] : place.nodes) m_isNamed[node.index] = true;
    findMerged(same);
    for (std::size_t i = 0; i < m_layers.size(); ++i)
      if (place(i).nodes.empty() && place(i).nearest.empty()) place(i).nearest = between.nearest(i, kMostNearest);
  }

  /// By ValueId: the first value that is always equal to it.
  std::vector<ValueId> equalValues() const {
    std::vector<ValueId> same;
    for (std::size_t i = 0; i < m_graph.valueIdLimit(); ++i) same.emplace_back(i);
    const TensorGraph tensors(m_network.file.graph);
    const std::vector<std::uint32_t> equal = equalTensors(tensors);
    for (std::uint32_t i = 0; i < equal.size(); ++i) {
      const auto value = m_network.values.find(tensors.tensor(i).name);
      const auto first = m_network.values.find(tensors.tensor(equal[i]).name);
      if (value != m_network.values.end() && first != m_network.values.end()) same[value->second.index] = first->second;
    }
    return same;
  }

  void findMerged(const std::vector<ValueId>& same) {
    for (const NodeId node : m_graph.order()) {
      const auto& outputs = m_graph.node(node).outputs;
      const bool isEqual =
          std::ranges::all_of(outputs, [&](ValueId value) { return value.valid() && same[value.index] != value; });
      if (!isNamed(node) && isEqual && !outputs.empty()) m_made.merged.push_back(node);
    }
  }

  LayerPlace& place(std::size_t i) { return m_made.places[i]; }

  bool isMove(std::size_t i) const { return m_names[i].isInserted || onlyMoves(m_layers[i]); }

  /// Returns whether another layer calculates everything that this layer writes, so that this layer only changes types
  /// or places.
  bool writesWhatOthersMake(std::size_t i) const {
    const auto& written = m_made.edges.outputs[i];
    return !written.empty() && std::ranges::all_of(written, [&](ValueId value) {
      const NodeId producer = value.valid() ? m_graph.value(value).producer : NodeId();
      return value.valid() && (!producer.valid() || isNamed(producer));
    });
  }

  void judge(std::size_t i) {
    LayerPlace& made = place(i);
    if (!made.nodes.empty()) {
      made.role = Role::Kernel;
      made.nearest.clear();
    } else if (made.why.empty() && (isMove(i) || writesWhatOthersMake(i))) {
      made.role = Role::Conversion;
      made.nearest.clear();
    } else if (made.why.empty()) {
      made.why = whyUnplaced(m_names[i]);
    }
  }

  static std::string whyUnplaced(const Names& names) {
    if (names.unknown.empty())
      return "neither its name nor its metadata name a node, and its tensors do not show between which nodes it is";
    std::vector<std::string> first(
        names.unknown.begin(),
        names.unknown.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNames, names.unknown.size())));
    return fmt::format("it names {}{}, which the network does not have", joined(first),
                       names.unknown.size() > kMostNames ? ", …" : "");
  }

  const CompilerInput& m_network;
  const Graph& m_graph;
  const std::vector<ListedLayer>& m_layers;
  const EngineLog* m_log;
  KnownNames m_known;
  LayerPlaces m_made;
  std::vector<Names> m_names;               ///< by layer
  std::vector<bool> m_isNamed;              ///< by NodeId
  std::map<std::string, int> m_layersOf{};  ///< by node of the file: how many layers name it
};

}  // namespace

LayerPlaces placeLayers(const CompilerInput& network, const std::vector<ListedLayer>& layers, const EngineLog* log) {
  return LayerPlacer(network, layers, log).run();
}

}  // namespace fusescope
