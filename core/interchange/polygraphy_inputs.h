#pragma once

#include <filesystem>
#include <vector>

#include "interchange/npz.h"

namespace fusescope {

/// Reads the inputs that `polygraphy run --save-inputs` writes: a JSON list with one feed dict per sample, in which
/// each array is a .npy in base64. Errors name the file and the entry: "[2].x".
Result<std::vector<NpzArrays>> readPolygraphyInputs(const std::filesystem::path& path);

}  // namespace fusescope
