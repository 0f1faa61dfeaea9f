#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/phase_clock.h"
#include "base/stop.h"
#include "compilers/compiler.h"
#include "diff/common_cover.h"
#include "engine/build_memory.h"
#include "engine/engine.h"
#include "engine/machine_peaks.h"
#include "planning/plan.h"
#include "session/open_model.h"
#include "verify/compare_tensors.h"
#include "verify/value_sources.h"

namespace fusescope {

struct Session;

/// The kind of an opened file.
enum class ArtifactKind { Model, Plan, Engine };

struct Artifact {
  ArtifactKind kind = ArtifactKind::Model;
  std::string path;
  std::shared_ptr<const Plan> plan;
  /// What another compiler made of the plan: for a plan or engine file that contains it, or after readBack(). Null: our
  /// own compiler, or not known yet.
  std::shared_ptr<const ReadBackPlan> made{};
  std::optional<EngineFile> engine{};  ///< set for an engine file
  std::string backend;                 ///< the backend that the engine was built for; otherwise the requested one
  /// All files that it was made from: the file itself, the model of a plan, external data.
  std::vector<FileIdentity> files;
  std::shared_ptr<const Session> session{};  ///< the session that the model, its directives and inputs come from, if
                                             ///< there is one

  /// What builds of this network found out, for later builds of it with other directives; null for an engine file.
  std::shared_ptr<BuildMemory> memory{};

  const Compiler& compiler() const;  ///< the compiler in PlanOptions::compiler, whose existence was checked on opening
  bool isOurs() const { return &compiler() == &ownCompiler(); }
  /// Returns the cover to show and compare: what the compiler made if that is known, otherwise the plan.
  const Cover& cover() const { return made != nullptr ? static_cast<const Cover&>(*made) : *plan; }
};

/// Returns the compiler that `options` name. Errors: there is none of this name (the nearest is suggested), or it has a
/// target of its own and the options have another.
Result<const Compiler*> compilerFor(const PlanOptions& options);

/// Returns the kind of the file `path`, by its content.
Result<ArtifactKind> artifactKind(const std::filesystem::path& path);

/// Returns prices from measurements of builds for `backend` on this machine; null if there are none yet. A plan that is
/// made with them has predicted times, and several allowed types are chosen by them.
std::unique_ptr<PriceModel> measuredPrices(const std::string& backend = "native");

/// Opens a file. A model is planned with `options` and measuredPrices(). A plan or engine contains its own options;
/// giving others is an error.
Result<Artifact> openArtifact(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                              const PlanOptions& options, const std::string& backend = "", const StopToken& stop = {},
                              const Progress& progress = {});

/// Plans the model of `before` with other options, without reading it again: parts of the plan that do not change are
/// taken over, and so is what builds of `before` found out. The plan is the same as that of openArtifact(). Errors:
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

/// Returns the engine of an artifact: read from an engine file, or compiled by its compiler. It is an error if a file
/// that the artifact was made from has changed since.
Result<std::unique_ptr<Engine>> openEngine(const Artifact& artifact, const BuildOptions& options);

/// If it is not known yet, lets another compiler compile the network and report what it made, which sets Artifact::made
/// and the plan as it was compiled. Does nothing for our own compiler, because the plan says what it makes.
Status readBack(Artifact& artifact, const BuildOptions& options);

}  // namespace fusescope
