#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/hash.h"
#include "base/json_fields.h"
#include "session/engine_prices.h"
#include "session/runs/run.h"

namespace fusescope {
namespace {

constexpr const char* kPricesFormat = "fusescope.engine_prices";
constexpr int kPricesVersion = 1;

Diagnostic badPrices(std::string problem, std::string field) {
  return {.message = std::move(problem),
          .where = {.attribute = std::move(field)},
          .help = "See session/ENGINE_PRICES_FORMAT.md."};
}

Json typeOrNull(DataType type) {
  return type == DataType::Undefined ? Json(nullptr) : Json(toText(type));
}

Result<DataType> typeFromJson(const Json& json) {
  const auto type = json.is_string() ? dataTypeFromName(json.get<std::string>()) : std::nullopt;
  if (!type) return badPrices("is not a type", {});
  return *type;
}

Json originJson(const EnginePriceOrigin& origin) {
  return {{"compiler", origin.compiler}, {"version", origin.version}, {"device", origin.device},
          {"driver", origin.driver},     {"times", origin.times},     {"target", origin.target},
          {"files", origin.files},       {"kept", origin.kept}};
}

Result<EnginePriceOrigin> originFromJson(const Json& json) {
  EnginePriceOrigin origin;
  JsonFields fields(json);
  fields.require("compiler").require("target").read("compiler", origin.compiler).read("version", origin.version);
  fields.read("device", origin.device).read("driver", origin.driver).read("times", origin.times);
  fields.read("target", origin.target).read("files", origin.files).read("kept", origin.kept);
  return fields.result(std::move(origin));
}

Json pricedKernelJson(const PricedKernel& kernel) {
  Json moved = Json::object();
  for (const auto& [value, type] : kernel.moved) moved[value] = toText(type);
  return {{"name", kernel.name}, {"identity", kernel.identity}, {"compute", typeOrNull(kernel.compute)},
          {"moved", moved},      {"none", kernel.isNone},       {"ms", jsonNumber(kernel.ms)}};
}

bool isTime(double ms) {
  return std::isfinite(ms) && ms >= 0;
}

Result<PricedKernel> pricedKernelFromJson(const Json& json) {
  PricedKernel kernel;
  std::map<std::string, std::string> moved;
  JsonFields fields(json);
  fields.require("identity").require("ms").read("name", kernel.name).read("identity", kernel.identity);
  fields.parse("compute", kernel.compute, typeFromJson).read("moved", moved).read("none", kernel.isNone);
  fields.readNumber("ms", kernel.ms);
  if (!fields.error() && !isTime(kernel.ms)) return badPrices("is not a time", "ms");
  for (const auto& [value, name] : moved) {
    const auto type = dataTypeFromName(name);
    if (!type) return badPrices("'" + name + "' is not a type", "moved");
    kernel.moved.emplace(value, *type);
  }
  return fields.result(std::move(kernel));
}

Json pricedConversionJson(const PricedConversion& conversion) {
  return {{"from", toText(conversion.from)},
          {"to", toText(conversion.to)},
          {"elements", conversion.elements},
          {"ms", jsonNumber(conversion.ms)}};
}

Result<PricedConversion> pricedConversionFromJson(const Json& json) {
  PricedConversion conversion;
  JsonFields fields(json);
  for (const char* key : {"from", "to", "elements", "ms"}) fields.require(key);
  fields.parse("from", conversion.from, typeFromJson).parse("to", conversion.to, typeFromJson);
  fields.read("elements", conversion.elements).readNumber("ms", conversion.ms);
  if (!fields.error() && !isTime(conversion.ms)) return badPrices("is not a time", "ms");
  return fields.result(conversion);
}

Result<std::filesystem::path> folderOfPrices() {
  const std::filesystem::path folder = TRY(cacheFolder()) / "engine_prices";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Diagnostic{.message = "cannot be made: " + error.message(), .where = {.file = folder.string()}};
  return folder;
}

/// Returns all readable tables with their files, in no particular order.
std::vector<std::pair<std::filesystem::path, EnginePriceTable>> readAll() {
  std::vector<std::pair<std::filesystem::path, EnginePriceTable>> all;
  const auto folder = folderOfPrices();
  if (!folder.ok()) return all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder.value(), error)) {
    if (entry.path().extension() != ".json") continue;
    const auto text = readTextFile(entry.path());
    const Json json = text.ok() ? Json::parse(text.value(), nullptr, false) : Json(Json::value_t::discarded);
    if (json.is_discarded()) continue;
    auto table = enginePricesFromJson(json);
    if (table.ok()) all.emplace_back(entry.path(), std::move(table).value());
  }
  return all;
}

}  // namespace

