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

/// Returns whether `path` is a zip archive, so that importExportedProgram() reads it or says what else it is.
bool isTorchFile(const std::filesystem::path& path);

/// Implements importModel() for exported programs of PyTorch (.pt2). If a network that torch made of the program is
/// kept (kept_network.h), it returns this ONNX network with the program's InputSpecs; `path` is then the program, and
/// `network` the ONNX file. Otherwise it returns the program as it is, with a decision that says how it can be made
/// runnable. Nothing in the file is run, and neither is torch.
Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop, NodeForm nodes);

/// Reads the network of the file in PyTorch's operators. It can be viewed and planned, but not run here.
Result<Model> importProgramAsItIs(const std::filesystem::path& path, const ImportLimits& limits = {},
                                  const StopToken& stop = {});

/// Checks that the file, which importProgramAsItIs() reads, may be passed to PyTorch, which runs pickles, libraries and
/// expressions of a file that it loads. The error names what is not known here.
Status checkHandableToTorch(const std::filesystem::path& path);

/// Returns the command with which torch makes a network of the program: "fusescope import model.pt2".
std::string makeRunnableCommand(const std::filesystem::path& program);
/// Returns the decision that names this command, and what can be done without it.
Decision needsTorch(const std::filesystem::path& program);

/// The contents of a .pt2 besides its network.
struct ExportedProgramFacts {
  torch::ExportedProgram program;
  torch::Pt2Container container;
  /// The inputs with which it was exported, by the names of the model's inputs.
  std::map<std::string, Tensor> examples;
  std::string examplesMissing;  ///< why there are none; empty if there are
  std::string inputSpecs{};     ///< its text under kInputSpecsKey; empty if there is none
};
/// Reads these from the file again. Errors are those of importExportedProgram().
Result<ExportedProgramFacts> readExportedProgram(const std::filesystem::path& path);

/// Returns the inputs with which a network was exported, in the order of the model's inputs, each with the author's
/// name. It is an error if the file contains none, or if they cannot be read.
Result<std::vector<std::pair<std::string, Tensor>>> readExampleInputs(const std::filesystem::path& path);

}  // namespace fusescope
