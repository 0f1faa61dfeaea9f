#include "planning/directives/truncate_argument.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "planning/directives/directive_fields.h"

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 4> kModeNames = {"none", "long", "double", "all"};

std::optional<TruncateMode> modeOf(std::string_view text) {
  const auto found = std::ranges::find(kModeNames, text);
  if (found == kModeNames.end()) return std::nullopt;
  return static_cast<TruncateMode>(std::distance(kModeNames.begin(), found));
}

}  // namespace

std::string_view name(TruncateMode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

Result<Directive> parseTruncateArgument(DirectiveKind kind, std::string_view option, std::string_view text) {
  const auto mode = modeOf(text);
  if (!mode) return badArgument(option, text, "is not a truncation mode", "Modes: none, long, double, all.");
  return Directive{.kind = kind, .truncate = *mode};
}

std::string printTruncateArgument(const Directive& directive) {
  return std::string(name(directive.truncate));
}

void writeTruncateArgument(const Directive& directive, Json& json) {
  json["mode"] = printTruncateArgument(directive);
}

Status readTruncateArgument(const DirectiveFields& fields, Directive& into) {
  const std::string text = TRY(fields.text("mode"));
  const auto mode = modeOf(text);
  if (!mode) return fields.bad("mode", "'" + text + "' is none of none, long, double and all");
  into.truncate = *mode;
  return Done{};
}

}  // namespace fusescope
