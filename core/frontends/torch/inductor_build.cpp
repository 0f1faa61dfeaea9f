#include "frontends/torch/inductor_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "base/untrusted_json.h"
#include "frontends/torch/element_types.h"
#include "frontends/torch/pt2_file.h"
#include "frontends/torch/pt2_importer.h"
#include "frontends/torch/zip_members.h"

namespace fusescope {
namespace {

constexpr std::string_view kPackaged = "data/aotinductor/";
constexpr std::string_view kInformation = "kernel_information.json";
constexpr std::uint64_t kMostJsonBytes = std::uint64_t{1} << 28;
constexpr const char* kKeepOrigins =
    "Compile again with INDUCTOR_PROVENANCE=1 in the environment, or with "
    "torch._inductor.config.trace.provenance_tracking_level = 1.";

/// Returns the number at the end of "NAME:7", by which kernels are ordered; 0 if there is none.
int callNumber(std::string_view kernel) {
  int number = 0;
  if (const std::size_t colon = kernel.rfind(':'); colon != std::string_view::npos)
    std::from_chars(kernel.data() + colon + 1, kernel.data() + kernel.size(), number);
  return number;
}

void sortByCalls(std::vector<InductorKernel>& kernels) {
  std::ranges::stable_sort(kernels, {}, [](const InductorKernel& kernel) { return callNumber(kernel.name); });
}

/// Reads a type that PyTorch writes, such as "torch.float32".
DataType typeOf(std::string_view text) {
  constexpr std::string_view kTorch = "torch.";
  if (text.starts_with(kTorch)) text.remove_prefix(kTorch.size());
  return torch::typeOfName(text);
}

Result<InductorKernel> kernelFrom(const std::string& name, const Json& json) {
  InductorKernel kernel{.name = name};
  std::string type;
  JsonFields fields(json);
  fields.require("pre_grad_nodes").read("pre_grad_nodes", kernel.origins).read("output_dtype", type);
  kernel.output = typeOf(type);
  sortDistinct(kernel.origins);
  return fields.result(std::move(kernel));
}

/// Reads kernel_information.json: an object of kernels by name.
Result<InductorBuild> fromInformation(const Json& json) {
  InductorBuild build;
  if (!json.is_object()) return Diagnostic{.message = "must be an object of kernels by their names"};
  for (const auto& [name, said] : json.items()) {
    auto kernel = kernelFrom(name, said);
    if (!kernel.ok()) {
      Diagnostic error = std::move(kernel).error();
      error.where.attribute = name + (error.where.attribute.empty() ? "" : ", " + error.where.attribute);
      return error;
    }
    build.kernels.push_back(std::move(kernel).value());
  }
  sortByCalls(build.kernels);
  return build;
}

/// Reads inductor_provenance_tracking_node_mappings.json: the nodes on which TorchInductor works, by kernel, and the
/// nodes of the program of which these were made.
Result<InductorBuild> fromMappings(const Json& json) {
  InductorNames kernels, origins;
  JsonFields fields(json);
  fields.require("cppCodeToPost").read("cppCodeToPost", kernels).require("postToPre").read("postToPre", origins);
  if (fields.error()) return *fields.error();
  return InductorBuild{.kernels = inductorKernelsOf(kernels, origins)};
}

bool isMappings(std::string_view text) {
  return text.find("\"postToPre\"") != text.npos && text.find("\"cppCodeToPost\"") != text.npos;
}
bool isInformation(std::string_view text) {
  return text.find("\"pre_grad_nodes\"") != text.npos && text.find("\"post_grad_nodes\"") != text.npos;
}

Result<InductorBuild> fromJson(const std::string& text) {
  const Json json = untrustedJson(text);
  if (json.is_discarded()) return Diagnostic{.message = "is not JSON"};
  return isMappings(text) ? fromMappings(json) : fromInformation(json);
}

/// Returns "cpu, x86_64, AVX512 AVX512_VNNI" from a member that says for what the code was compiled; empty if it does
/// not say.
std::string deviceIn(const Json& json) {
  if (!json.is_object()) return {};
  std::vector<std::string> said;
  for (const char* key : {"AOTI_DEVICE_KEY", "AOTI_MACHINE", "AOTI_CPU_ISA", "AOTI_COMPUTE_CAPABILITY"}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) continue;
    const bool isCapability = std::string_view(key) == "AOTI_COMPUTE_CAPABILITY";
    said.push_back((isCapability ? "compute capability " : "") + found->get<std::string>());
  }
  return joined(said);
}

class Package {
 public:
  explicit Package(const torch::ZipMembers& members)
      : m_members(members), m_folder(members.rootFolder() + "/" + std::string(kPackaged)) {}

