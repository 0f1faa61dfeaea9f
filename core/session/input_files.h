#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope {

/// Values for the inputs of `plan`, by name, from what a user has:
/// - a .npz: arrays by name, as inputsFrom() says; those that are no inputs are left out, unless the archive calls them
///   `in:NAME`;
/// - a .npy: of the input that it is named after, or of the only input;
/// - a .pb of ONNX's test data: `input_I.pb` is of input I;
/// - a folder: all .npy and `input_I.pb` in it.
/// Errors name the file and the inputs that there are.
Result<std::map<std::string, Tensor>> readInputFiles(const Plan& plan, const std::filesystem::path& path);

/// Whether it can be one of these, by its name alone.
bool isInputFile(const std::filesystem::path& path);

}  // namespace fusescope
