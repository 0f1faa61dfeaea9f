#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/minimal_failure.h"

namespace fusescope {

/// The result for a fused node of the plan, or for one of a body ("HOLDER/NODE").
struct RegionVerdict {
  std::string fusedNode;
  bool ok = true;
  double maxOverRms = 0;  ///< the largest of its tactics
  std::vector<TacticCheck> tactics;
  std::string sameAs;      ///< the fused node with the same code, which was verified for both
  std::string notChecked;  ///< why there is nothing to verify
};

/// A region that gives wrong results, and the smallest part of it that does.
struct Mismatch {
  std::string fusedNode;
  RegionFailure failure;
  std::optional<MinimalFailure> smallest;  ///< nothing if its nodes do not fail as a network of their own
};

struct VerifyReport {
  std::vector<RegionVerdict> regions;  ///< in the order of the plan; those of bodies follow their holder
  /// The first one; a mismatch on an edge value is reported only if there is no other.
  std::optional<Mismatch> mismatch;
  bool ok() const { return !mismatch.has_value(); }
};

struct VerifyOptions {
  std::string backend = "native";
  int threads = 0;
  int seeds = 3;                           ///< number of random cases besides the given one and edge values
  std::vector<std::string> sampleNames{};  ///< names of the samples, for people; empty: they have numbers
  StopToken stop{};
  Progress progress{};
};

/// Verifies each fused region of `plan` and of its bodies against its own nodes, which the reference backend runs one
/// by one on the same inputs, with inner edges in the types of the contract. `samples` are one or more sets of inputs
/// of the network, from which the inputs of every region are computed; the inputs of a body are those of some of its
/// iterations, or what a branch that is never taken would read. Regions with the same code are verified once. It is an
/// error if something cannot be built or run at all; with several samples, the error names the sample.
Result<VerifyReport> verifyRegions(std::shared_ptr<const Plan> plan,
                                   std::span<const std::map<std::string, Tensor>> samples,
                                   const VerifyOptions& options);

}  // namespace fusescope
