#include "planning/directives/directive_fields.h"

#include <algorithm>

#include "base/json.h"
#include "base/user_json.h"

namespace fusescope {

std::string DirectiveFields::place() const {
  return "directives[" + std::to_string(m_index) + "]";
}

bool DirectiveFields::has(const char* field) const {
  if (std::ranges::find(m_asked, field) == m_asked.end()) m_asked.emplace_back(field);
  return m_json.contains(field);
}

Status DirectiveFields::checkAllRead(std::string_view owner) const {
  return checkKeys(m_json, m_asked, place(), owner);
}

Diagnostic DirectiveFields::bad(std::string field, std::string problem) const {
  return {.message = std::move(problem),
          .where = {.attribute = place() + "." + std::move(field)},
          .help = "See planning/FORMAT.md."};
}

Result<std::string> DirectiveFields::text(const char* field) const {
  if (!has(field)) return bad(field, missingInWords(m_json, field));
  if (!m_json[field].is_string()) return bad(field, "is not a string");
  return m_json[field].get<std::string>();
}

Result<std::string> DirectiveFields::textOrNothing(const char* field) const {
  if (!has(field)) return std::string();
  return text(field);
}

Result<std::int64_t> DirectiveFields::number(const char* field) const {
  if (!has(field)) return bad(field, missingInWords(m_json, field));
  if (!m_json[field].is_number_integer()) return bad(field, "is not a whole number");
  return m_json[field].get<std::int64_t>();
}

}  // namespace fusescope
