#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/command_line.h"

namespace fusescope {

/// The plan options of a command: words without quotes, and files that they name.
struct PlanWords {
  std::vector<std::string> words;
  std::vector<CommandFile> files;
};

/// What asks for the options and extents of `source`: options of the command line where these are few and say it all,
/// else a file of directives; ranges are always a file. Nothing for what is as default. Ids of directives may become
/// others. Pure.
PlanWords planWords(const WorkSource& source, const std::filesystem::path& folder);
/// Returns the same options as one shell word, the argument of --plan-a or --plan-b; empty if all options have their
/// defaults. Error: a path contains a quote, which that word cannot contain.
Result<PlanWords> planWordsInOneWord(const WorkSource& source, const std::filesystem::path& folder);
std::string absolutePath(const std::string& path);

}  // namespace fusescope
