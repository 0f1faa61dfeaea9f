#pragma once

#include "base/json_fwd.h"
#include "planning/directives/directive_form.h"

namespace fusescope {

// What the kinds that ask for a type share: the argument "PATTERN=TYPE[:obey|prefer]".

inline constexpr std::string_view kTypedArgument = "PATTERN=TYPE[:obey|prefer]";

/// Parses PATTERN=TYPE[:obey|prefer]. The pattern itself may contain '=' and ':', so that both are searched from the
/// end.
Result<Directive> parseTypedArgument(DirectiveKind kind, std::string_view option, std::string_view text);
std::string printTypedArgument(const Directive& directive);
void writeTypedArgument(const Directive& directive, Json& json);
Status readTypedArgument(const DirectiveFields& fields, Directive& into);
/// Returns " (obey)" if the directive has `obey`; otherwise an empty text.
std::string strictnessSuffix(const Directive& directive);

}  // namespace fusescope
