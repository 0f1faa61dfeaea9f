#include "frontends/torch/pt2_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "frontends/torch/raw_tensors.h"

namespace fusescope::torch {
namespace {

// The members of a plain zip.
constexpr const char* kPlainProgram = "serialized_exported_program.json";
constexpr const char* kPlainWeights = "serialized_state_dict.pt";
constexpr const char* kPlainConstants = "serialized_constants.pt";
constexpr const char* kPlainExamples = "serialized_example_inputs.pt";
constexpr const char* kPlainNotes = "extra_files/fusescope.json";
constexpr std::uint64_t kMostNotesBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostProgramBytes = std::uint64_t{1} << 30;

/// Describes a zip archive without an exported program, and how an exported program is written.
struct OtherArchive {
  std::string_view mark;  ///< part of the name of a member
  std::string_view is;
  std::string_view help;
};
constexpr std::string_view kSaveProgram =
    "Write the network with torch.export.save(torch.export.export(module, inputs), FILE).";
constexpr std::string_view kPackageMark = "/data/aotinductor/", kTorchScriptMark = "/code/";
constexpr OtherArchive kOthers[] = {
    {kPackageMark, "is a package of code that AOTInductor compiled, and contains no exported program",
     "Open the exported program that it was compiled from; import-engine MODEL.pt2 --layers {} then shows the "
     "package's "
     "kernels over it."},
    {kTorchScriptMark, "is a network in TorchScript, which Fusescope does not read",
     "Let torch make an exported program from it: fusescope import {} --input NAME=1,3,224,224:f32, with the extents "
     "of each input, which the file does not contain."},
    {"/data.pkl", "contains weights or a module that torch.save() wrote, but no graph",
     "Write a function into a script that makes the module, loads this file and returns (module, example inputs): "
     "fusescope import SCRIPT.py:FUNCTION."},
    {".npy", "contains arrays, but no network", kSaveProgram}};

bool hasMark(const ZipMembers& members, std::string_view mark) {
  return std::ranges::any_of(members.names(),
                             [&](const std::string& name) { return ("/" + name).find(mark) != name.npos; });
}

Diagnostic noProgram(const ZipMembers& members, const std::filesystem::path& path) {
  for (const OtherArchive& other : kOthers)
    if (hasMark(members, other.mark))
      return {.message = std::string(other.is),
              .help = fmt::format(fmt::runtime(other.help), shellQuoted(path.string()))};
  return {.message = "is a zip archive that contains no exported program", .help = std::string(kSaveProgram)};
}

}  // namespace

bool holdsProgram(const ZipMembers& members) {
  const std::string folder = members.rootFolder() + "/models/";
  return members.has(kPlainProgram) || std::ranges::any_of(members.names(), [&](const std::string& name) {
           return name.starts_with(folder) && name.ends_with(".json");
         });
}

bool isTorchScript(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file.ok()) return false;
  const auto members = ZipMembers::of({.owner = file.value(), .bytes = file.value()->bytes()}, {});
  return members.ok() && !holdsProgram(members.value()) && !hasMark(members.value(), kPackageMark) &&
         hasMark(members.value(), kTorchScriptMark);
}

std::string_view name(Pt2Container container) {
  switch (container) {
    case Pt2Container::PlainZip:
      return "plain zip";
    case Pt2Container::PickledWeights:
      return "PT2 archive, pickled weights";
    default:
      return "PT2 archive";
  }
}

Result<Pt2File> Pt2File::open(const std::filesystem::path& path) {
  auto file = TRY(MappedFile::open(path));
  auto members = TRY(ZipMembers::of({.owner = file, .bytes = file->bytes()}, {}));
  Pt2File opened(std::move(file), std::move(members));
  TRY(opened.findProgram(path));
  return opened;
}

Status Pt2File::findProgram(const std::filesystem::path& path) {
  if (m_members.has(kPlainProgram)) {
    m_program = kPlainProgram;
    return Done{};
  }
  m_root = m_members.rootFolder() + "/";
  const std::string folder = m_root + "models/";
  std::vector<std::string> models;
  for (const std::string& name : m_members.names())
    if (name.starts_with(folder) && name.ends_with(".json"))
      models.push_back(name.substr(folder.size(), name.size() - folder.size() - 5));
  if (models.empty()) return noProgram(m_members, path);
  const bool hasUsual = std::ranges::find(models, "model") != models.end();
  if (models.size() > 1 && !hasUsual)
    return Diagnostic{
        .message = fmt::format("contains several networks, {}, and none of them is called 'model'", joined(models)),
        .help = "Write each into a separate file."};
  m_model = hasUsual ? "model" : models.front();
  m_program = member("models/{}.json");
  m_container = m_members.has(member("data/weights/{}.pt")) ? Pt2Container::PickledWeights : Pt2Container::RawWeights;
  return Done{};
}

std::string Pt2File::member(std::string_view format) const {
  return m_root + fmt::format(fmt::runtime(format), m_model);
}

