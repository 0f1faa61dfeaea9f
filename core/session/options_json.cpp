#include "session/options_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/text.h"
#include "compilers/compiler.h"

namespace fusescope {
namespace {

Diagnostic badOption(std::string message, std::string_view option, std::string help = {}) {
  return {.message = std::move(message), .where = {.attribute = std::string(option)}, .help = std::move(help)};
}

Json dimsJson(const Dims& dims) {
  Json json = Json::array();
  for (const auto extent : dims) json.push_back(extent);
  return json;
}

Result<std::optional<Dims>> optionalDims(const Json& entry, const char* key) {
  if (!entry.contains(key)) return std::optional<Dims>();
  if (!entry[key].is_array()) return badOption("must be a list of extents", key);
  Dims dims;
  for (const auto& extent : entry[key]) {
    if (!extent.is_number_integer()) return badOption("must be a list of whole numbers", key);
    dims.push_back(extent.get<std::int64_t>());
  }
  return std::optional<Dims>(std::move(dims));
}

Result<DataType> typeNamed(std::string_view text, std::string_view option) {
  const auto type = dataTypeFromName(text);
  if (type && *type != DataType::Undefined) return *type;
  return badOption(fmt::format("'{}' is not a type", text), option,
                   "Types are f64, f32, f16, bf16, f8e4m3, f8e5m2, int64 … uint8, bool and string.");
}

/// Splits "NAME=REST" at the first '=' that extents can follow, because names may contain '='.
Result<std::pair<std::string, std::string>> nameAndRest(std::string_view text, std::string_view option) {
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return badOption(fmt::format("'{}' is not of the form NAME=DIMS", text), option, "For example: x=1x3x224x224.");
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace

Result<Dims> parseDims(std::string_view text, std::string_view option) {
  Dims dims;
  if (text.empty() || text == "scalar") return dims;
  if (text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::string plain(text);
  std::ranges::replace(plain, ',', 'x');
  std::erase(plain, ' ');
  for (const auto& part : split(plain, 'x')) {
    std::int64_t extent = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error != std::errc() || end != part.data() + part.size() || extent < 0) {
      return badOption(fmt::format("'{}' is not a list of extents", text), option, "For example: 1x3x224x224.");
    }
    dims.push_back(extent);
  }
  if (!elementCount(dims))
    return badOption(fmt::format("the extents {} are too large or negative", toText(dims)), option);
  return dims;
}

Result<InputOverride> parseInputOption(std::string_view text) {
  auto [name, rest] = TRY(nameAndRest(text, "--input"));
  InputOverride input{.name = name};
  if (const auto colon = rest.rfind(':'); colon != std::string::npos) {
    input.dtype = TRY(typeNamed(rest.substr(colon + 1), "--input"));
    rest.resize(colon);
    if (rest.empty()) return input;
  }
  input.fixed = TRY(parseDims(rest, "--input"));
  return input;
}

Status parseInputBound(std::string_view text, InputBound bound, std::vector<InputOverride>& overrides) {
  constexpr std::string_view kOptions[] = {"--min", "--opt", "--max"};
  const auto option = kOptions[static_cast<int>(bound)];
  const auto [name, rest] = TRY(nameAndRest(text, option));
  InputOverride addition{.name = name};
  (bound == InputBound::Min   ? addition.min
   : bound == InputBound::Opt ? addition.opt
                              : addition.max) = TRY(parseDims(rest, option));
  mergeOverride(overrides, std::move(addition));
  return Done{};
}

void mergeOverride(std::vector<InputOverride>& overrides, InputOverride addition) {
  const auto same = std::ranges::find(overrides, addition.name, &InputOverride::name);
  if (same == overrides.end()) {
    overrides.push_back(std::move(addition));
    return;
  }
  if (addition.fixed) same->fixed = std::move(addition.fixed);
  if (addition.min) same->min = std::move(addition.min);
  if (addition.opt) same->opt = std::move(addition.opt);
  if (addition.max) same->max = std::move(addition.max);
  if (addition.dtype) same->dtype = addition.dtype;
}

std::string usualTarget(const PlanOptions& options) {
  const Compiler* compiler = findCompiler(options.compiler);
  if (compiler == nullptr || compiler->target().empty()) return options.target;
  const auto card = options.compilerOptions.find("sm");
  const bool isNumber = card != options.compilerOptions.end() && !card->second.empty() &&
                        card->second.find_first_not_of("0123456789") == std::string::npos;
  return std::string(compiler->target()) + (isNumber ? ":sm" + card->second : "");
}

Result<std::vector<DataType>> parsePrecisions(std::string_view text) {
  std::vector<DataType> types;
  for (const auto& part : split(text, ',')) {
    const auto type = TRY(precisionType(part, "--precision"));
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

Json toJson(const std::vector<InputOverride>& overrides) {
  Json list = Json::array();
  for (const auto& input : overrides) {
    Json entry = {{"name", input.name}};
    if (input.fixed) entry["fixed"] = dimsJson(*input.fixed);
    if (input.min) entry["min"] = dimsJson(*input.min);
    if (input.opt) entry["opt"] = dimsJson(*input.opt);
    if (input.max) entry["max"] = dimsJson(*input.max);
    if (input.dtype) entry["type"] = name(*input.dtype);
    list.push_back(std::move(entry));
  }
  return list;
}

Result<std::vector<InputOverride>> inputOverridesFromJson(const Json& json) {
  if (!json.is_array()) return badOption("must be a list", "inputs");
  std::vector<InputOverride> overrides;
  for (const auto& entry : json) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) {
      return badOption("each entry must be an object with a name", "inputs");
    }
    InputOverride input{.name = entry["name"].get<std::string>()};
    input.fixed = TRY(optionalDims(entry, "fixed"));
    input.min = TRY(optionalDims(entry, "min"));
    input.opt = TRY(optionalDims(entry, "opt"));
    input.max = TRY(optionalDims(entry, "max"));
    if (entry.contains("type")) {
      if (!entry["type"].is_string()) return badOption("must be a string", "type");
      input.dtype = TRY(typeNamed(entry["type"].get<std::string>(), "type"));
    }
    overrides.push_back(std::move(input));
  }
  return overrides;
}

}  // namespace fusescope
