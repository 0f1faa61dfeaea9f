#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/minimal_failure.h"

namespace fusescope {

/// A fused node of the plan, or of a body of one: "HOLDER/NODE" then.
struct RegionVerdict {
  std::string fusedNode;
  bool ok = true;
  double maxOverRms = 0;  ///< the most of its tactics
  std::vector<TacticCheck> tactics;
  std::string sameAs;      ///< the fused node whose code it shares: that one was verified for both
  std::string notChecked;  ///< why there is nothing to verify
};

/// A region that goes wrong, and the smallest part of it that does.
struct Mismatch {
  std::string fusedNode;
  RegionFailure failure;
  std::optional<MinimalFailure> smallest;  ///< nothing: its nodes do not fail as a network of their own
};

struct VerifyReport {
  std::vector<RegionVerdict> regions;  ///< in the order of the plan, those of bodies behind their holder
  std::optional<Mismatch> mismatch;    ///< the first; one on an edge value only if nothing else is
  bool ok() const { return !mismatch.has_value(); }
};

struct VerifyOptions {
  std::string backend = "native";
  int threads = 0;
  int seeds = 3;                           ///< random cases besides the given one and edge values
  std::vector<std::string> sampleNames{};  ///< of each sample, for people; empty: they have numbers
  StopToken stop{};
  Progress progress{};
};

/// Each fused region of `plan` and of the bodies in it against its own nodes, run one by one by the reference on the
/// same inputs, inner edges held as its contract says. `samples`: inputs of the network, one or more, which every
/// region's own come from; of a body's those of a few of its iterations, or what a branch that nobody takes would read.
/// Regions that share their code are verified once. Errors: what cannot be built or run at all; of several samples they
/// say on which.
Result<VerifyReport> verifyRegions(std::shared_ptr<const Plan> plan,
                                   std::span<const std::map<std::string, Tensor>> samples,
                                   const VerifyOptions& options);

}  // namespace fusescope
