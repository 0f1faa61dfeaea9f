#include "compilers/openvino/imported_network.h"

#include <utility>

#include <fmt/format.h>

#include "base/json_fields.h"

namespace fusescope {
namespace {

constexpr const char* kImportedFormat = "fusescope.openvino_model";
constexpr int kImportedVersion = 1;

Diagnostic notImported(std::string message) {
  return {.message = std::move(message), .where = {}};
}

Result<ImportedOp::Input> inputFromJson(const ImportedNetwork& before, const Json& json) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_number_unsigned())
    return notImported("is not the name of an operator and the number of an output");
  const auto found = before.byName.find(json[0].get<std::string>());
  const auto output = json[1].get<std::uint64_t>();
  if (found == before.byName.end() || output >= before.op(found->second).outputs.size())
    return notImported("is not an output of an earlier operator");
  return ImportedOp::Input{.op = found->second, .output = static_cast<std::uint32_t>(output)};
}

Result<ImportedOp> opFromJson(const ImportedNetwork& before, const Json& json) {
  ImportedOp op;
  JsonFields fields(json);
  fields.require("name").read("name", op.name).read("type", op.type).read("outs", op.outputs);
  fields.parseList("ins", op.inputs, [&](const Json& input) { return inputFromJson(before, input); });
  return fields.result(std::move(op));
}

}  // namespace

Result<ImportedNetwork> importedNetwork(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kImportedFormat)
    return notImported("is not a network as OpenVINO imported it");
  if (json.value("version", Json()) != kImportedVersion)
    return notImported(fmt::format("is of another version of the format than {}", kImportedVersion));
  if (!json.contains("ops") || !json["ops"].is_array()) return notImported("has no list of operators");
  ImportedNetwork network;
  for (const Json& entry : json["ops"]) {
    ImportedOp op = TRY(opFromJson(network, entry));
    network.byName.try_emplace(op.name, static_cast<std::uint32_t>(network.ops.size()));
    network.ops.push_back(std::move(op));
  }
  return network;
}

}  // namespace fusescope
