#include "session/layer_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/users.h"
#include "diff/network_match.h"
#include "frontends/tensorrt/layer_network.h"
#include "ir/graph.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

constexpr std::uint32_t kNoMaker = UINT32_MAX;

/// An engine as described by its kernels: a network whose nodes are the kernels that calculate.
class SaidLayers {
 public:
  /// `side` is a prefix for the names of its nodes, so that no name occurs on both sides.
  SaidLayers(const ReadBackPlan& made, std::string_view side) : m_made(made), m_graph(made.graph()), m_side(side) {
    for (const FusedNode& fused : made.fusedNodes)
      if (!isConversion(fused)) m_kernels.push_back(fused.id.index);
    m_makers.assign(m_graph.valueIdLimit(), kNoMaker);
    m_sameAs.resize(m_graph.valueIdLimit());
    for (const FusedNode& fused : made.fusedNodes) {
      if (isConversion(fused) && fused.inputs.size() == 1)
        for (const FusedOutput& output : fused.outputs)
          if (output.value != fused.inputs.front()) m_sameAs[output.value.index] = fused.inputs.front();
      if (isConversion(fused)) continue;
      for (const FusedOutput& output : fused.outputs) m_makers[output.value.index] = fused.id.index;
    }
    for (const ValueId input : m_graph.inputs())
      if (const auto dims = m_graph.value(input).type.shape.fixed(); dims && !dims->empty() && dims->front() > 0) {
        m_batch = dims->front();
        break;
      }
  }

  const std::vector<std::uint32_t>& kernels() const { return m_kernels; }

  std::vector<std::string> namesOf(std::uint32_t kernel) const {
    std::set<std::string> names;
    for (const NodeId id : m_made.fusedNodes[kernel].nodes) {
      const Node& node = m_graph.node(id);
      const bool isLayer = node.domain == kEngineLayersDomain;
      if (!isLayer)
        for (const OriginId origin : node.origins) names.insert(m_made.model->origins[origin.index].name);
      const auto said = node.attributes.find(std::string(kNodesSaid));
      if (!isLayer || said == node.attributes.end()) continue;
      if (const auto* list = std::get_if<std::vector<std::string>>(&said->second))
        names.insert(list->begin(), list->end());
    }
    return {names.begin(), names.end()};
  }

  /// Returns the sort of work of a kernel, as far as all versions of TensorRT name it alike.
  std::string kindOf(std::uint32_t kernel) const {
    const std::string& kind = m_made.fusedNodes[kernel].kind;
    return kind == kinds::kConv || kind == kinds::kPool ? kind : std::string("other");
  }

  /// Returns the number of elements that a kernel writes for each sample; nullopt if it is unknown.
  std::optional<std::int64_t> elementsOf(std::uint32_t kernel) const {
    if (m_made.fusedNodes[kernel].outputs.empty()) return std::nullopt;
    std::int64_t sum = 0;
    for (const FusedOutput& output : m_made.fusedNodes[kernel].outputs) {
      const auto dims = m_graph.value(output.value).type.shape.fixed();
      const auto elements = dims ? elementCount(*dims) : std::nullopt;
      if (!elements) return std::nullopt;
      sum += *elements;
    }
    return sum % m_batch == 0 ? sum / m_batch : sum;
  }

  /// Returns the text by which a kernel is matched if its place is not sufficient: its kind and the elements that it
  /// reads and writes for each sample. It is empty if one of these is unknown.
  std::string sizesOf(std::uint32_t kernel) const {
    const auto written = elementsOf(kernel);
    if (!written || *written == 0) return {};
    std::vector<std::int64_t> read;
    for (const ValueId value : m_made.fusedNodes[kernel].inputs) {
      if (isOfConstants(source(value))) continue;
      const auto dims = m_graph.value(value).type.shape.fixed();
      const auto elements = dims ? elementCount(*dims) : std::nullopt;
      if (!elements) return {};
      read.push_back(*elements % m_batch == 0 ? *elements / m_batch : *elements);
    }
    std::ranges::sort(read);
    return fmt::format("{} {} {}", kindOf(kernel), *written, fmt::join(read, " "));
  }

