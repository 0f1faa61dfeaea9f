#pragma once
// Private to onnxlib: includes onnx.

#include <onnx/defs/schema.h>

#include <cstdint>
#include <string>

namespace fusescope::onnxlib {

/// The schema of the operator in force at `opset` of its domain; null if the library knows none.
const onnx::OpSchema* schemaOf(const std::string& domain, const std::string& op, std::int64_t opset);

}  // namespace fusescope::onnxlib
