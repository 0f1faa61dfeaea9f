#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "layout/layered.h"

namespace fusescope {
namespace {

constexpr double kBoxGap = 36;
constexpr double kBendGap = 18;
constexpr int kMoves = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

int priority(const LayeredState& state, const RankLink& link) {
  const int bends = state.isBend(link.upper) + state.isBend(link.lower);
  if (bends == 2) return 3;
  if (bends == 1) return 1;
  return link.critical ? 4 : 2;
}

// Takes links by priority unless they cross one that was taken in the same gap; each node keeps at most one link above
// and one below.
void alignGap(const LayeredState& state, int r, std::vector<int>& aligned) {
  std::vector<int> candidates;
  for (const int v : state.ranks[r]) {
    candidates.insert(candidates.end(), state.below[v].begin(), state.below[v].end());
  }
  const auto distance = [&](int l) {
    return std::abs(state.position[state.links[l].upper] - state.position[state.links[l].lower]);
  };
  std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
    return std::tuple(-priority(state, state.links[a]), distance(a)) <
           std::tuple(-priority(state, state.links[b]), distance(b));
  });
  std::map<int, int> lowerByUpper;  // positions of the links that were taken
  std::vector<bool> lowerTaken(r + 1 < static_cast<int>(state.ranks.size()) ? state.ranks[r + 1].size() : 0, false);
  for (const int l : candidates) {
    const int up = state.position[state.links[l].upper], low = state.position[state.links[l].lower];
    if (lowerTaken[low]) continue;
    const auto next = lowerByUpper.lower_bound(up);
    if (next != lowerByUpper.end() && (next->first == up || next->second <= low)) continue;
    if (next != lowerByUpper.begin() && std::prev(next)->second >= low) continue;
    lowerByUpper.emplace(up, low);
    lowerTaken[low] = true;
    aligned.push_back(l);
  }
}

// Nodes on one vertical line, apart from the offsets of their attachments.
struct Columns {
  std::vector<int> of;        // by node: its column
  std::vector<double> shift;  // by node: its centre relative to the column's x
  std::vector<std::vector<int>> nodes;
};

Columns columnsOf(const LayeredState& state, const std::vector<int>& aligned) {
  const std::size_t n = state.rank.size();
  std::vector<int> downLink(n, -1), upLink(n, -1);
  for (const int l : aligned) {
    downLink[state.links[l].upper] = l;
    upLink[state.links[l].lower] = l;
  }
  Columns columns;
  columns.of.assign(n, -1);
  columns.shift.assign(n, 0);
  for (const std::vector<int>& rank : state.ranks) {
    for (const int top : rank) {
      if (upLink[top] >= 0) continue;
      const int column = static_cast<int>(columns.nodes.size());
      columns.nodes.emplace_back();
      double shift = 0;
      for (int v = top;;) {
        columns.of[v] = column;
        columns.shift[v] = shift;
        columns.nodes[column].push_back(v);
        if (downLink[v] < 0) break;
        const RankLink& link = state.links[downLink[v]];
        shift += link.upperX - link.lowerX;
        v = link.lower;
      }
    }
  }
  return columns;
}

struct Neighbour {
  int column;
  double distance;  // smallest distance between the x of both columns
};

struct ColumnGraph {
  std::vector<std::vector<Neighbour>> left, right;
  std::vector<int> order;  // left before right; empty if there is no order
};

ColumnGraph columnGraphOf(const LayeredState& state, const Columns& columns) {
  ColumnGraph graph;
  const std::size_t count = columns.nodes.size();
  graph.left.resize(count);
  graph.right.resize(count);
  for (const std::vector<int>& rank : state.ranks) {
    for (std::size_t i = 0; i + 1 < rank.size(); ++i) {
      const int a = rank[i], b = rank[i + 1];
      const double gap = state.isBend(a) || state.isBend(b) ? kBendGap : kBoxGap;
      const double distance = (state.width(a) + state.width(b)) / 2 + gap + columns.shift[a] - columns.shift[b];
      graph.right[columns.of[a]].push_back({columns.of[b], distance});
      graph.left[columns.of[b]].push_back({columns.of[a], distance});
    }
  }
  std::vector<int> waiting(count);
  for (std::size_t c = 0; c < count; ++c) {
    waiting[c] = static_cast<int>(graph.left[c].size());
    if (waiting[c] == 0) graph.order.push_back(static_cast<int>(c));
  }
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    for (const Neighbour& next : graph.right[graph.order[i]]) {
      if (--waiting[next.column] == 0) graph.order.push_back(next.column);
    }
  }
  return graph;
}

