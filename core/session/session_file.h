#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/inspect.h"
#include "session/model_file.h"
#include "session/open_model.h"
#include "session/runs/run.h"
#include "session/session_ranges.h"
#include "session/session_versions.h"

namespace fusescope {

/// The work of a person on a model: the model, its directives and options, how it is judged, and every run. It is one
/// value, which can be saved, opened again and recovered unchanged.
struct Session {
  std::string id;       ///< unique for each session; names the folder of its engines
  std::string savedAs;  ///< for an automatically saved session: the file to which the user saved it; empty: none
  ModelFile model;
  std::vector<InputOverride> extents;  ///< extents of the model's inputs that the user gave
  PlanOptions options;                 ///< target, types and directives
  Calibrated calibrated;               ///< ranges for int8, whether `options` ask for int8 or not
  RunSettings settings;
  std::vector<Run> runs;
  std::string shown, comparedWith;  ///< ids of the two displayed runs; empty: none
  std::string comparison;           ///< id of the displayed comparison of these; empty: the latest
  std::int64_t nextRun = 1;         ///< the id of the next run, because ids are never used again
  Json view = Json::object();       ///< state of the window, which only the window reads

  const Run* run(const std::string& id) const;
  Run* run(const std::string& id);
  bool operator==(const Session&) const = default;
};

/// Writes a session. Paths below `folder` are written relative to it, so that the folder can be moved as a whole.
Json toJson(const Session& session, const std::filesystem::path& folder);
/// Reads a session. Relative paths are below `folder`. A run that was working becomes Interrupted. Errors name the
/// field.
Result<Session> sessionFromJson(const Json& json, const std::filesystem::path& folder);

/// Reads a session file. Errors name file and field, and say what would help.
Result<Session> readSession(const std::filesystem::path& path);
/// Writes a session file atomically.
Status writeSession(const std::filesystem::path& path, const Session& session);
/// Returns the JSON of `inspect` for a session: its runs with their times, evaluations and verdicts.
Json inspectJson(const Session& session);
/// Returns whether the file is a session, by its content.
bool isSessionFile(const std::filesystem::path& path);

}  // namespace fusescope
