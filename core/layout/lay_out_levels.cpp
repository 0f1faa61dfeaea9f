#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "layout/drawing_quality.h"
#include "layout/hierarchy.h"
#include "layout/level_cache.h"
#include "layout/wrapping.h"

namespace fusescope {
namespace {

constexpr std::size_t kLargestForDot = 400;  // entities of a level
constexpr double kBoxSpace = 50;             // between boxes, about
// Of a picture, relative to the area of its boxes, because not all ranks of a stretch are equally wide.
constexpr double kSpace = 1.5;
constexpr int kLongestForDot = 6'000;  // ranks that all its edges pass together, because dot has a node in each

bool isQuickForDot(const LayeredState& state) {
  const LevelGraph& level = *state.level;
  if (level.entities.size() > kLargestForDot) return false;
  int span = 0;
  for (const LevelEdge& edge : level.edges) span += std::abs(state.rank[edge.to] - state.rank[edge.from]);
  return span <= kLongestForDot;
}

// Draws the layered layout, or that of dot if it has fewer crossings. dot is called only if it can improve something
// and is fast.
Result<LevelLayout> drawn(Level& level, const LayoutOptions& options) {
  LevelLayout layered = TRY(drawLayered(level.state, options.stop));
  if (!options.dot || !isQuickForDot(level.state)) return layered;
  const std::size_t crossings = qualityOf(layered.edges).crossings;
  if (crossings == 0) return layered;
  std::optional<LevelLayout> dot = options.dot(level.graph);
  if (!dot || qualityOf(dot->edges).crossings >= crossings) return layered;
  dot->engine = LayoutEngine::Graphviz;
  return std::move(*dot);
}

// Draws a level whose ranks are in order.
Status place(Level& level, const Cuts& cuts, const LayoutOptions& options, LevelCache& cache) {
  std::string key = levelKey(level.graph, level.state.ranks, cuts);
  level.layout = cache.find(key);
  if (level.layout) return Done{};
  const auto drawStretch = [&](Level& stretch) { return place(stretch, {}, options, cache); };
  level.layout =
      std::make_shared<LevelLayout>(TRY(cuts.empty() ? drawn(level, options) : drawWrapped(level, cuts, drawStretch)));
  TRY(checkStop(options.stop));  // dot may have been cancelled for this reason
  cache.keep(std::move(key), level.layout);
  return Done{};
}

// Of several cuts, returns those with the smallest picture. Sizes are known only after drawing.
Result<Cuts> chosen(const Level& level, std::vector<Cuts> choices, double proportion, const StopToken& stop) {
  if (choices.empty()) return Cuts();
  const auto draw = [&](Level& stretch) -> Status {
    stretch.layout = std::make_shared<LevelLayout>(TRY(drawLayered(stretch.state, stop)));
    return Done{};
  };
  std::size_t best = 0;
  double least = 0;
  for (std::size_t i = 0; choices.size() > 1 && i < choices.size(); ++i) {
    const LevelLayout layout = TRY(drawWrapped(level, choices[i], draw));
    const double reach = std::max(layout.width / proportion, layout.height);
    if (i > 0 && reach >= least) continue;
    best = i;
    least = reach;
  }
  return std::move(choices[best]);
}

class ContainerLayout {
 public:
  ContainerLayout(const LayoutGraph& graph, const LayoutOptions& options)
      : m_graph(graph), m_options(options), m_h(hierarchyOf(graph)), m_frames(graph.containers.size()) {
    measure();
    if (options.earlier.rectOf) rememberEarlier();
  }