Result<std::string> Pt2File::programJson() const {
  return m_members.text(m_program, kMostProgramBytes);
}

std::string Pt2File::additionsMember() const {
  return m_container == Pt2Container::PlainZip ? kPlainNotes : m_root + "extra/fusescope.json";
}

Result<std::optional<std::string>> Pt2File::additions() const {
  const std::string name = additionsMember();
  if (!m_members.has(name)) return std::optional<std::string>();
  return std::optional(TRY(m_members.text(name, kMostNotesBytes)));
}

Result<std::map<std::string, Tensor>> Pt2File::tensors(CopyBudget& budget) const {
  std::map<std::string, Tensor> tensors;
  switch (m_container) {
    case Pt2Container::PlainZip:
      TRY(addSaved(kPlainWeights, budget, tensors));
      TRY(addSaved(kPlainConstants, budget, tensors));
      break;
    case Pt2Container::PickledWeights:
      TRY(addSaved(member("data/weights/{}.pt"), budget, tensors));
      TRY(addSaved(member("data/constants/{}.pt"), budget, tensors));
      break;
    case Pt2Container::RawWeights:
      TRY(addRaw("data/weights/", member("data/weights/{}_weights_config.json"), budget, tensors));
      TRY(addRaw("data/constants/", member("data/constants/{}_constants_config.json"), budget, tensors));
      break;
  }
  return tensors;
}

/// A missing or empty member contains nothing: PyTorch writes an empty one if there are no constants.
Status Pt2File::addSaved(const std::string& member, CopyBudget& budget, std::map<std::string, Tensor>& into) const {
  if (!m_members.has(member)) return Done{};
  Storage bytes = TRY(m_members.storage(member));
  if (bytes.bytes.empty()) return Done{};
  const SavedObjects saved = TRY(SavedObjects::of(std::move(bytes), m_members.place(member)));
  into.merge(TRY(saved.tensorsByName(budget)));
  return Done{};
}

Status Pt2File::addRaw(const std::string& folder, const std::string& config, CopyBudget& budget,
                       std::map<std::string, Tensor>& into) const {
  if (!m_members.has(config)) return Done{};
  into.merge(TRY(rawTensors(m_members, config, m_root + folder, budget)));
  return Done{};
}

Result<std::optional<SavedObjects>> Pt2File::examples() const {
  const std::string examples =
      m_container == Pt2Container::PlainZip ? std::string(kPlainExamples) : member("data/sample_inputs/{}.pt");
  if (!m_members.has(examples)) return std::optional<SavedObjects>();
  Storage bytes = TRY(m_members.storage(examples));
  if (bytes.bytes.empty()) return std::optional<SavedObjects>();
  return std::optional(TRY(SavedObjects::of(std::move(bytes), m_members.place(examples))));
}

bool Pt2File::isKnown(const std::string& name) const {
  if (m_container == Pt2Container::PlainZip) {
    const auto& own = {kPlainProgram, kPlainWeights, kPlainConstants, kPlainExamples, "version"};
    return std::ranges::find(own, name) != own.end() || name.starts_with("extra_files/");
  }
  if (m_root.size() < 2 || !name.starts_with(m_root)) return false;
  const std::string_view rest = std::string_view(name).substr(m_root.size());
  for (const char* own : {"models/{}.json", "data/sample_inputs/{}.pt"})
    if (name == member(own)) return true;
  for (const char* own : {"archive_format", "archive_version", "byteorder", ".data/version", ".data/serialization_id"})
    if (rest == own) return true;
  if (rest.starts_with("extra/")) return true;
  if (m_container == Pt2Container::PickledWeights)
    return name == member("data/weights/{}.pt") || name == member("data/constants/{}.pt");
  if (name == member("data/weights/{}_weights_config.json") ||
      name == member("data/constants/{}_constants_config.json"))
    return true;
  return rest.starts_with("data/weights/weight_") || rest.starts_with("data/constants/tensor_");
}

Status Pt2File::checkMembersKnown() const {
  // PyTorch uses the folder of the first member as that of the archive, and would read another program there.
  if (m_container == Pt2Container::PlainZip && m_members.names().front().find('/') != std::string::npos)
    return Diagnostic{.message =
                          "is the first member of the archive and is in a folder, so PyTorch may read it instead of "
                          "the program; it is not passed to torch",
                      .where = {.attribute = m_members.names().front()}};
  for (const std::string& name : m_members.names())
    if (!isKnown(name))
      return Diagnostic{
          .message = "is something that PyTorch may load and that is not read here; it is not passed to torch",
          .where = {.attribute = name}};
  if (m_container != Pt2Container::RawWeights) return Done{};
  TRY(checkTensorsAlone(m_members, member("data/weights/{}_weights_config.json")));
  return checkTensorsAlone(m_members, member("data/constants/{}_constants_config.json"));
}

}  // namespace fusescope::torch
