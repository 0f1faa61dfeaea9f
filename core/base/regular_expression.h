#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A regular expression in the syntax of RE2. Matching takes time linear in the length of the text for every
/// expression, and a compiled expression has at most 8 MiB; for this reason there are no backreferences and no
/// lookaround. It is immutable, and may be used by several threads.
class RegularExpression {
 public:
  /// Compiles an expression. The error says what is wrong and, if it is known, at which character.
  static Result<RegularExpression> create(std::string_view expression);

  bool matchesAll(std::string_view text) const;   ///< the expression matches the whole text
  bool matchesSome(std::string_view text) const;  ///< the expression matches some part of the text

 private:
  struct Compiled;
  explicit RegularExpression(std::shared_ptr<const Compiled> compiled) : m_compiled(std::move(compiled)) {}
  std::shared_ptr<const Compiled> m_compiled;
};

}  // namespace fusescope
