#pragma once

#include <set>

#include "engine/body_observer.h"
#include "engine/body_profile.h"
#include "engine/program.h"
#include "engine/tactic_chooser.h"

namespace fusescope {

/// What to lower a plan for.
struct LoweringRequest {
  const Plan* plan = nullptr;
  int threads = 1;                            ///< at least 1
  std::map<std::string, Dims> extents;        ///< of every input
  std::set<ValueId> marks;                    ///< values to hand out besides the network's outputs
  const Program* sameExtents = nullptr;       ///< a program for the same extents, whose kernels are shared; may be null
  bool borrowsOutputs = false;                ///< an output that is an input, a constant or a view is read where it is
  ShapeCacheCount* dynamicKernels = nullptr;  ///< of nodes that are prepared while they run; outlives the program
  BodyProfile* bodyProfile = nullptr;         ///< what bodies tell of their steps; outlives the program
  BodyObserver* bodyObserver = nullptr;       ///< told of the calls of bodies; null, or outlives the program
  StopToken stop{};
  Progress progress{};
};

/// Plan to steps: types resolved for the extents, a tactic chosen for each fused node, casts and format changes made
/// steps (one for each distinct form of a value), views made free, memory planned.
Result<Program> lower(const LoweringRequest& request, TacticChooser& chooser);

}  // namespace fusescope
