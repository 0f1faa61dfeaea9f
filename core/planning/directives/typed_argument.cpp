#include "planning/directives/typed_argument.h"

#include "base/json.h"
#include "planning/directives/directive_fields.h"

namespace fusescope {

Result<Directive> parseTypedArgument(DirectiveKind kind, std::string_view option, std::string_view text) {
  const std::string form = "The form is PATTERN=TYPE or PATTERN=TYPE:obey.";
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return badArgument(option, text, "there is no '='", form);
  if (equals == 0) return badArgument(option, text, "the pattern before '=' is empty", form);
  Directive directive{.kind = kind, .pattern = std::string(text.substr(0, equals))};
  std::string_view type = text.substr(equals + 1);
  if (const std::size_t colon = type.find(':'); colon != std::string_view::npos) {
    const std::string_view word = type.substr(colon + 1);
    if (word != "obey" && word != "prefer") {
      return badArgument(option, text, "'" + std::string(word) + "' is neither obey nor prefer", form);
    }
    directive.strictness = word == "obey" ? Strictness::Obey : Strictness::Prefer;
    type = type.substr(0, colon);
  }
  const std::optional<DataType> known = dataTypeFromName(type);
  if (!known || *known == DataType::Undefined) {
    return badArgument(option, text, "'" + std::string(type) + "' is not a type",
                       "Types that can be asked for: f64 f32 f16 bf16 f8e4m3 f8e5m2.");
  }
  directive.type = *known;
  return directive;
}

std::string printTypedArgument(const Directive& directive) {
  const std::string obey = directive.strictness == Strictness::Obey ? ":obey" : "";
  return directive.pattern + "=" + std::string(name(directive.type)) + obey;
}

void writeTypedArgument(const Directive& directive, Json& json) {
  json["type"] = std::string(name(directive.type));
  json["strictness"] = std::string(name(directive.strictness));
}

Status readTypedArgument(const DirectiveFields& fields, Directive& into) {
  const std::string typeName = TRY(fields.text("type"));
  const auto type = dataTypeFromName(typeName);
  if (!type || *type == DataType::Undefined) return fields.bad("type", "'" + typeName + "' is not a type");
  into.type = *type;
  const std::string strictness = TRY(fields.textOrNothing("strictness"));
  if (!strictness.empty() && strictness != "obey" && strictness != "prefer") {
    return fields.bad("strictness", "'" + strictness + "' is neither obey nor prefer");
  }
  into.strictness = strictness == "obey" ? Strictness::Obey : Strictness::Prefer;
  return Done{};
}

std::string strictnessSuffix(const Directive& directive) {
  return directive.strictness == Strictness::Obey ? " (obey)" : "";
}

}  // namespace fusescope
