#include <algorithm>
#include <map>
#include <tuple>

#include "layout/wrapping.h"

namespace fusescope {
namespace {

using Kind = LevelEntity::Kind;

class Cutting {
 public:
  Cutting(const Level& level, const Cuts& cuts) : m_state(level.state), m_cuts(cuts) {}

  Stretches run() {
    const std::size_t count = m_cuts.size() + 1;
    for (std::size_t s = 0; s < count; ++s) m_result.all.push_back(std::make_unique<Stretch>());
    m_bends.resize(count);
    m_edgeAt.resize(count);
    placeEntities();
    findWires();
    m_result.pieces.resize(m_state.paths.size());
    for (std::size_t e = 0; e < m_state.paths.size(); ++e) addEdge(static_cast<int>(e));
    for (std::size_t s = 0; s < count; ++s) order(static_cast<int>(s));
    return std::move(m_result);
  }

 private:
  int stretchOf(int rank) const {
    return static_cast<int>(std::upper_bound(m_cuts.begin(), m_cuts.end(), rank) - m_cuts.begin());
  }
  int firstRank(int stretch) const { return stretch == 0 ? 0 : m_cuts[stretch - 1]; }
  int lastRank(int stretch) const {
    return stretch < static_cast<int>(m_cuts.size()) ? m_cuts[stretch] - 1 : static_cast<int>(m_state.ranks.size()) - 1;
  }
  LevelGraph& graphOf(int stretch) { return m_result.all[stretch]->level.graph; }

  void placeEntities() {
    m_result.stretchOf.assign(m_state.entityCount, -1);
    m_result.indexInStretch.assign(m_state.entityCount, -1);
    for (int v = 0; v < m_state.entityCount; ++v) {
      if (m_state.rank[v] < 0) continue;
      const int s = stretchOf(m_state.rank[v]);
      m_result.stretchOf[v] = s;
      m_result.indexInStretch[v] = static_cast<int>(graphOf(s).entities.size());
      graphOf(s).entities.push_back(m_state.level->entities[v]);
    }
  }

  int upperEnd(int e) const { return m_state.reversed[e] ? edgeOf(e).to : edgeOf(e).from; }
  int lowerEnd(int e) const { return m_state.reversed[e] ? edgeOf(e).from : edgeOf(e).to; }
  const LevelEdge& edgeOf(int e) const { return m_state.level->edges[e]; }

  /// Where an edge passes a cut: the node above it and, for a container, the port. Edges with the same node and port
  /// are one wire. Edges that are drawn outside come last.
  using WireKey = std::tuple<int, int, double, int, int>;  // outside, place, place of the port, node, port
  WireKey wireKey(int e, int cut) const {
    const std::vector<int>& links = m_state.paths[e].links;
    const int upper = upperEnd(e), port = m_state.reversed[e] ? -1 : edgeOf(e).fromPort;
    if (links.empty()) return {1, 0, 0, upper, port};
    const int depth = m_cuts[cut] - 1 - m_state.rank[upper];
    const int node = m_state.links[links[depth]].upper;
    if (node != upper) return {0, m_state.position[node], 0, node, -1};
    return {0, m_state.position[node], edgeOf(e).fromX.value_or(0), node, port};
  }

  void findWires() {
    m_wires.resize(m_cuts.size());
    for (int e = 0; e < static_cast<int>(m_state.paths.size()); ++e) {
      if (edgeOf(e).from == edgeOf(e).to) continue;
      for (int cut = stretchOf(m_state.rank[upperEnd(e)]); cut < stretchOf(m_state.rank[lowerEnd(e)]); ++cut)
        m_wires[cut].try_emplace(wireKey(e, cut), 0);
    }
    for (std::size_t cut = 0; cut < m_wires.size(); ++cut) {
      int next = 0;
      for (auto& [key, wire] : m_wires[cut]) {
        wire = next++;
        const auto addPort = [&](int stretch, Kind kind, std::vector<int>& ports) {
          ports.push_back(static_cast<int>(graphOf(stretch).entities.size()));
          graphOf(stretch).entities.push_back({.kind = kind});
        };
        addPort(static_cast<int>(cut), Kind::PortOut, m_result.all[cut]->portsBelow);
        addPort(static_cast<int>(cut) + 1, Kind::PortIn, m_result.all[cut + 1]->portsAbove);
      }
    }
  }

  void addEdge(int e) {
    const int upper = upperEnd(e), lower = lowerEnd(e);
    const int first = m_result.stretchOf[upper], last = m_result.stretchOf[lower];
    int above = -1;  // the wire on which it enters
    for (int s = first; s <= last; ++s) {
      const int wire = s == last ? -1 : m_wires[s].at(wireKey(e, s));
      const bool forward = !m_state.reversed[e];
      LevelEdge part{.from = s == first ? m_result.indexInStretch[upper] : m_result.all[s]->portsAbove[above],
                     .to = s == last ? m_result.indexInStretch[lower] : m_result.all[s]->portsBelow[wire]};
      if (s == first && forward) {
        part.fromPort = edgeOf(e).fromPort;
        part.fromX = edgeOf(e).fromX;
      }
      if (s == last && forward) {
        part.toPort = edgeOf(e).toPort;
        part.toX = edgeOf(e).toX;
      }
      m_result.pieces[e].push_back({s, first == last ? add(s, part, e) : addOnce(s, part, e), wire});
      above = wire;
    }
  }

