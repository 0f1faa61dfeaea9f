#include <cmath>

#include "layout/level.h"

namespace fusescope {
namespace {

constexpr const char* kGraphFormat = "fusescope.layout_graph";
constexpr const char* kGeometryFormat = "fusescope.layout_geometry";

Diagnostic bad(std::string message, std::string attribute) {
  return {.message = std::move(message), .where = {.attribute = std::move(attribute)}};
}

// Tenths of a pixel are enough for a picture and keep the text short.
double rounded(double value) {
  return std::round(value * 100) / 100;
}

Status checkFormat(const Json& json, const char* format) {
  if (!json.is_object() || json.value("format", Json()) != Json(format))
    return bad(std::string("is not a ") + format, "format");
  if (json.value("version", Json()) != Json(1)) return bad("this version of the format is not known", "version");
  return Done{};
}

Result<const Json*> list(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_array()) return bad("must be a list", key);
  return &*it;
}

Result<std::vector<double>> numbers(const Json& json, const char* key) {
  if (!json.is_array()) return bad("must be a list of numbers", key);
  std::vector<double> values;
  values.reserve(json.size());
  for (const Json& item : json) {
    if (!item.is_number()) return bad("must be a list of numbers", key);
    values.push_back(item.get<double>());
  }
  return values;
}

Result<double> number(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number()) return bad("must be a number", key);
  return it->get<double>();
}

Result<int> index(const Json& json, const char* key, int otherwise) {
  const auto it = json.find(key);
  if (it == json.end()) return otherwise;
  if (!it->is_number_integer()) return bad("must be an integer", key);
  const auto value = it->get<std::int64_t>();
  if (value < -1 || value > 100'000'000) return bad("is out of range", key);
  return static_cast<int>(value);
}

Result<std::string> id(const Json& json) {
  const auto it = json.find("id");
  if (it == json.end() || !it->is_string()) return bad("must be a text", "id");
  return it->get<std::string>();
}

Json rectsJson(const std::vector<PlacedRect>& rects) {
  Json json = Json::array();
  for (const PlacedRect& r : rects) {
    json.push_back(Json::array({rounded(r.x), rounded(r.y), rounded(r.width), rounded(r.height)}));
  }
  return json;
}

Result<std::vector<PlacedRect>> rectsFromJson(const Json& json, const char* key) {
  std::vector<PlacedRect> rects;
  for (const Json& item : *TRY(list(json, key))) {
    const std::vector<double> r = TRY(numbers(item, key));
    if (r.size() != 4) return bad("each must be [x, y, width, height]", key);
    rects.push_back({r[0], r[1], r[2], r[3]});
  }
  return rects;
}

}  // namespace

Json toJson(const LayoutGraph& graph) {
  Json json = {{"format", kGraphFormat}, {"version", 1}};
  Json containers = Json::array();
  for (const LayoutContainer& c : graph.containers) {
    containers.push_back(
        {{"id", c.id}, {"parent", c.parent}, {"header", c.header}, {"padding", c.padding}, {"min_width", c.minWidth}});
  }
  Json boxes = Json::array();
  for (const LayoutBox& b : graph.boxes) {
    boxes.push_back({{"id", b.id}, {"parent", b.parent}, {"width", b.width}, {"height", b.height}});
  }
  Json edges = Json::array();
  for (const LayoutEdge& e : graph.edges) edges.push_back(Json::array({e.from, e.to}));
  json["containers"] = std::move(containers);
  json["boxes"] = std::move(boxes);
  json["edges"] = std::move(edges);
  return json;
}

Result<LayoutGraph> layoutGraphFromJson(const Json& json) {
  TRY(checkFormat(json, kGraphFormat));
  LayoutGraph graph;
  for (const Json& item : *TRY(list(json, "containers"))) {
    if (!item.is_object()) return bad("each must be an object", "containers");
    graph.containers.push_back({.id = TRY(id(item)),
                                .parent = TRY(index(item, "parent", -1)),
                                .header = TRY(number(item, "header")),
                                .padding = TRY(number(item, "padding")),
                                .minWidth = TRY(number(item, "min_width"))});
  }
  for (const Json& item : *TRY(list(json, "boxes"))) {
    if (!item.is_object()) return bad("each must be an object", "boxes");
    graph.boxes.push_back({.id = TRY(id(item)),
                           .width = TRY(number(item, "width")),
                           .height = TRY(number(item, "height")),
                           .parent = TRY(index(item, "parent", -1))});
  }
  for (const Json& item : *TRY(list(json, "edges"))) {
    if (!item.is_array() || item.size() != 2 || !item[0].is_number_unsigned() || !item[1].is_number_unsigned()) {
      return bad("each must be [from, to]", "edges");
    }
    const auto from = item[0].get<std::uint64_t>(), to = item[1].get<std::uint64_t>();
    if (from >= graph.boxes.size() || to >= graph.boxes.size())
      return bad("an edge names a box that does not exist", "edges");
    graph.edges.push_back({static_cast<int>(from), static_cast<int>(to)});
  }
  TRY(checkLayoutGraph(graph));
  return graph;
}

Json toJson(const LayoutGeometry& geometry) {
  Json json = {{"format", kGeometryFormat},
               {"version", 1},
               {"engine", geometry.engine},
               {"width", rounded(geometry.width)},
               {"height", rounded(geometry.height)}};
  Json edges = Json::array();
  for (const PlacedEdge& edge : geometry.edges) {
    Json points = Json::array();
    for (const PlacedPoint& p : edge.points) {
      points.push_back(rounded(p.x));
      points.push_back(rounded(p.y));
    }
    edges.push_back(std::move(points));
  }
  json["boxes"] = rectsJson(geometry.boxes);
  json["containers"] = rectsJson(geometry.containers);
  json["edges"] = std::move(edges);
  return json;
}

Result<LayoutGeometry> layoutGeometryFromJson(const Json& json) {
  TRY(checkFormat(json, kGeometryFormat));
  LayoutGeometry geometry;
  const auto engine = json.find("engine");
  if (engine == json.end() || !engine->is_string()) return bad("must be a text", "engine");
  geometry.engine = engine->get<std::string>();
  geometry.width = TRY(number(json, "width"));
  geometry.height = TRY(number(json, "height"));
  geometry.boxes = TRY(rectsFromJson(json, "boxes"));
  geometry.containers = TRY(rectsFromJson(json, "containers"));
  for (const Json& item : *TRY(list(json, "edges"))) {
    const std::vector<double> values = TRY(numbers(item, "edges"));
    if (values.size() % 6 != 2) return bad("each must be a chain of cubic curves", "edges");
    PlacedEdge edge;
    for (std::size_t i = 0; i < values.size(); i += 2) edge.points.push_back({values[i], values[i + 1]});
    geometry.edges.push_back(std::move(edge));
  }
  return geometry;
}

}  // namespace fusescope
