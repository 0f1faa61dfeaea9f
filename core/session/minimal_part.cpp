#include "session/minimal_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/elapsed.h"
#include "base/name_hints.h"
#include "base/sort_distinct.h"
#include "interchange/export_steps.h"
#include "ir/graph.h"
#include "session/build_and_run.h"
#include "tuning/deadline.h"
#include "tuning/smaller_sets.h"

namespace fusescope {
namespace {

/// Returns the file's inputs and all values that its nodes calculate from data.
std::vector<std::string> valuesToRecord(const NetworkCutter& cutter, const std::set<std::size_t>& among) {
  std::set<std::string> names;
  const FileValues& values = cutter.values();
  for (const std::size_t node : among) {
    for (const std::string& read : values.reads(node))
      if (values.depends(read) != FileValues::Depends::Weights && !values.isWeight(read)) names.insert(read);
    for (const std::string& output : values.graph().nodes[node].outputs)
      if (!output.empty() && values.depends(output) != FileValues::Depends::Weights) names.insert(output);
  }
  return {names.begin(), names.end()};
}

class MinimalSearch {
 public:
  MinimalSearch(const Artifact& artifact, const NetworkCutter& cutter, const std::set<std::size_t>& among,
                const Samples& samples, const MinimalOptions& options)
      : m_artifact(artifact),
        m_cutter(cutter),
        m_options(options),
        m_open(among.begin(), among.end()),
        m_deadline(options.run.stop) {
    m_samples.list = {samples.list.front()};
    m_samples.random = samples.random;
  }

  Result<MinimalPart> run() {
    TRY(holdTogether());
    std::set<std::size_t> all(m_open.begin(), m_open.end());
    all.insert(m_held.begin(), m_held.end());
    TRY(record(all));
    if (m_options.seconds > 0) m_deadline.stopAfter(m_options.seconds);
    m_mostTrials = m_options.trials;
    const auto start = std::chrono::steady_clock::now();
    const Culprits found = TRY(findCulprits(static_cast<std::uint32_t>(m_open.size()),
                                            [this](const SwitchSet& chosen) { return errorOf(chosen); },
                                            {.tolerance = kBetween, .stop = m_deadline.token()}));
    TRY(checkStop(m_options.run.stop));
    if (found.end == CulpritEnd::OutOfBudget && !isKnownToShow(nodesOf(found.off)))
      return Diagnostic{.message = "the budget was used up before it was known whether all nodes together show it",
                        .where = {.attribute = "--minimal"},
                        .help = "Give a larger --budget or --trials."};
    MinimalPart part{.end = found.end, .minimal = found.minimal, .of = std::ssize(all)};
    if (found.end == CulpritEnd::NotWrong) {  // the two nodes alone show it
      part.end = CulpritEnd::Found;
      part.nodes = m_held;
      part.minimal = part.smallest = true;
    } else if (found.end != CulpritEnd::NoCulprit) {
      part.nodes = nodesOf(found.off);
      if (part.end == CulpritEnd::Found) TRY(searchSmaller(part, found.off));
    }
    TRY(checkStop(m_options.run.stop));
    part.trials = std::ssize(m_tried);
    part.seconds = msSince(start) / 1000;
    if (const auto tried = m_tried.find(part.nodes); tried != m_tried.end()) part.what = tried->second.what;
    return part;
  }

 private:
  /// Makes the two nodes part of every part, so that they are not switches.
  Status holdTogether() {
    if (m_options.shows != PartShows::Unfused) return Done{};
    if (m_options.together.size() != 2)
      return Diagnostic{.message = "the two nodes that no kernel contains together are missing",
                        .where = {.attribute = "--nodes"},
                        .help = "Name both: --nodes A --nodes B."};
    const auto& origins = m_cutter.model().origins;
    for (const std::string& node : m_options.together) {
      const auto found = std::ranges::find(origins, node, &Origin::name);
      if (found == origins.end()) {
        std::vector<std::string> names;
        for (const Origin& origin : origins) names.push_back(origin.name);
        return Diagnostic{.message = "the network has no node of this name",
                          .where = {.node = node, .attribute = "--nodes"},
                          .help = nearestInWords(node, names, "Nodes are named as 'plan --original' lists them.")};
      }
      m_held.insert(static_cast<std::size_t>(found - origins.begin()));
    }
    std::erase_if(m_open, [&](std::size_t node) { return m_held.contains(node); });
    return Done{};
  }

  /// Only a difference needs values. For the other problems, extents are enough, also for a network that cannot be run.
  Status record(const std::set<std::size_t>& nodes) {
    const auto with = [&](const Samples* samples) {
      return recordValues(m_cutter, *m_artifact.plan, valuesToRecord(m_cutter, nodes), samples, m_options.folder,
                          m_options.run);
    };
    auto recorded = with(&m_samples);
    const bool isNeeded = m_options.shows == PartShows::Difference;
    if (!recorded.ok() && !recorded.error().cancelled && !isNeeded) recorded = with(nullptr);
    if (!recorded.ok()) return located(recorded.error(), m_options.folder, m_cutter.source());
    m_recorded = std::move(recorded).value();
    return Done{};
  }

