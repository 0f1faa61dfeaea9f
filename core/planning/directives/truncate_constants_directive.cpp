#include "planning/directives/directive_resolver.h"
#include "planning/directives/truncate_argument.h"

namespace fusescope {

namespace truncate_constants_directive {
namespace {

constexpr std::string_view kOption = "--truncate-constants";

std::string words(const Directive& directive) {
  return "truncate constants: " + printTruncateArgument(directive);
}

Status resolve(DirectiveResolver& resolver, int index) {
  resolver.map().truncate.constants = resolver.at(index).truncate;
  resolver.takeOver(resolver.map().truncateConstantsDirective, index);
  return Done{};
}

}  // namespace
}  // namespace truncate_constants_directive

Result<Directive> parseTruncateConstants(std::string_view text) {
  return parseTruncateArgument(DirectiveKind::TruncateConstants, truncate_constants_directive::kOption, text);
}

extern const DirectiveForm kTruncateConstantsForm =
    truncateForm({.name = "truncate_constants",
                  .option = truncate_constants_directive::kOption,
                  .help = "Narrow constants only, instead of what --truncate narrows.",
                  .parse = parseTruncateConstants,
                  .words = truncate_constants_directive::words,
                  .resolve = truncate_constants_directive::resolve});

}  // namespace fusescope
