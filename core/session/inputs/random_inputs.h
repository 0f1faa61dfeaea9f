#pragma once

#include <map>
#include <string>

#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope {

/// Returns random inputs, seeded by their names, in a sensible range for their type (token ids are below the size of
/// the vocabulary).
std::map<std::string, Tensor> randomInputs(const Plan& plan, const std::map<std::string, Dims>& shapes = {});

}  // namespace fusescope
