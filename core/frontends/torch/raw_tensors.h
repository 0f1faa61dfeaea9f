#pragma once

#include <map>
#include <string>

#include "frontends/torch/zip_members.h"

namespace fusescope::torch {

/// Returns the tensors that the member `config` of a PT2 archive describes ("model_weights_config.json"). Each is a
/// window on a member in `folder`, which several may share. Tensors of their own classes are torch.save() files there.
/// Custom objects, which are not tensors, are left out. Errors name the tensor and the member.
Result<std::map<std::string, Tensor>> rawTensors(const ZipMembers& members, const std::string& config,
                                                 const std::string& folder, CopyBudget& budget);

/// Checks that `config`, if it exists, describes only tensors. The error names any other object.
Status checkTensorsAlone(const ZipMembers& members, const std::string& config);

}  // namespace fusescope::torch
