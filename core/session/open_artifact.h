#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/stop.h"
#include "session/artifact.h"
#include "session/open_model.h"

namespace fusescope {

/// Returns the kind of the file `path`, by its content.
Result<ArtifactKind> artifactKind(const std::filesystem::path& path);

/// Opens a file. A model is planned with `options` and measuredPrices(). A plan or engine contains its own options;
/// giving others is an error.
Result<Artifact> openArtifact(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                              const PlanOptions& options, const std::string& backend = "", const StopToken& stop = {},
                              const Progress& progress = {});

/// Plans the model of `before` with other options, without reading it again: parts of the plan that do not change are
/// reused, and so is what builds of `before` found out. The plan is the same as that of openArtifact(). Errors:
/// `before` is a plan or an engine, one of its files has changed, and those of openArtifact().
Result<Artifact> openEdited(const Artifact& before, const PlanOptions& options, const std::string& backend = "",
                            const StopToken& stop = {}, const Progress& progress = {});

/// Opens the model of a session, planned with the options of the session. `path` is the session file. `model` is the
/// present path of the model; empty: the path in the session. An empty `backend` means that of the session. A model
/// that has changed is planned with the options that still apply; the others are reported in `warnings`, for people.
/// Errors: the session or its model cannot be read, or does not exist.
Result<Artifact> openSession(const std::filesystem::path& path, const std::filesystem::path& model,
                             const std::string& backend, std::vector<std::string>& warnings, const StopToken& stop = {},
                             const Progress& progress = {});

}  // namespace fusescope
