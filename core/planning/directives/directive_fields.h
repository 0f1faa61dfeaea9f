#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// Reads the fields of one directive in a file. Errors name the place of the field, such as directives[3].type. It
/// records which fields were read, so that a field that nobody reads can be reported as an error.
class DirectiveFields {
 public:
  /// `index` is the index of the directive in its list. `json` must outlive this object.
  DirectiveFields(const Json& json, std::size_t index) : m_json(json), m_index(index) {}

  Result<std::string> text(const char* field) const;
  Result<std::string> textOrNothing(const char* field) const;
  Result<std::int64_t> number(const char* field) const;
  Diagnostic bad(std::string field, std::string problem) const;
  /// Returns an error if there is a field that was never read. `owner` describes the object that contains it.
  Status checkAllRead(std::string_view owner) const;

 private:
  std::string place() const;
  bool has(const char* field) const;

  const Json& m_json;
  std::size_t m_index;
  mutable std::vector<std::string> m_asked;
};

}  // namespace fusescope
