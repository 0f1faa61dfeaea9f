#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/plan_words.h"
#include "session/worker_protocol.h"

namespace fusescope {

/// The shell commands that let `fusescope` do a piece of work.
struct CommandLine {
  /// Each command is "fusescope", a verb and its arguments, without quotes; each runs only if the previous ones
  /// succeeded.
  std::vector<std::vector<std::string>> commands;
  std::vector<CommandFile> files;  ///< files that must exist before the commands run; their names depend on their
                                   ///< contents

  /// Returns one line for a POSIX shell, with words quoted where necessary.
  std::string text() const;
  /// Appends `next`.
  CommandLine& then(CommandLine next);
};

// The functions below are pure: they write no file. Paths become absolute, so that the line works in every folder;
// output files of a command are written to the folder in which it runs. `folder` is for files whose text the line
// needs: ranges, and directives that are too many for a line or that no option can express. Thread-safe.

/// Returns the `plan` command for a model with the directives of `source`.
CommandLine commandToPlan(const WorkSource& source, const std::filesystem::path& folder);
/// Returns the `diff` command for two sides; a plan, engine or session file must have default options.
Result<CommandLine> commandToDiff(const WorkSource& a, const WorkSource& b, const std::filesystem::path& folder);
/// Returns the `explain` command for a node in the plan of `source`.
CommandLine commandToExplain(const WorkSource& source, const std::string& node, const std::filesystem::path& folder);
/// Returns the commands that do the same as `request` in the worker. A build writes a file, MODEL.fse if the request
/// names none. Before a comparison, a side is built unless it is an engine file or a model with default options.
/// Evaluate becomes `errors` on the reference backend. `more` are arguments of the verb that a request does not
/// contain. Errors: no command does the same, for example if errors are to be judged by another metric than max|Δ| over
/// rms.
Result<CommandLine> commandFor(const WorkerRequest& request, const std::filesystem::path& folder,
                               const std::vector<std::string>& more = {});
/// Writes the files that do not exist yet, and their folders. Errors name the file.
Status writeFiles(const CommandLine& line);

}  // namespace fusescope
