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

/// Whether `config`, where it is there, describes nothing but tensors. Errors name what is another object.
Status checkTensorsAlone(const ZipMembers& members, const std::string& config);

}  // namespace fusescope::torch
