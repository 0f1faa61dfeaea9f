#include <algorithm>

#include "ir/graph.h"
#include "planning/directives/directive_resolver.h"
#include "planning/directives/typed_argument.h"

namespace fusescope {

Result<Directive> parseOutputType(std::string_view text) {
  return parseTypedArgument(DirectiveKind::PinOutput, "--output-type", text);
}

namespace output_type_directive {
namespace {

std::string words(const Directive& directive) {
  return "output of " + directive.pattern + " as " + std::string(name(directive.type)) + strictnessSuffix(directive);
}

/// Applies to the values that `value:` matches, or else to every output of the nodes.
Status resolve(DirectiveResolver& resolver, int index) {
  DirectiveMap& map = resolver.map();
  const PatternMatch found = TRY(resolver.match(index));
  const bool byValue = !found.values.empty();
  for (const NodeId id : found.nodes) {
    for (const ValueId value : resolver.graph().node(id).outputs) {
      if (!value.valid()) continue;
      if (byValue && !std::binary_search(found.values.begin(), found.values.end(), value)) continue;
      map.outputTypesOf[value.index].push_back(index);
      TRY(resolver.claim(map.outputType[value.index], index, id));
    }
  }
  return Done{};
}

}  // namespace
}  // namespace output_type_directive

extern const DirectiveForm kPinOutputForm{.name = "output_type",
                                          .title = "output type",
                                          .option = "--output-type",
                                          .argument = kTypedArgument,
                                          .help = "The type in which nodes store their outputs.",
                                          .asks = RequestedType::Stored,
                                          .nothingToDo = "precision.nothing_to_pin",
                                          .parse = parseOutputType,
                                          .print = printTypedArgument,
                                          .words = output_type_directive::words,
                                          .write = writeTypedArgument,
                                          .read = readTypedArgument,
                                          .resolve = output_type_directive::resolve};

}  // namespace fusescope
