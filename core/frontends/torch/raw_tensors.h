#pragma once

#include <map>
#include <string>

#include "frontends/torch/zip_members.h"

namespace fusescope::torch {

/// The tensors that a member `config` of a PT2 archive describes ("model_weights_config.json"): each a window on a
/// member in `folder`, which several may share. Tensors of their own classes are files of torch.save() there. What is
/// no tensor, a custom object, is left out. Errors name the tensor and the member.
Result<std::map<std::string, Tensor>> rawTensors(const ZipMembers& members, const std::string& config,
                                                 const std::string& folder, CopyBudget& budget);

}  // namespace fusescope::torch
