#include "planning/directives/directive_resolver.h"
#include "planning/directives/truncate_argument.h"

namespace fusescope {

namespace truncate_inputs_directive {
namespace {

constexpr std::string_view kOption = "--truncate-inputs";

std::string words(const Directive& directive) {
  return "truncate inputs: " + printTruncateArgument(directive);
}

Status resolve(DirectiveResolver& resolver, int index) {
  resolver.map().truncate.inputs = resolver.at(index).truncate;
  resolver.takeOver(resolver.map().truncateInputsDirective, index);
  return Done{};
}

}  // namespace
}  // namespace truncate_inputs_directive

Result<Directive> parseTruncateInputs(std::string_view text) {
  return parseTruncateArgument(DirectiveKind::TruncateInputs, truncate_inputs_directive::kOption, text);
}

extern const DirectiveForm kTruncateInputsForm =
    truncateForm({.name = "truncate_inputs",
                  .option = truncate_inputs_directive::kOption,
                  .help = "Narrow inputs and what nodes make of them, instead of what --truncate narrows.",
                  .parse = parseTruncateInputs,
                  .words = truncate_inputs_directive::words,
                  .resolve = truncate_inputs_directive::resolve});

}  // namespace fusescope
