#include "diff/difference_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "diff/block_places.h"
#include "diff/diff_parts.h"
#include "diff/fusion_words.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// The network of one side and the bodies in it, for repeated searches by name.
class Side {
 public:
  explicit Side(const DiffInput& input) : m_input(input) { add(*input.cover, {}); }

  const DiffInput& input() const { return m_input; }
  const Cover& network() const { return *m_input.cover; }
  const FusedNode* kernel(const CoveringNode& node) const { return kernelNamed(node.place.text()); }
  const FusedNode* kernelNamed(const std::string& name) const {
    const auto found = m_kernels.find(name);
    return found == m_kernels.end() ? nullptr : found->second.fused;
  }
  std::vector<std::string> nodesOf(const std::string& kernel) const {
    std::vector<std::string> names;
    if (const auto found = m_kernels.find(kernel); found != m_kernels.end())
      for (const NodeId node : found->second.fused->nodes)
        names.push_back(found->second.path.of(found->second.cover->graph().node(node).name));
    return names;
  }
  std::vector<std::string> opsOf(const CoveringNode& kernel) const {
    std::vector<std::string> ops;
    if (const auto found = m_kernels.find(kernel.place.text()); found != m_kernels.end())
      for (const NodeId node : found->second.fused->nodes) ops.push_back(found->second.cover->graph().node(node).op);
    return ops;
  }
  /// Returns the total time of some kernels; nullopt if one of them is unknown.
  std::optional<DiffTime> timeOf(const std::vector<CoveringNode>& kernels) const {
    std::optional<DiffTime> sum;
    for (const CoveringNode& each : kernels) {
      const FusedNode* fused = kernel(each);
      const auto one = fused == nullptr ? std::nullopt : fusescope::timeOf(*fused, m_input);
      if (!one) return std::nullopt;
      if (!sum) sum = DiffTime{0, one->how};
      sum->ms += one->ms;
      if (one->how == DiffTimeKind::Fitted) sum->how = one->how;
    }
    return sum;
  }
  CoveringNode covering(const std::string& kernel) const {
    const auto found = m_kernels.find(kernel);
    if (found == m_kernels.end()) return {};
    const FusedNode& fused = *found->second.fused;
    return {fused.id, NetworkPlace{found->second.path, fused.name}, fused.identity, fused.nodes.size()};
  }

 private:
  struct Kernel {
    const Cover* cover;
    const FusedNode* fused;
    BodyPath path;
  };
  void add(const Cover& cover, const BodyPath& path) {
    for (const FusedNode& fused : cover.fusedNodes)
      m_kernels.try_emplace(path.of(fused.name), Kernel{&cover, &fused, path});
    for (const CoverBody& body : cover.bodies)
      add(*body.cover, path.into(cover.graph().node(body.holder), body.attribute));
  }

  const DiffInput& m_input;
  std::unordered_map<std::string, Kernel> m_kernels;
};

class DifferenceGrouper {
 public:
  DifferenceGrouper(const DiffInput& a, const DiffInput& b, const PlanDiff& diff)
      : m_a(a), m_b(b), m_diff(diff), m_placesOfA(*a.cover->model) {
    if (!diff.onlyB.empty()) m_placesOfB.emplace(*b.cover->model);
    for (const ErrorChange& change : diff.errors)
      for (const auto* kernels : {&change.ofA, &change.ofB})
        for (const CoveringNode& kernel : *kernels) m_errorOf[kernel.identity] = &change;
  }

  std::vector<DifferenceGroup> run() {
    addNetwork();
    addSegments();
    addFusions();
    addTypes();
    addCasts();
    addStored();
    addFates();
    addTimes();
    for (DifferenceGroup& group : m_groups) finish(group);
    std::ranges::stable_sort(m_groups, std::ranges::greater(), [](const DifferenceGroup& group) {
      return std::pair(group.topic != DifferenceTopic::Time, std::abs(group.deltaMs().value_or(0)));
    });
    return std::move(m_groups);
  }

 private:
  /// A node of the network, with A's name if A has it; invalid if it is in a body.
  struct Found {
    NodeId node;
    bool inA = false;
  };
  Found find(const std::string& name) const {
    if (const auto node = m_a.network().graph().findNode(name)) return {*node, true};
    if (m_placesOfB)
      if (const auto node = m_b.network().graph().findNode(name)) return {*node, false};
    return {};
  }
  const BlockPlaces& placesOf(const Found& found) const { return found.inA ? m_placesOfA : *m_placesOfB; }

