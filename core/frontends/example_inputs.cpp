#include "frontends/example_inputs.h"

#include <fmt/format.h>

#include <cstring>

#include "base/base64.h"
#include "base/json.h"
#include "base/untrusted_json.h"

namespace fusescope {
namespace {

constexpr std::int64_t kExamplesVersion = 1;

Diagnostic wrongExample(std::string message, const std::string& input) {
  return {.message = std::move(message), .where = {.value = input, .attribute = kExampleInputsKey}};
}

Result<Tensor> exampleOf(const Json& given, const std::string& input) {
  const auto textAt = [&](const char* key) {
    const Json text = given.value(key, Json());
    return text.is_string() ? text.get<std::string>() : std::string();
  };
  const auto type = dataTypeFromName(textAt("type"));
  if (!type || *type == DataType::Undefined || *type == DataType::String)
    return wrongExample("has no known type", input);
  const Json extents = given.value("dims", Json());
  if (!extents.is_array()) return wrongExample("has no extents", input);
  Dims dims;
  for (const Json& extent : extents) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0)
      return wrongExample("has extents that are not numbers of 0 or more", input);
    dims.push_back(extent.get<std::int64_t>());
  }
  const auto count = elementCount(dims);
  if (!count) return wrongExample("has extents that are too large", input);
  const auto bytes = decodeBase64(textAt("data"));
  if (!bytes || bytes->size() != byteSize(*type, *count))
    return wrongExample("contains more or fewer bytes than its type and extents require", input);
  Tensor tensor = Tensor::zeros(*type, std::move(dims));
  if (!bytes->empty()) std::memcpy(tensor.mutableBytes(), bytes->data(), bytes->size());
  return tensor;
}

}  // namespace

Result<std::string> exampleInputsText(const std::map<std::string, Tensor>& inputs) {
  Json list = Json::array();
  std::int64_t all = 0;
  for (const auto& [input, tensor] : inputs) {
    if (tensor.container() != Container::None || tensor.type() == DataType::String)
      return wrongExample("is not an array of numbers, so it cannot be stored as an example input", input);
    if (!tensor.hasData()) return wrongExample("has no data that could be stored", input);
    all += static_cast<std::int64_t>(tensor.byteSize());
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes()), tensor.byteSize());
    if (all <= kMostExampleBytes)
      list.push_back(
          {{"name", input}, {"type", name(tensor.type())}, {"dims", tensor.dims()}, {"data", encodeBase64(bytes)}});
  }
  if (all > kMostExampleBytes)
    return Diagnostic{.message = fmt::format("the example inputs have {} bytes, but a file can contain at most {}", all,
                                             kMostExampleBytes),
                      .where = {.attribute = kExampleInputsKey},
                      .help = "Keep them in a separate file, and give that file with --inputs."};
  return Json{{"version", kExamplesVersion}, {"inputs", std::move(list)}}.dump();
}

Result<std::map<std::string, Tensor>> exampleInputsFromText(std::string_view text) {
  const Json json = untrustedJson(text);
  const Json version = json.is_object() ? json.value("version", Json()) : Json();
  if (!version.is_number_integer())
    return Diagnostic{.message = "do not give a version", .where = {.attribute = kExampleInputsKey}};
  if (version.get<std::int64_t>() != kExamplesVersion)
    return Diagnostic{.message = fmt::format("are of version {}, but this Fusescope reads version {}",
                                             version.get<std::int64_t>(), kExamplesVersion),
                      .where = {.attribute = kExampleInputsKey}};
  const Json list = json.value("inputs", Json());
  if (!list.is_array()) return Diagnostic{.message = "contain no list", .where = {.attribute = kExampleInputsKey}};
  std::map<std::string, Tensor> inputs;
  for (const Json& given : list) {
    const Json name = given.is_object() ? given.value("name", Json()) : Json();
    if (!name.is_string() || inputs.contains(name.get<std::string>()))
      return Diagnostic{.message = "contain an input without a name, or one input twice",
                        .where = {.attribute = kExampleInputsKey}};
    inputs.emplace(name.get<std::string>(), TRY(exampleOf(given, name.get<std::string>())));
  }
  return inputs;
}

}  // namespace fusescope
