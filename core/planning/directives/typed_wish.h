#pragma once

#include "planning/directives/directive_form.h"

namespace fusescope {

// What the kinds that ask for a type share: "PATTERN=TYPE[:obey|prefer]".

inline constexpr std::string_view kTypedArgument = "PATTERN=TYPE[:obey|prefer]";

/// The pattern may hold '=' and ':' itself, so both are looked for from the end.
Result<Directive> parseTypedWish(DirectiveKind kind, std::string_view option, std::string_view text);
std::string printTypedWish(const Directive& directive);
void writeTypedWish(const Directive& directive, Json& json);
Status readTypedWish(const DirectiveFields& fields, Directive& into);
/// " (obey)" where it says so.
std::string strictnessSuffix(const Directive& directive);

}  // namespace fusescope
