#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/tensor.h"
#include "onnxlib/metadata_entry.h"

namespace fusescope {

/// The key under which a file contains example inputs: in the metadata of an .onnx file, and in the member
/// extra/fusescope.json of an exported program of PyTorch.
inline constexpr const char* kExampleInputsKey = onnxlib::kMetadataLeft;

/// The maximum total size of example inputs in bytes. With this limit, a file with example inputs is opened as fast as
/// one without.
inline constexpr std::int64_t kMostExampleBytes = std::int64_t{1} << 20;

/// Returns the arrays as text: {"version": 1, "inputs": [{"name": "x", "type": "f32", "dims": [2, 3], "data": "…"}]}.
/// `data` contains the bytes in base64, little-endian and row-major. It is an error if there are more than
/// kMostExampleBytes, or if an input is a container, contains texts, or has no data.
Result<std::string> exampleInputsText(const std::map<std::string, Tensor>& inputs);
/// Reads this text. Errors name the input. It is an error if a type or an extent is invalid, if the number of bytes
/// does not match the extents, or if the version is unknown.
Result<std::map<std::string, Tensor>> exampleInputsFromText(std::string_view text);

}  // namespace fusescope
