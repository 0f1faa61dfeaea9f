#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/model_file.h"
#include "session/run.h"
#include "session/session_ranges.h"
#include "session/session_versions.h"

namespace fusescope {

/// What a person works on: a model, what is wished of it, what it is judged by, and every run. One value: saved, opened
/// again and recovered as it was.
struct Session {
  std::string id;       ///< of this session and no other; names the folder of its engines
  std::string savedAs;  ///< of one that is kept automatically: the file that the user saved it as; empty: none
  ModelFile model;
  std::vector<InputOverride> extents;  ///< of the model's inputs, where the user gave them
  PlanOptions options;                 ///< target, types and directives
  Calibrated calibrated;               ///< what int8 can be had by, whether `options` ask for it or not
  RunSettings settings;
  std::vector<Run> runs;
  std::string shown, comparedWith;  ///< ids of the two runs that are shown; empty: none
  std::string comparison;           ///< id of the comparison of them that is shown; empty: the newest
  std::int64_t nextRun = 1;         ///< the id of the next run: ids are never used again
  Json view = Json::object();       ///< how the window stood; its own business

  const Run* run(const std::string& id) const;
  Run* run(const std::string& id);
  bool operator==(const Session&) const = default;
};

/// Paths below `folder` are written relative to it, so that a folder can be moved as a whole.
Json toJson(const Session& session, const std::filesystem::path& folder);
/// Relative paths are taken from `folder`. A run that was under way is Interrupted. Errors name the field.
Result<Session> sessionFromJson(const Json& json, const std::filesystem::path& folder);

/// Errors name file and field, and what would mend it.
Result<Session> readSession(const std::filesystem::path& path);
/// Atomically: at every moment the file is either as it was or whole.
Status writeSession(const std::filesystem::path& path, const Session& session);
/// `inspect` of a session: its runs, each with its time, its evaluations and their verdicts.
Json inspectJson(const Session& session);
/// Is this a session, by its content?
bool isSessionFile(const std::filesystem::path& path);

}  // namespace fusescope
