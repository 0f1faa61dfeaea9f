#include "planning/directive.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 8> kKindNames = {"pin",     "output_type", "fallback", "split",
                                                        "no_fuse", "truncate",    "tactic",   "min_segment"};
constexpr std::array<std::string_view, 2> kStrictnessNames = {"prefer", "obey"};
constexpr std::array<std::string_view, 4> kModeNames = {"none", "long", "double", "all"};

Diagnostic badOption(std::string_view option, std::string_view text, std::string problem, std::string help) {
  return {.message = "'" + std::string(text) + "': " + std::move(problem),
          .where = {.attribute = std::string(option)},
          .help = std::move(help)};
}

/// "PATTERN=TYPE[:obey|prefer]". The pattern may hold '=' and ':' itself, so both are looked for from the end.
Result<Directive> parseTyped(DirectiveKind kind, std::string_view option, std::string_view text) {
  const std::string form = "The form is PATTERN=TYPE or PATTERN=TYPE:obey.";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return badOption(option, text, "there is no '='", form);
  if (equals == 0) return badOption(option, text, "the pattern before '=' is empty", form);
  Directive directive{.kind = kind, .pattern = std::string(text.substr(0, equals))};
  std::string_view type = text.substr(equals + 1);
  if (const std::size_t colon = type.find(':'); colon != std::string_view::npos) {
    const std::string_view word = type.substr(colon + 1);
    if (word != "obey" && word != "prefer") {
      return badOption(option, text, "'" + std::string(word) + "' is neither obey nor prefer", form);
    }
    directive.strictness = word == "obey" ? Strictness::Obey : Strictness::Prefer;
    type = type.substr(0, colon);
  }
  const std::optional<DataType> known = dataTypeFromName(type);
  if (!known || *known == DataType::Undefined) {
    return badOption(option, text, "'" + std::string(type) + "' is not a type",
                     "Types that can be asked for: f64 f32 f16 bf16 f8e4m3 f8e5m2.");
  }
  directive.type = *known;
  return directive;
}

}  // namespace

std::string_view name(DirectiveKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::string_view name(Strictness strictness) {
  return kStrictnessNames[static_cast<std::size_t>(strictness)];
}
std::string_view name(TruncateMode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

Result<DataType> precisionType(std::string_view text, std::string_view where) {
  const std::optional<DataType> type = dataTypeFromName(text);
  if (type && isFloat(*type) && *type != DataType::F64) return *type;
  return Diagnostic{.message = "'" + std::string(text) + "' is not a type that precision can be lowered to",
                    .where = {.attribute = std::string(where)},
                    .help = "Use f32, f16, bf16, f8e4m3 or f8e5m2."};
}

Result<Directive> parsePin(std::string_view text) {
  return parseTyped(DirectiveKind::Pin, "--pin", text);
}

Result<Directive> parseOutputType(std::string_view text) {
  return parseTyped(DirectiveKind::PinOutput, "--output-type", text);
}

Result<Directive> parseNoFuse(std::string_view text) {
  const std::size_t at = text.find('@');
  Directive directive{.kind = DirectiveKind::NoFuse, .rule = std::string(text.substr(0, at))};
  const std::string form = "The form is RULE or RULE@NODE.";
  if (directive.rule.empty()) return badOption("--no-fuse", text, "the rule is empty", form);
  if (at == std::string_view::npos) return directive;
  directive.pattern = std::string(text.substr(at + 1));
  if (directive.pattern.empty()) return badOption("--no-fuse", text, "the node after '@' is empty", form);
  return directive;
}

Directive fallbackDirective(std::string pattern) {
  return {.kind = DirectiveKind::Fallback, .pattern = std::move(pattern)};
}

Directive splitDirective(std::string node) {
  return {.kind = DirectiveKind::Split, .pattern = std::move(node)};
}

Directive minSegmentDirective(std::int64_t number) {
  return {.kind = DirectiveKind::MinSegment, .number = number};
}

Result<Directive> parseTruncate(std::string_view text) {
  const auto found = std::find(kModeNames.begin(), kModeNames.end(), text);
  if (found == kModeNames.end()) {
    return badOption("--truncate", text, "is not a truncation mode", "Modes: none, long, double, all.");
  }
  return Directive{.kind = DirectiveKind::Truncate,
                   .truncate = static_cast<TruncateMode>(std::distance(kModeNames.begin(), found))};
}

void assignIds(Directives& directives) {
  std::set<std::string> taken;
  for (const Directive& directive : directives) taken.insert(directive.id);
  std::size_t next = 1;
  for (Directive& directive : directives) {
    if (!directive.id.empty()) continue;
    while (taken.contains(std::to_string(next))) ++next;
    directive.id = std::to_string(next);
    taken.insert(directive.id);
  }
}

std::string directiveName(const Directive& directive) {
  return std::string(name(directive.kind)) + ":" + directive.id;
}

std::string optionText(const Directive& directive) {
  const auto typed = [&](const char* option) {
    const std::string obey = directive.strictness == Strictness::Obey ? ":obey" : "";
    return std::string(option) + " " + directive.pattern + "=" + std::string(name(directive.type)) + obey;
  };
  switch (directive.kind) {
    case DirectiveKind::Pin:
      return typed("--pin");
    case DirectiveKind::PinOutput:
      return typed("--output-type");
    case DirectiveKind::Fallback:
      return "--fallback " + directive.pattern;
    case DirectiveKind::Split:
      return "--split " + directive.pattern;
    case DirectiveKind::NoFuse:
      return "--no-fuse " + directive.rule + (directive.pattern.empty() ? "" : "@" + directive.pattern);
    case DirectiveKind::Truncate:
      return "--truncate " + std::string(name(directive.truncate));
    case DirectiveKind::Tactic:
      return "tactic " + directive.rule + " for " + directive.pattern;
    case DirectiveKind::MinSegment:
      return "--min-segment " + std::to_string(directive.number);
  }
  return {};
}

}  // namespace fusescope
