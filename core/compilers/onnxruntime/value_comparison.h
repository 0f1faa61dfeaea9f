#pragma once

#include <map>
#include <string>
#include <vector>

#include "compilers/onnxruntime/verify_bindings.h"
#include "ir/decision.h"
#include "probe/probe_job.h"

namespace fusescope::onnxruntime {

/// Lets `job`, which compiled the network, calculate bound tensors in both networks: in the optimised one as it is, and
/// in the original one without optimisation. `inputs` have the names of the file. Kernels are then read back again with
/// the results; the returned decisions name the tensors whose numbers differ. Errors: those of the probe.
Result<std::vector<Decision>> compareValues(Reading& reading, const std::map<std::string, Tensor>& inputs,
                                            ProbeJob& job, const StopToken& stop);

}  // namespace fusescope::onnxruntime
