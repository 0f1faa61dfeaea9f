#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "planning/plan.h"
#include "session/samples.h"

namespace fusescope {

/// A file that holds one input.
bool isSingleInputFile(const std::filesystem::path& path);

/// The value that a .npy or .pb holds, with the input that it is of:
/// - a .npy: the input that it is named after, or the only input;
/// - a .pb of ONNX's test data: `input_I.pb` is of input I.
Result<std::pair<std::string, Tensor>> readSingleInput(const Plan& plan, const std::filesystem::path& path);

/// The samples of a file or folder that holds whole ones, not yet checked against the plan:
/// - a .npz: one, arrays by name as inputsFrom() says; those that are no inputs are left out, unless the archive calls
///   them `in:NAME`;
/// - a .json: Polygraphy's inputs, each set one;
/// - a .pt2: the inputs that an exported program of PyTorch was exported with, one;
/// - a folder of .npz: each one, in the order of their names;
/// - a folder of .npy and `input_I.pb`: one;
/// - a folder of such folders (ONNX's test_data_set_0, …): each one.
/// Errors name the file and the inputs that there are.
Result<std::vector<Sample>> readSamples(const Plan& plan, const std::filesystem::path& path);

/// The example inputs that the network of `plan` carries in its own file, likewise; nothing: it carries none.
Result<std::optional<Sample>> carriedSample(const Plan& plan);

/// Whether it can hold inputs, by its name alone.
bool isInputFile(const std::filesystem::path& path);

}  // namespace fusescope
