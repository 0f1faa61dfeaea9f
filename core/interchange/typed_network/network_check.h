#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "interchange/typed_network/typed_network.h"

namespace fusescope {

/// The plan by which an exported network is judged: of the same target and machine limits, with no types asked for, so
/// that those of the network hold.
Result<std::shared_ptr<const Plan>> planOfExported(const Plan& plan, std::shared_ptr<const Model> exported,
                                                   const StopToken& stop);

/// The first value of `plan`'s main graph that `reading`, a plan of the exported network, stores at another type;
/// nothing where all agree. One that it holds inside a kernel counts as agreeing.
std::optional<Diagnostic> otherStoredType(const Plan& plan, const TypedNetwork& network, const Plan& reading);

/// What the numbers of an exported network say.
struct NumbersCheck {
  bool ok = true;
  double worst = 0;                         ///< of the outputs, max|Δ| over rms
  std::optional<std::string> firstWrong;    ///< the first value beyond the tolerance, in the order of the plan
  double firstWrongBy = 0;                  ///< its max|Δ| over rms
  std::set<std::uint32_t> wrongFusedNodes;  ///< that leave a value beyond it and read none
  std::set<std::uint32_t> allWrong;         ///< that leave a value beyond it
};

/// Runs plan and network on the reference, the latter with each value between two nodes stored, on every sample.
Result<NumbersCheck> checkNumbers(std::shared_ptr<const Plan> plan, const TypedNetwork& network,
                                  std::shared_ptr<const Plan> reading, const ExportOptions& options);

}  // namespace fusescope
