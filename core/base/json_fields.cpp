#include "base/json_fields.h"

#include <algorithm>
#include <limits>

#include "base/user_json.h"

namespace fusescope {
namespace {

std::optional<double> numberOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return {};
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return {};
}

}  // namespace

Diagnostic JsonFields::bad(std::string message, std::string field) {
  return {.message = std::move(message), .where = {.attribute = std::move(field)}};
}

Diagnostic JsonFields::within(Diagnostic error, const std::string& field) {
  error.where.attribute = error.where.attribute.empty() ? field : field + "." + error.where.attribute;
  return error;
}

JsonFields& JsonFields::readNumber(const char* key, double& into) {
  std::optional<double> number;
  readNumber(key, number);
  if (number) into = *number;
  return *this;
}

JsonFields& JsonFields::readNumber(const char* key, std::optional<double>& into) {
  if (!present(key)) return *this;
  const auto number = numberOf(m_json[key]);
  if (number) {
    into = number;
  } else {
    m_error = bad("must be a number", key);
  }
  return *this;
}

std::optional<std::size_t> JsonFields::indexOf(const char* key, const std::vector<std::string_view>& names) {
  std::string said;
  if (!present(key)) return {};
  read(key, said);
  if (m_error) return {};
  const auto found = std::ranges::find(names, said);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  m_error = bad("'" + said + "' is not known here", key);
  return {};
}

JsonFields& JsonFields::require(const char* key) {
  if (!m_error && !m_json.contains(key)) m_error = bad(missingInWords(m_json, key), key);
  return *this;
}

}  // namespace fusescope
