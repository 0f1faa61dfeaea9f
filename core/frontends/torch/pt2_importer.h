#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/importers.h"
#include "frontends/torch/exported_program.h"
#include "frontends/torch/pt2_file.h"

namespace fusescope {

/// Model::format of an exported program of PyTorch.
inline constexpr std::string_view kExportedProgramFormat = "torch-exported-program";

/// Whether `path` is a file that importExportedProgram() is to read, or to say what else it is: a zip archive.
bool isTorchFile(const std::filesystem::path& path);

/// importModel() for exported programs of PyTorch (.pt2): the ONNX network that torch made of it, where one is kept
/// (kept_network.h), with the program's InputSpecs; its `path` is the program's, its `network` the ONNX file's. Else
/// the program as it is, with a decision that says how it is made runnable. Nothing in the file is executed, nor torch.
Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop, NodesAs nodes);

/// The network as it is in the file, in PyTorch's operators. It can be looked at and planned, and nothing here runs it.
Result<Model> importProgramAsItIs(const std::filesystem::path& path, const ImportLimits& limits = {},
                                  const StopToken& stop = {});

/// Whether PyTorch may be given the file, which importProgramAsItIs() reads: PyTorch runs pickles, libraries and
/// expressions of a file that it loads. Errors: what of it is not known here.
Status checkHandableToTorch(const std::filesystem::path& path);

/// The command that has torch make a network of the program: "fusescope import model.pt2".
std::string makeRunnableCommand(const std::filesystem::path& program);
/// The decision that says so, and what opens without.
Decision needsTorch(const std::filesystem::path& program);

/// What a .pt2 says of itself beside its network.
struct ExportedProgramFacts {
  torch::ExportedProgram program;
  torch::Pt2Container container;
  std::map<std::string, Tensor> examples;  ///< the inputs that it was exported with, by the names of the model's
  std::string examplesMissing;             ///< why there are none; empty: there are
  std::string inputSpecs{};                ///< what it carries under kInputSpecsKey; empty: nothing
};
/// Reads it from the file again. Errors as importExportedProgram().
Result<ExportedProgramFacts> readExportedProgram(const std::filesystem::path& path);

/// The inputs that a network was exported with, in the order of the model's inputs, each with the author's name for it.
/// Errors: the file holds none, or they cannot be read.
Result<std::vector<std::pair<std::string, Tensor>>> readExampleInputs(const std::filesystem::path& path);

}  // namespace fusescope
