#include <charconv>

#include "base/json.h"
#include "planning/directives/directive_fields.h"
#include "planning/directives/directive_resolver.h"

namespace fusescope {

Directive minSegmentDirective(std::int64_t number) {
  return {.kind = DirectiveKind::MinSegment, .number = number};
}

namespace min_segment_directive {
namespace {

constexpr std::string_view kOption = "--min-segment";

Result<Directive> parse(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    return badArgument(kOption, text, "is not a number of nodes", "Give a whole number above 0.");
  return minSegmentDirective(number);
}

std::string print(const Directive& directive) {
  return std::to_string(directive.number);
}

std::string words(const Directive& directive) {
  return "segments of at least " + std::to_string(directive.number);
}

void write(const Directive& directive, Json& json) {
  json["nodes"] = directive.number;
}

Status read(const DirectiveFields& fields, Directive& into) {
  into.number = TRY(fields.number("nodes"));
  return Done{};
}

Status resolve(DirectiveResolver& resolver, int index) {
  const std::int64_t number = resolver.at(index).number;
  if (number < 1) {
    return Diagnostic{.message = "the smallest segment must have at least 1 node, not " + std::to_string(number),
                      .where = {.attribute = std::string(kOption)}};
  }
  resolver.map().minSegment = static_cast<std::size_t>(number);
  resolver.takeOver(resolver.map().minSegmentDirective, index);
  return Done{};
}

}  // namespace
}  // namespace min_segment_directive

extern const DirectiveForm kMinSegmentForm{.name = "min_segment",
                                           .option = min_segment_directive::kOption,
                                           .argument = "N",
                                           .help = "The smallest number of nodes that is worth accelerating together.",
                                           .pattern = PatternUse::None,
                                           .reach = DirectiveReach::Segments,
                                           .parse = min_segment_directive::parse,
                                           .print = min_segment_directive::print,
                                           .words = min_segment_directive::words,
                                           .write = min_segment_directive::write,
                                           .read = min_segment_directive::read,
                                           .resolve = min_segment_directive::resolve};

}  // namespace fusescope
