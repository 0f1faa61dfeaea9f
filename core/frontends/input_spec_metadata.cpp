#include "frontends/input_spec_metadata.h"

#include <algorithm>

#include "base/json.h"
#include "base/untrusted_json.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostAxes = 64;  ///< no network has tensors of more, and none is asked for them

Diagnostic wrongInput(std::string message, const std::string& input, const char* key = "") {
  return {.message = std::move(message), .where = {.value = input, .attribute = key}};
}

Result<Dims> extentsOf(const Json& spec, const std::string& input, const char* key) {
  const Diagnostic wrong = wrongInput("must be a list of extents", input, key);
  if (!spec.is_object() || !spec.contains(key) || !spec.at(key).is_array() || spec.at(key).size() > kMostAxes)
    return wrong;
  Dims dims;
  for (const Json& extent : spec.at(key)) {
    const bool isExtent = extent.is_number_integer() && extent.get<std::int64_t>() >= 0 &&
                          !(extent.is_number_unsigned() && extent.get<std::uint64_t>() >> 63 != 0);
    if (!isExtent) return wrong;
    dims.push_back(extent.get<std::int64_t>());
  }
  return dims;
}

/// Reads extents, type and names of the axes. The caller sets the name.
Result<CarriedInput> inputOf(const Json& given, const std::string& name) {
  CarriedInput input{.spec = {.name = name, .min = {}, .opt = {}, .max = {}, .source = kFromMetadata}};
  InputSpec& spec = input.spec;
  spec.min = TRY(extentsOf(given, name, "min"));
  spec.opt = TRY(extentsOf(given, name, "opt"));
  spec.max = TRY(extentsOf(given, name, "max"));
  bool ordered = spec.min.size() == spec.opt.size() && spec.opt.size() == spec.max.size();
  for (std::size_t axis = 0; ordered && axis < spec.opt.size(); ++axis)
    ordered = spec.min[axis] <= spec.opt[axis] && spec.opt[axis] <= spec.max[axis];
  if (!ordered) return wrongInput("min, opt and max are not in order, extent by extent", name);
  if (const Json type = given.value("type", Json()); type.is_string()) {
    const auto known = dataTypeFromName(type.get<std::string>());
    if (!known) return wrongInput("is not a type", name, "type");
    spec.dtype = *known;
  }
  if (const Json symbols = given.value("symbols", Json()); symbols.is_array()) {
    if (symbols.size() != spec.opt.size())
      return wrongInput("must have a name or null for each extent", name, "symbols");
    for (const Json& symbol : symbols) input.symbols.push_back(symbol.is_string() ? symbol.get<std::string>() : "");
  }
  if (const Json source = given.value("source", Json()); source.is_string()) input.givenBy = source.get<std::string>();
  return input;
}

Result<CarriedInputs> listedInputs(const Json& json) {
  CarriedInputs carried{.version = json.at("version").get<std::int64_t>()};
  if (carried.isNewer()) return carried;
  if (carried.version < kInputSpecsVersion || !json.contains("inputs") || !json.at("inputs").is_array())
    return Diagnostic{.message = "contains no list 'inputs' of a known version",
                      .where = {.attribute = kInputSpecsKey}};
  for (const Json& given : json.at("inputs")) {
    const Json name = given.is_object() ? given.value("name", Json()) : Json();
    if (!name.is_string()) return Diagnostic{.message = "contains an input without a name"};
    const auto isSame = [&](const CarriedInput& known) { return known.spec.name == name.get<std::string>(); };
    if (std::ranges::any_of(carried.inputs, isSame)) return wrongInput("is listed twice", name.get<std::string>());
    carried.inputs.push_back(TRY(inputOf(given, name.get<std::string>())));
  }
  return carried;
}

}  // namespace

std::string carriedInputsText(const std::vector<CarriedInput>& inputs) {
  Json list = Json::array();
  for (const CarriedInput& input : inputs) {
    const InputSpec& spec = input.spec;
    Json entry{{"name", spec.name}};
    if (spec.dtype != DataType::Undefined) entry["type"] = name(spec.dtype);
    entry["min"] = spec.min;
    entry["opt"] = spec.opt;
    entry["max"] = spec.max;
    if (std::ranges::any_of(input.symbols, [](const std::string& symbol) { return !symbol.empty(); })) {
      entry["symbols"] = Json::array();
      for (const std::string& symbol : input.symbols)
        entry["symbols"].push_back(symbol.empty() ? Json(nullptr) : Json(symbol));
    }
    if (!input.givenBy.empty()) entry["source"] = input.givenBy;
    list.push_back(std::move(entry));
  }
  return Json{{"version", kInputSpecsVersion}, {"inputs", std::move(list)}}.dump();
}

std::string inputSpecsText(const std::vector<InputSpec>& specs) {
  std::vector<CarriedInput> inputs;
  for (const InputSpec& spec : specs) inputs.push_back({.spec = spec, .givenBy = spec.source});
  return carriedInputsText(inputs);
}

Result<CarriedInputs> carriedInputsFromText(std::string_view text) {
  const Json json = untrustedJson(text);
  if (!json.is_object()) return Diagnostic{.message = "is not a JSON object", .where = {.attribute = kInputSpecsKey}};
  if (json.contains("version") && json.at("version").is_number_integer()) return listedInputs(json);
  CarriedInputs carried{.version = 1};
  for (const auto& [name, given] : json.items()) carried.inputs.push_back(TRY(inputOf(given, name)));
  return carried;
}

}  // namespace fusescope
