#include <graphviz/cgraph.h>
#include <graphviz/gvc.h>
#include <locale.h>
#include <cstddef>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "layout/level.h"

// Facts about Graphviz that the code relies on: positions are in points with y growing upwards, sizes in inches of 72
// points; numbers are written in the thread's locale; a context and its graphs belong to one thread; a node's position
// is its centre; an edge's "pos" is "e,x,y" (arrow tip) or "s,x,y" parts and then 3n+1 points.

namespace fusescope {
namespace {

constexpr double kPointsPerInch = 72;
constexpr double kShortEdge = 90;  // from one rank to the next: nothing can be in its way

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

struct Drawing {
  std::vector<Agnode_t*> nodes;
  std::vector<Agedge_t*> edges;
};

// Places on the top and the bottom of each entity where edges must attach, left to right.
struct Attachments {
  std::vector<std::set<double>> top, bottom;

  explicit Attachments(const LevelGraph& level) : top(level.entities.size()), bottom(level.entities.size()) {
    for (const LevelEdge& edge : level.edges) {
      if (edge.fromX) bottom[edge.from].insert(*edge.fromX);
      if (edge.toX) top[edge.to].insert(*edge.toX);
    }
  }
  static std::string fields(const std::set<double>& places, char prefix) {
    std::string text = "{";
    for (std::size_t i = 0; i < std::max<std::size_t>(places.size(), 1); ++i)
      text += std::string(i > 0 ? "|<" : "<") + prefix + std::to_string(i) + "> ";
    return text + "}";
  }
  static std::string port(const std::set<double>& places, const std::optional<double>& x, char prefix, char side) {
    if (!x || places.size() < 2) return {side};
    return prefix + std::to_string(std::distance(places.begin(), places.find(*x))) + ":" + side;
  }
};

// A record of a field for each place that edges attach to: dot then minds their order.
void shape(Agnode_t* node, const LevelEntity& entity, const Attachments& at, std::size_t v) {
  const bool record = at.top[v].size() > 1 || at.bottom[v].size() > 1;
  set(node, "shape", record ? "record" : "box");
  set(node, "label",
      record ? "{" + Attachments::fields(at.top[v], 'i') + "|" + Attachments::fields(at.bottom[v], 'o') + "}" : " ");
  set(node, "fixedsize", "true");
  set(node, "fontsize", "1");
  set(node, "width", inches(entity.width));
  set(node, "height", inches(entity.height));
}

// All ports of one kind in one rank at its end, in their order: edges that are not drawn keep them so.
void holdPorts(Agraph_t* graph, const Drawing& drawing, const std::vector<int>& ports, const char* rank) {
  if (ports.empty()) return;
  Agraph_t* same = agsubg(graph, const_cast<char*>(rank), 1);
  set(same, "rank", rank);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    agsubnode(same, drawing.nodes[ports[i]], 1);
    if (i == 0) continue;
    Agedge_t* order = agedge(same, drawing.nodes[ports[i - 1]], drawing.nodes[ports[i]], nullptr, 1);
    set(order, "style", "invis");
  }
}

Drawing describe(Agraph_t* graph, const LevelGraph& level) {
  set(graph, "rankdir", "TB");
  set(graph, "newrank", "true");
  set(graph, "nodesep", "0.45");
  set(graph, "ranksep", "0.55");
  set(graph, "splines", "true");
  set(graph, "pad", "0");
  set(graph, "margin", "0");
  const Attachments at(level);
  Drawing drawing;
  for (std::size_t v = 0; v < level.entities.size(); ++v) {
    drawing.nodes.push_back(agnode(graph, const_cast<char*>(std::to_string(v).c_str()), 1));
    shape(drawing.nodes.back(), level.entities[v], at, v);
  }
  holdPorts(graph, drawing, level.portsIn, "source");
  holdPorts(graph, drawing, level.portsOut, "sink");
  for (std::size_t e = 0; e < level.edges.size(); ++e) {
    const LevelEdge& edge = level.edges[e];
    Agedge_t* drawn = agedge(graph, drawing.nodes[edge.from], drawing.nodes[edge.to],
                             const_cast<char*>(std::to_string(e).c_str()), 1);
    set(drawn, "arrowhead", "none");
    set(drawn, "tailport", Attachments::port(at.bottom[edge.from], edge.fromX, 'o', 's'));
    set(drawn, "headport", Attachments::port(at.top[edge.to], edge.toX, 'i', 'n'));
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

}  // namespace

std::optional<LevelLayout> layOutWithDot(const LevelGraph& level) {
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

}  // namespace fusescope
