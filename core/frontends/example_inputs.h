#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/tensor.h"
#include "onnxlib/metadata_entry.h"

namespace fusescope {

/// The key under which a file holds example inputs: among the metadata of an .onnx file, and in the member
/// extra/fusescope.json of an exported program of PyTorch.
inline constexpr const char* kExampleInputsKey = onnxlib::kMetadataLeft;

/// So many bytes example inputs may have in all to be carried: a file with them is opened as quickly as without.
inline constexpr std::int64_t kMostExampleBytes = std::int64_t{1} << 20;

/// The arrays as that text: {"version": 1, "inputs": [{"name": "x", "type": "f32", "dims": [2, 3], "data": "…"}]}, of
/// which `data` are the bytes in base64, little-endian and row-major. Errors: more than kMostExampleBytes; an input
/// that is a container, holds texts, or has no data.
Result<std::string> exampleInputsText(const std::map<std::string, Tensor>& inputs);
/// The inverse. Errors name the input: what is no type, no extents, or not as many bytes as these have; a version that
/// is not known.
Result<std::map<std::string, Tensor>> exampleInputsFromText(std::string_view text);

}  // namespace fusescope