  Result<LayoutGeometry> run() {
    TRY(orderHierarchy(m_h, m_options.stop));
    for (auto level = m_h.inward.rbegin(); level != m_h.inward.rend(); ++level) {
      TRY(checkStop(m_options.stop));
      fixAttachments(m_h.levels[*level]);
      std::vector<Cuts> choices = cutsOf(m_h.levels[*level], m_page, m_area[*level] > m_area[m_h.top()] / 2);
      const Cuts cuts = TRY(chosen(m_h.levels[*level], std::move(choices), m_page.proportion, m_options.stop));
      TRY(place(m_h.levels[*level], cuts, m_options, m_options.cache == nullptr ? m_own : *m_options.cache));
      if (*level != m_h.top()) sizeContainer(*level);
    }
    return assemble();
  }

 private:
  // Computes the boxes in each level, and the page.
  void measure() {
    m_area.assign(m_h.levels.size(), 0);
    for (const LayoutBox& box : m_graph.boxes)
      m_area[box.parent < 0 ? m_h.top() : box.parent] += (box.width + kBoxSpace) * (box.height + kBoxSpace);
    for (auto level = m_h.inward.rbegin(); level != m_h.inward.rend(); ++level)
      if (*level != m_h.top()) m_area[m_h.parent[*level]] += m_area[*level];
    m_page.proportion = m_options.proportion;
    if (m_page.proportion > 0) m_page.height = std::sqrt(kSpace * m_area[m_h.top()] / m_page.proportion);
  }

  void rememberEarlier() {
    m_page.keepsCuts = m_options.earlier.proportion == m_options.proportion;
    for (Level& level : m_h.levels) {
      for (std::size_t i = 0; i < level.boxes.size(); ++i) {
        const int box = level.boxes[i], container = level.containers[i];
        const std::string* id = box >= 0         ? &m_graph.boxes[box].id
                                : container >= 0 ? &m_graph.containers[container].id
                                                 : nullptr;
        level.earlier.push_back(id == nullptr ? std::nullopt : m_options.earlier.rectOf(*id));
      }
    }
  }

  void sizeContainer(int c) {
    LevelEntity& entity = m_h.levels[m_h.parent[c]].graph.entities[m_h.entityOfContainer[c]];
    m_frames[c] = frameOf(m_graph.containers[c], *m_h.levels[c].layout);
    entity.width = m_frames[c].width;
    entity.height = m_frames[c].height;
  }

  // Edges of the enclosing level must be attached where the ports of laid-out containers are.
  void fixAttachments(Level& level) {
    for (LevelEdge& edge : level.graph.edges) {
      if (edge.fromPort >= 0) edge.fromX = portX(level.containers[edge.from], edge.fromPort);
      if (edge.toPort >= 0) edge.toX = portX(level.containers[edge.to], edge.toPort);
    }
  }
  double portX(int container, int port) const {
    return m_frames[container].left + m_h.levels[container].layout->entities[port].x;
  }

  LayoutGeometry assemble() const {
    LayoutGeometry geometry;
    geometry.width = m_h.levels[m_h.top()].layout->width;
    geometry.height = m_h.levels[m_h.top()].layout->height;
    geometry.boxes.resize(m_graph.boxes.size());
    geometry.containers.resize(m_graph.containers.size());
    std::vector<PlacedPoint> origin(m_h.levels.size());  // of each level's contents
    for (const int l : m_h.inward) {
      const Level& level = m_h.levels[l];
      for (std::size_t i = 0; i < level.boxes.size(); ++i) {
        PlacedRect at = level.layout->entities[i];
        at.x += origin[l].x;
        at.y += origin[l].y;
        if (level.boxes[i] >= 0) geometry.boxes[level.boxes[i]] = at;
        const int c = level.containers[i];
        if (c < 0) continue;
        geometry.containers[c] = at;
        origin[c] = {at.x + m_frames[c].left, at.y + m_graph.containers[c].header};
      }
      if (!level.layout->columns.empty()) {
        std::vector<PlacedColumn>& columns = geometry.columns[l == m_h.top() ? -1 : l];
        for (const PlacedColumn& column : level.layout->columns)
          columns.push_back({column.gutter + origin[l].x, column.left + origin[l].x});
      }
      if (level.layout->engine == LayoutEngine::Graphviz) geometry.engine = LayoutEngine::Graphviz;
    }
    std::vector<int> detours(geometry.containers.size(), 0);
    for (const std::vector<Hierarchy::Piece>& pieces : m_h.pieces)
      geometry.edges.push_back(joined(pieces, origin, geometry.containers, detours));
    return geometry;
  }

