#include <algorithm>
#include <limits>

#include "layout/earlier_order.h"

namespace fusescope {
namespace {

constexpr int kSweeps = 8;
constexpr int kSweepsOfLarge = 4, kSweepsOfSmall = 16;
constexpr std::size_t kLarge = 20'000;  // nodes of a level, including bends
constexpr std::size_t kSmall = 1'500;   // up to this number, neighbours are exchanged and several starts are tried
// Up to this number, the enclosing level considers the inside of a container.
constexpr std::size_t kLookedInto = 2'000;
constexpr int kMostExchanges = 12;  // passes over a level
constexpr long kWorthStaying = 2;   // additional crossings, and a quarter, that are better than another order

enum class Start { Down, DownMirrored, Up };

/// Orders one level after another, each with everything inside it and with its own ports fixed, and then gives the
/// containers in it the order of their ports. The inside of a container is ordered again separately afterwards.
class Ordering {
 public:
  Ordering(Hierarchy& hierarchy, const StopToken& stop)
      : m_levels(hierarchy.levels), m_earlier(hierarchy.levels), m_stop(stop) {
    m_heldBy.assign(m_levels.size(), -1);
    m_portsKnown.assign(m_levels.size(), false);
  }

  Status order(int root) {
    m_root = root;
    m_reached = reached(root);
    TRY(orderFromAll(false));
    if (!keepsEarlierOrder()) {
      const long free = m_fewest;
      std::vector<RankOrder> asFree = std::move(m_best);
      TRY(orderFromAll(true));
      if (m_fewest > free + kWorthStaying + free / 4) m_best = std::move(asFree);
    }
    for (std::size_t i = 0; i < m_reached.size(); ++i) {
      m_levels[m_reached[i]].state.ranks = std::move(m_best[i]);
      numberAll(m_reached[i]);
    }
    holdPorts(root);
    return Done{};
  }

 private:
  LayeredState& stateOf(int level) { return m_levels[level].state; }
  int inside(int level, int node) const {
    return m_levels[level].state.isBend(node) ? -1 : m_levels[level].graph.entities[node].inside;
  }

  // Returns `root` and the levels inside it that are small enough to be considered.
  std::vector<int> reached(int root) {
    std::vector<int> levels{root};
    for (std::size_t i = 0; i < levels.size(); ++i) {
      for (const LevelEntity& entity : m_levels[levels[i]].graph.entities) {
        if (entity.inside < 0) continue;
        const bool minded = m_levels[entity.inside].state.rank.size() <= kLookedInto;
        m_heldBy[entity.inside] = minded ? root : -1;
        m_portsKnown[entity.inside] = minded;
        if (minded) levels.push_back(entity.inside);
      }
    }
    return levels;
  }
  bool isMinded(int level) const { return level >= 0 && m_heldBy[level] == m_root; }

  bool keepsEarlierOrder() const {
    for (std::size_t i = 0; i < m_reached.size(); ++i)
      for (const std::vector<int>& rank : m_best[i])
        if (!m_earlier.isKept(m_reached[i], rank)) return false;
    return true;
  }

  // If `holds` is true, what was in the earlier picture keeps its order.
  Status orderFromAll(bool holds) {
    m_holds = holds;
    m_fewest = std::numeric_limits<long>::max();
    const bool small = stateOf(m_root).rank.size() <= kSmall;
    for (const Start from : {Start::Down, Start::DownMirrored, Start::Up}) {
      TRY(orderFrom(from, small));
      if (!small || m_fewest == 0) break;
    }
    return Done{};
  }

  Status orderFrom(Start from, bool small) {
    for (const int level : m_reached) begin(level, from);
    keepIfBest();
    const int sweeps = small ? kSweepsOfSmall : stateOf(m_root).rank.size() > kLarge ? kSweepsOfLarge : kSweeps;
    for (int sweep = 0; sweep < sweeps && m_fewest > 0; ++sweep) {
      TRY(checkStop(m_stop));
      m_turnsTies = sweep / 2 % 2 == 1;
      (sweep % 2 == 0) == (from != Start::Up) ? down(m_root) : up(m_root);
      if (small) exchangeNeighbours(m_root);
      keepIfBest();
    }
    return Done{};
  }

