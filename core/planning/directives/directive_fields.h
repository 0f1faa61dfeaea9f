#pragma once

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// The fields of one directive in a file. Errors name the field by its place: directives[3].type.
class DirectiveFields {
 public:
  /// `index`: its place in the list. `json` must outlive this.
  DirectiveFields(const Json& json, std::size_t index) : m_json(json), m_index(index) {}

  Result<std::string> text(const char* field) const;
  Result<std::string> textOrNothing(const char* field) const;
  Result<std::int64_t> number(const char* field) const;
  Diagnostic bad(std::string field, std::string problem) const;

 private:
  const Json& m_json;
  std::size_t m_index;
};

}  // namespace fusescope
