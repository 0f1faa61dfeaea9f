#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/worker_protocol.h"

namespace fusescope {

/// A file that a command reads and that must be written first.
struct CommandFile {
  std::string path, text;
  bool operator==(const CommandFile&) const = default;
};

/// The plan options of a command: words without quotes, and the files that they name.
struct PlanWords {
  std::vector<std::string> words;
  std::vector<CommandFile> files;
};

/// Returns the words for the options and extents of `source`: command-line options if these are few and sufficient,
/// otherwise a file of directives; ranges are always in a file. Defaults need no words. The ids of directives may
/// change. It is a pure function.
PlanWords planWords(const WorkSource& source, const std::filesystem::path& folder);
/// Returns the same options as one shell word, the argument of --plan-a or --plan-b; empty if all options have their
/// defaults. Error: a path contains a quote, which that word cannot contain.
Result<PlanWords> planWordsInOneWord(const WorkSource& source, const std::filesystem::path& folder);

}  // namespace fusescope