  void keepIfBest() {
    long now = 0;
    for (const int level : m_reached) now += crossings(level);
    if (now >= m_fewest) return;
    m_fewest = now;
    m_best.clear();
    for (const int level : m_reached) m_best.push_back(stateOf(level).ranks);
  }

  // Depth first, so that connected nodes are close to each other.
  void begin(int level, Start from) {
    LayeredState& state = stateOf(level);
    const LevelGraph& graph = m_levels[level].graph;
    const int rankCount = 1 + (state.rank.empty() ? -1 : *std::max_element(state.rank.begin(), state.rank.end()));
    state.ranks.assign(std::size_t(rankCount), {});
    state.position.assign(state.rank.size(), 0);
    m_seen.assign(state.rank.size(), false);
    const bool fromBelow = from == Start::Up;
    for (const int v : fromBelow ? graph.portsOut : graph.portsIn) visit(state, v, from);
    for (const int v : state.topological)
      if ((fromBelow ? state.below[v] : state.above[v]).empty()) visit(state, v, from);
    for (const int v : state.topological) visit(state, v, from);
    if (level == m_root && !graph.portsIn.empty()) state.ranks.front() = graph.portsIn;
    if (level == m_root && !graph.portsOut.empty()) state.ranks.back() = graph.portsOut;
    if (m_holds)
      for (std::vector<int>& rank : state.ranks) m_earlier.arrange(level, rank);
    numberAll(level);
  }

  bool isHeld(int level, int r) {
    if (level != m_root) return false;
    const LevelGraph& graph = m_levels[level].graph;
    const int last = static_cast<int>(stateOf(level).ranks.size()) - 1;
    return (r == 0 && !graph.portsIn.empty()) || (r == last && !graph.portsOut.empty());
  }
  void visit(LayeredState& state, int root, Start from) {
    if (state.rank[root] < 0) return;
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const int v = stack.back();
      stack.pop_back();
      if (m_seen[v]) continue;
      m_seen[v] = true;
      state.ranks[state.rank[v]].push_back(v);
      const std::vector<int>& links = from == Start::Up ? state.above[v] : state.below[v];
      const auto push = [&](int l) {
        stack.push_back(from == Start::Up ? state.links[l].upper : state.links[l].lower);
      };
      if (from == Start::DownMirrored) {
        std::for_each(links.begin(), links.end(), push);
      } else {
        std::for_each(links.rbegin(), links.rend(), push);
      }
    }
  }

  static void number(LayeredState& state, int r) {
    for (std::size_t i = 0; i < state.ranks[r].size(); ++i) state.position[state.ranks[r][i]] = static_cast<int>(i);
  }
  void numberAll(int level) {
    for (int r = 0; r < static_cast<int>(stateOf(level).ranks.size()); ++r) number(stateOf(level), r);
  }

  // ---- where links end ----------------------------------------------------------------------------------------------
  // Returns the node's position in its rank and, as a fraction, the port's position on the border of a container.
  double place(int level, int node, int port) {
    const LayeredState& state = stateOf(level);
    const double whole = state.position[node];
    const int within = port < 0 ? -1 : inside(level, node);
    if (within < 0 || !m_portsKnown[within]) return whole;
    return whole + 0.9 * (stateOf(within).position[port] + 0.5) / double(m_levels[within].graph.entities.size());
  }
  double upperPlace(int level, const RankLink& link) { return place(level, link.upper, link.upperPort); }
  double lowerPlace(int level, const RankLink& link) { return place(level, link.lower, link.lowerPort); }

  long crossings(int level) {
    const LayeredState& state = stateOf(level);
    long sum = 0;
    for (std::size_t r = 0; r + 1 < state.ranks.size(); ++r) {
      m_ends.clear();
      for (const int v : state.ranks[r])
        for (const int l : state.below[v])
          m_ends.emplace_back(upperPlace(level, state.links[l]), lowerPlace(level, state.links[l]));
      std::sort(m_ends.begin(), m_ends.end());
      m_lower.clear();
      for (const auto& [upper, lower] : m_ends) m_lower.push_back(lower);
      m_merged.resize(m_lower.size());
      sum += inversions(0, m_lower.size());
    }
    return sum;
  }

