#include "compilers/torch/make_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json_fields.h"
#include "base/untrusted_json.h"
#include "compilers/torch/torch_job.h"
#include "frontends/torch/program_inputs.h"
#include "frontends/torch/pt2_file.h"
#include "frontends/torch/pt2_importer.h"
#include "onnxlib/onnxlib.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

using ExtentNames = std::map<std::string, std::string>;

std::string torchVersionOf(const ProbeJob& torch) {
  const auto version = torch.opened().find("version");
  return version != torch.opened().end() && version->is_string() ? version->get<std::string>() : std::string();
}

Hash128 makingKey(const std::string& torchVersion, const ExtentNames& names) {
  KeyBuilder key;
  key.number(kMadeNetworkVersion).text(torchVersion).number(names.size());
  for (const auto& [symbol, name] : names) key.text(symbol).text(name);
  return key.hash();
}

/// Reads what the probe says about the network that torch made, and checks it against the program and the file.
class MadeNetworkReader {
 public:
  MadeNetworkReader(const fs::path& program, const fs::path& network) : m_path(program), m_network(network) {}

  Result<MadeNetwork> read(const Json& answer) {
    int version = 0;
    JsonFields fields(answer);
    fields.require("version").read("version", version);
    auto made = madeNetworkFromJson(answer);
    if (fields.error() || !made.ok()) return bad(fields.error() ? fields.error()->text() : made.error().text());
    if (version != kMadeNetworkVersion)
      return bad(fmt::format("it has version {}, and this program reads version {}", version, kMadeNetworkVersion));
    m_program = TRY(readExportedProgram(m_path)).program;
    auto file = onnxlib::readModel(m_network);
    if (!file.ok()) return bad("its network cannot be read: " + file.error().text());
    m_file = std::move(file).value();
    TRY(checkInputs());
    addProgramNodes(m_program.graph);
    addFileNodes(m_file.graph, {});
    TRY(checkNodes(made.value()));
    return made;
  }

 private:
  Diagnostic bad(const std::string& why) const {
    return {.message = "the answer of the probe for torch does not fit the exported program: " + why,
            .where = {.file = m_path.string()},
            .help = "Nothing of the answer is kept."};
  }

  Status checkInputs() const {
    std::vector<std::string> expected;
    for (const torch::UserInput& input : torch::userInputsOf(m_program))
      if (!input.isConstant) expected.push_back(input.value);
    std::vector<std::string> found;
    for (const onnxlib::FileValue& input : m_file.graph.inputs) found.push_back(input.name);
    if (found == expected) return Done{};
    return bad(fmt::format("its inputs are {}, but the inputs of the program are {}", fmt::join(found, ", "),
                           fmt::join(expected, ", ")));
  }

  void addProgramNodes(const torch::ProgramGraph& graph) {
    for (const torch::ProgramNode& node : graph.nodes) {
      m_programNodes.insert(node.name);
      for (const torch::ProgramArgument& argument : node.inputs)
        if (argument.body != nullptr) addProgramNodes(*argument.body);
    }
  }

  void addFileNodes(const onnxlib::FileGraph& graph, const std::string& holder) {
    for (const onnxlib::FileNode& node : graph.nodes) {
      m_fileNodes.emplace(holder + node.name, &node);
      for (const onnxlib::FileAttribute& attribute : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const onnxlib::FileGraph>>(&attribute.value))
          addFileNodes(**body, holder + node.name + "/");
    }
  }

  Status checkNodes(const MadeNetwork& made) const {
    for (const MadeNode& node : made.nodes) {
      const auto [first, last] = m_fileNodes.equal_range(node.name);
      if (first == last) return bad(fmt::format("it names a node {} that its network does not have", node.name));
      if (std::none_of(first, last, [&](const auto& each) { return each.second->programNode == node.from; }))
        return bad(fmt::format("its network does not say that the node {} was made from {}", node.name, node.from));
      const std::string own = node.from.substr(node.from.rfind('/') + 1);
      if (!node.from.empty() && !m_programNodes.contains(own))
        return bad(fmt::format("it says that the node {} was made from {}, which the program does not have", node.name,
                               node.from));
    }
    return Done{};
  }

  const fs::path& m_path;
  const fs::path& m_network;
  torch::ExportedProgram m_program;
  onnxlib::FileModel m_file;
  std::set<std::string> m_programNodes;
  std::multimap<std::string, const onnxlib::FileNode*> m_fileNodes;  ///< by HOLDER/NAME; names may occur several times
};

/// Returns the names of the outputs in the file; an empty list if they cannot be used.
Json outputNamesIn(const fs::path& program) {
  const auto file = torch::Pt2File::open(program);
  const auto notes = file.ok() ? file.value().additions() : Result<std::optional<std::string>>(std::nullopt);
  const Json json = notes.ok() && notes.value() ? untrustedJson(*notes.value()) : Json();
  const auto names = json.is_object() ? json.find(torch::kOutputNamesKey) : json.end();
  const bool areNames = names != json.end() && names->is_array() &&
                        std::ranges::all_of(*names, [](const Json& name) { return name.is_string(); });
  return areNames ? *names : Json::array();
}

Result<ProbeAnswer> askedToExport(ProbeJob& job, const fs::path& program, const ExtentNames& names,
                                  const fs::path& into, const StopToken& stop, const Progress& progress) {
  auto answer = job.ask({.json = {{"op", "export"}, {"names", Json(names)}, {"outputs", outputNamesIn(program)}},
                         .files = {{"program.pt2", program}},
                         .folder = into},
                        stop, progress);
  if (!answer.ok()) return atFile(std::move(answer).error(), program);
  return answer;
}

}  // namespace

Result<NetworkOfProgram> makeNetwork(const fs::path& path, const MakeNetworkOptions& options, const StopToken& stop,
                                     const Progress& progress) {
  std::error_code none;
  if (fs::is_regular_file(path, none) && !isTorchFile(path))
    return Diagnostic{.message = "is not an exported program of PyTorch (.pt2)",
                      .where = {.file = path.string()},
                      .help = "Other networks need no import: fusescope plan FILE."};
  const Model program = TRY(importProgramAsItIs(path, {}, stop));
  TRY(checkHandableToTorch(path));
  const Hash128 hash = TRY(programHash(*program.files.front()));
  if (options.environment.empty())
    if (auto kept = findKeptNetworks(hash, &options.names).newest) {
      noteUse(*kept);
      return NetworkOfProgram{.kept = *std::move(kept)};
    }
  if (progress) progress("start torch", options.environment);
  const ProbedCompiler& compiler = torchIn(options.environment);
  auto job = TRY(torchJobFor(compiler, path, stop));
  const Hash128 key = makingKey(torchVersionOf(*job), options.names);
  if (auto kept = takeKeptNetwork(hash, key)) return NetworkOfProgram{.kept = *std::move(kept)};

  const TemporaryFolder folder = TRY(folderForNetwork());
  const fs::path into = folder / "made";
  std::error_code failed;
  fs::create_directories(into, failed);
  if (failed) return Diagnostic{.message = failed.message(), .where = {.file = into.string()}};
  const ProbeAnswer answer = TRY(askedToExport(*job, path, options.names, into, stop, progress));
  job.reset();  // torch needs much memory, and is probably not needed again
  TRY(checkCurrent(program.files));
  MadeNetwork made = TRY(MadeNetworkReader(path, into / kMadeNetwork).read(answer.json));
  made.environment = compiler.identity().environment;
  made.names = options.names;
  return NetworkOfProgram{.kept = TRY(keepNetwork(hash, key, into, made)), .isNew = true};
}

}  // namespace fusescope