  /// Returns a network in which node i is kernel i of kernels().
  Result<Model> network() const {
    GraphEditor editor;
    std::map<std::uint32_t, ValueId> made;
    std::map<std::uint32_t, ValueId> inputs;
    for (const std::uint32_t kernel : m_kernels)
      made[kernel] = editor.addValue(fmt::format("v{}", kernel), TensorType{.dtype = DataType::F32});
    for (const std::uint32_t kernel : m_kernels) {
      Node node{.id = {}, .op = kindOf(kernel), .domain = {}, .name = fmt::format("{}{}", m_side, kernel)};
      for (const ValueId value : m_made.fusedNodes[kernel].inputs) {
        const ValueId from = source(value);
        const std::uint32_t maker = from.valid() ? m_makers[from.index] : kNoMaker;
        if (maker == kernel || isOfConstants(from)) continue;
        if (maker != kNoMaker) {
          node.inputs.push_back(made.at(maker));
        } else {
          const auto [input, isNew] = inputs.try_emplace(from.valid() ? from.index : kNoMaker);
          if (isNew) input->second = editor.addInput(fmt::format("in{}", inputs.size()), {.dtype = DataType::F32});
          node.inputs.push_back(input->second);
        }
      }
      node.outputs = {made.at(kernel)};
      node.attributes.emplace("elements", elementsOf(kernel).value_or(-1));
      editor.addNode(std::move(node));
    }
    std::set<ValueId> used;
    for (std::size_t i = 0; i < m_kernels.size(); ++i)
      for (const ValueId value : editor.current().node(NodeId(i)).inputs) used.insert(value);
    for (const auto& [kernel, value] : made)
      if (!used.contains(value)) editor.addOutput(value);
    Model model;
    model.graph = TRY(editor.publish());
    return model;
  }

 private:
  /// Returns whether it is a conversion or a quantiser, which changes the form of a value but not its meaning.
  bool isConversion(const FusedNode& fused) const {
    return m_made.kernels[fused.id.index].converts || fused.nodes.empty() || fused.kind == kinds::kQuantize;
  }

  /// Returns whether the value that source() found depends only on constants, as weights that the network quantises do.
  bool isOfConstants(ValueId from) const {
    return from.valid() && m_makers[from.index] == kNoMaker &&
           std::ranges::find(m_graph.inputs(), from) == m_graph.inputs().end();
  }

  /// Returns the value from which `value` originates, before conversions and nodes that no kernel contains.
  ValueId source(ValueId value) const {
    for (std::size_t steps = 0; value.valid() && steps <= m_graph.valueIdLimit(); ++steps) {
      if (m_makers[value.index] != kNoMaker) return value;
      if (m_sameAs[value.index].valid()) {
        value = m_sameAs[value.index];
        continue;
      }
      const NodeId producer = m_graph.value(value).producer;
      if (!producer.valid() || !m_made.kernelsOf(producer).empty()) return value;
      ValueId next;
      for (const ValueId read : valuesRead(m_graph.node(producer)))
        if (!m_graph.isConstant(read)) {
          next = read;
          break;
        }
      if (!next.valid()) return value;
      value = next;
    }
    return value;
  }

  const ReadBackPlan& m_made;
  const Graph& m_graph;
  std::string_view m_side;
  std::vector<std::uint32_t> m_kernels;
  std::vector<std::uint32_t> m_makers;  ///< by ValueId
  std::vector<ValueId> m_sameAs;        ///< by ValueId: the value that was converted into it
  std::int64_t m_batch = 1;
};

using KernelThings = std::vector<std::vector<std::uint32_t>>;

/// For each kernel of both sides, returns the numbers of the names that both sides use.
std::pair<KernelThings, KernelThings> thingsByNames(const SaidLayers& a, const SaidLayers& b) {
  const auto allOf = [](const SaidLayers& side) {
    std::set<std::string> names;
    for (const std::uint32_t kernel : side.kernels())
      for (std::string& name : side.namesOf(kernel)) names.insert(std::move(name));
    return names;
  };
  const std::set<std::string> ofA = allOf(a), ofB = allOf(b);
  std::map<std::string, std::uint32_t> numbers;
  for (const std::string& name : ofA)
    if (ofB.contains(name)) numbers.emplace(name, static_cast<std::uint32_t>(numbers.size()));
  const auto thingsOf = [&](const SaidLayers& side) {
    KernelThings things;
    for (const std::uint32_t kernel : side.kernels()) {
      things.emplace_back();
      for (const std::string& name : side.namesOf(kernel))
        if (const auto number = numbers.find(name); number != numbers.end()) things.back().push_back(number->second);
    }
    return things;
  };
  return {thingsOf(a), thingsOf(b)};
}

/// Returns whether kernels with the same names write different numbers of elements more often than equal ones.
bool contradict(const SaidLayers& a, const SaidLayers& b, const std::vector<SetGroup>& groups) {
  std::int64_t same = 0, other = 0;
  for (const SetGroup& group : groups) {
    if (group.a.size() != 1 || group.b.size() != 1) continue;
    const std::uint32_t ofA = a.kernels()[group.a.front()], ofB = b.kernels()[group.b.front()];
    const auto inA = a.elementsOf(ofA), inB = b.elementsOf(ofB);
    const bool isSame = a.kindOf(ofA) == b.kindOf(ofB) && (!inA || !inB || *inA == *inB);
    ++(isSame ? same : other);
  }
  return other > same;
}

