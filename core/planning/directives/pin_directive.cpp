#include "planning/directives/directive_resolver.h"
#include "planning/directives/typed_argument.h"

namespace fusescope {

Result<Directive> parsePin(std::string_view text) {
  return parseTypedArgument(DirectiveKind::Pin, "--pin", text);
}

namespace pin_directive {
namespace {

std::string words(const Directive& directive) {
  return "pin " + directive.pattern + " to " + std::string(name(directive.type)) + strictnessSuffix(directive);
}

Status resolve(DirectiveResolver& resolver, int index) {
  DirectiveMap& map = resolver.map();
  for (const NodeId id : TRY(resolver.match(index)).nodes) {
    map.pinsOf[id.index].push_back(index);
    TRY(resolver.claim(map.pin[id.index], index, id));
  }
  return Done{};
}

}  // namespace
}  // namespace pin_directive

extern const DirectiveForm kPinForm{.name = "pin",
                                    .title = "compute type",
                                    .option = "--pin",
                                    .argument = kTypedArgument,
                                    .help = "The type in which nodes calculate.",
                                    .asks = RequestedType::Calculated,
                                    .nothingToDo = "precision.nothing_to_pin",
                                    .parse = parsePin,
                                    .print = printTypedArgument,
                                    .words = pin_directive::words,
                                    .write = writeTypedArgument,
                                    .read = readTypedArgument,
                                    .resolve = pin_directive::resolve};

}  // namespace fusescope
