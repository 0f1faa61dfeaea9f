#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/kernels/kernel_store.h"
#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/network_difference.h"

namespace fusescope {

struct RefitOptions {
  int threads = 0;                 ///< see BuildOptions::threads
  KernelStore* kernels = nullptr;  ///< see BuildOptions::kernels
  StopToken stop{};
  Progress progress{};
};

/// What refitting had to make in addition to what it took from the engine.
struct RefitMade {
  std::int64_t kernels = 0;        ///< kernels with the tactic of the engine
  std::int64_t chosenAnew = 0;     ///< kernels whose former tactic does not exist here or cannot be prepared
  std::int64_t code = 0;           ///< codes that were compiled; equal regions share one
  std::int64_t codeOfNumbers = 0;  ///< kernels whose code contains numbers that changed (build.other_numbers)
};

/// An engine with other weights, or the reason why there is none. Nothing is written yet.
struct Refit {
  std::string engine, weights;  ///< paths of the engine and of the network
  WeightsComparison network;    ///< the comparison of the two networks
  /// Changes of the plan that the new weights cause, located, with the decisions that explain them. If there are any,
  /// no engine was made.
  std::vector<Diagnostic> planDifferences;
  EngineFile file;               ///< the new engine, which save() writes; of another compiler only its plan
  std::unique_ptr<Engine> made;  ///< the new engine, ready to run; null: none was made
  RefitMade anew;
  /// The other compiler was not asked, because its earlier answers about the network with these weights were found.
  bool areAnswersFound = false;
  /// Why another compiler compiled the network again, or would have, as a clause that follows "because"; nothing for an
  /// engine of ours.
  std::optional<std::string> compiledAgain;
  std::int64_t timesKept = 0;       ///< kernels whose earlier measured time is stored in the new engine
  std::vector<Decision> decisions;  ///< decisions of the refit and of the build

  bool ok() const { return made != nullptr; }
  bool sameWeights() const { return network.isSameNetwork() && network.changed.empty(); }
  /// Writes the engine file, completely or not at all. Call it only if ok(). Errors: it cannot be written, or the
  /// network's file changed meanwhile.
  Status save(const std::filesystem::path& path) const;
};

/// Opens an engine for refitEngine(), as openArtifact() does, except that the checksums of large weights are not
/// verified, because these weights are not used. Errors: those of openArtifact(); the file is not an engine.
Result<Artifact> openToRefit(const std::filesystem::path& path, const Progress& progress = {});

/// Makes an engine of the network at `weights` that runs like `engine`: with its options, directives, extents, prices,
/// formats and tactics. Nothing is measured or chosen. If the nodes of the network only have other names, an engine of
/// ours keeps its names. Except for weights, the network must be that of the engine, and
/// its plan must be the engine's plan; otherwise the differences are reported and no engine is made. Everything that is
/// derived from weights (folded norms, joined products, packed and quantised forms) is made from the new ones, so that
/// the result is equal to an engine that is built from the network with these tactics. An engine of another compiler is
/// compiled again, with its options, pins and extents, and `compiledAgain` says why. Errors: not an engine, a network
/// that cannot be read, those of the other compiler, cancelled.
Result<Refit> refitEngine(const Artifact& engine, const std::filesystem::path& weights, const RefitOptions& options);

/// Returns `fusescope.refit`, which docs/json.md describes. `path` is the file that was written; empty: none.
Json toJson(const Refit& refit, const std::vector<BuildPhase>& phases, const std::string& path, std::int64_t bytes);

}  // namespace fusescope
