#include <algorithm>
#include <array>

#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_resolver.h"

namespace fusescope {

namespace {

constexpr std::array<std::string_view, 4> kModeNames = {"none", "long", "double", "all"};

}  // namespace

std::string_view name(TruncateMode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

Result<Directive> parseTruncate(std::string_view text) {
  const auto found = std::ranges::find(kModeNames, text);
  if (found == kModeNames.end())
    return badArgument("--truncate", text, "is not a truncation mode", "Modes: none, long, double, all.");
  return Directive{.kind = DirectiveKind::Truncate,
                   .truncate = static_cast<TruncateMode>(std::distance(kModeNames.begin(), found))};
}

namespace {

std::string print(const Directive& directive) {
  return std::string(name(directive.truncate));
}

std::string words(const Directive& directive) {
  return "truncate " + print(directive);
}

void write(const Directive& directive, Json& json) {
  json["mode"] = print(directive);
}

Status read(const DirectiveFields& fields, Directive& into) {
  into.truncate = TRY(parseTruncate(TRY(fields.text("mode")))).truncate;
  return Done{};
}

Status resolve(DirectiveResolver& resolver, int index) {
  resolver.map().truncate = resolver.at(index).truncate;
  resolver.takeOver(resolver.map().truncateDirective, index);
  return Done{};
}

}  // namespace

extern const DirectiveForm kTruncateForm{.name = "truncate",
                                         .option = "--truncate",
                                         .argument = "none|long|double|all",
                                         .help = "narrow int64 (long), float64 (double), both or nothing",
                                         .pattern = PatternUse::None,
                                         .reach = DirectiveReach::Segments,
                                         .inBodies = true,
                                         .parse = parseTruncate,
                                         .print = print,
                                         .words = words,
                                         .write = write,
                                         .read = read,
                                         .resolve = resolve};

}  // namespace fusescope
