#include "frontends/torch/pt2_importer.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
#include <tuple>
#include <utility>

#include "base/shell_quoted.h"
#include "base/untrusted_json.h"
#include "base/zip_places.h"
#include "frontends/carried_inputs.h"
#include "frontends/example_inputs.h"
#include "frontends/onnx/onnx_importer.h"
#include "frontends/torch/aten_network.h"
#include "frontends/torch/kept_network.h"
#include "frontends/torch/program_inputs.h"
#include "frontends/torch/program_reader.h"
#include "frontends/torch/torch_safety.h"

namespace fusescope {
namespace {

using torch::CopyBudget;
using torch::ExportedProgram;
using torch::Pt2File;

Diagnostic located(Diagnostic error, const std::filesystem::path& path) {
  if (error.where.file.empty() && !error.cancelled) error.where.file = path.string();
  return error;
}

/// Weights that are transposed or expanded in the file are copied. No valid file has copies of many times its size.
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

/// Returns the JSON of `text` under `key`; empty if there is none.
std::string additionIn(const std::optional<std::string>& text, const char* key) {
  const Json json = text ? untrustedJson(*text) : Json();
  return json.is_object() && json.contains(key) ? json.at(key).dump() : std::string();
}

/// Returns the example inputs that Fusescope wrote into the file, or else those with which it was exported. Returns
/// nothing if the file contains none.
Result<std::optional<std::map<std::string, Tensor>>> examplesOf(const Pt2File& file, const ExportedProgram& program) {
  using Examples = std::optional<std::map<std::string, Tensor>>;
  if (const std::string own = additionIn(TRY(file.additions()), kExampleInputsKey); !own.empty())
    return Examples(TRY(exampleInputsFromText(own)));
  const auto saved = TRY(file.examples());
  if (!saved) return Examples();
  CopyBudget budget = budgetFor(file);
  return Examples(TRY(torch::exampleTensors(program, *saved, budget)));
}

/// Returns the metadata of the inputs; empty if there are none. PyTorch keeps the custom metadata when it saves the
/// program again and drops extra files, so that the custom metadata take precedence.
Result<std::string> inputNotesOf(const Pt2File& file, const ExportedProgram& program) {
  return program.inputSpecs.empty() ? additionIn(TRY(file.additions()), kInputSpecsKey) : program.inputSpecs;
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

/// Returns the result of `read` for the file, which must not change meanwhile. Errors are located at the file.
template <class Read>
auto readFrom(const std::filesystem::path& path, Read read) -> decltype(read(std::declval<const Pt2File&>())) {
  const auto file = Pt2File::open(path);
  if (!file.ok()) return located(file.error(), path);
  auto made = read(file.value());
  TRY(file.value().file()->checkIntact());
  if (!made.ok()) return located(std::move(made).error(), path);
  return made;
}

/// The program's input specs also apply to the network that was made of it, whose inputs are in the same order.
void takeInputSpecs(const Model& program, Model& network) {
  if (network.inputSpecs.size() != program.inputSpecs.size()) return;
  for (std::size_t i = 0; i < network.inputSpecs.size(); ++i) {
    const InputSpec& said = program.inputSpecs[i];
    InputSpec& spec = network.inputSpecs[i];
    if (spec.dtype != said.dtype || spec.opt.size() != said.opt.size()) continue;
    std::tie(spec.min, spec.opt, spec.max, spec.source) = std::tie(said.min, said.opt, said.max, said.source);
  }
}

/// Returns the network that torch made of `program`, with the information that only the program has.
Result<Model> networkOf(const Model& program, const KeptNetwork& kept, const ImportLimits& limits,
                        const StopToken& stop, NodeForm nodes) {
  Model network = TRY(importOnnx(kept.network, limits, stop, nodes));
  network.network = std::exchange(network.path, program.path);
  network.producer = program.producer + ", as ONNX by torch " + kept.made.torch;
  network.files.insert(network.files.begin(), program.files.begin(), program.files.end());
  takeInputSpecs(program, network);
  const auto tied =
      std::ranges::count_if(network.origins, [](const Origin& node) { return !node.programNode.empty(); });
  std::vector<Decision> decisions = program.decisions;
  decisions.push_back(decide("import.made_by_torch", {}, "import",
                             {{"torch", kept.made.torch}, {"tied", tied}, {"nodes", network.fileNodes}}));
  append(decisions, std::move(network.decisions));
  network.decisions = std::move(decisions);
  return network;
}

}  // namespace

bool isTorchFile(const std::filesystem::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return isZip(std::as_bytes(std::span(begin)));
}

Result<Model> importProgramAsItIs(const std::filesystem::path& path, const ImportLimits& limits,
                                  const StopToken& stop) {
  Model imported = TRY(readFrom(path, [&](const Pt2File& file) { return modelOf(file, limits, stop); }));
  imported.path = path.string();
  return imported;
}

Result<Model> importExportedProgram(const std::filesystem::path& path, const ImportLimits& limits,
                                    const StopToken& stop, NodeForm nodes) {
  Model program = TRY(importProgramAsItIs(path, limits, stop));
  KeptNetworks kept = findKeptNetworks(TRY(programHash(*program.files.front())));
  if (kept.newest) {
    noteUse(*kept.newest);
    auto network = networkOf(program, *kept.newest, limits, stop, nodes);
    if (network.ok() || network.error().cancelled) return network;
    kept.unusable.push_back(network.error().text());
  }
  for (const std::string& why : kept.unusable)
    program.decisions.push_back(decide("import.made_network_unusable", {}, "import", {{"why", why}}));
  program.decisions.push_back(needsTorch(path));
  return program;
}

Status checkHandableToTorch(const std::filesystem::path& path) {
  return readFrom(path, [](const Pt2File& file) -> Status {
    TRY(torch::checkForTorch(file));
    const ExportedProgram program = TRY(programOf(file, ImportLimits().nodes));
    const auto saved = TRY(file.examples());  // torch unpickles them, whatever our own metadata contain
    if (!saved) return Done{};
    CopyBudget budget = budgetFor(file);
    TRY(torch::exampleTensors(program, *saved, budget));
    return Done{};
  });
}

std::string makeRunnableCommand(const std::filesystem::path& program) {
  return "fusescope import " + shellQuoted(program.string());
}

Decision needsTorch(const std::filesystem::path& program) {
  return decide("import.needs_torch", {}, "import", {{"command", makeRunnableCommand(program)}});
}

Result<ExportedProgramFacts> readExportedProgram(const std::filesystem::path& path) {
  return readFrom(path, [](const Pt2File& file) -> Result<ExportedProgramFacts> {
    ExportedProgramFacts facts{.program = TRY(programOf(file, ImportLimits().nodes)), .container = file.container()};
    if (auto notes = inputNotesOf(file, facts.program); notes.ok()) facts.inputSpecs = std::move(notes).value();
    auto examples = examplesOf(file, facts.program);
    if (!examples.ok()) {
      facts.examplesMissing = examples.error().text();
    } else if (!examples.value()) {
      facts.examplesMissing = "the file contains no example inputs";
    } else {
      facts.examples = *std::move(examples).value();
    }
    return facts;
  });
}

Result<std::vector<std::pair<std::string, Tensor>>> readExampleInputs(const std::filesystem::path& path) {
  using Examples = std::vector<std::pair<std::string, Tensor>>;
  return readFrom(path, [](const Pt2File& file) -> Result<Examples> {
    const ExportedProgram program = TRY(programOf(file, ImportLimits().nodes));
    auto examples = TRY(examplesOf(file, program));
    if (!examples) return Diagnostic{.message = "contains no example inputs"};
    Examples inOrder;
    for (const torch::UserInput& input : torch::userInputsOf(program))
      if (const auto example = examples->find(input.name); !input.isConstant && example != examples->end())
        inOrder.emplace_back(input.name, std::move(example->second));
    return inOrder;
  });
}

}  // namespace fusescope
