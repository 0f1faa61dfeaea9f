#include "engine/tactics/format_planner.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/sort_distinct.h"

namespace fusescope {
namespace {

constexpr std::size_t kNoNode = SIZE_MAX;
// A relative difference, because sums of the same numbers may be added in another order.
constexpr double kSameCost = 1e-9;
constexpr int kMostSweeps = 20;
// The margins of stable choices: a way that is not preferred must gain the largest of these margins. Each further
// margin is one step smaller.
constexpr double kLargestMargin = 0.5, kMarginStep = 0.5;
constexpr int kMargins = 6;
constexpr double kFurtherBack = 0.15;  // the additional margin for each place in the order of preference
// The margins of a conversion, which was measured alone and takes room in the caches.
constexpr double kConversionMargins = 2;

using Forms = std::uint32_t;  ///< a set of forms of one value, with a bit for each form

/// A value while it is alive: its memory formats and types, and the forms in which it exists already.
struct LiveValue {
  std::uint32_t home = 0;
  Forms made = 0;
  bool operator==(const LiveValue&) const = default;
};

struct Cost {
  double ms = 0;
  std::size_t conversions = 0;
  bool isBelow(const Cost& other) const {
    const double slack = kSameCost * std::max(ms, other.ms);
    if (ms < other.ms - slack) return true;
    return ms <= other.ms + slack && conversions < other.conversions;
  }
};

/// The forms of all values that are alive between two nodes, in the order of Frontier::live, and the cheapest way to
/// reach them.
struct State {
  std::vector<LiveValue> live;
  Cost cost;
  std::size_t before = 0;  ///< the index of the preceding state, among the states before the node
  std::size_t way = 0;     ///< the way in which the node runs
};

struct LiveHash {
  std::size_t operator()(const std::vector<LiveValue>& live) const {
    std::size_t hash = 1469598103934665603ULL;
    for (const LiveValue& value : live) {
      hash = (hash ^ value.home) * 1099511628211ULL;
      hash = (hash ^ value.made) * 1099511628211ULL;
    }
    return hash;
  }
};

/// The cost, besides time, of leaving the preferred ways: a share of the time, and of the mean time of a node.
struct Margin {
  double share = 0, meanMs = 0;
};

/// The problem, together with values that the search needs again and again.
class Searched {
 public:
  Searched(const FormatProblem& problem, Margin margin)
      : m_problem(problem),
        m_margin(margin),
        m_producer(problem.values, kNoNode),
        m_readers(problem.values),
        m_conversions(problem.values) {
    for (std::size_t node = 0; node < problem.nodes.size(); ++node) {
      for (const std::size_t value : problem.nodes[node].outputs) m_producer[value] = node;
      for (const std::size_t value : problem.nodes[node].inputs)
        if (m_readers[value].empty() || m_readers[value].back() != node) m_readers[value].push_back(node);
      m_ways.push_back(undominated(problem.nodes[node]));
    }
  }

  std::size_t nodeCount() const { return m_problem.nodes.size(); }
  const FormatProblem::Node& node(std::size_t i) const { return m_problem.nodes[i]; }
  const std::vector<std::size_t>& waysOf(std::size_t node) const { return m_ways[node]; }
  std::size_t producerOf(std::size_t value) const { return m_producer[value]; }
  const std::vector<std::size_t>& readersOf(std::size_t value) const { return m_readers[value]; }
  std::size_t givenForm(std::size_t value) const { return m_problem.givenForms[value]; }

  double conversionMs(std::size_t value, std::size_t from, std::size_t to) {
    const auto [entry, isNew] = m_conversions[value].try_emplace({from, to}, 0.0);
    if (isNew) {
      const double ms = m_problem.conversionMs(value, from, to);
      entry->second = ms + m_margin.share * (ms * kConversionMargins + m_margin.meanMs);
    }
    return entry->second;
  }
  double msOf(const FormatProblem::Way& way) const {
    if (way.place == 0) return way.ms;
    return way.ms +
           m_margin.share * (1 + kFurtherBack * static_cast<double>(way.place - 1)) * (way.ms + m_margin.meanMs);
  }

  /// Makes `value` available in `form`, and adds the cost of this.
  void read(std::size_t value, std::size_t form, LiveValue& live, Cost& cost) {
    const Forms bit = Forms{1} << form;
    if ((live.made & bit) != 0) return;
    live.made |= bit;
    cost.ms += conversionMs(value, live.home, form);
    ++cost.conversions;
  }