  /// Records the bends of the whole level that this part passes, which determine where its own bends are.
  int add(int stretch, const LevelEdge& part, int e) {
    graphOf(stretch).edges.push_back(part);
    m_bends[stretch].push_back(e);
    return static_cast<int>(graphOf(stretch).edges.size()) - 1;
  }
  int addOnce(int stretch, const LevelEdge& part, int e) {
    const auto [it, added] = m_edgeAt[stretch].try_emplace({part.from, part.fromPort, part.to, part.toPort}, 0);
    if (added) it->second = add(stretch, part, e);
    return it->second;
  }

  // The ranks of a stretch are those of the whole level, below the wires that enter and above those that leave.
  void order(int s) {
    Stretch& stretch = *m_result.all[s];
    LayeredState& state = stretch.level.state;
    const int top = stretch.portsAbove.empty() ? 0 : 1, begin = firstRank(s), end = lastRank(s);
    const int below = top + end - begin + 1;
    state.level = &stretch.level.graph;
    state.entityCount = static_cast<int>(stretch.level.graph.entities.size());
    state.reversed.assign(stretch.level.graph.edges.size(), false);
    state.rank.assign(state.entityCount, 0);
    std::vector<double> place(state.entityCount, 0);
    for (const int port : stretch.portsAbove) state.topological.push_back(port);
    for (int r = begin; r <= end; ++r)
      for (const int v : m_state.ranks[r]) {
        if (m_state.isBend(v)) continue;
        const int local = m_result.indexInStretch[v];
        state.rank[local] = top + r - begin;
        place[local] = m_state.position[v];
        state.topological.push_back(local);
      }
    for (std::size_t w = 0; w < stretch.portsAbove.size(); ++w) place[stretch.portsAbove[w]] = double(w);
    for (std::size_t w = 0; w < stretch.portsBelow.size(); ++w) {
      const int port = stretch.portsBelow[w];
      state.rank[port] = below;
      place[port] = double(w);
      state.topological.push_back(port);
    }
    const std::size_t share = mostBends(m_state.level->entities.size()) / m_result.all.size();
    addBends(state, 4 * stretch.level.graph.entities.size() + share);
    placeBends(s, begin - top, place);
    state.ranks.assign(std::size_t(stretch.portsBelow.empty() ? below : below + 1), {});
    for (int v = 0; v < static_cast<int>(state.rank.size()); ++v) state.ranks[state.rank[v]].push_back(v);
    state.position.assign(state.rank.size(), 0);
    for (std::vector<int>& rank : state.ranks) {
      std::stable_sort(rank.begin(), rank.end(), [&](int a, int b) { return place[a] < place[b]; });
      for (std::size_t i = 0; i < rank.size(); ++i) state.position[rank[i]] = static_cast<int>(i);
    }
    stretch.level.graph.portsIn = portsOf(state, state.ranks.front(), Kind::PortIn);
    stretch.level.graph.portsOut = portsOf(state, state.ranks.back(), Kind::PortOut);
  }

  static std::vector<int> portsOf(const LayeredState& state, const std::vector<int>& rank, Kind kind) {
    std::vector<int> ports;
    for (const int v : rank)
      if (state.kind(v) == kind) ports.push_back(v);
    return ports;
  }

  // `shift` converts a rank of the stretch to one of the whole level. What is drawn outside there is on the right here.
  void placeBends(int s, int shift, std::vector<double>& place) {
    const LayeredState& state = m_result.all[s]->level.state;
    place.resize(state.rank.size(), double(m_state.rank.size()));
    for (std::size_t part = 0; part < state.paths.size(); ++part) {
      const int e = m_bends[s][part];
      const std::vector<int>& links = m_state.paths[e].links;
      if (links.empty()) continue;
      const int upperRank = m_state.rank[upperEnd(e)];
      for (const int l : state.paths[part].links) {
        const int node = state.links[l].lower;
        if (!state.isBend(node)) continue;
        const int depth = state.rank[node] + shift - upperRank - 1;
        place[node] = m_state.position[m_state.links[links[depth]].lower];
      }
    }
  }

  const LayeredState& m_state;
  const Cuts& m_cuts;
  Stretches m_result;
  std::vector<std::map<WireKey, int>> m_wires;  // by cut
  std::vector<std::vector<int>> m_bends;        // by stretch and its edges: the edge of the level
  std::vector<std::map<std::tuple<int, int, int, int>, int>> m_edgeAt;  // by stretch: its parts of edges that pass cuts
};

}  // namespace

Stretches stretchesOf(const Level& level, const Cuts& cuts) {
  return Cutting(level, cuts).run();
}

}  // namespace fusescope
