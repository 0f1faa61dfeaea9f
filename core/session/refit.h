#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/kernel_store.h"
#include "session/network_difference.h"
#include "session/session.h"

namespace fusescope {

struct RefitOptions {
  int threads = 0;                 ///< as BuildOptions::threads
  KernelStore* kernels = nullptr;  ///< as BuildOptions::kernels
  StopToken stop{};
  Progress progress{};
};

/// What refitting had to make, beside what it took over from the engine.
struct RefitMade {
  std::int64_t kernels = 0;        ///< whose tactic is the engine's
  std::int64_t chosenAnew = 0;     ///< kernels whose tactic of the engine is not there, or cannot be prepared
  std::int64_t code = 0;           ///< codes that were compiled; equal regions share one
  std::int64_t codeOfNumbers = 0;  ///< kernels whose code holds numbers that changed (build.other_numbers)
  std::int64_t packed = 0;         ///< weights that were brought into the form that a kernel reads
};

/// An engine with other weights, or why there is none. Nothing is written yet.
struct Refit {
  std::string engine, weights;  ///< paths of the engine and of the network
  ButForWeights network;        ///< how the two networks stand to each other
  /// What the weights change in the plan, located, with the decisions that say why; not empty: no engine was made.
  std::vector<Diagnostic> planDifferences;
  EngineFile file;               ///< the new engine: what save() writes
  std::unique_ptr<Engine> made;  ///< the same, ready to run; null: none was made
  RefitMade anew;
  std::int64_t timesKept = 0;       ///< kernels whose measured time of before stands in the new engine
  std::vector<Decision> decisions;  ///< of the refit and of the build

  bool ok() const { return made != nullptr; }
  bool sameWeights() const { return network.isSameNetwork() && network.changed.empty(); }
  /// Writes the engine; the file appears whole or not at all. Only where ok(). Errors: it cannot be written, or the
  /// network's file changed meanwhile.
  Status save(const std::filesystem::path& path) const;
};

/// Opens an engine for refitEngine(): as openArtifact(), but its large weights, of which nothing is taken, are not held
/// against their checksums. Errors: as openArtifact(); the file is no engine.
Result<Artifact> openToRefit(const std::filesystem::path& path, const Progress& progress = {});

/// Makes an engine of the network at `weights` with all that `engine` says of how it runs: options, directives,
/// extents, prices, formats and tactics. Nothing is measured or chosen. The network must be the engine's but for its
/// weights, and its plan must be the engine's: where it is not, what differs is told, and no engine is made. All that
/// is derived of weights (folded norms, joined products, packed and quantised forms) is made of the new ones, so that
/// the engine is equal to one that is built of the network with these tactics. Errors: not an engine of ours, a network
/// that cannot be read, cancelled.
Result<Refit> refitEngine(const Artifact& engine, const std::filesystem::path& weights, const RefitOptions& options);

/// `fusescope.refit`, docs/json.md. `path`: what was written; empty: nothing.
Json toJson(const Refit& refit, const std::vector<BuildPhase>& phases, const std::string& path, std::int64_t bytes);

}  // namespace fusescope
