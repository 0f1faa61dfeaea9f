#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <locale.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "layout/drawing_quality.h"
#include "layout/level.h"

// Facts about Graphviz that the code relies on: positions are in points with y growing upwards, sizes in inches of 72
// points; numbers are written in the thread's locale; a context and its graphs belong to one thread; a node's position
// is its centre; an edge's "pos" is "e,x,y" (arrow tip) or "s,x,y" parts and then 3n+1 points.

namespace fusescope {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kShortEdge = 90;         // from one rank to the next: nothing can be in its way
constexpr std::size_t kSlowSpan = 6'000;  // ranks passed by all edges together, above which dot is known to be slow

/// Numbers with a point, whatever the user's language: for this thread only, unlike setlocale.
class CLocale {
 public:
  CLocale() : m_locale(newlocale(LC_ALL_MASK, "C", nullptr)), m_before(uselocale(m_locale)) {}
  ~CLocale() {
    uselocale(m_before);
    freelocale(m_locale);
  }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  locale_t m_locale, m_before;
};

struct ContextDeleter {
  void operator()(GVC_t* context) const { gvFreeContext(context); }
};
struct GraphDeleter {
  GVC_t* context;
  void operator()(Agraph_t* graph) const {
    gvFreeLayout(context, graph);
    agclose(graph);
  }
};

void set(void* object, const char* key, const std::string& value) {
  agsafeset(object, const_cast<char*>(key), const_cast<char*>(value.c_str()), const_cast<char*>(""));
}

std::string inches(double pixels) {
  return std::to_string(std::max(pixels, 1.0) / kPointsPerInch);
}

// Positions along the longest path stand in for dot's ranks: an edge costs dot one node in each rank that it passes.
bool isSlowForDot(const LevelGraph& level) {
  const int n = static_cast<int>(level.entities.size());
  std::vector<std::vector<int>> out(n);
  std::vector<int> waiting(n, 0), rank(n, 0), ready;
  for (const LevelEdge& edge : level.edges) {
    out[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  for (int v = 0; v < n; ++v) {
    if (waiting[v] == 0) ready.push_back(v);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (const int w : out[ready[i]]) {
      rank[w] = std::max(rank[w], rank[ready[i]] + 1);
      if (--waiting[w] == 0) ready.push_back(w);
    }
  }
  std::size_t span = 0;
  for (const LevelEdge& edge : level.edges)
    span += static_cast<std::size_t>(std::max(rank[edge.to] - rank[edge.from], 0));
  return span > kSlowSpan;
}

struct Drawing {
  std::vector<Agnode_t*> nodes;
  std::vector<Agedge_t*> edges;
};

Drawing describe(Agraph_t* graph, const LevelGraph& level) {
  set(graph, "rankdir", "TB");
  set(graph, "newrank", "true");
  set(graph, "nodesep", "0.45");
  set(graph, "ranksep", "0.55");
  set(graph, "splines", "true");
  set(graph, "pad", "0");
  set(graph, "margin", "0");
  Drawing drawing;
  Agraph_t* sources = nullptr;
  Agraph_t* sinks = nullptr;
  for (std::size_t v = 0; v < level.entities.size(); ++v) {
    const LevelEntity& entity = level.entities[v];
    Agnode_t* node = agnode(graph, const_cast<char*>(std::to_string(v).c_str()), 1);
    drawing.nodes.push_back(node);
    set(node, "label", " ");
    set(node, "fixedsize", "true");
    set(node, "shape", "box");
    set(node, "width", inches(entity.width));
    set(node, "height", inches(entity.height));
    if (entity.kind == LevelEntity::Kind::PortIn) {
      if (!sources) set(sources = agsubg(graph, const_cast<char*>("sources"), 1), "rank", "source");
      agsubnode(sources, node, 1);
    } else if (entity.kind == LevelEntity::Kind::PortOut) {
      if (!sinks) set(sinks = agsubg(graph, const_cast<char*>("sinks"), 1), "rank", "sink");
      agsubnode(sinks, node, 1);
    }
  }
  for (std::size_t e = 0; e < level.edges.size(); ++e) {
    const LevelEdge& edge = level.edges[e];
    Agedge_t* drawn = agedge(graph, drawing.nodes[edge.from], drawing.nodes[edge.to],
                             const_cast<char*>(std::to_string(e).c_str()), 1);
    set(drawn, "arrowhead", "none");
    set(drawn, "tailport", "s");
    set(drawn, "headport", "n");
    drawing.edges.push_back(drawn);
  }
  return drawing;
}

// "x,y x,y …" after optional "e,x,y" and "s,x,y".
std::vector<PlacedPoint> pointsOf(const char* text, double height) {
  std::vector<PlacedPoint> points;
  while (*text != '\0') {
    while (*text == ' ' || *text == '\\' || *text == '\n') ++text;
    const bool skipped = *text == 'e' || *text == 's';
    if (skipped) text += 2;
    char* end = nullptr;
    const double x = std::strtod(text, &end);
    if (end == text || *end != ',') break;
    text = end + 1;
    const double y = std::strtod(text, &end);
    if (end == text) break;
    text = end;
    if (!skipped) points.push_back({x, height - y});
  }
  return points;
}

// dot attaches to the middle of a side: bends the ends of the spline to where the edge must attach.
void attachEnds(PlacedEdge& edge, PlacedPoint from, PlacedPoint to) {
  const std::size_t n = edge.points.size();
  const bool moves = std::abs(edge.points.front().x - from.x) > 0.5 || std::abs(edge.points.back().x - to.x) > 0.5;
  if (moves && to.y > from.y && to.y - from.y < kShortEdge) {
    edge.points = {from};
    appendCurve(edge, to);
    return;
  }
  const auto bend = [](PlacedPoint& control, PlacedPoint& end, const PlacedPoint& wanted) {
    if (std::abs(end.x - wanted.x) > 0.5) control.x = wanted.x;
    end = wanted;
  };
  bend(edge.points[1], edge.points[0], from);
  bend(edge.points[n - 2], edge.points[n - 1], to);
}

PlacedPoint bottomOf(const PlacedRect& rect, const std::optional<double>& x) {
  return {rect.x + x.value_or(rect.width / 2), rect.y + rect.height};
}
PlacedPoint topOf(const PlacedRect& rect, const std::optional<double>& x) {
  return {rect.x + x.value_or(rect.width / 2), rect.y};
}

std::optional<LevelLayout> read(const Drawing& drawing, Agraph_t* graph, const LevelGraph& level) {
  double left = 0, bottom = 0, right = 0, top = 0;
  const char* box = agget(graph, const_cast<char*>("bb"));
  if (box == nullptr || std::sscanf(box, "%lf,%lf,%lf,%lf", &left, &bottom, &right, &top) != 4) return std::nullopt;
  LevelLayout layout;
  layout.width = right;
  layout.height = top;
  for (std::size_t v = 0; v < drawing.nodes.size(); ++v) {
    const char* text = agget(drawing.nodes[v], const_cast<char*>("pos"));
    const std::vector<PlacedPoint> at = pointsOf(text == nullptr ? "" : text, top);
    if (at.empty()) return std::nullopt;
    const LevelEntity& entity = level.entities[v];
    layout.entities.push_back({at[0].x - entity.width / 2, at[0].y - entity.height / 2, entity.width, entity.height});
  }
  for (std::size_t e = 0; e < drawing.edges.size(); ++e) {
    const LevelEdge& edge = level.edges[e];
    const char* text = agget(drawing.edges[e], const_cast<char*>("pos"));
    PlacedEdge placed{pointsOf(text == nullptr ? "" : text, top)};
    if (placed.points.size() < 4 || placed.points.size() % 3 != 1) return std::nullopt;
    // dot draws an edge that closes a cycle from its lower end.
    attachEnds(placed, bottomOf(layout.entities[edge.from], edge.fromX), topOf(layout.entities[edge.to], edge.toX));
    layout.edges.push_back(std::move(placed));
  }
  for (const PlacedEdge& edge : layout.edges) {
    for (const PlacedPoint& point : edge.points) layout.width = std::max(layout.width, point.x);
  }
  return layout;
}

std::optional<LevelLayout> withDot(const LevelGraph& level) {
  const CLocale locale;
  const std::unique_ptr<GVC_t, ContextDeleter> context(gvContext());
  if (!context) return std::nullopt;
  agseterr(AGMAX);
  const std::unique_ptr<Agraph_t, GraphDeleter> graph(agopen(const_cast<char*>("level"), Agdirected, nullptr),
                                                      GraphDeleter{context.get()});
  if (!graph) return std::nullopt;
  const Drawing drawing = describe(graph.get(), level);
  if (gvLayout(context.get(), graph.get(), "dot") != 0) return std::nullopt;
  // Writes positions into the attributes; nothing is drawn.
  if (gvRender(context.get(), graph.get(), "dot", nullptr) != 0) return std::nullopt;
  return read(drawing, graph.get(), level);
}

}  // namespace

Result<LevelLayout> layoutLevelGraphviz(const LevelGraph& level) {
  if (level.edges.empty() || isSlowForDot(level)) return layoutLevelLayered(level, {});
  LevelLayout layered = TRY(layoutLevelLayered(level, {}));
  std::optional<LevelLayout> dot = withDot(level);
  // dot crosses less in some containers and more in others: what both drew decides.
  const bool better = dot && !qualityOf(layered.edges).betterThan(qualityOf(dot->edges));
  return better ? std::move(*dot) : std::move(layered);
}

Result<LayoutGeometry> layoutGraphviz(const LayoutGraph& graph, std::size_t largest) {
  TRY(checkLayoutGraph(graph));
  std::size_t withGraphviz = 0;
  const auto engine = [&](const LevelGraph& level, const StopToken& stop) -> Result<LevelLayout> {
    if (level.entities.size() > largest) return layoutLevelLayered(level, stop);
    ++withGraphviz;
    return layoutLevelGraphviz(level);
  };
  LayoutGeometry geometry = TRY(layoutByContainers(graph, engine, {}));
  geometry.engine = withGraphviz > 0 ? "graphviz" : "layered";
  return geometry;
}

}  // namespace fusescope
