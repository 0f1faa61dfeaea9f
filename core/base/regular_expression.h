#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// A regular expression in the syntax of RE2: matching takes time linear in the text, whatever the expression, and
/// compiled it has at most 8 MiB; so there are no backreferences and no lookaround. Immutable; may be used by several
/// threads.
class RegularExpression {
 public:
  /// Errors say what is wrong with the expression and, where it can be told, at which character.
  static Result<RegularExpression> create(std::string_view expression);

  bool matchesAll(std::string_view text) const;   ///< the whole of `text`
  bool matchesSome(std::string_view text) const;  ///< some part of `text`

 private:
  struct Compiled;
  explicit RegularExpression(std::shared_ptr<const Compiled> compiled) : m_compiled(std::move(compiled)) {}
  std::shared_ptr<const Compiled> m_compiled;
};

}  // namespace fusescope
