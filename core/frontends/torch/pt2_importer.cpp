#include "frontends/torch/pt2_importer.h"

#include <array>
#include <fstream>
#include <span>
#include <utility>

#include "base/zip_places.h"
#include "frontends/carried_inputs.h"
#include "frontends/example_inputs.h"
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

/// The JSON of `text` under `key`; empty: there is none.
std::string noteIn(const std::optional<std::string>& text, const char* key) {
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() && json.contains(key) ? json.at(key).dump() : std::string();
}

/// Those that Fusescope wrote into the file, else those that it was exported with. Nothing where the file holds none.
Result<std::optional<std::map<std::string, Tensor>>> examplesOf(const Pt2File& file, const ExportedProgram& program) {
  using Examples = std::optional<std::map<std::string, Tensor>>;
  if (const std::string own = noteIn(TRY(file.notes()), kExampleInputsKey); !own.empty())
    return Examples(TRY(exampleInputsFromText(own)));
  const auto saved = TRY(file.examples());
  if (!saved) return Examples();
  CopyBudget budget = budgetFor(file);
  return Examples(TRY(torch::exampleTensors(program, *saved, budget)));
}

/// What metadata say of the inputs: PyTorch keeps the custom metadata when it saves the program again, and drops extra
/// files, so that the former go first. Empty: nothing.
Result<std::string> inputNotesOf(const Pt2File& file, const ExportedProgram& program) {
  return program.inputSpecs.empty() ? noteIn(TRY(file.notes()), kInputSpecsKey) : program.inputSpecs;
}

void takeInputNotes(const Pt2File& file, const ExportedProgram& program, Model& model) {
  const auto notes = inputNotesOf(file, program);
  if (!notes.ok())
    model.decisions.push_back(
        decide("import.input_specs_ignored", {}, "import", {{"key", kInputSpecsKey}, {"why", notes.error().text()}}));
  if (!notes.ok() || notes.value().empty()) return;
  std::vector<torch::UserInput> inputs = torch::userInputsOf(program);
  std::erase_if(inputs, [](const torch::UserInput& input) { return input.isConstant; });
  takeCarriedInputs(
      notes.value(), model.inputSpecs,
      [&](const InputSpec& said, std::size_t input) { return torch::rangeMisfit(program, inputs[input], said); },
      model.decisions);
}

Result<Model> modelOf(const Pt2File& file, const ImportLimits& limits, const StopToken& stop) {
  const ExportedProgram program = TRY(programOf(file, limits.nodes));
  CopyBudget budget = budgetFor(file);
  Model model = TRY(torch::atenNetwork(program, TRY(file.tensors(budget)), stop));
  model.format = kExportedProgramFormat;
  model.producer = program.torchVersion.empty() ? "PyTorch" : "PyTorch " + program.torchVersion;
  model.opset = program.opsets;
  model.files = {file.file()};
  takeInputNotes(file, program, model);
  if (const auto examples = examplesOf(file, program); !examples.ok())
    model.decisions.push_back(
        decide("import.example_inputs_refused", {}, "import", {{"why", examples.error().text()}}));
  return model;
}

/// What `read` makes of the file, which must not change meanwhile. Errors are located at it.
template <class Read>
auto readFrom(const std::filesystem::path& path, Read read) -> decltype(read(std::declval<const Pt2File&>())) {
  const auto file = Pt2File::open(path);
  if (!file.ok()) return located(file.error(), path);
  auto made = read(file.value());
  TRY(file.value().file()->checkIntact());
  if (!made.ok()) return located(std::move(made).error(), path);
  return made;
}

}  // namespace

bool isTorchFile(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return isZip(std::as_bytes(std::span(begin)));
}

Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop) {
  Model imported = TRY(readFrom(path, [&](const Pt2File& file) { return modelOf(file, limits, stop); }));
  imported.path = path.string();
  return imported;
}

Result<ExportedProgramFacts> readExportedProgram(const std::filesystem::path& path) {
  return readFrom(path, [](const Pt2File& file) -> Result<ExportedProgramFacts> {
    ExportedProgramFacts facts{.program = TRY(programOf(file, ImportLimits().nodes)), .container = file.container()};
    if (auto notes = inputNotesOf(file, facts.program); notes.ok()) facts.inputSpecs = std::move(notes).value();
    auto examples = examplesOf(file, facts.program);
    if (!examples.ok()) {
      facts.examplesMissing = examples.error().text();
    } else if (!examples.value()) {
      facts.examplesMissing = "the file holds no example inputs";
    } else {
      facts.examples = *std::move(examples).value();
    }
    return facts;
  });
}

Result<std::map<std::string, Tensor>> readExampleInputs(const std::filesystem::path& path) {
  return readFrom(path, [](const Pt2File& file) -> Result<std::map<std::string, Tensor>> {
    auto examples = TRY(examplesOf(file, TRY(programOf(file, ImportLimits().nodes))));
    if (!examples) return Diagnostic{.message = "holds no example inputs"};
    return *std::move(examples);
  });
}

}  // namespace fusescope
