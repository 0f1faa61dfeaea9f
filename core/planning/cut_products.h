#pragma once

#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// A product that the network's author quantised with a scale for each column, and the Split that cuts its columns.
struct CutProduct {
  NodeId product, split;
};

/// Those of a plan for TensorRT, whose compiler may multiply floats there; none for other targets. What the plan itself
/// quantises is not among them: `export` writes that in parts.
std::vector<CutProduct> cutProducts(const Plan& plan);
/// Warns of each of them (precision.split_product).
std::vector<Decision> splitWarnings(const Plan& plan);

}  // namespace fusescope
