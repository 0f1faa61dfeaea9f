#pragma once

#include <vector>

#include "ir/decision.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// Adds a decision for each harmless error of a file: its version, opsets that it does not name, names that occur
/// twice, initializers and declared types that belong to nothing, and nodes that are not in an order in which they can
/// run. GraphBuilder reports errors that leave a file without a meaning.
void recordFindings(const onnxlib::FileModel& file, std::vector<Decision>& decisions);

}  // namespace fusescope
