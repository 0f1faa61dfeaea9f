#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/worker_protocol.h"

namespace fusescope {

/// A file that a command reads and that nobody has written yet.
struct CommandFile {
  std::string path, text;
  bool operator==(const CommandFile&) const = default;
};

/// What a person types into a shell to have `fusescope` do a piece of work.
struct CommandLine {
  /// Each is "fusescope", a verb and its arguments, without quotes; a later one runs if those before it succeed.
  std::vector<std::vector<std::string>> commands;
  std::vector<CommandFile> files;  ///< to be there before it runs; named by what is in them

  /// One line for a POSIX shell, every word quoted where it needs that.
  std::string text() const;
  /// `next` runs behind this.
  CommandLine& then(CommandLine next);
};

// The functions below are pure: they write no file. Paths become absolute, so that the line works in every folder; what
// a command writes goes into the folder in which it is run. `folder` is where files go whose text the line needs:
// directives that are too many for a line or that no option can say, and ranges. Thread-safe.

/// `plan` of a model with the wishes of `source`.
CommandLine commandToPlan(const WorkSource& source, const std::filesystem::path& folder);
/// `diff` of two sides; a plan, engine or session file has default options.
Result<CommandLine> commandToDiff(const WorkSource& a, const WorkSource& b, const std::filesystem::path& folder);
/// `explain` of a node in the plan of `source`.
CommandLine commandToExplain(const WorkSource& source, const std::string& node, const std::filesystem::path& folder);
/// What does the same as `request` does in the worker. A build goes into a file, MODEL.fse where the request names
/// none. Compare builds a side first that is no engine file and not a model as it is. Evaluate is `errors` on the
/// reference backend. `more`: arguments of the verb that no request holds.
/// Errors: no command does the same, as where errors are to be judged by other numbers than max|Δ| over rms.
Result<CommandLine> commandFor(const WorkerRequest& request, const std::filesystem::path& folder,
                               const std::vector<std::string>& more = {});
/// Writes the files that are not there yet, and the folders that they are in. Errors name the file.
Status writeFiles(const CommandLine& line);

}  // namespace fusescope
