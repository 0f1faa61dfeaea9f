#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/samples.h"
#include "session/session.h"
#include "tuning/culprits.h"

namespace fusescope {

struct BisectOptions {
  double tolerance = 1e-2;  ///< max|Δ| over rms of the worst output, against float32
  std::int64_t builds = 0;  ///< at most so many; 0: no limit
  double seconds = 0;       ///< likewise
  int threads = 0;
  StopToken stop{};
  Progress progress{};
};

/// What can be switched off of one kind: a compiler's optimisers, our fusion rules, the types of nodes.
struct BisectStage {
  std::string what;                   ///< "optimisers", "fusion rules", "the hint", "types of nodes"
  std::vector<std::string> switches;  ///< as the compiler calls them; of types the nodes
  Culprits found;                     ///< indices of `switches`
};

struct BisectLevel {
  std::string level;
  double error = 0;
};

struct BisectReport {
  CulpritEnd end = CulpritEnd::NoCulprit;
  double before = 0;                 ///< the worst output's error as the plan is; infinite: it holds what is not finite
  std::vector<BisectLevel> levels;   ///< of a compiler that has some, the least first, as far as they were tried
  std::vector<BisectStage> stages;   ///< in the order in which they were tried; a culprit is of the last
  std::vector<std::string> options;  ///< what a command needs besides to leave the culprits out
  std::optional<bool> honoured;  ///< whether the compiler says itself that they were left out; none: it does not say
  std::int64_t builds = 0;
  double seconds = 0;

  const BisectStage* stage() const { return end == CulpritEnd::Found ? &stages.back() : nullptr; }
};

/// Finds what makes the outputs of an artifact wrong: the smallest set of optimisers of its compiler, of our fusion
/// rules, or of nodes with lowered types without which the outputs are right. Each set that is tried is compiled and
/// run on all samples. Optimisers are tried first, then fusion rules, the type of the whole network, and the types of
/// nodes; the search ends with the first kind that makes the outputs right, since types are no cause of what less
/// optimisation cures. Deterministic. Errors: the network cannot be compiled as it is, or run; cancelled.
Result<BisectReport> bisectErrors(const Artifact& artifact, const Samples& samples, const BisectOptions& options);

Json toJson(const BisectReport& report, const Artifact& artifact, const Samples& samples, const BisectOptions& options);

}  // namespace fusescope