  // Counts the pairs of m_lower in [from, to) that are in the wrong order, and sorts them.
  long inversions(std::size_t from, std::size_t to) {
    if (to - from < 2) return 0;
    const std::size_t middle = (from + to) / 2;
    long sum = inversions(from, middle) + inversions(middle, to);
    std::size_t a = from, b = middle;
    for (std::size_t i = from; i < to; ++i) {
      const bool takesLeft = b == to || (a < middle && m_lower[a] <= m_lower[b]);
      if (!takesLeft) sum += static_cast<long>(middle - a);
      m_merged[i] = m_lower[takesLeft ? a++ : b++];
    }
    std::copy(m_merged.begin() + long(from), m_merged.begin() + long(to), m_lower.begin() + long(from));
    return sum;
  }

  // ---- sweeps -------------------------------------------------------------------------------------------------------
  // Sorts by the sources of the links above, or below; nodes without links keep their positions.
  void sortRank(int level, int r, bool byAbove) {
    LayeredState& state = stateOf(level);
    m_keyed.clear();
    for (const int v : state.ranks[r]) {
      const std::vector<int>& links = byAbove ? state.above[v] : state.below[v];
      double sum = 0;
      for (const int l : links) sum += byAbove ? upperPlace(level, state.links[l]) : lowerPlace(level, state.links[l]);
      m_keyed.emplace_back(links.empty() ? state.position[v] : sum / double(links.size()), v);
    }
    if (m_holds) m_earlier.makeAscending(level, m_keyed);
    if (m_turnsTies) std::reverse(m_keyed.begin(), m_keyed.end());
    std::stable_sort(m_keyed.begin(), m_keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < m_keyed.size(); ++i) state.ranks[r][i] = m_keyed[i].second;
    if (m_holds) m_earlier.arrange(level, state.ranks[r]);
    number(state, r);
  }

  void down(int level) {
    const int ranks = static_cast<int>(stateOf(level).ranks.size());
    for (int r = 0; r < ranks; ++r) {
      if (r > 0 && !isHeld(level, r)) sortRank(level, r, true);
      for (const int v : stateOf(level).ranks[r]) {
        const int within = inside(level, v);
        if (!isMinded(within)) continue;
        setPorts(within, portsAsOutside(level, v, LevelEntity::Kind::PortIn));
        down(within);
      }
    }
  }
  void up(int level) {
    for (int r = static_cast<int>(stateOf(level).ranks.size()) - 1; r >= 0; --r) {
      if (r + 1 < static_cast<int>(stateOf(level).ranks.size()) && !isHeld(level, r)) sortRank(level, r, false);
      for (const int v : stateOf(level).ranks[r]) {
        const int within = inside(level, v);
        if (!isMinded(within)) continue;
        setPorts(within, portsAsOutside(level, v, LevelEntity::Kind::PortOut));
        up(within);
      }
    }
  }

  // ---- neighbours ---------------------------------------------------------------------------------------------------
  // Exchanges neighbours of a rank as long as that reduces crossings.
  void exchangeNeighbours(int level) {
    LayeredState& state = stateOf(level);
    bool better = true;
    for (int pass = 0; pass < kMostExchanges && better; ++pass) {
      better = false;
      for (int r = 0; r < static_cast<int>(state.ranks.size()); ++r) {
        if (isHeld(level, r)) continue;
        std::vector<int>& nodes = state.ranks[r];
        for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
          if (m_holds && m_earlier.isKnown(level, nodes[i]) && m_earlier.isKnown(level, nodes[i + 1])) continue;
          if (gain(level, nodes[i], nodes[i + 1]) <= 0) continue;
          std::swap(nodes[i], nodes[i + 1]);
          std::swap(state.position[nodes[i]], state.position[nodes[i + 1]]);
          better = true;
        }
      }
    }
  }

  // Returns how many crossings between the links of two neighbours are saved by exchanging them.
  long gain(int level, int left, int right) {
    const LayeredState& state = stateOf(level);
    long saved = 0;
    for (const bool byAbove : {true, false}) {
      const auto& of = byAbove ? state.above : state.below;
      for (const int a : of[left]) {
        const double x = byAbove ? upperPlace(level, state.links[a]) : lowerPlace(level, state.links[a]);
        for (const int b : of[right]) {
          const double y = byAbove ? upperPlace(level, state.links[b]) : lowerPlace(level, state.links[b]);
          saved += (x > y) - (y > x);
        }
      }
    }
    return saved;
  }

