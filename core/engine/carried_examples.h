#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/model.h"
#include "ir/tensor.h"

namespace fusescope {

/// Returns the example inputs in the file of `model`, in the text format of example_inputs.h: those that were written
/// into an .onnx file, an engine file, or an exported program of PyTorch. If nothing was written into an exported
/// program, these are the inputs with which it was exported. They are read only when this is called, so that opening a
/// network is not slowed down. The result is empty if the file has none. Errors: the examples are damaged or too large.
Result<std::string> carriedExamplesText(const Model& model);

/// Returns the same examples as arrays by the names of inputs. The map is empty if the file has none.
Result<std::map<std::string, Tensor>> carriedExamples(const Model& model);
/// Returns the examples of a file: .onnx, .pt2 or an engine. Errors: also, the file cannot be read or has another
/// format.
Result<std::map<std::string, Tensor>> carriedExamples(const std::filesystem::path& path);

/// Renames arrays to the inputs of the network. Arrays keep their names if one of them is the name of an input;
/// otherwise they are assigned in the order of the inputs, because a program and its network may have different names.
std::vector<std::pair<std::string, Tensor>> calledAsInputs(const Model& model,
                                                           std::vector<std::pair<std::string, Tensor>> arrays);

}  // namespace fusescope
