#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope::torch {

// Fields of the JSON of exported programs. Errors say in Location::attribute which field: within() puts what is around
// it before that.

Diagnostic within(Diagnostic error, const std::string& field);
/// The field of an object; an error where it is missing.
Result<const Json*> field(const Json& object, const char* key);
Result<const Json*> listField(const Json& object, const char* key);    ///< must be a list
Result<const Json*> objectField(const Json& object, const char* key);  ///< must be an object
Result<std::string> textField(const Json& object, const char* key);
/// Of what may be missing, or null: a text or a number, else `otherwise`.
std::string textOr(const Json& object, const char* key, std::string otherwise);
std::optional<std::int64_t> integerAt(const Json& object, const char* key);

/// A value of one of several kinds, {"as_int": 3}: its only field that is not null. Older files have all of them, the
/// others null.
struct UnionValue {
  std::string kind;
  const Json* value = nullptr;
};
Result<UnionValue> unionOf(const Json& json);

/// What `read` makes of each element of a list, whose errors are located at "key[i]".
template <class T, class Read>
Result<std::vector<T>> eachOf(const Json& list, const char* key, Read read) {
  std::vector<T> all;
  for (const Json& element : list) {
    auto one = read(element);
    if (!one.ok()) return within(std::move(one).error(), std::string(key) + "[" + std::to_string(all.size()) + "]");
    all.push_back(std::move(one).value());
  }
  return all;
}

}  // namespace fusescope::torch
