#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/regular_expression.h"
#include "base/result.h"
#include "base/text.h"

namespace fusescope {

/// Returns whether the pattern is "/…/".
inline bool isRegex(std::string_view pattern) {
  return pattern.size() > 1 && pattern.front() == '/' && pattern.back() == '/';
}

/// Returns whether the pattern contains `*` or `?`.
inline bool isGlob(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

/// Tests whether a name matches a pattern without a prefix. The pattern must outlive it.
class NameTest {
 public:
  /// It is a located error if a regular expression is invalid or too long.
  static Result<NameTest> create(std::string_view pattern) {
    NameTest test(pattern);
    if (!isRegex(pattern)) return test;
    const auto located = [&](std::string message, std::string help) {
      return Diagnostic{
          .message = "'" + std::string(pattern.substr(0, 80)) + "' is not a regular expression: " + message,
          .where = {.attribute = std::string(pattern.substr(0, 80))},
          .help = std::move(help)};
    };
    constexpr std::size_t kMostRegexCharacters = 2000;
    if (pattern.size() > kMostRegexCharacters) {
      return located("it has more than " + std::to_string(kMostRegexCharacters) + " characters",
                     "Give several shorter patterns.");
    }
    auto regex = RegularExpression::create(pattern.substr(1, pattern.size() - 2));
    if (!regex.ok()) return located(regex.error().message, regex.error().help);
    test.m_regex = std::move(regex).value();
    return test;
  }

  bool exact() const { return !m_regex && !isGlob(m_pattern); }
  bool operator()(std::string_view name) const {
    if (m_regex) return m_regex->matchesSome(name);
    return isGlob(m_pattern) ? matchesGlob(m_pattern, name) : name == m_pattern;
  }

 private:
  explicit NameTest(std::string_view pattern) : m_pattern(pattern) {}
  std::string_view m_pattern;
  std::optional<RegularExpression> m_regex;
};

}  // namespace fusescope
