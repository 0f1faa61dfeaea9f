#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/docks/error_html.h"
#include "ui/document/plan_snapshot.h"
#include "verify/lost_weights.h"

namespace fusescope {

/// The share of one kernel in the time of all kernels of the network in its run.
struct TimeShare {
  double part = 0;  ///< 0 … 1
  int slower = 0;   ///< number of kernels that take longer
  int of = 0;       ///< number of kernels with a time
};
/// Facts about the selection that take long to compute.
struct WorkedOut {
  std::vector<WhatIf> help{};  ///< for a single node
  std::vector<LostWeight> lostWeights{};
  bool wrong = false;                ///< it is wrong by itself
  OfferedFix fix{};                  ///< a fix for that
  std::string wrongBefore{};         ///< if only its inputs are wrong: the value that is wrong first
  std::optional<TimeShare> share{};  ///< of the kernel, if the displayed run measured it
};

}  // namespace fusescope
