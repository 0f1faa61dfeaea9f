#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Splits a command into words as a shell does: at blanks, with '…', "…", \x, and ~ or ~/… at the beginning of a word
/// for the home folder. Nothing else is expanded. Errors: it is empty, a quote is not closed, or it uses something that
/// only a shell can do (pipes, redirections, variables, several commands).
Result<std::vector<std::string>> commandWords(std::string_view command);

}  // namespace fusescope
