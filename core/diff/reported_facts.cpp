#include "diff/reported_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diff/network_words.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// The number of nodes and layers that are named.
constexpr std::size_t kMostListed = 4;

/// Collects the facts of a side that is read back.
class SideFacts {
 public:
  SideFacts(const ReadBackPlan& made, const std::vector<std::uint32_t>& kernels) : m_made(made), m_kernels(kernels) {
    for (const std::uint32_t kernel : kernels)
      for (const NodeId node : made.fusedNodes[kernel].nodes) m_nodes.insert(node);
  }

  void addTo(std::vector<std::string>& facts) {
    addRegions(facts);
    addTypes(facts);
    addPins(facts);
    addConversions(facts);
    addShared(facts);
    addGuesses(facts);
  }

 private:
  std::string nameOf(NodeId node) const { return m_made.graph().node(node).name; }

  void addRegions(std::vector<std::string>& facts) const {
    std::set<std::string> regions;
    for (const std::uint32_t kernel : m_kernels)
      if (const std::string& region = m_made.kernels[kernel].region; !region.empty()) regions.insert(region);
    for (const std::string& region : regions)
      facts.push_back(
          fmt::format("{} made its kernels in {}, which it compiles as a whole", m_made.compiler.name, region));
  }

  void addTypes(std::vector<std::string>& facts) const {
    std::set<std::string> types;
    for (const std::uint32_t kernel : m_kernels)
      if (const DataType type = m_made.fusedNodes[kernel].compute; type != DataType::Undefined)
        types.insert(toText(type));
    if (types.size() > 1)
      facts.push_back("its kernels calculate in " + joined(std::vector(types.begin(), types.end()), " and "));
  }

  static std::string pinFact(PinResult result, const std::string& pin) {
    if (result == PinResult::NotDisclosed) return fmt::format("whether {} is obeyed is not disclosed", pin);
    if (result == PinResult::WithoutKernel) return fmt::format("{} has no effect: no kernel calculates the node", pin);
    if (result == PinResult::Moved) return fmt::format("{} has its effect in a kernel beside the node", pin);
    return fmt::format("{} is {}", pin, name(result));
  }

  void addPins(std::vector<std::string>& facts) const {
    for (const ReadBackPin& pin : m_made.pins) {
      if (!m_nodes.contains(pin.node)) continue;
      const std::string type = toText(pin.asked);
      facts.push_back(pinFact(pin.result, fmt::format("the pin of {} to {}", nameOf(pin.node), type)));
    }
  }

  /// Adds conversions of values that one of the kernels writes and another one reads.
  void addConversions(std::vector<std::string>& facts) const {
    for (const ReadBackConversion& conversion : m_made.conversions) {
      if (!conversion.value.valid()) continue;
      const Value& value = m_made.graph().value(conversion.value);
      const auto isHere = [&](NodeId node) { return m_nodes.contains(node); };
      if (!value.producer.valid() || !isHere(value.producer) || std::ranges::none_of(value.consumers, isHere)) continue;
      facts.push_back(
          fmt::format("{} is converted on the way, from {} to {}", value.name, conversion.from, conversion.to));
    }
  }

  void addShared(std::vector<std::string>& facts) const {
    std::vector<std::string> names;
    for (const NodeId node : m_nodes)
      if (m_made.kernelsOf(node).size() > 1) names.push_back(nameOf(node));
    if (!names.empty()) facts.push_back("several kernels contain parts of " + someNames(std::move(names), kMostListed));
  }

  void addGuesses(std::vector<std::string>& facts) const {
    std::vector<std::string> guessed;
    for (const std::uint32_t kernel : m_kernels)
      if (std::ranges::count(m_made.kernels[kernel].certainty, Certainty::Guessed) > 0)
        guessed.push_back(m_made.fusedNodes[kernel].name);
    if (!guessed.empty()) facts.push_back("the nodes are guessed of " + someNames(std::move(guessed), kMostListed));
    if (!m_made.placement) return;
    std::vector<std::string> layers;
    for (const UnplacedLayer& layer : m_made.placement->unplaced)
      if (std::ranges::any_of(layer.nearest, [&](NodeId node) { return m_nodes.contains(node); }))
        layers.push_back(layer.layer);
    if (!layers.empty())
      facts.push_back("layers that are not placed may contain nodes of it: " + someNames(layers, kMostListed));
  }

  const ReadBackPlan& m_made;
  const std::vector<std::uint32_t>& m_kernels;
  std::set<NodeId> m_nodes;
};

}  // namespace

std::vector<std::string> reportedFacts(const PlanLevel& level, const SetGroup& group) {
  std::vector<std::string> facts;
  const auto add = [&](const Cover* cover, const std::vector<std::uint32_t>& kernels) {
    const ReadBackPlan* made = cover == nullptr ? nullptr : asReadBack(*cover);
    if (made != nullptr) SideFacts(*made, kernels).addTo(facts);
  };
  add(level.a, group.a);
  add(level.b, group.b);
  std::set<std::string> seen;
  std::erase_if(facts, [&](const std::string& fact) { return !seen.insert(fact).second; });
  return facts;
}

}  // namespace fusescope
