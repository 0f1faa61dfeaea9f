#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/model.h"

namespace fusescope {

/// The example inputs that the file of `model` carries, as the text of example_inputs.h: those that were written into
/// an .onnx file, into an engine file, or into an exported program of PyTorch, which has else those that it was
/// exported with. They are read when they are asked for, so that opening a network costs nothing for them. Empty: there
/// are none. Errors: they are damaged, or more than a file carries.
Result<std::string> carriedExamplesText(const Model& model);

/// The same as arrays by the names of inputs. None where there are none.
Result<std::map<std::string, Tensor>> carriedExamples(const Model& model);
/// The same of a file: .onnx, .pt2 or an engine. Errors: also, that it cannot be read, or is none of these.
Result<std::map<std::string, Tensor>> carriedExamples(const std::filesystem::path& path);

/// Arrays by the names of the network's inputs: those that they have, or where none of them is an input's name, in the
/// order of the inputs, as those of a program whose network has names of its own.
std::vector<std::pair<std::string, Tensor>> calledAsInputs(const Model& model,
                                                           std::vector<std::pair<std::string, Tensor>> arrays);

}  // namespace fusescope