  // ---- ports -----------------------------------------------------------------------------------------------------
  std::vector<int> portsOf(int level, LevelEntity::Kind kind) {
    const LayeredState& state = stateOf(level);
    std::vector<int> ports;
    if (m_portsKnown[level] && !state.ranks.empty()) {
      for (const int v : kind == LevelEntity::Kind::PortIn ? state.ranks.front() : state.ranks.back())
        if (state.kind(v) == kind) ports.push_back(v);
      return ports;
    }
    for (int v = 0; v < state.entityCount; ++v)
      if (state.kind(v) == kind) ports.push_back(v);
    return ports;
  }

  // Returns the ports of a container in the order that the enclosing level wants: by the sources or targets of their
  // wires. Ports that are equal in this respect keep the order of the inside.
  std::vector<int> portsAsOutside(int level, int container, LevelEntity::Kind kind) {
    const LayeredState& state = stateOf(level);
    const bool in = kind == LevelEntity::Kind::PortIn;
    const int within = inside(level, container);
    const std::vector<int> ports = portsOf(within, kind);
    std::vector<std::pair<double, int>> sums(stateOf(within).entityCount, {0, 0});
    for (const int l : in ? state.above[container] : state.below[container]) {
      const RankLink& link = state.links[l];
      const int port = in ? link.lowerPort : link.upperPort;
      if (port < 0) continue;
      sums[port].first += in ? upperPlace(level, link) : lowerPlace(level, link);
      ++sums[port].second;
    }
    std::vector<std::pair<double, int>> keyed;
    for (const int port : ports) {
      const auto& [sum, count] = sums[port];
      const double before = keyed.empty() ? 0 : keyed.back().first;
      keyed.emplace_back(count > 0 ? sum / count : before, port);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<int> ordered;
    for (const auto& [key, port] : keyed) ordered.push_back(port);
    return ordered;
  }

  void setPorts(int level, const std::vector<int>& ports) {
    if (ports.empty()) return;
    LayeredState& state = stateOf(level);
    const bool in = state.kind(ports.front()) == LevelEntity::Kind::PortIn;
    if (!state.ranks.empty()) (in ? state.ranks.front() : state.ranks.back()) = ports;
    state.position.resize(state.rank.size(), 0);
    for (std::size_t i = 0; i < ports.size(); ++i) state.position[ports[i]] = static_cast<int>(i);
  }

  // Fixes the order of ports on the borders of a level's containers, from the top.
  void holdPorts(int level) {
    const RankOrder ranks = stateOf(level).ranks;
    for (const std::vector<int>& rank : ranks) {
      for (const int v : rank) {
        const int within = inside(level, v);
        if (within < 0) continue;
        LevelGraph& graph = m_levels[within].graph;
        graph.portsIn = portsAsOutside(level, v, LevelEntity::Kind::PortIn);
        graph.portsOut = portsAsOutside(level, v, LevelEntity::Kind::PortOut);
        setPorts(within, graph.portsIn);
        setPorts(within, graph.portsOut);
        m_portsKnown[within] = true;
      }
    }
  }

  std::vector<Level>& m_levels;
  const EarlierOrder m_earlier;
  const StopToken& m_stop;
  int m_root = -1;
  std::vector<int> m_reached;
  std::vector<int> m_heldBy;       // by level: the level that considers it
  std::vector<bool> m_portsKnown;  // by level: its ports are in order
  bool m_holds = false;            // what was in the earlier picture keeps its order
  bool m_turnsTies = false;        // nodes that a sweep cannot distinguish change sides, which may reduce crossings
  long m_fewest = 0;
  std::vector<RankOrder> m_best;  // one per element of m_reached
  std::vector<bool> m_seen;
  std::vector<std::pair<double, double>> m_ends;
  std::vector<std::pair<double, int>> m_keyed;
  std::vector<double> m_lower, m_merged;
};

}  // namespace

Status orderHierarchy(Hierarchy& hierarchy, const StopToken& stop) {
  for (Level& level : hierarchy.levels) {
    TRY(checkStop(stop));
    level.state = rankedLevel(level.graph);
  }
  Ordering ordering(hierarchy, stop);
  for (const int level : hierarchy.inward) TRY(ordering.order(level));
  return Done{};
}

}  // namespace fusescope
