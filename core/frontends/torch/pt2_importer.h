#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "frontends/importers.h"
#include "frontends/torch/exported_program.h"
#include "frontends/torch/pt2_file.h"

namespace fusescope {

/// Model::format of an exported program of PyTorch.
inline constexpr std::string_view kExportedProgramFormat = "torch-exported-program";

/// Whether `path` is a file that importExportedProgram() is to read, or to say what else it is: a zip archive.
bool isTorchFile(const std::filesystem::path& path);

/// importModel() for exported programs of PyTorch (.pt2): the network as it is in the file, in PyTorch's operators. It
/// can be looked at and planned, and nothing here runs it. Nothing in the file is executed.
Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop);

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

/// The inputs that a network was exported with, by the names of the model's inputs. Errors: the file holds none, or
/// they cannot be read.
Result<std::map<std::string, Tensor>> readExampleInputs(const std::filesystem::path& path);

}  // namespace fusescope
