#pragma once

#include <vector>

#include "ir/decision.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {

/// A decision for all that is slightly wrong with a file and does no harm: its version, opsets it does not name, names
/// that occur twice, initializers and declared types that belong to nothing, nodes in another order than they can run
/// in. What has no meaning is an error of the builder.
void recordFindings(const onnxlib::FileModel& file, std::vector<Decision>& decisions);

/// Whether two tensors of one name are one: of the same type, extents and bytes.
bool sameTensor(const onnxlib::FileTensor& a, const onnxlib::FileTensor& b);

}  // namespace fusescope