  /// Returns a key that is equal for nodes at the same place in copies of a block.
  std::string likeKey(const std::string& name) const {
    const Found found = find(name);
    if (!found.node.valid()) return name;
    return fmt::format("{}{}", found.inA ? 'a' : 'b', placesOf(found).firstLike(found.node).index);
  }
  std::string likeKey(const Side& side, const std::vector<CoveringNode>& kernels) const {
    std::vector<std::string> keys;
    for (const CoveringNode& kernel : kernels) {
      std::vector<std::string> nodes;
      for (const std::string& node : side.nodesOf(kernel.place.text())) nodes.push_back(likeKey(node));
      std::ranges::sort(nodes);
      keys.push_back(joined(nodes));
    }
    std::ranges::sort(keys);
    return joined(keys, "|");
  }
  /// Returns the block of the first node: the repeated block if there is one, otherwise the outermost block.
  std::string blockKey(const DifferenceSite& site) const {
    if (site.nodes.empty()) return {};
    const Found found = find(site.nodes.front());
    if (!found.node.valid()) return site.nodes.front();
    return fmt::format("{}{}", found.inA ? 'a' : 'b', placesOf(found).blockOf(found.node));
  }

  /// Adds the site to the group of its kind. Only sites with an equal `like` are in one group; if it is empty, sites in
  /// one block are.
  void add(DifferenceGroup group, DifferenceSite site, const std::string& like = {}) {
    const std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", int(group.topic), group.sign, group.what,
                                        joined(group.because, "\n"), like.empty() ? "block " + blockKey(site) : like);
    const auto [known, isNew] = m_groupOf.try_emplace(key, m_groups.size());
    if (isNew) m_groups.push_back(std::move(group));
    m_groups[known->second].sites.push_back(std::move(site));
  }

  DifferenceSite siteOf(std::string name, std::vector<CoveringNode> a, std::vector<CoveringNode> b) {
    DifferenceSite site{.name = std::move(name), .a = std::move(a), .b = std::move(b)};
    site.ofA = m_a.timeOf(site.a);
    site.ofB = m_b.timeOf(site.b);
    for (const auto* kernels : {&site.a, &site.b})
      for (const CoveringNode& kernel : *kernels) {
        m_kernelsOfSites.insert(kernel.identity);
        if (const auto error = m_errorOf.find(kernel.identity); error != m_errorOf.end()) {
          site.errorOfA = error->second->a;
          site.errorOfB = error->second->b;
        }
      }
    return site;
  }

  void addNetwork() {
    const auto only = [&](const std::vector<std::string>& names, char sign, const Side& side) {
      for (const std::string& name : names) {
        const auto node = side.network().graph().findNode(name);
        const std::string op = node ? side.network().graph().node(*node).op : "a node of a body";
        add({.topic = DifferenceTopic::Network, .sign = sign, .what = op + (sign == '-' ? " only in A" : " only in B")},
            {.name = name, .nodes = {name}});
      }
    };
    only(m_diff.onlyA, '-', m_a);
    only(m_diff.onlyB, '+', m_b);
    for (const ChangedNode& node : m_diff.changed)
      add({.topic = DifferenceTopic::Network, .what = node.what}, {.name = node.a, .nodes = {node.a}});
    for (const ConstantChange& change : m_diff.constants) {
      DifferenceSite site{.name = change.a};
      for (const CoveringNode& reader : change.readersOfA) {
        const std::vector<std::string> nodes = m_a.nodesOf(reader.place.text());
        site.nodes.insert(site.nodes.end(), nodes.begin(), nodes.end());
      }
      add({.topic = DifferenceTopic::Network, .what = "other elements of constants"}, std::move(site));
    }
  }

  void addSegments() {
    for (const SegmentChange& change : m_diff.segments) {
      const std::string what = change.runByA.empty() ? fmt::format("segment {}", name(change.change))
                                                     : fmt::format("{} → {}", change.runByA, change.runByB);
      DifferenceGroup group{.topic = DifferenceTopic::Segments, .what = what, .because = change.because};
      if (change.nodes.empty()) add(group, {.name = joined(change.a.empty() ? change.b : change.a)});
      for (const std::string& node : change.nodes) add(group, {.name = node, .nodes = {node}});
    }
  }

  void addFusions() {
    for (const FusionChange& change : m_diff.fusions) {
      DifferenceSite site = siteOf(change.nodes.front(), change.a, change.b);
      site.nodes = change.nodes;
      m_nodesOfSites.insert(change.nodes.begin(), change.nodes.end());
      const auto kernelsOf = [](const Side& side, const std::vector<CoveringNode>& of) {
        std::vector<KernelOps> kernels;
        for (const CoveringNode& kernel : of)
          kernels.push_back({side.opsOf(kernel), side.nodesOf(kernel.place.text())});
        return kernels;
      };
      DifferenceGroup group{.topic = DifferenceTopic::Fusion, .because = change.because};
      group.sign = change.a.empty() ? '+' : change.b.empty() ? '-' : '~';
      group.detail = fusionDetail(kernelsOf(m_a, change.a), kernelsOf(m_b, change.b), m_diff.oneNetwork);
      group.what = fusionCounts(change.a.size(), change.b.size()) + (group.detail.empty() ? "" : ": " + group.detail);
      add(std::move(group), std::move(site), "fusion " + likeKey(m_a, change.a) + " -> " + likeKey(m_b, change.b));
    }
  }

  void addTypes() {
    for (const TypeChange& change : m_diff.types) {
      if (change.inSameKernel || change.thing == TypedThing::Value) continue;
      DifferenceGroup group{
          .topic = DifferenceTopic::Types, .what = change.a + " → " + change.b, .because = change.because};
      if (change.thing == TypedThing::Node) {  // the kernels are listed as a fusion
        m_nodesOfSites.insert(change.name);
        add(std::move(group), {.name = change.name, .nodes = {change.name}});
        continue;
      }
      DifferenceSite site = siteOf(change.name, {m_a.covering(change.name)}, {m_b.covering(change.nameInB)});
      site.nodes = m_a.nodesOf(change.name);
      m_nodesOfSites.insert(site.nodes.begin(), site.nodes.end());
      add(std::move(group), std::move(site));
    }
  }

  /// Returns the nodes at a value: the one that calculates it, otherwise those that read it.
  std::vector<std::string> nodesAt(const std::string& value) const {
    for (const Side* side : {&m_a, &m_b}) {
      const Graph& graph = side->network().graph();
      const auto id = graph.findValue(value);
      if (!id) continue;
      const Value& found = graph.value(*id);
      if (found.producer.valid()) return {graph.node(found.producer).name};
      if (!found.consumers.empty()) return {graph.node(found.consumers.front()).name};
    }
    return {};
  }

  void addCasts() {
    for (const CastChange& change : m_diff.casts) {
      DifferenceSite site{.name = change.value, .nodes = nodesAt(change.value)};
      const DiffTime nothing{0, change.time ? change.time->how : DiffTimeKind::Measured};
      if (change.time) (change.added ? site.ofB : site.ofA) = change.time;
      if (change.time) (change.added ? site.ofA : site.ofB) = nothing;
      add({.topic = DifferenceTopic::Conversion,
           .sign = change.added ? '+' : '-',
           .what = fmt::format("conversion {} → {}", name(change.from), name(change.to)),
           .because = change.because},
          std::move(site));
    }
  }

  /// Adds values with different stored types that no other difference explains.
  void addStored() {
    for (const TypeChange& change : m_diff.types) {
      if (change.thing != TypedThing::Value) continue;
      DifferenceSite site{.name = change.name, .nodes = nodesAt(change.name)};
      if (!site.nodes.empty() && m_nodesOfSites.contains(site.nodes.front())) continue;
      add({.topic = DifferenceTopic::Stored,
           .what = fmt::format("stored in {} → {}", change.a, change.b),
           .because = change.because},
          std::move(site));
    }
  }

  void addFates() {
    for (const FateChange& change : m_diff.fates)
      add({.topic = DifferenceTopic::Fate, .what = change.a + " → " + change.b, .because = change.because},
          {.name = change.node, .nodes = {change.node}});
  }

  /// Adds the time differences of equal kernels that no other difference concerns.
  void addTimes() {
    for (const TimeChange& change : m_diff.times) {
      const auto isOfSite = [&](const CoveringNode& kernel) { return m_kernelsOfSites.contains(kernel.identity); };
      if (std::ranges::any_of(change.a, isOfSite) || std::ranges::any_of(change.b, isOfSite)) continue;
      DifferenceSite site = siteOf(change.a.front().place.text(), change.a, change.b);
      site.nodes = m_a.nodesOf(site.name);
      add({.topic = DifferenceTopic::Time, .what = "another time of the same kernels"}, std::move(site), "time");
    }
  }

  void finish(DifferenceGroup& group) {
    std::set<std::pair<bool, std::int32_t>> blocks, copies;
    std::size_t of = 0;
    bool allInBlocks = true;
    for (DifferenceSite& site : group.sites) {
      const Found found = site.nodes.empty() ? Found() : find(site.nodes.front());
      const std::int32_t block = found.node.valid() ? placesOf(found).blockOf(found.node) : -1;
      allInBlocks &= block >= 0;
      if (block < 0) continue;
      blocks.insert({found.inA, block});
      const std::int32_t copy = placesOf(found).copyOf(found.node);
      if (copy < 0) continue;
      copies.insert({found.inA, copy});
      site.block = placesOf(found).module(copy).name;
      of = std::max(of, placesOf(found).module(block).children.size());
      group.block = placesOf(found).module(block).title;
    }
    if (blocks.size() != 1 || !allInBlocks) group.block.clear();
    if (blocks.size() == 1 && allInBlocks) {
      const auto [inA, block] = *blocks.begin();
      group.block = (inA ? m_placesOfA : *m_placesOfB).module(block).title;
      group.copies = copies.size();
      group.of = of;
    }
    group.ofA = sumOf(group.sites, &DifferenceSite::ofA);
    group.ofB = sumOf(group.sites, &DifferenceSite::ofB);
    const DifferenceSite* worst = nullptr;
    const auto errorOf = [](const DifferenceSite& site) { return std::max(*site.errorOfA, *site.errorOfB); };
    for (const DifferenceSite& site : group.sites)
      if (site.errorOfA && (worst == nullptr || errorOf(site) > errorOf(*worst))) worst = &site;
    if (worst == nullptr) return;
    group.errorOfA = worst->errorOfA;
    group.errorOfB = worst->errorOfB;
  }

  static std::optional<DiffTime> sumOf(const std::vector<DifferenceSite>& sites,
                                       std::optional<DiffTime> DifferenceSite::*time) {
    std::optional<DiffTime> sum;
    for (const DifferenceSite& site : sites) {
      if (!(site.*time)) return std::nullopt;
      if (!sum) sum = DiffTime{0, (site.*time)->how};
      sum->ms += (site.*time)->ms;
      if ((site.*time)->how == DiffTimeKind::Fitted) sum->how = DiffTimeKind::Fitted;
    }
    return sum;
  }

  const Side m_a, m_b;
  const PlanDiff& m_diff;
  const BlockPlaces m_placesOfA;
  std::optional<BlockPlaces> m_placesOfB;  ///< only if B has nodes that A does not have
  std::map<Hash128, const ErrorChange*> m_errorOf;
  std::set<Hash128> m_kernelsOfSites;              ///< the kernels that sites concern
  std::unordered_set<std::string> m_nodesOfSites;  ///< the nodes whose kernels or types differ
  std::vector<DifferenceGroup> m_groups;
  std::unordered_map<std::string, std::size_t> m_groupOf;
};

}  // namespace

std::string_view name(DifferenceTopic topic) {
  static constexpr std::array<std::string_view, 8> kNames{"network",    "segments", "fusion", "types",
                                                          "conversion", "stored",   "fate",   "time"};
  return kNames[static_cast<std::size_t>(topic)];
}

std::optional<double> DifferenceGroup::deltaMs() const {
  if (!ofA || !ofB) return std::nullopt;
  return ofB->ms - ofA->ms;
}

std::vector<DifferenceGroup> groupDifferences(const DiffInput& a, const DiffInput& b, const PlanDiff& diff) {
  return DifferenceGrouper(a, b, diff).run();
}

}  // namespace fusescope
