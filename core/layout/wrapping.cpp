#include "layout/wrapping.h"

#include <algorithm>
#include <cmath>

namespace fusescope {
namespace {

// About the space that the layered layout leaves free.
constexpr double kBesideBox = 36, kBesideBend = 18, kBelowRank = 46, kBesideStretch = 70, kBesideWire = 12;
/// A level is wrapped if it is this much higher than the page. If the picture is a single level, its width is then less
/// than 0.39 of the wanted width for its height.
constexpr double kTall = 1.6;
constexpr double kLeastPage = 400;  // px; a level that is at most kTall times as high is legible in any window
constexpr double kWorthCutting =
    0.85;                          // the picture must become smaller by this factor; otherwise the level is not cut
constexpr double kPatience = 1.5;  // the picture may be larger by this factor with its earlier cuts
constexpr double kShortest = 0.72, kLongest = 1.15;  // height of a stretch, relative to stretches of equal height
constexpr double kWiresForUnevenness = 10;           // additional wires that a cut at the right place may have
/// The numbers of stretches that are tried, relative to the number that the area suggests.
constexpr double kTried[] = {0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.4, 1.6, 2};
constexpr std::size_t kMostChoices = 4, kLargestTried = 20'000;

/// The sizes of the ranks, from their boxes.
struct Ranks {
  std::vector<double> top;  ///< and behind the last its end
  std::vector<double> width;
  std::vector<int> wires;                                                             ///< that pass from the rank above
  double height(int from, int to) const { return top[to] - top[from] - kBelowRank; }  ///< of ranks [from, to)
  int count() const { return static_cast<int>(width.size()); }
};

Ranks ranksOf(const LayeredState& state) {
  const int count = static_cast<int>(state.ranks.size());
  Ranks ranks{.top = {0}, .width = std::vector<double>(count, 0), .wires = std::vector<int>(count + 1, 0)};
  for (int r = 0; r < count; ++r) {
    double tallest = 0;
    for (const int v : state.ranks[r]) {
      tallest = std::max(tallest, state.height(v));
      ranks.width[r] += state.width(v) + (state.isBend(v) ? kBesideBend : kBesideBox);
      if (!state.below[v].empty()) ++ranks.wires[r + 1];
    }
    ranks.top.push_back(ranks.top.back() + tallest + kBelowRank);
  }
  std::vector<int> deepest(state.entityCount, -1);  // of edges that are drawn outside
  for (std::size_t e = 0; e < state.paths.size(); ++e) {
    const LevelEdge& edge = state.level->edges[e];
    if (!state.paths[e].links.empty() || edge.from == edge.to) continue;
    const int upper = state.reversed[e] ? edge.to : edge.from, lower = state.reversed[e] ? edge.from : edge.to;
    deepest[upper] = std::max(deepest[upper], state.rank[lower]);
  }
  std::vector<int> change(count + 2, 0);
  for (int v = 0; v < state.entityCount; ++v) {
    if (deepest[v] <= state.rank[v]) continue;
    ++change[state.rank[v] + 1];
    --change[deepest[v] + 1];
  }
  for (int r = 0, outside = 0; r <= count; ++r) ranks.wires[r] += outside += change[r];
  return ranks;
}

/// Where a level is cut, and its size with these cuts.
struct Wrapped {
  Cuts cuts;
  double width = 0, height = 0;
  double reach(double proportion) const { return std::max(width / proportion, height); }
};

Wrapped measured(const Ranks& ranks, Cuts cuts) {
  Wrapped result;
  int from = 0;
  for (std::size_t s = 0; s <= cuts.size(); ++s) {
    const int to = s < cuts.size() ? cuts[s] : ranks.count();
    const double bundle = s < cuts.size() ? ranks.wires[to] * kBesideWire : 0;
    result.width += *std::max_element(ranks.width.begin() + from, ranks.width.begin() + to) + bundle + kBesideStretch;
    result.height = std::max(result.height, ranks.height(from, to) + 2 * bundle);
    from = to;
  }
  result.cuts = std::move(cuts);
  return result;
}

// Cuts a level into `count` stretches of about equal height, or one more. Of the places near the end of each, the one
// that the fewest wires pass is used.
Wrapped wrapped(const Ranks& ranks, int count) {
  Cuts cuts;
  for (int from = 0; count > 1; --count) {
    const double wanted = ranks.height(from, ranks.count()) / count;
    int best = -1;
    double least = 0;
    for (int to = from + 1; to < ranks.count(); ++to) {
      const double height = ranks.height(from, to);
      if (height > wanted * kLongest && best >= 0) break;
      if (height < wanted * kShortest) continue;
      const double cost = ranks.wires[to] + kWiresForUnevenness * std::abs(height - wanted) / wanted;
      if (best >= 0 && cost >= least) continue;
      best = to;
      least = cost;
    }
    if (best < 0) break;
    cuts.push_back(from = best);
  }
  return measured(ranks, std::move(cuts));
}

// Returns the smallest pictures of this proportion, the smallest first.
std::vector<Wrapped> inProportion(const Ranks& ranks, double proportion) {
  double area = 0;
  for (int r = 0; r < ranks.count(); ++r) area += (ranks.width[r] + kBesideStretch) * (ranks.top[r + 1] - ranks.top[r]);
  const double suggested = ranks.height(0, ranks.count()) / std::sqrt(area / proportion);
  const double whole = measured(ranks, {}).reach(proportion);
  std::vector<Wrapped> choices;
  int before = 1;
  for (const double tried : kTried) {
    const int count = static_cast<int>(std::lround(suggested * tried));
    if (count <= before) continue;
    before = count;
    Wrapped now = wrapped(ranks, count);
    if (now.reach(proportion) < kWorthCutting * whole) choices.push_back(std::move(now));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [&](const Wrapped& a, const Wrapped& b) { return a.reach(proportion) < b.reach(proportion); });
  return choices;
}

// Returns cuts between consecutive ranks where the second one was higher in the earlier picture. If there are unknown
// ranks between the two, the cut is where it is now, or where the fewest wires pass. Returns nothing if nothing of the
// level is known.
std::optional<Cuts> earlierCuts(const Level& level, const Ranks& ranks, const Cuts& now) {
  if (level.earlier.empty()) return std::nullopt;
  Cuts cuts;
  int last = -1;
  double lastTop = 0;
  for (int r = 0; r < ranks.count(); ++r) {
    std::optional<double> top;
    for (const int v : level.state.ranks[r]) {
      if (level.state.isBend(v) || !level.earlier[v]) continue;
      top = std::min(top.value_or(level.earlier[v]->y), level.earlier[v]->y);
    }
    if (!top) continue;
    if (last >= 0 && *top < lastTop) {
      const auto same = std::upper_bound(now.begin(), now.end(), last);
      const auto wires = ranks.wires.begin();
      cuts.push_back(same != now.end() && *same <= r ? *same
                                                     : int(std::min_element(wires + last + 1, wires + r + 1) - wires));
    }
    last = r;
    lastTop = *top;
  }
  return last < 0 ? std::nullopt : std::optional(std::move(cuts));
}

}  // namespace

std::vector<Cuts> cutsOf(const Level& level, const Page& page, bool isMost) {
  if (page.proportion <= 0 || level.state.ranks.size() < 2) return {};
  const Ranks ranks = ranksOf(level.state);
  const double height = ranks.height(0, ranks.count()), least = std::max(page.height, kLeastPage);
  if (height < kTall * least) return {};
  const int parts = static_cast<int>(std::ceil(height / least));
  std::vector<Wrapped> choices =
      isMost ? inProportion(ranks, page.proportion) : std::vector<Wrapped>{wrapped(ranks, parts)};
  if (choices.empty()) return {};
  if (const auto earlier = page.keepsCuts ? earlierCuts(level, ranks, choices.front().cuts) : std::nullopt) {
    Wrapped kept = measured(ranks, *earlier);
    const bool stays = isMost ? kept.reach(page.proportion) <= kPatience * choices.front().reach(page.proportion)
                              : kept.height <= kPatience * choices.front().height;
    if (stays) return kept.cuts.empty() ? std::vector<Cuts>() : std::vector<Cuts>{std::move(kept.cuts)};
  }
  const bool triesAll = level.state.rank.size() <= kLargestTried;
  choices.resize(std::min(choices.size(), triesAll ? kMostChoices : std::size_t(1)));
  std::vector<Cuts> result;
  for (Wrapped& choice : choices) result.push_back(std::move(choice.cuts));
  return result;
}

}  // namespace fusescope
