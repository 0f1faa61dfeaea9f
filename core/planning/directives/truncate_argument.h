#pragma once

#include "base/json_fwd.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

// What all kinds that ask for truncation share: the argument "none|long|double|all".

inline constexpr std::string_view kTruncateArgument = "none|long|double|all";

Result<Directive> parseTruncateArgument(DirectiveKind kind, std::string_view option, std::string_view text);
std::string printTruncateArgument(const Directive& directive);
void writeTruncateArgument(const Directive& directive, Json& json);
Status readTruncateArgument(const DirectiveFields& fields, Directive& into);

/// The parts in which the three kinds of directives for truncation differ.
struct TruncateKind {
  std::string_view name, option, help;
  decltype(DirectiveForm::parse) parse;
  decltype(DirectiveForm::words) words;
  decltype(DirectiveForm::resolve) resolve;
};
constexpr DirectiveForm truncateForm(const TruncateKind& kind) {
  return {.name = kind.name,
          .option = kind.option,
          .argument = kTruncateArgument,
          .help = kind.help,
          .pattern = PatternUse::None,
          .reach = DirectiveReach::Segments,
          .inBodies = true,
          .parse = kind.parse,
          .print = printTruncateArgument,
          .words = kind.words,
          .write = writeTruncateArgument,
          .read = readTruncateArgument,
          .resolve = kind.resolve};
}

}  // namespace fusescope