  bool isKnownToShow(const std::set<std::size_t>& nodes) const {
    const auto known = m_tried.find(nodes);
    return known != m_tried.end() && known->second.isShown;
  }

  std::set<std::size_t> nodesOf(const SwitchSet& chosen) const {
    std::set<std::size_t> nodes = m_held;
    for (const std::uint32_t index : chosen) nodes.insert(m_open[index]);
    return nodes;
  }

  /// Returns whether the part of these nodes shows it. A part that cannot be made, planned or run shows nothing, but it
  /// is an error if this is true of all nodes together. Each set is tried only once. If the budget is used up, the
  /// result is a cancellation.
  Result<double> errorOf(const SwitchSet& chosen) {
    const std::set<std::size_t> nodes = nodesOf(chosen);
    if (nodes.empty()) return kHidden;
    if (const auto known = m_tried.find(nodes); known != m_tried.end()) return known->second.isShown ? kShown : kHidden;
    TRY(checkStop(m_deadline.token()));
    if (m_mostTrials > 0 && std::ssize(m_tried) >= m_mostTrials) return Diagnostic::cancellation();
    if (m_options.run.progress) m_options.run.progress("part", fmt::format("{} nodes", nodes.size()));
    auto shown = PartTrial(m_artifact, m_cutter, m_recorded, m_options).shown(nodes);
    const bool isWhole = nodes.size() == m_open.size() + m_held.size();
    if (!shown.ok() && (isWhole || shown.error().cancelled))
      return located(shown.error(), m_options.folder, m_cutter.source());
    const auto& tried = m_tried.emplace(nodes, shown.ok() ? shown.value() : PartTrial::Shown()).first->second;
    return tried.isShown ? kShown : kHidden;
  }

  /// Searches a part of fewer nodes, after the first search has found one of which no node can be left out.
  Status searchSmaller(MinimalPart& part, const SwitchSet& off) {
    const std::int64_t more = std::max(kLeastMore, 2 * std::ssize(m_tried));
    if (m_mostTrials == 0 && m_options.seconds <= 0) m_mostTrials = std::ssize(m_tried) + more;
    const auto found = TRY(smallerSet(
        off, placesOfSwitches(), [this](const SwitchSet& chosen) { return errorOf(chosen); }, kBetween));
    part.nodes = nodesOf(found.off);
    part.smallest = found.smallest;
    return Done{};
  }

  /// Returns the places of the switches: nodes are near those that read their results.
  SwitchPlaces placesOfSwitches() const {
    SwitchPlaces places{.neighbours = std::vector<SwitchSet>(m_open.size())};
    std::map<std::size_t, std::uint32_t> switchOf;
    for (std::uint32_t i = 0; i < m_open.size(); ++i) switchOf[m_open[i]] = i;
    const auto& nodes = m_cutter.values().graph().nodes;
    std::map<std::string, std::size_t> makerOf;
    for (std::size_t node = 0; node < nodes.size(); ++node)
      for (const std::string& output : nodes[node].outputs)
        if (!output.empty()) makerOf[output] = node;
    const auto join = [&](std::size_t a, std::size_t b) {
      const auto one = switchOf.find(a);
      if (one == switchOf.end()) return;
      if (m_held.contains(b)) places.beginnings.push_back(one->second);
      if (const auto other = switchOf.find(b); other != switchOf.end())
        places.neighbours[one->second].push_back(other->second);
    };
    for (std::size_t node = 0; node < nodes.size(); ++node)
      for (const std::string& read : m_cutter.values().reads(node))
        if (const auto maker = makerOf.find(read); maker != makerOf.end()) {
          join(node, maker->second);
          join(maker->second, node);
        }
    for (SwitchSet& neighbours : places.neighbours) sortDistinct(neighbours);
    sortDistinct(places.beginnings);
    return places;
  }

  static constexpr double kShown = 0, kBetween = 0.5, kHidden = 1;
  static constexpr std::int64_t kLeastMore = 32;  ///< at least this many more parts are tried

  const Artifact& m_artifact;
  const NetworkCutter& m_cutter;
  const MinimalOptions& m_options;
  std::vector<std::size_t> m_open;  ///< the switches: nodes that a part need not contain
  std::set<std::size_t> m_held;
  Samples m_samples;
  RecordedValues m_recorded;
  Deadline m_deadline;
  std::int64_t m_mostTrials = 0;  ///< 0: no limit
  std::map<std::set<std::size_t>, PartTrial::Shown> m_tried;
};

}  // namespace

Result<MinimalPart> minimalPart(const Artifact& artifact, const NetworkCutter& cutter,
                                const std::set<std::size_t>& among, const Samples& samples,
                                const MinimalOptions& options) {
  return MinimalSearch(artifact, cutter, among, samples, options).run();
}

Json toJson(const MinimalPart& part, const MinimalOptions& options, const NetworkCutter& cutter) {
  return {{"shows", name(options.shows)},
          {"end", name(part.end)},
          {"minimal", part.minimal},
          {"smallest", part.smallest},
          {"against", options.against ? Json(options.against->compiler) : Json(nullptr)},
          {"nodes", cutter.nodeNames(part.nodes)},
          {"of", part.of},
          {"trials", part.trials},
          {"seconds", part.seconds},
          {"what", part.what}};
}

}  // namespace fusescope