 private:
  /// Returns the fastest of the ways that read and write the same forms. Of equally fast ones it returns the first.
  std::vector<std::size_t> undominated(const FormatProblem::Node& node) const {
    std::vector<std::size_t> kept;
    for (std::size_t way = 0; way < node.ways.size(); ++way) {
      const auto isAlike = [&](std::size_t other) {
        return node.ways[other].reads == node.ways[way].reads && node.ways[other].writes == node.ways[way].writes;
      };
      const auto alike = std::ranges::find_if(kept, isAlike);
      if (alike == kept.end()) {
        kept.push_back(way);
      } else if (msOf(node.ways[way]) < msOf(node.ways[*alike])) {
        *alike = way;
      }
    }
    return kept;
  }

  const FormatProblem& m_problem;
  Margin m_margin;
  std::vector<std::size_t> m_producer;
  std::vector<std::vector<std::size_t>> m_readers, m_ways;
  std::vector<std::map<std::pair<std::size_t, std::size_t>, double>> m_conversions;
};

/// Solves the problem by dynamic programming.
class Frontier {
 public:
  Frontier(Searched& problem, std::size_t values, std::size_t mostStates)
      : m_problem(problem), m_mostStates(std::max<std::size_t>(1, mostStates)), m_place(values, kNoNode) {
    State first;
    for (std::size_t value = 0; value < values; ++value) {
      if (problem.producerOf(value) != kNoNode || problem.readersOf(value).empty()) continue;
      add(value);
      first.live.push_back(bornAs(problem.givenForm(value)));
    }
    m_layers.push_back({std::move(first)});
  }

  std::vector<std::size_t> run(bool& isExact) {
    for (std::size_t node = 0; node < m_problem.nodeCount(); ++node) {
      step(node);
      if (m_layers.back().size() <= m_mostStates) continue;
      isExact = false;
      keepPromising(node);
    }
    std::vector<std::size_t> ways(m_problem.nodeCount());
    std::size_t at = cheapest(m_layers.back());
    for (std::size_t node = ways.size(); node-- > 0;) {
      const State& state = m_layers[node + 1][at];
      ways[node] = state.way;
      at = state.before;
    }
    return ways;
  }

 private:
  static LiveValue bornAs(std::size_t form) { return {static_cast<std::uint32_t>(form), Forms{1} << form}; }
  void add(std::size_t value) {
    m_place[value] = m_live.size();
    m_live.push_back(value);
  }
  static std::size_t cheapest(const std::vector<State>& states) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < states.size(); ++i)
      if (states[i].cost.isBelow(states[best].cost)) best = i;
    return best;
  }

  /// Computes the states after `node` by applying every way to every state before it.
  void step(std::size_t index) {
    const FormatProblem::Node& node = m_problem.node(index);
    std::vector<std::size_t> places;  // the places of the inputs among the live values before the node
    for (const std::size_t value : node.inputs) places.push_back(m_place[value]);
    std::vector<std::size_t> kept;  // the places of live values that remain alive
    std::vector<std::size_t> live;
    for (std::size_t i = 0; i < m_live.size(); ++i) {
      if (m_problem.readersOf(m_live[i]).back() <= index) continue;
      kept.push_back(i);
      live.push_back(m_live[i]);
    }
    std::vector<std::size_t> born;  // the outputs that have readers
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (!m_problem.readersOf(node.outputs[i]).empty()) born.push_back(i);
    std::unordered_map<std::vector<LiveValue>, std::size_t, LiveHash> known;
    std::vector<State> next;
    std::vector<LiveValue> read, after;  // the live values after the inputs are read, and after the node
    for (std::size_t before = 0; before < m_layers.back().size(); ++before) {
      for (const std::size_t way : m_problem.waysOf(index)) {
        const State& from = m_layers.back()[before];
        Cost cost = from.cost;
        cost.ms += m_problem.msOf(node.ways[way]);
        read = from.live;
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
          m_problem.read(node.inputs[i], node.ways[way].reads[i], read[places[i]], cost);
        after.clear();
        for (const std::size_t i : kept) after.push_back(read[i]);
        for (const std::size_t i : born) after.push_back(bornAs(node.ways[way].writes[i]));
        const auto found = known.find(after);
        if (found == known.end()) {
          known.emplace(after, next.size());
          next.push_back({.live = after, .cost = cost, .before = before, .way = way});
        } else if (State& other = next[found->second]; cost.isBelow(other.cost)) {
          other.cost = cost;
          other.before = before;
          other.way = way;
        }
      }
    }
    // Only the paths of earlier layers are needed from now on, and not their forms.
    for (State& state : m_layers.back()) state.live = {};
    m_layers.push_back(std::move(next));
    m_live = std::move(live);
    for (std::size_t i = 0; i < m_live.size(); ++i) m_place[m_live[i]] = i;
    for (const std::size_t i : born) add(node.outputs[i]);
  }