// Returns where the column's links want it: the median of the positions that make each of them straight.
double wanted(const LayeredState& state, const Columns& columns, const std::vector<double>& x, int column,
              std::vector<double>& places) {
  places.clear();
  for (const int v : columns.nodes[column]) {
    const auto pull = [&](const RankLink& link, int other, double offset) {
      if (columns.of[other] == column) return;
      const double place = x[columns.of[other]] + columns.shift[other] + offset - columns.shift[v];
      places.insert(places.end(), priority(state, link) >= 3 ? 2 : 1, place);
    };
    for (const int l : state.above[v]) {
      const RankLink& link = state.links[l];
      pull(link, link.upper, link.upperX - link.lowerX);
    }
    for (const int l : state.below[v]) {
      const RankLink& link = state.links[l];
      pull(link, link.lower, link.lowerX - link.upperX);
    }
  }
  if (places.empty()) return x[column];
  std::sort(places.begin(), places.end());
  const std::size_t middle = places.size() / 2;
  return places.size() % 2 == 1 ? places[middle] : (places[middle - 1] + places[middle]) / 2;
}

double leftBound(const ColumnGraph& graph, const std::vector<double>& x, int column) {
  double bound = -kInfinity;
  for (const Neighbour& n : graph.left[column]) bound = std::max(bound, x[n.column] + n.distance);
  return bound;
}

double rightBound(const ColumnGraph& graph, const std::vector<double>& x, int column) {
  double bound = kInfinity;
  for (const Neighbour& n : graph.right[column]) bound = std::min(bound, x[n.column] - n.distance);
  return bound;
}

std::vector<double> placeColumns(const LayeredState& state, const Columns& columns, const ColumnGraph& graph) {
  std::vector<double> x(columns.nodes.size(), 0);
  for (const int column : graph.order) x[column] = std::max(0.0, leftBound(graph, x, column));
  std::vector<double> places;
  for (int move = 0; move < kMoves; ++move) {
    const auto settle = [&](int column) {
      const double low = leftBound(graph, x, column), high = rightBound(graph, x, column);
      if (low > high) return;
      x[column] = std::clamp(wanted(state, columns, x, column, places), low, high);
    };
    if (move % 2 == 0) {
      std::for_each(graph.order.rbegin(), graph.order.rend(), settle);
    } else {
      std::for_each(graph.order.begin(), graph.order.end(), settle);
    }
  }
  return x;
}

}  // namespace

Status placeAcross(LayeredState& state, const StopToken& stop) {
  std::vector<int> aligned;
  for (int r = 0; r + 1 < static_cast<int>(state.ranks.size()); ++r) alignGap(state, r, aligned);
  TRY(checkStop(stop));
  Columns columns = columnsOf(state, aligned);
  ColumnGraph graph = columnGraphOf(state, columns);
  if (graph.order.size() != columns.nodes.size()) {  // columns obstruct each other: every node is placed separately
    columns = columnsOf(state, {});
    graph = columnGraphOf(state, columns);
  }
  TRY(checkStop(stop));
  const std::vector<double> x = placeColumns(state, columns, graph);
  state.centre.resize(state.rank.size());
  double left = kInfinity;
  for (std::size_t v = 0; v < state.rank.size(); ++v) {
    if (columns.of[v] < 0) continue;  // no edge touches it
    state.centre[v] = x[columns.of[v]] + columns.shift[v];
    left = std::min(left, state.centre[v] - state.width(static_cast<int>(v)) / 2);
  }
  for (double& centre : state.centre) centre -= left;
  return Done{};
}

}  // namespace fusescope
