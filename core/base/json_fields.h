#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// Reads the fields of a JSON object one by one. The first field that is missing or has the wrong type becomes the
/// error; fields that were read before it keep their values, and later fields are not read.
class JsonFields {
 public:
  explicit JsonFields(const Json& json) : m_json(json) {
    if (!json.is_object()) m_error = bad("must be an object", {});
  }
  /// Reads a field. If it is absent or null, `into` is unchanged.
  template <class T>
  JsonFields& read(const char* key, T& into) {
    if (!present(key)) return *this;
    try {
      m_json[key].get_to(into);
    } catch (const Json::exception&) {
      m_error = bad("has the wrong type", key);
    }
    return *this;
  }
  /// Reads a number, or one of "nan", "inf" and "-inf", which jsonNumber() writes.
  JsonFields& readNumber(const char* key, double& into);
  JsonFields& readNumber(const char* key, std::optional<double>& into);
  JsonFields& readCount(const char* key, std::optional<std::int64_t>& into) {
    if (!present(key)) return *this;
    into.emplace(0);
    return read(key, *into);
  }
  /// Reads a field whose text is one of `names`, and sets `into` to the enumerator of that index.
  template <class Enum>
  JsonFields& readName(const char* key, const std::vector<std::string_view>& names, Enum& into) {
    if (const auto index = indexOf(key, names)) into = static_cast<Enum>(*index);
    return *this;
  }
  /// Reads a field with `parse`, if the field is present. An error of `parse` is reported with the key of the field.
  template <class T, class Parse>
  JsonFields& parse(const char* key, T& into, Parse parse) {
    if (!present(key)) return *this;
    auto parsed = parse(m_json[key]);
    if (parsed.ok()) {
      into = std::move(parsed).value();
    } else {
      m_error = within(std::move(parsed).error(), key);
    }
    return *this;
  }
  /// Reads each element of an array with `parse`, and appends the results to `into`.
  template <class T, class Parse>
  JsonFields& parseList(const char* key, std::vector<T>& into, Parse parse) {
    if (!present(key)) return *this;
    if (!m_json[key].is_array()) {
      m_error = bad("must be a list", key);
      return *this;
    }
    for (const Json& entry : m_json[key]) {
      auto parsed = parse(entry);
      if (!parsed.ok()) {
        m_error = within(std::move(parsed).error(), std::string(key) + "[" + std::to_string(into.size()) + "]");
        return *this;
      }
      into.push_back(std::move(parsed).value());
    }
    return *this;
  }
  JsonFields& require(const char* key);
  const std::optional<Diagnostic>& error() const { return m_error; }
  /// Returns `value`, or the first error if there was one.
  template <class T>
  Result<T> result(T value) const {
    if (m_error) return *m_error;
    return value;
  }

 private:
  bool present(const char* key) const { return !m_error && m_json.contains(key) && !m_json[key].is_null(); }
  std::optional<std::size_t> indexOf(const char* key, const std::vector<std::string_view>& names);
  static Diagnostic bad(std::string message, std::string field);
  static Diagnostic within(Diagnostic error, const std::string& field);

  const Json& m_json;
  std::optional<Diagnostic> m_error;
};

}  // namespace fusescope
