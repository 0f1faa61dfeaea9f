#include "frontends/torch/schema_fields.h"

#include "base/json.h"

namespace fusescope::torch {
namespace {

Result<const Json*> fieldOfKind(const Json& object, const char* key, Json::value_t kind, const char* must) {
  const Json* found = TRY(field(object, key));
  if (found->type() != kind) return within({.message = must}, key);
  return found;
}

}  // namespace

Diagnostic within(Diagnostic error, const std::string& field) {
  std::string& path = error.where.attribute;
  path = path.empty() ? field : path.starts_with('[') ? field + path : field + "." + path;
  return error;
}

Result<const Json*> field(const Json& object, const char* key) {
  if (!object.is_object()) return Diagnostic{.message = "must be an object"};
  const auto found = object.find(key);
  if (found == object.end()) return within({.message = "is missing"}, key);
  return &*found;
}

Result<const Json*> listField(const Json& object, const char* key) {
  return fieldOfKind(object, key, Json::value_t::array, "must be a list");
}

Result<const Json*> objectField(const Json& object, const char* key) {
  return fieldOfKind(object, key, Json::value_t::object, "must be an object");
}

Result<std::string> textField(const Json& object, const char* key) {
  return TRY(fieldOfKind(object, key, Json::value_t::string, "must be a string"))->get<std::string>();
}

std::string textOr(const Json& object, const char* key, std::string otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::optional<std::int64_t> integerAt(const Json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return found->get<std::int64_t>();
}

Result<UnionValue> unionOf(const Json& json) {
  if (!json.is_object()) return Diagnostic{.message = "must be an object"};
  UnionValue found;
  for (const auto& [kind, value] : json.items()) {
    if (value.is_null() && json.size() > 1) continue;
    if (found.value != nullptr) return Diagnostic{.message = "has values of several kinds at once"};
    found = {.kind = kind, .value = &json.at(kind)};
  }
  if (found.value == nullptr) return Diagnostic{.message = "has no value of a known kind"};
  return found;
}

}  // namespace fusescope::torch
