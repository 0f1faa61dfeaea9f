#include <cmath>

#include "base/json.h"
#include "layout/layout_limits.h"
#include "layout/level.h"

namespace fusescope {
namespace {

constexpr const char* kGraphFormat = "fusescope.level_graph";
constexpr const char* kLayoutFormat = "fusescope.level_layout";

// Rounds to hundredths of a pixel, which are sufficient for a picture and keep the text short.
double rounded(double value) {
  return std::round(value * 100) / 100;
}

Status checkFormat(const Json& json, const char* format) {
  if (!json.is_object() || json.value("format", Json()) != Json(format))
    return badLayout(std::string("must be ") + format, "format");
  if (json.value("version", Json()) != Json(1))
    return badLayout("this version of the format cannot be read", "version");
  return Done{};
}

Result<const Json*> list(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) return badLayout("must be a list", key);
  return &*it;
}

Result<std::vector<double>> numbers(const Json& json, const char* key) {
  if (!json.is_array()) return badLayout("must be a list of numbers", key);
  std::vector<double> values;
  values.reserve(json.size());
  for (const Json& item : json) {
    if (!item.is_number()) return badLayout("must be a list of numbers", key);
    values.push_back(item.get<double>());
  }
  return values;
}

Result<double> number(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number()) return badLayout("must be a number", key);
  return it->get<double>();
}

Json attachment(const std::optional<double>& x) {
  return x ? Json(rounded(*x)) : Json();
}

Result<std::optional<double>> attachment(const Json& json) {
  if (json.is_null()) return std::optional<double>();
  if (!json.is_number()) return badLayout("must be [from, to, where, where]", "edges");
  return std::optional<double>(json.get<double>());
}

Result<std::vector<int>> portsFromJson(const Json& json, const char* key, const LevelGraph& graph,
                                       LevelEntity::Kind kind) {
  std::vector<int> ports;
  for (const Json& item : *TRY(list(json, key))) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() >= graph.entities.size())
      return badLayout("names an entity that does not exist", key);
    ports.push_back(item.get<int>());
    if (graph.entities[ports.back()].kind != kind)
      return badLayout("names an entity that is not a port of this kind", key);
  }
  return ports;
}

}  // namespace

Json toJson(const LevelGraph& graph) {
  Json entities = Json::array(), edges = Json::array();
  for (const LevelEntity& e : graph.entities)
    entities.push_back(Json::array({static_cast<int>(e.kind), e.width, e.height}));
  for (const LevelEdge& e : graph.edges)
    edges.push_back(Json::array({e.from, e.to, attachment(e.fromX), attachment(e.toX)}));
  return {{"format", kGraphFormat},          {"version", 1},
          {"entities", std::move(entities)}, {"edges", std::move(edges)},
          {"ports_in", Json(graph.portsIn)}, {"ports_out", Json(graph.portsOut)}};
}

Result<LevelGraph> levelGraphFromJson(const Json& json) {
  TRY(checkFormat(json, kGraphFormat));
  LevelGraph graph;
  for (const Json& item : *TRY(list(json, "entities"))) {
    const std::vector<double> e = TRY(numbers(item, "entities"));
    if (e.size() != 3 || !(e[0] == 0 || e[0] == 1 || e[0] == 2))
      return badLayout("each entry must be [kind, width, height]", "entities");
    if (!isSize(e[1]) || !isSize(e[2])) return badLayout("an entity has a size that is not possible", "entities");
    graph.entities.push_back({.kind = static_cast<LevelEntity::Kind>(e[0]), .width = e[1], .height = e[2]});
  }
  for (const Json& item : *TRY(list(json, "edges"))) {
    if (!item.is_array() || item.size() != 4 || !item[0].is_number_unsigned() || !item[1].is_number_unsigned())
      return badLayout("each entry must be [from, to, where, where]", "edges");
    const auto from = item[0].get<std::uint64_t>(), to = item[1].get<std::uint64_t>();
    if (from >= graph.entities.size() || to >= graph.entities.size())
      return badLayout("an edge names an entity that does not exist", "edges");
    graph.edges.push_back({.from = static_cast<int>(from),
                           .to = static_cast<int>(to),
                           .fromX = TRY(attachment(item[2])),
                           .toX = TRY(attachment(item[3]))});
  }
  graph.portsIn = TRY(portsFromJson(json, "ports_in", graph, LevelEntity::Kind::PortIn));
  graph.portsOut = TRY(portsFromJson(json, "ports_out", graph, LevelEntity::Kind::PortOut));
  return graph;
}

Json toJson(const LevelLayout& layout) {
  Json entities = Json::array(), edges = Json::array();
  for (const PlacedRect& r : layout.entities)
    entities.push_back(Json::array({rounded(r.x), rounded(r.y), rounded(r.width), rounded(r.height)}));
  for (const PlacedEdge& edge : layout.edges) {
    Json points = Json::array();
    for (const PlacedPoint& p : edge.points) {
      points.push_back(rounded(p.x));
      points.push_back(rounded(p.y));
    }
    edges.push_back(std::move(points));
  }
  return {{"format", kLayoutFormat},         {"version", 1},
          {"width", rounded(layout.width)},  {"height", rounded(layout.height)},
          {"entities", std::move(entities)}, {"edges", std::move(edges)}};
}

Result<LevelLayout> levelLayoutFromJson(const Json& json) {
  TRY(checkFormat(json, kLayoutFormat));
  LevelLayout layout;
  layout.width = TRY(number(json, "width"));
  layout.height = TRY(number(json, "height"));
  for (const Json& item : *TRY(list(json, "entities"))) {
    const std::vector<double> r = TRY(numbers(item, "entities"));
    if (r.size() != 4) return badLayout("each entry must be [x, y, width, height]", "entities");
    layout.entities.push_back({r[0], r[1], r[2], r[3]});
  }
  for (const Json& item : *TRY(list(json, "edges"))) {
    const std::vector<double> values = TRY(numbers(item, "edges"));
    if (values.size() < 8 || values.size() % 6 != 2)
      return badLayout("each entry must be a chain of cubic curves", "edges");
    PlacedEdge edge;
    for (std::size_t i = 0; i < values.size(); i += 2) edge.points.push_back({values[i], values[i + 1]});
    layout.edges.push_back(std::move(edge));
  }
  return layout;
}

}  // namespace fusescope
