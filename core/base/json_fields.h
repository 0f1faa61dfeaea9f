#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// Reads the fields of a JSON object one by one; the first that is missing or of the wrong type is kept as the error.
/// What was read before it stands; what comes after is left alone.
class JsonFields {
 public:
  explicit JsonFields(const Json& json) : m_json(json) {
    if (!json.is_object()) m_error = bad("must be an object", {});
  }
  /// An absent or null field leaves `into` as it is.
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
  /// A number, or "nan", "inf", "-inf" as jsonNumber() writes them.
  JsonFields& readNumber(const char* key, double& into);
  JsonFields& readNumber(const char* key, std::optional<double>& into);
  JsonFields& readCount(const char* key, std::optional<std::int64_t>& into) {
    if (!present(key)) return *this;
    into.emplace(0);
    return read(key, *into);
  }
  /// A field that says "a", "b" or "c": its index among `names`.
  template <class Enum>
  JsonFields& readName(const char* key, const std::vector<std::string_view>& names, Enum& into) {
    if (const auto index = indexOf(key, names)) into = static_cast<Enum>(*index);
    return *this;
  }
  /// What `parse` makes of the field, if there is one; its error is located here.
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
  /// The same for each element of an array.
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
  /// What was read, unless a field was missing or wrong.
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
