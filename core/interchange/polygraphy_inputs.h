#pragma once

#include <filesystem>
#include <vector>

#include "interchange/npz.h"

namespace fusescope {

/// The inputs that `polygraphy run --save-inputs` writes: a JSON list of feed dicts, one a sample, each array a .npy in
/// base64. Errors name the file and the entry: "[2].x".
Result<std::vector<NpzArrays>> readPolygraphyInputs(const std::filesystem::path& path);

}  // namespace fusescope
