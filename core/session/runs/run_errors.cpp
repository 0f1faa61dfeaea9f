#include "session/runs/run_errors.h"

#include "base/json_fields.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

Json errorsJson(const LocalAndCarried& errors) {
  const auto json = [](const std::optional<TensorError>& error) { return error ? toJson(*error) : Json(nullptr); };
  return {{"local", json(errors.local)}, {"carried", json(errors.carried)}};
}

void readErrors(JsonFields& fields, LocalAndCarried& errors) {
  fields.parse("local", errors.local, tensorErrorFromJson).parse("carried", errors.carried, tensorErrorFromJson);
}

Result<RunNodeErrors> nodeFromJson(const Json& json) {
  RunNodeErrors node;
  JsonFields fields(json);
  fields.require("name").read("name", node.name).read("identity", node.identity);
  readErrors(fields, node.errors);
  if (!fields.error() && json.contains("types")) node.types = layerTypesFromJson(json["types"]);
  return fields.result(std::move(node));
}

Result<TensorErrors> tensorFromJson(const Json& json) {
  TensorErrors tensor;
  std::string type;
  JsonFields fields(json);
  fields.require("name").read("name", tensor.name).read("fused_node", tensor.fusedNode).read("type", type);
  fields.read("is_output", tensor.isOutput);
  readErrors(fields, tensor.errors);
  tensor.stored = dataTypeFromName(type).value_or(DataType::Undefined);
  return fields.result(std::move(tensor));
}

Result<LayerErrorReport::NotMeasured> notMeasuredFromJson(const Json& json) {
  LayerErrorReport::NotMeasured tensor;
  JsonFields fields(json);
  fields.require("name").read("name", tensor.name).read("why", tensor.why);
  return fields.result(std::move(tensor));
}

}  // namespace

Json toJson(const RunErrors& errors) {
  Json json = {{"when", errors.when},
               {"inputs", toJson(errors.inputs)},
               {"samples", errors.samples},
               {"against", errors.against},
               {"backend", errors.backend}};
  json["fused_nodes"] = json["tensors"] = json["not_measured"] = Json::array();
  for (const RunNodeErrors& node : errors.nodes) {
    Json entry = errorsJson(node.errors);
    entry.update({{"name", node.name}, {"identity", node.identity}, {"types", layerTypesText(node.types)}});
    json["fused_nodes"].push_back(std::move(entry));
  }
  for (const TensorErrors& tensor : errors.tensors) {
    Json entry = errorsJson(tensor.errors);
    entry.update({{"name", tensor.name},
                  {"fused_node", tensor.fusedNode},
                  {"type", name(tensor.stored)},
                  {"is_output", tensor.isOutput}});
    json["tensors"].push_back(std::move(entry));
  }
  for (const auto& tensor : errors.notMeasured)
    json["not_measured"].push_back({{"name", tensor.name}, {"why", tensor.why}});
  if (!errors.inside.empty()) json["inside"] = errors.inside;
  json["advice"] = toJson(errors.advice);
  return json;
}

Result<RunErrors> runErrorsFromJson(const Json& json) {
  RunErrors errors;
  JsonFields fields(json);
  fields.read("when", errors.when).parse("inputs", errors.inputs, sampleSourceFromJson);
  fields.read("samples", errors.samples).read("against", errors.against).read("backend", errors.backend);
  fields.parseList("fused_nodes", errors.nodes, nodeFromJson);
  fields.parseList("tensors", errors.tensors, tensorFromJson);
  fields.parseList("not_measured", errors.notMeasured, notMeasuredFromJson);
  fields.read("inside", errors.inside);
  fields.parse("advice", errors.advice, adviceFromJson);
  return fields.result(std::move(errors));
}

}  // namespace fusescope
