#include "planning/directives/directive_fields.h"

namespace fusescope {

Diagnostic DirectiveFields::bad(std::string field, std::string problem) const {
  return {.message = std::move(problem),
          .where = {.attribute = "directives[" + std::to_string(m_index) + "]." + std::move(field)},
          .help = "See planning/FORMAT.md."};
}

Result<std::string> DirectiveFields::text(const char* field) const {
  if (!m_json.contains(field)) return bad(field, "is missing");
  if (!m_json[field].is_string()) return bad(field, "is not a string");
  return m_json[field].get<std::string>();
}

Result<std::string> DirectiveFields::textOrNothing(const char* field) const {
  if (!m_json.contains(field)) return std::string();
  return text(field);
}

Result<std::int64_t> DirectiveFields::number(const char* field) const {
  if (!m_json.contains(field)) return bad(field, "is missing");
  if (!m_json[field].is_number_integer()) return bad(field, "is not a whole number");
  return m_json[field].get<std::int64_t>();
}

}  // namespace fusescope
