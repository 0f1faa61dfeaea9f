#include "session/layer_types.h"

#include "base/json.h"

namespace fusescope {

namespace {

Json namesOf(const std::vector<DataType>& types) {
  Json names = Json::array();
  for (const DataType type : types) names.push_back(name(type));
  return names;
}

DataType typeNamed(const Json& text) {
  return dataTypeFromName(text.get<std::string>()).value_or(DataType::Undefined);
}

std::vector<DataType> typesNamed(const Json& names) {
  std::vector<DataType> types;
  for (const Json& text : names) types.push_back(typeNamed(text));
  return types;
}

}  // namespace

LayerTypes layerTypes(const Cover& cover, const FusedNode& fused) {
  LayerTypes types{.compute = fused.compute, .calculates = {}, .inputs = fused.reads, .outputs = {}};
  for (const NodeId node : fused.nodes) types.calculates.push_back(cover.calculates[node.index]);
  for (const FusedOutput& output : fused.outputs) types.outputs.push_back(output.type);
  return types;
}

Json toJson(const LayerTypes& types) {
  return {{"compute", name(types.compute)},
          {"calculates", namesOf(types.calculates)},
          {"inputs", namesOf(types.inputs)},
          {"outputs", namesOf(types.outputs)}};
}

std::optional<LayerTypes> layerTypesFromJson(const Json& json) try {
  if (json.is_string()) {
    const Json inside = Json::parse(json.get_ref<const std::string&>(), nullptr, false);
    return inside.is_object() ? layerTypesFromJson(inside) : std::nullopt;
  }
  if (!json.is_object()) return std::nullopt;
  return LayerTypes{.compute = typeNamed(json.at("compute")),
                    .calculates = typesNamed(json.at("calculates")),
                    .inputs = typesNamed(json.at("inputs")),
                    .outputs = typesNamed(json.at("outputs"))};
} catch (const Json::exception&) {
  return std::nullopt;
}

std::string layerTypesText(const std::optional<LayerTypes>& types) {
  return types ? toJson(*types).dump() : std::string();
}

}  // namespace fusescope
