#pragma once

#include <functional>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Told of each call of a body before it runs, where that runs. `inputs` copies what it is called on, as the inputs of
/// the body's graph, at the types that these declare.
using BodyObserver = std::function<void(const Plan& body, const std::function<std::vector<Tensor>()>& inputs)>;

}  // namespace fusescope
