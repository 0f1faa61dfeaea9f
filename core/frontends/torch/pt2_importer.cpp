#include "frontends/torch/pt2_importer.h"

#include <fmt/format.h>

#include "frontends/torch/aten_network.h"
#include "frontends/torch/program_inputs.h"

namespace fusescope {
namespace {

using torch::CopyBudget;
using torch::ExportedProgram;
using torch::Pt2File;

Diagnostic located(Diagnostic error, const std::filesystem::path& path) {
  if (error.where.file.empty() && !error.cancelled) error.where.file = path.string();
  return error;
}

/// Weights that are transposed or expanded where they lie are copied; no honest file has many times its size of them.
CopyBudget budgetFor(const Pt2File& file) {
  return CopyBudget(16 * std::uint64_t{file.file()->bytes().size()} + (std::uint64_t{64} << 20));
}

Result<ExportedProgram> programOf(const Pt2File& file, std::int64_t mostNodes) {
  auto program = torch::parseExportedProgram(TRY(file.programJson()), mostNodes);
  if (program.ok()) return program;
  Diagnostic error = std::move(program).error();
  error.where.attribute = file.programMember() + (error.where.attribute.empty() ? "" : ", ") + error.where.attribute;
  return error;
}

/// Nothing where the file holds none.
Result<std::optional<std::map<std::string, Tensor>>> examplesOf(const Pt2File& file, const ExportedProgram& program) {
  using Examples = std::optional<std::map<std::string, Tensor>>;
  const auto saved = TRY(file.examples());
  if (!saved) return Examples();
  CopyBudget budget = budgetFor(file);
  return Examples(TRY(torch::exampleTensors(program, *saved, budget)));
}

Result<Model> modelOf(const Pt2File& file, const ImportLimits& limits, const StopToken& stop) {
  const ExportedProgram program = TRY(programOf(file, limits.nodes));
  CopyBudget budget = budgetFor(file);
  Model model = TRY(torch::atenNetwork(program, TRY(file.tensors(budget)), stop));
  model.format = kExportedProgramFormat;
  model.producer = program.torchVersion.empty() ? "PyTorch" : "PyTorch " + program.torchVersion;
  model.opset = program.opsets;
  model.files = {file.file()};
  if (const auto examples = examplesOf(file, program); !examples.ok())
    model.decisions.push_back(
        decide("import.example_inputs_refused", {}, "import", {{"why", examples.error().text()}}));
  return model;
}

}  // namespace

bool isTorchFile(const std::filesystem::path& path) {
  return torch::isZipFile(path);
}

Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop) {
  const auto file = Pt2File::open(path);
  if (!file.ok()) return located(file.error(), path);
  auto model = modelOf(file.value(), limits, stop);
  TRY(file.value().file()->checkIntact());
  if (!model.ok()) return located(std::move(model).error(), path);
  Model imported = std::move(model).value();
  imported.path = path.string();
  return imported;
}

Result<ExportedProgramFacts> readExportedProgram(const std::filesystem::path& path) {
  const auto read = [&]() -> Result<ExportedProgramFacts> {
    const Pt2File file = TRY(Pt2File::open(path));
    ExportedProgramFacts facts{.program = TRY(programOf(file, ImportLimits().nodes)), .container = file.container()};
    auto examples = examplesOf(file, facts.program);
    if (!examples.ok()) {
      facts.examplesMissing = examples.error().text();
    } else if (!examples.value()) {
      facts.examplesMissing = "the file holds no example inputs";
    } else {
      facts.examples = *std::move(examples).value();
    }
    TRY(file.file()->checkIntact());
    return facts;
  };
  auto facts = read();
  if (facts.ok()) return facts;
  return located(std::move(facts).error(), path);
}

Result<std::map<std::string, Tensor>> readExampleInputs(const std::filesystem::path& path) {
  const auto read = [&]() -> Result<std::map<std::string, Tensor>> {
    const Pt2File file = TRY(Pt2File::open(path));
    auto examples = TRY(examplesOf(file, TRY(programOf(file, ImportLimits().nodes))));
    TRY(file.file()->checkIntact());
    if (!examples) return Diagnostic{.message = "holds no example inputs"};
    return *std::move(examples);
  };
  auto examples = read();
  if (examples.ok()) return examples;
  return located(std::move(examples).error(), path);
}

}  // namespace fusescope