  /// Estimates what later nodes pay if `value` has these forms: for each reader, the cost of its cheapest way from
  /// there minus the cost of its cheapest way of all.
  double outlook(std::size_t index, std::size_t value, const LiveValue& live) {
    double ms = 0;
    for (const std::size_t reader : m_problem.readersOf(value)) {
      if (reader <= index) continue;
      const FormatProblem::Node& node = m_problem.node(reader);
      const auto input = static_cast<std::size_t>(std::ranges::find(node.inputs, value) - node.inputs.begin());
      std::optional<double> least, cheapest;
      for (const std::size_t way : m_problem.waysOf(reader)) {
        const std::size_t form = node.ways[way].reads[input];
        const double own = m_problem.msOf(node.ways[way]) / static_cast<double>(node.inputs.size());
        const bool isThere = (live.made >> form & 1) != 0;
        const double cost = own + (isThere ? 0 : m_problem.conversionMs(value, live.home, form));
        least = std::min(least.value_or(own), own);
        cheapest = std::min(cheapest.value_or(cost), cost);
      }
      ms += *cheapest - *least;
    }
    return ms;
  }

  void keepPromising(std::size_t index) {
    std::vector<State>& states = m_layers.back();
    std::vector<std::pair<double, std::size_t>> order;
    std::map<std::tuple<std::size_t, std::uint32_t, Forms>, double> known;
    for (std::size_t i = 0; i < states.size(); ++i) {
      double ms = states[i].cost.ms;
      for (std::size_t k = 0; k < m_live.size(); ++k) {
        const LiveValue& live = states[i].live[k];
        const auto [entry, isNew] = known.try_emplace({k, live.home, live.made}, 0.0);
        if (isNew) entry->second = outlook(index, m_live[k], live);
        ms += entry->second;
      }
      order.emplace_back(ms, i);
    }
    std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(m_mostStates));
    order.resize(m_mostStates);
    std::ranges::sort(order, {}, &std::pair<double, std::size_t>::second);
    std::vector<State> kept;
    for (const auto& [ms, i] : order) kept.push_back(std::move(states[i]));
    states = std::move(kept);
  }

  Searched& m_problem;
  std::size_t m_mostStates;
  std::vector<std::size_t> m_live;   ///< the live values
  std::vector<std::size_t> m_place;  ///< for each value, its index in m_live
  std::vector<std::vector<State>> m_layers;
};

/// Returns the cost of the forms of one value if the nodes run in these ways.
Cost costOfValue(Searched& problem, std::size_t value, const std::vector<std::size_t>& ways) {
  const std::size_t producer = problem.producerOf(value);
  std::size_t home = 0;
  if (producer == kNoNode) {
    home = problem.givenForm(value);
  } else {
    const FormatProblem::Node& node = problem.node(producer);
    const auto output = static_cast<std::size_t>(std::ranges::find(node.outputs, value) - node.outputs.begin());
    home = node.ways[ways[producer]].writes[output];
  }
  LiveValue live{static_cast<std::uint32_t>(home), Forms{1} << home};
  Cost cost;
  for (const std::size_t reader : problem.readersOf(value)) {
    const FormatProblem::Node& node = problem.node(reader);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == value) problem.read(value, node.ways[ways[reader]].reads[i], live, cost);
  }
  return cost;
}

/// Returns the part of the cost that depends on how `node` runs.
Cost costAround(Searched& problem, std::size_t index, const std::vector<std::size_t>& ways) {
  const FormatProblem::Node& node = problem.node(index);
  std::vector<std::size_t> values = node.inputs;
  values.insert(values.end(), node.outputs.begin(), node.outputs.end());
  sortDistinct(values);
  Cost cost{.ms = problem.msOf(node.ways[ways[index]])};
  for (const std::size_t value : values) {
    const Cost part = costOfValue(problem, value, ways);
    cost.ms += part.ms;
    cost.conversions += part.conversions;
  }
  return cost;
}

