#include "planning/directives/directive_resolver.h"
#include "planning/directives/truncate_argument.h"

namespace fusescope {

namespace truncate_directive {
namespace {

constexpr std::string_view kOption = "--truncate";

std::string words(const Directive& directive) {
  return "truncate " + printTruncateArgument(directive);
}

Status resolve(DirectiveResolver& resolver, int index) {
  resolver.map().truncate.inputs = resolver.at(index).truncate;
  resolver.takeOver(resolver.map().truncateInputsDirective, index);
  resolver.map().truncate.constants = resolver.at(index).truncate;
  resolver.takeOver(resolver.map().truncateConstantsDirective, index);
  return Done{};
}

}  // namespace
}  // namespace truncate_directive

Result<Directive> parseTruncate(std::string_view text) {
  return parseTruncateArgument(DirectiveKind::Truncate, truncate_directive::kOption, text);
}

extern const DirectiveForm kTruncateForm =
    truncateForm({.name = "truncate",
                  .option = truncate_directive::kOption,
                  .help = "Narrow int64 (long), float64 (double), both or nothing.",
                  .parse = parseTruncate,
                  .words = truncate_directive::words,
                  .resolve = truncate_directive::resolve});

}  // namespace fusescope
