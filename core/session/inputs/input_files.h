#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "planning/plan.h"
#include "session/inputs/samples.h"

namespace fusescope {

/// Returns whether the file contains one input.
bool isSingleInputFile(const std::filesystem::path& path);

/// Reads a .npy or .pb, and returns the value with the name of its input:
/// - a .npy is for the input with the name of the file, or for the only input;
/// - a .pb of ONNX's test data, `input_I.pb`, is for input I.
Result<std::pair<std::string, Tensor>> readSingleInput(const Plan& plan, const std::filesystem::path& path);

/// Reads the samples in a file or folder with complete samples, without checking them against the plan:
/// - a .npz is one sample; inputsFrom() says which arrays are inputs. Arrays for no input are ignored, unless the
///   archive names them `in:NAME`;
/// - a .json contains Polygraphy's inputs, each set is one sample;
/// - a .pt2 is one sample: the inputs with which an exported program of PyTorch was exported;
/// - a folder of .npz contains one sample in each, in the order of their names;
/// - a folder of .npy and `input_I.pb` is one sample;
/// - a folder of such folders (ONNX's test_data_set_0, …) contains one sample in each.
/// Errors name the file and the inputs of the network.
Result<std::vector<Sample>> readSamples(const Plan& plan, const std::filesystem::path& path);

/// Reads the example inputs in the network's own file in the same way; returns nothing if it has none.
Result<std::optional<Sample>> carriedSample(const Plan& plan);

/// Returns whether the file may contain inputs, judged only by its name.
bool isInputFile(const std::filesystem::path& path);

}  // namespace fusescope