/// Adds a thing for each pair of corresponding kernels that have none yet.
class ThingPairs {
 public:
  ThingPairs(KernelThings& ofA, KernelThings& ofB) : m_ofA(ofA), m_ofB(ofB) {
    for (const KernelThings* side : {&ofA, &ofB})
      for (const auto& things : *side)
        for (const std::uint32_t thing : things) m_next = std::max(m_next, thing + 1);
  }
  void add(std::size_t a, std::size_t b) {
    if (!m_ofA[a].empty() || !m_ofB[b].empty()) return;
    m_ofA[a].push_back(m_next);
    m_ofB[b].push_back(m_next++);
  }

 private:
  KernelThings &m_ofA, &m_ofB;
  std::uint32_t m_next = 0;
};

void addByStructure(const SaidLayers& a, const SaidLayers& b, ThingPairs& pairs) {
  const auto networkOfA = a.network(), networkOfB = b.network();
  if (!networkOfA.ok() || !networkOfB.ok()) return;  // layers that read what is written later form a loop
  const NetworkMatch match = matchNetworks(networkOfA.value(), networkOfB.value());
  for (std::size_t i = 0; i < a.kernels().size(); ++i) {
    const NodeId other = match.nodeOfB[i];
    if (!other.valid()) continue;
    const auto inA = a.elementsOf(a.kernels()[i]), inB = b.elementsOf(b.kernels()[other.index]);
    if (!inA || !inB || *inA == *inB) pairs.add(i, other.index);
  }
}

/// If both sides have equally many kernels of the same kind and sizes, these are matched in the order in which they
/// run.
void addBySizes(const SaidLayers& a, const SaidLayers& b, ThingPairs& pairs) {
  const auto bySizes = [](const SaidLayers& side) {
    std::map<std::string, std::vector<std::size_t>> kernels;
    for (std::size_t i = 0; i < side.kernels().size(); ++i)
      if (std::string sizes = side.sizesOf(side.kernels()[i]); !sizes.empty()) kernels[std::move(sizes)].push_back(i);
    return kernels;
  };
  const auto ofB = bySizes(b);
  for (const auto& [sizes, kernels] : bySizes(a)) {
    const auto others = ofB.find(sizes);
    if (others == ofB.end() || others->second.size() != kernels.size()) continue;
    for (std::size_t i = 0; i < kernels.size(); ++i) pairs.add(kernels[i], others->second[i]);
  }
}

}  // namespace

LayerMatch matchLayers(const ReadBackPlan& a, const ReadBackPlan& b, LayerWords words) {
  const SaidLayers ofA(a, "a"), ofB(b, "b");
  LayerMatch made;
  auto [thingsOfA, thingsOfB] = thingsByNames(ofA, ofB);
  made.namesContradict = contradict(ofA, ofB, groupSets(thingsOfA, thingsOfB));
  if (made.namesContradict || words == LayerWords::Structure)
    for (KernelThings* things : {&thingsOfA, &thingsOfB})
      for (auto& each : *things) each.clear();
  std::vector<bool> isNamed;
  for (const auto& things : thingsOfA) isNamed.push_back(!things.empty());
  ThingPairs pairs(thingsOfA, thingsOfB);
  addByStructure(ofA, ofB, pairs);
  addBySizes(ofA, ofB, pairs);
  made.groups = groupSets(thingsOfA, thingsOfB);
  for (SetGroup& group : made.groups) {
    const bool isShared = !group.a.empty() && !group.b.empty();
    if (isShared) ++(isNamed[group.a.front()] ? made.byNames : made.byStructure);
    if (!isShared) (group.a.empty() ? made.onlyB : made.onlyA) += std::ssize(group.a) + std::ssize(group.b);
    for (std::uint32_t& kernel : group.a) kernel = ofA.kernels()[kernel];
    for (std::uint32_t& kernel : group.b) kernel = ofB.kernels()[kernel];
  }
  return made;
}

bool areAlike(const Model& a, const Model& b) {
  const NetworkMatch match = matchNetworks(a, b);
  const auto matched =
      std::ranges::count_if(a.graph->order(), [&](NodeId id) { return match.nodeOfB[id.index].valid(); });
  return 2 * matched >= static_cast<std::ptrdiff_t>(std::min(a.graph->nodeCount(), b.graph->nodeCount()));
}

bool haveSameExtents(const ReadBackPlan& a, const ReadBackPlan& b) {
  const auto named = [](const ReadBackPlan& made) {
    std::map<std::string, Dims> extents;
    for (const InputSpec& spec : made.inputSpecs) extents[spec.name] = spec.opt;
    return extents;
  };
  const auto ofA = named(a), ofB = named(b);
  const auto isNamesake = [](const auto& one, const auto& other) { return one.first == other.first; };
  if (std::ranges::equal(ofA, ofB, isNamesake)) return ofA == ofB;
  const auto sorted = [](const std::map<std::string, Dims>& extents) {
    std::vector<Dims> list;
    for (const auto& [name, dims] : extents) list.push_back(dims);
    std::ranges::sort(list);
    return list;
  };
  return sorted(ofA) == sorted(ofB);
}

}  // namespace fusescope
