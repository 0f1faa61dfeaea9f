#include "base/regular_expression.h"

#include <re2/re2.h>

namespace fusescope {

namespace {

/// Returns " at character 4", counted from 1, or an empty text if the invalid part is unknown.
std::string place(std::string_view expression, std::string_view part) {
  const std::size_t at = part.empty() ? std::string_view::npos : expression.find(part);
  return at == std::string_view::npos ? std::string() : " at character " + std::to_string(at + 1);
}

}  // namespace

struct RegularExpression::Compiled {
  explicit Compiled(std::string_view expression)
      : re2(re2::StringPiece(expression.data(), expression.size()), RE2::Quiet) {}
  RE2 re2;
};

Result<RegularExpression> RegularExpression::create(std::string_view expression) {
  auto compiled = std::make_shared<const Compiled>(expression);
  if (!compiled->re2.ok()) {
    return Diagnostic{.message = compiled->re2.error() + place(expression, std::string_view(compiled->re2.error_arg())),
                      .help = "The syntax is RE2's: no backreferences, no lookaround."};
  }
  return RegularExpression(std::move(compiled));
}

bool RegularExpression::matchesAll(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), m_compiled->re2);
}

bool RegularExpression::matchesSome(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), m_compiled->re2);
}

}  // namespace fusescope