  // `detours` has, by container, the number of wires in its frame so far.
  PlacedEdge joined(const std::vector<Hierarchy::Piece>& pieces, const std::vector<PlacedPoint>& origin,
                    const std::vector<PlacedRect>& containers, std::vector<int>& detours) const {
    PlacedEdge whole;
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const Hierarchy::Piece& piece = pieces[p];
      const PlacedEdge& part = m_h.levels[piece.level].layout->edges[piece.edge];
      for (std::size_t i = 0; i < part.points.size(); ++i) {
        const PlacedPoint point{part.points[i].x + origin[piece.level].x, part.points[i].y + origin[piece.level].y};
        if (i > 0) {
          whole.points.push_back(point);
          continue;
        }
        if (p > 0) {
          const bool leaves = m_h.parent[pieces[p - 1].level] == piece.level;
          const int container = leaves ? pieces[p - 1].level : piece.level;
          if (point.y < whole.points.back().y)
            inFrame(container, containers[container], detours[container]++, point, whole);
        }
        appendLine(whole, point);
        whole.points.back() = point;
      }
    }
    return whole;
  }

  // An edge that closes a cycle around a container is reversed there, so that it ends at the container's other side: at
  // its top, although the port from which it leaves is at its bottom, or the reverse. It runs upwards in the frame,
  // beside the contents, on the nearer side.
  void inFrame(int container, const PlacedRect& frame, int before, const PlacedPoint& to, PlacedEdge& edge) const {
    constexpr int kLanes = 3;
    const double inset = (1 + before % kLanes) * m_graph.containers[container].padding / (kLanes + 1);
    const PlacedPoint from = edge.points.back();
    const double left = frame.x + inset, right = frame.x + frame.width - inset;
    const double middle = (from.x + to.x) / 2;
    const double side = middle - left < right - middle ? left : right;
    const double bottom = frame.y + frame.height - inset, top = frame.y + inset;
    appendWay(edge, {{from.x, bottom}, {side, bottom}, {side, top}, {to.x, top}, to});
  }

  const LayoutGraph& m_graph;
  const LayoutOptions& m_options;
  LevelCache m_own;
  Hierarchy m_h;
  std::vector<ContainerFrame> m_frames;  ///< by container
  std::vector<double> m_area;            ///< by level: of the boxes in it, with the room around each
  Page m_page;
};

}  // namespace

// If the contents are narrower than the smallest width of the container, they are centred.
ContainerFrame frameOf(const LayoutContainer& container, const LevelLayout& content) {
  const double width = content.width + 2 * container.padding;
  return {.width = std::max(width, container.minWidth),
          .height = content.height + container.header + container.padding,
          .left = container.padding + std::max(0.0, (container.minWidth - width) / 2)};
}

Result<std::shared_ptr<const LevelLayout>> layOutLevel(const LevelGraph& graph, const LayoutOptions& options) {
  Hierarchy alone;
  alone.levels.resize(1);
  alone.levels[0].graph = graph;
  alone.parent = {-1};
  alone.inward = {0};
  TRY(orderHierarchy(alone, options.stop));
  LevelCache own;
  TRY(place(alone.levels[0], {}, options, options.cache == nullptr ? own : *options.cache));
  return alone.levels[0].layout;
}

Result<LayoutGeometry> layOut(const LayoutGraph& graph, const LayoutOptions& options) {
  TRY(checkLayoutGraph(graph));
  return ContainerLayout(graph, options).run();
}

}  // namespace fusescope