  /// An archive that also contains an exported program is opened as that.
  bool isOne() const { return !networks().empty() && !torch::holdsProgram(m_members); }

  Result<InductorBuild> read() const {
    const auto names = networks();
    if (names.size() > 1)
      return Diagnostic{.message = fmt::format("holds the code of several networks, {}", joined(names)),
                        .help = "Compile each into a package of its own."};
    const std::string folder = m_folder + names.front() + "/";
    const std::string member = folder + std::string(kInformation);
    if (!m_members.has(member))
      return Diagnostic{.message = "does not say from which nodes its kernels are made", .help = kKeepOrigins};
    auto build = fromJson(TRY(m_members.text(member, kMostJsonBytes)));
    if (!build.ok()) {
      Diagnostic error = std::move(build).error();
      error.where.attribute =
          m_members.place(member) + (error.where.attribute.empty() ? "" : ", " + error.where.attribute);
      return error;
    }
    build.value().device = TRY(device(folder));
    return build;
  }

 private:
  std::vector<std::string> networks() const {
    std::vector<std::string> names;
    for (const std::string& name : m_members.names())
      if (const std::size_t end = name.find('/', m_folder.size()); name.starts_with(m_folder) && end != name.npos)
        names.push_back(name.substr(m_folder.size(), end - m_folder.size()));
    sortDistinct(names);
    return names;
  }

  Result<std::string> device(const std::string& folder) const {
    for (const std::string& name : m_members.names())
      if (name.starts_with(folder) && name.ends_with("_metadata.json")) {
        std::string said = deviceIn(untrustedJson(TRY(m_members.text(name, kMostJsonBytes))));
        if (!said.empty()) return said;
      }
    return std::string();
  }

  const torch::ZipMembers& m_members;
  std::string m_folder;
};

Result<torch::ZipMembers> membersOf(const std::filesystem::path& path) {
  auto file = TRY(MappedFile::open(path));
  return torch::ZipMembers::of({.owner = file, .bytes = file->bytes()}, {});
}

Result<InductorBuild> readFrom(const std::filesystem::path& path) {
  if (isTorchFile(path)) {
    const auto members = TRY(membersOf(path));
    const Package package(members);
    if (!package.isOne()) return Diagnostic{.message = "is not a package of AOTInductor"};
    return package.read();
  }
  return fromJson(TRY(readTextFile(path)));
}

}  // namespace

std::vector<InductorKernel> inductorKernelsOf(const InductorNames& kernels, const InductorNames& origins) {
  std::vector<InductorKernel> all;
  for (const auto& [name, nodes] : kernels) {
    InductorKernel& kernel = all.emplace_back(InductorKernel{.name = name});
    for (const std::string& node : nodes)
      if (const auto made = origins.find(node); made != origins.end())
        kernel.origins.insert(kernel.origins.end(), made->second.begin(), made->second.end());
    sortDistinct(kernel.origins);
  }
  sortByCalls(all);
  return all;
}

bool isInductorBuild(const std::filesystem::path& path) {
  if (isTorchFile(path)) {
    const auto members = membersOf(path);
    return members.ok() && Package(members.value()).isOne();
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostJsonBytes) return false;
  std::ifstream file(path, std::ios::binary);
  if ((file >> std::ws).peek() != '{') return false;
  const auto text = readTextFile(path);
  return text.ok() && (isMappings(text.value()) || isInformation(text.value()));
}

Result<InductorBuild> readInductorBuild(const std::filesystem::path& path) {
  auto build = readFrom(path);
  if (build.ok()) return build;
  Diagnostic error = std::move(build).error();
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

}  // namespace fusescope
