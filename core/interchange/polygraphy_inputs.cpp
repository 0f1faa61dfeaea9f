#include "interchange/polygraphy_inputs.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/files.h"
#include "base/json.h"
#include "base/user_json.h"

namespace fusescope {
namespace {

/// What Polygraphy puts beside the fields of a value that JSON has no form for.
constexpr const char* kClass = "polygraphy_class";
constexpr const char* kArray = "array";

Diagnostic bad(const std::filesystem::path& path, std::string entry, std::string message) {
  return {.message = std::move(message),
          .where = {.file = path.string(), .attribute = std::move(entry)},
          .help = "The file must be one that 'polygraphy run --save-inputs' writes: a list of {name: array}."};
}

Result<Tensor> arrayOf(const Json& value, const std::filesystem::path& path, const std::string& name,
                       const std::string& entry) {
  if (!value.is_object() || !value.contains(kArray) || !value[kArray].is_string())
    return bad(path, entry, "is not an array in Polygraphy's form");
  const auto bytes = decodeBase64(value[kArray].get_ref<const std::string&>());
  if (!bytes) return bad(path, entry, "contains an array that is not base64, or that is cut off");
  auto array = parseNpy(std::as_bytes(std::span(*bytes)), path.string(), name);
  if (!array.ok()) {
    Diagnostic error = std::move(array).error();
    error.where.attribute = entry;
    return error;
  }
  return array;
}

}  // namespace

Result<std::vector<NpzArrays>> readPolygraphyInputs(const std::filesystem::path& path) {
  const auto parsed = parseUserJson(TRY(readTextFile(path)));
  if (!parsed.ok()) return bad(path, parsed.error().where.attribute, parsed.error().message);
  const Json& json = parsed.value();
  if (json.is_object() && json.contains(kClass) && json[kClass].is_string())
    return bad(path, {},
               fmt::format("this file contains {} of Polygraphy, not inputs", json[kClass].get<std::string>()));
  if (!json.is_array()) return bad(path, {}, "this file is not a list of inputs");
  std::vector<NpzArrays> samples;
  for (const Json& feed : json) {
    const std::string place = fmt::format("[{}]", samples.size());
    if (!feed.is_object()) return bad(path, place, "is not an object of inputs by name");
    NpzArrays arrays;
    for (const auto& [name, value] : feed.items())
      arrays.emplace(name, TRY(arrayOf(value, path, name, place + "." + name)));
    samples.push_back(std::move(arrays));
  }
  if (samples.empty()) return bad(path, {}, "the list of inputs is empty");
  return samples;
}

}  // namespace fusescope