/// Changes the way of one node at a time as long as this reduces the cost.
void improve(Searched& problem, std::vector<std::size_t>& ways) {
  for (int pass = 0; pass < kMostSweeps; ++pass) {
    bool changed = false;
    for (std::size_t node = 0; node < problem.nodeCount(); ++node) {
      if (problem.waysOf(node).size() == 1) continue;
      Cost least = costAround(problem, node, ways);
      std::size_t best = ways[node];
      for (const std::size_t way : problem.waysOf(node)) {
        ways[node] = way;
        const Cost cost = costAround(problem, node, ways);
        if (!cost.isBelow(least)) continue;
        least = cost;
        best = way;
        changed = true;
      }
      ways[node] = best;
    }
    if (!changed) return;
  }
}

struct ChosenWays {
  std::vector<std::size_t> ways;
  bool isExact = true;
};

ChosenWays chosenWays(Searched& problem, std::size_t values, std::size_t mostStates) {
  ChosenWays chosen;
  chosen.ways = Frontier(problem, values, mostStates).run(chosen.isExact);
  if (!chosen.isExact) improve(problem, chosen.ways);
  return chosen;
}

FormatPlan priced(Searched& problem, std::size_t values, std::vector<std::size_t> ways) {
  FormatPlan plan{.ways = std::move(ways)};
  for (std::size_t node = 0; node < problem.nodeCount(); ++node)
    plan.ms += problem.msOf(problem.node(node).ways[plan.ways[node]]);
  for (std::size_t value = 0; value < values; ++value) {
    const Cost cost = costOfValue(problem, value, plan.ways);
    plan.ms += cost.ms;
    plan.conversions += cost.conversions;
  }
  return plan;
}

/// Returns the problem with ways in `format` preferred. If a node has several, the first is preferred; if it has none,
/// its preferences remain.
FormatProblem preferring(FormatProblem problem, std::size_t format) {
  for (FormatProblem::Node& node : problem.nodes) {
    const auto preferred = std::ranges::find(node.ways, format, &FormatProblem::Way::format);
    if (preferred == node.ways.end()) continue;
    for (FormatProblem::Way& way : node.ways) way.place = std::max<std::size_t>(1, way.place);
    preferred->place = 0;
  }
  return problem;
}

std::vector<std::size_t> formatsIn(const FormatProblem& problem) {
  std::vector<std::size_t> formats;
  for (const FormatProblem::Node& node : problem.nodes)
    if (node.ways.size() > 1)
      for (const FormatProblem::Way& way : node.ways) formats.push_back(way.format);
  sortDistinct(formats);
  return formats;
}

}  // namespace

FormatPlan planFormats(const FormatProblem& problem, std::size_t mostStates) {
  Searched searched(problem, {});
  ChosenWays chosen = chosenWays(searched, problem.values, mostStates);
  FormatPlan plan = priced(searched, problem.values, std::move(chosen.ways));
  plan.isExact = chosen.isExact;
  return plan;
}

FormatPlan planFormatsStably(const FormatProblem& problem, double mostLoss) {
  const FormatPlan best = planFormats(problem);
  const auto open = std::ranges::count_if(problem.nodes, [](const auto& node) { return node.ways.size() > 1; });
  if (open == 0) return best;
  const double mostMs = best.ms * (1 + mostLoss), meanMs = best.ms / static_cast<double>(open);
  const auto withMargin = [&](const FormatProblem& preferred, int step) {
    Searched searched(preferred, {kLargestMargin * std::pow(kMarginStep, step), meanMs});
    return priceFormats(problem, chosenWays(searched, problem.values, kMostFormatStates).ways);
  };
  FormatProblem preferred = problem;
  double preferredMs = withMargin(preferred, 0).ms;
  for (const std::size_t format : formatsIn(problem)) {
    if (preferredMs <= mostMs) break;
    FormatProblem other = preferring(problem, format);
    const double ms = withMargin(other, 0).ms;
    if (ms >= preferredMs) continue;
    preferred = std::move(other);
    preferredMs = ms;
  }
  // The smaller the margin is, the less time is lost.
  std::optional<FormatPlan> within;
  for (int first = 0, last = kMargins; first < last;) {
    const int middle = first + (last - first) / 2;
    FormatPlan plan = withMargin(preferred, middle);
    if (plan.ms <= mostMs) {
      within = std::move(plan);
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return within.value_or(best);
}

FormatPlan priceFormats(const FormatProblem& problem, std::vector<std::size_t> ways) {
  Searched searched(problem, {});
  return priced(searched, problem.values, std::move(ways));
}

}  // namespace fusescope
