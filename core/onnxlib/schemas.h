#pragma once
// Private to onnxlib: includes onnx.

#include <onnx/defs/schema.h>

#include <cstdint>
#include <string>

namespace fusescope::onnxlib {

/// Returns the schema of the operator that is valid at `opset` of its domain, or null if the library knows none.
const onnx::OpSchema* schemaOf(const std::string& domain, const std::string& op, std::int64_t opset);

}  // namespace fusescope::onnxlib
