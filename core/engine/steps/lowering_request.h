#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/program/program.h"
#include "engine/steps/body_observer.h"
#include "engine/steps/body_profile.h"
#include "engine/tactics/tactic_chooser.h"

namespace fusescope {

/// Asks to lower a plan for certain extents.
struct LoweringRequest {
  const Plan* plan = nullptr;
  int threads = 1;                            ///< at least 1
  std::map<std::string, Dims> extents;        ///< of every input
  std::set<ValueId> marks;                    ///< values to hand out in addition to the network's outputs
  const Program* sameExtents = nullptr;       ///< a program for the same extents, whose kernels are reused; may be null
  bool borrowsOutputs = false;                ///< true: an output that is an input, a constant or a view is read from
                                              ///< its source without a copy
  ShapeCacheCount* dynamicKernels = nullptr;  ///< counts hits and misses of nodes that are prepared while they run;
                                              ///< must outlive the program
  BodyProfile* bodyProfile = nullptr;         ///< receives the times of steps in bodies; must outlive the program
  BodyObserver* bodyObserver = nullptr;       ///< receives the calls of bodies; may be null; must outlive the program
  StopToken stop{};
  Progress progress{};
};

/// The type of lower() (lowering.h). A body is lowered like the graph around it, by the same function, which the steps
/// of bodies receive as an argument.
using LowerPlan = Result<Program> (*)(const LoweringRequest& request, TacticChooser& chooser);

}  // namespace fusescope
