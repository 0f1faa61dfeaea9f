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
  double part = 0;  ///< from 0 to 1
  int slowerKernels = 0;
  int timedKernels = 0;
};
/// Facts about the selection that take long to compute, so that the inspector shows them later than the others.
struct SelectionAnswers {
  std::vector<WhatIf> help{};  ///< for a single node
  std::vector<LostWeight> lostWeights{};
  bool wrong = false;                ///< it is wrong by itself
  OfferedFix fix{};                  ///< a fix for that
  std::string wrongBefore{};         ///< if only its inputs are wrong: the value that is wrong first
  std::optional<TimeShare> share{};  ///< of the kernel, if the displayed run measured it
};

}  // namespace fusescope
