#pragma once

#include "planning/directives/directive_form.h"

namespace fusescope {

// What the kinds that ask for truncation share: "none|long|double|all".

inline constexpr std::string_view kTruncateArgument = "none|long|double|all";

Result<Directive> parseTruncateWish(DirectiveKind kind, std::string_view option, std::string_view text);
std::string printTruncateWish(const Directive& directive);
void writeTruncateWish(const Directive& directive, Json& json);
Status readTruncateWish(const DirectiveFields& fields, Directive& into);

}  // namespace fusescope
