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
#include "engine/engine.h"
#include "engine/tactics/build_memory.h"
#include "engine/tactics/machine_peaks.h"
#include "planning/plan.h"
#include "planning/read_back/pins_made.h"
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

/// Returns the engine of an artifact: read from an engine file, or compiled by its compiler. It is an error if a file
/// that the artifact was made from has changed since.
Result<std::unique_ptr<Engine>> openEngine(const Artifact& artifact, const BuildOptions& options);

/// If it is not known yet, lets another compiler compile the network and report what it made, which sets Artifact::made
/// and the plan as it was compiled. Does nothing for our own compiler, because the plan says what it makes.
Status readBack(Artifact& artifact, const BuildOptions& options);

/// Returns the pins marked obey that another compiler does not obey, for work that would build on them. The compiler is
/// asked only if there are such directives; for our own compiler, the plan itself refuses them. Errors: those of
/// readBack().
Result<std::vector<UnobeyedPin>> pinsNotObeyed(Artifact artifact, const BuildOptions& options);

}  // namespace fusescope
