#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// The fields of one directive in a file. Errors name the field by its place: directives[3].type. What is asked for is
/// known; a field that nobody asked for is an error.
class DirectiveFields {
 public:
  /// `index`: its place in the list. `json` must outlive this.
  DirectiveFields(const Json& json, std::size_t index) : m_json(json), m_index(index) {}

  Result<std::string> text(const char* field) const;
  Result<std::string> textOrNothing(const char* field) const;
  Result<std::int64_t> number(const char* field) const;
  Diagnostic bad(std::string field, std::string problem) const;
  /// An error if there is a field that was never asked for. `owner` is what it would be a key of.
  Status checkAllRead(std::string_view owner) const;

 private:
  std::string place() const;
  bool has(const char* field) const;

  const Json& m_json;
  std::size_t m_index;
  mutable std::vector<std::string> m_asked;
};

}  // namespace fusescope
