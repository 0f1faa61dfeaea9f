#include "app/cli/side_arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace fusescope::cli {
namespace {

/// Returns the part of `text` from a quote that is never closed; empty if all quotes are closed. A quote opens only at
/// the beginning of a word.
std::string_view unclosed(std::string_view text) {
  constexpr std::string_view kQuotes = "'\"`", kSpaces = " \t\n\r\f\v";
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (text.empty()) break;
    std::size_t end = text.find_first_of(kSpaces);
    if (kQuotes.find(text.front()) != std::string_view::npos) {
      end = text.find(text.front(), 1);
      while (end != std::string_view::npos && text[end - 1] == '\\') end = text.find(text.front(), end + 1);
      if (end == std::string_view::npos) return text;
      ++end;
    }
    text.remove_prefix(std::min(end, text.size()));
  }
  return {};
}

}  // namespace

Result<PlanArguments> planArguments(const PlanArguments& both, const std::string& text, const std::string& option) {
  if (const std::string_view open = unclosed(text); !open.empty())
    return Diagnostic{.message = fmt::format("'{}' cannot be read as plan options: no quote closes {}", text, open),
                      .where = {.attribute = option},
                      .help = "A name in quotes ends with the quote that it begins with: \"--pin 'a b=f32'\"."};
  PlanArguments own;
  CLI::App app;
  app.set_help_flag();
  declare(app, own.planOptions());
  declare(app, own.extentsOptions());
  try {
    app.parse(text);
  } catch (const CLI::ParseError& error) {
    return Diagnostic{.message = fmt::format("'{}' cannot be read as plan options: {}", text, error.what()),
                      .where = {.attribute = option},
                      .help = "Give them as on the command line, in quotes: \"--precision f16 --pin a=f32\"."};
  }
  return both.with(own);
}

}  // namespace fusescope::cli
