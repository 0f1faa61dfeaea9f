#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope::torch {

// Fields in the JSON of exported programs. Errors name the field in Location::attribute; within() prepends the fields
// around it.

Diagnostic within(Diagnostic error, const std::string& field);
/// Returns the field of an object; it is an error if it is missing.
Result<const Json*> field(const Json& object, const char* key);
Result<const Json*> listField(const Json& object, const char* key);    ///< must be a list
Result<const Json*> objectField(const Json& object, const char* key);  ///< must be an object
Result<std::string> textField(const Json& object, const char* key);
/// Return a text or number that may be missing or null. textOr() then returns `otherwise`, and integerAt() nothing.
std::string textOr(const Json& object, const char* key, std::string otherwise);
std::optional<std::int64_t> integerAt(const Json& object, const char* key);

/// A value of one of several kinds, such as {"as_int": 3}: the only field that is not null. Older files have all
/// fields, of which the others are null.
struct UnionValue {
  std::string kind;
  const Json* value = nullptr;
};
Result<UnionValue> unionOf(const Json& json);

/// Returns the results of `read` for the elements of a list. Errors of `read` are located at "key[i]".
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