Json toJson(const EnginePriceTable& table) {
  Json json = {{"format", kPricesFormat},  {"version", kPricesVersion},     {"origin", originJson(table.origin)},
               {"model", table.model},     {"model_hash", table.modelHash}, {"extents", Json::object()},
               {"kernels", Json::array()}, {"conversions", Json::array()}};
  for (const auto& [name, dims] : table.extents) json["extents"][name] = dims;
  for (const PricedKernel& kernel : table.kernels) json["kernels"].push_back(pricedKernelJson(kernel));
  for (const PricedConversion& conversion : table.conversions)
    json["conversions"].push_back(pricedConversionJson(conversion));
  return json;
}

Result<EnginePriceTable> enginePricesFromJson(const Json& json) {
  if (!json.is_object() || json.value("format", Json()) != kPricesFormat)
    return badPrices("this file contains no prices", "format");
  if (json.value("version", Json()) != kPricesVersion)
    return badPrices("this version of the file is not known", "version");
  EnginePriceTable table;
  JsonFields fields(json);
  for (const char* key : {"origin", "model_hash", "kernels"}) fields.require(key);
  fields.parse("origin", table.origin, originFromJson).read("model", table.model).read("model_hash", table.modelHash);
  fields.read("extents", table.extents).parseList("kernels", table.kernels, pricedKernelFromJson);
  fields.parseList("conversions", table.conversions, pricedConversionFromJson);
  return fields.result(std::move(table));
}

namespace {

/// Returns the part of a table that is the same each time the engine is measured.
std::string identityOf(EnginePriceTable table) {
  for (std::string* text : {&table.origin.kept, &table.origin.times}) text->clear();
  table.origin.files.clear();
  for (PricedKernel& kernel : table.kernels) kernel.ms = 0;
  table.conversions.clear();
  return KeyBuilder().text(toJson(table).dump(-1, ' ', false, Json::error_handler_t::replace)).hash().hex();
}

}  // namespace

Status keepEnginePrices(EnginePriceTable table) {
  const std::filesystem::path folder = TRY(folderOfPrices());
  const std::string name = identityOf(table);
  table.origin.kept = timestamp();
  return writeFileAtomically(folder / (name + ".json"),
                             toJson(table).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<EnginePriceTable> keptEnginePrices() {
  std::vector<EnginePriceTable> tables;
  for (auto& [path, table] : readAll()) tables.push_back(std::move(table));
  std::ranges::sort(tables, [](const EnginePriceTable& a, const EnginePriceTable& b) {
    if (a.origin.kept != b.origin.kept) return a.origin.kept > b.origin.kept;
    return toJson(a).dump() < toJson(b).dump();
  });
  return tables;
}

Result<std::size_t> forgetEnginePrices(const std::string& model) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& [path, table] : readAll()) {
    const bool isOfModel = table.model == model || std::filesystem::equivalent(table.model, model, error);
    if (!isOfModel) continue;
    if (!std::filesystem::remove(path, error) || error)
      return Diagnostic{.message = "cannot be removed: " + error.message(), .where = {.file = path.string()}};
    ++count;
  }
  return count;
}

}  // namespace fusescope
