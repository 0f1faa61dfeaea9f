#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fusescope {

/// Splits a command into words as a shell does: at blanks, with '…', "…", \x, and ~ or ~/… at the beginning of a word
/// for the home folder. Nothing else is expanded. Errors: it is empty, a quote is not closed, or it uses something that
/// only a shell can do (pipes, redirections, variables, several commands).
Result<std::vector<std::string>> commandWords(std::string_view command);

/// Returns the absolute path of the program that a command of one word starts, as found on PATH; links in it are not
/// resolved. The result is empty if the command has more words or there is no such program.
std::filesystem::path programOf(std::string_view command);

}  // namespace fusescope
