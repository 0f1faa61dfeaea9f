#include "frontends/torch/kept_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/files.h"
#include "base/json_fields.h"
#include "base/user_json.h"

namespace fusescope {
namespace fs = std::filesystem;

namespace {

constexpr const char* kMadeFile = "made.json";
constexpr const char* kMadeFormat = "fusescope.made_network";
constexpr std::size_t kHashDigits = 32;
/// The limit for all stored networks. If there are more, those that were made or used longest ago are removed.
constexpr std::uint64_t kMostKeptBytes = std::uint64_t{32} << 30;

Result<fs::path> programsFolder() {
  return TRY(cacheFolder()) / "programs";
}

Result<fs::path> folderOf(const Hash128& program) {
  return TRY(programsFolder()) / program.hex();
}

Status makeFolder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return Diagnostic{.message = failed.message(), .where = {.file = folder.string()}};
  return Done{};
}

/// A file of a stored network, as listed in made.json.
struct KeptFile {
  std::string name, hash;
  std::int64_t bytes = 0;
};

Result<KeptFile> keptFileFromJson(const Json& json) {
  KeptFile file;
  JsonFields fields(json);
  fields.require("name").read("name", file.name);
  fields.require("hash").read("hash", file.hash);
  fields.require("bytes").read("bytes", file.bytes);
  return fields.result(std::move(file));
}

Json boundJson(const std::optional<std::int64_t>& bound) {
  return bound ? Json(*bound) : Json();
}

Result<MadeExtent> extentFromJson(const Json& json) {
  MadeExtent extent;
  JsonFields fields(json);
  fields.require("symbol").read("symbol", extent.symbol).require("name").read("name", extent.name);
  fields.readCount("min", extent.least).readCount("max", extent.most);
  return fields.result(std::move(extent));
}

Result<MadeNode> nodeFromJson(const Json& json) {
  MadeNode node;
  JsonFields fields(json);
  fields.require("node").read("node", node.name).require("from").read("from", node.from);
  fields.read("module", node.module).read("trace", node.trace);
  return fields.result(std::move(node));
}

Status checkFile(const fs::path& path, const KeptFile& wanted) {
  if (fs::path(wanted.name).filename() != wanted.name)
    return Diagnostic{.message = "is outside of its folder", .where = {.file = path.string()}};
  const auto file = TRY(MappedFile::open(path));
  const bool isSame =
      static_cast<std::int64_t>(file->bytes().size()) == wanted.bytes && hashBytes(file->bytes()).hex() == wanted.hash;
  TRY(file->checkIntact());
  if (isSame) return Done{};
  return Diagnostic{.message = "is not what was written", .where = {.file = path.string()}};
}

/// Reads a stored network. The error says why it cannot be used.
Result<KeptNetwork> readKept(const fs::path& folder) {
  const fs::path path = folder / kMadeFile;
  const auto located = [&](Diagnostic error) {
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  };
  auto made = parseUserJson(TRY(readTextFile(path)));
  if (!made.ok()) return located(made.error());
  if (const auto known = checkFormat(made.value(), "a network that torch made", kMadeFormat, kMadeNetworkVersion);
      !known.ok())
    return located(known.error());
  int version = 0;
  std::vector<KeptFile> files;
  JsonFields fields(made.value());
  fields.require("version").read("version", version);
  fields.require("files").parseList("files", files, keptFileFromJson);
  auto network = madeNetworkFromJson(made.value());
  if (fields.error() || !network.ok()) return located(fields.error() ? *fields.error() : network.error());
  if (version != kMadeNetworkVersion)
    return located({.message = fmt::format(
                        "was made by another version of Fusescope: its version is {}, and this one reads version {}",
                        version, kMadeNetworkVersion)});
  if (std::ranges::find(files, kMadeNetwork, &KeptFile::name) == files.end())
    return located({.message = fmt::format("contains no {}", kMadeNetwork)});
  for (const KeptFile& file : files) TRY(checkFile(folder / file.name, file));
  return KeptNetwork{.network = folder / kMadeNetwork, .made = std::move(network).value()};
}

/// Returns when a network was made or used; of two networks of a program, the later one is opened.
fs::file_time_type takenAt(const fs::path& folder) {
  std::error_code none;
  return fs::last_write_time(folder, none);
}

void touch(const fs::path& folder) {
  std::error_code none;
  fs::last_write_time(folder, fs::file_time_type::clock::now(), none);
}

std::vector<fs::path> foldersIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().filename().string().size() == kHashDigits) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

std::uint64_t bytesIn(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (const auto size = entry.file_size(none); !none) bytes += size;
  return bytes;
}

/// Removes the networks that were used longest ago until the others are at most kMostKeptBytes. `last` stays.
void removeOldest(const fs::path& programs, const fs::path& last) {
  struct Kept {
    fs::file_time_type when;
    fs::path folder;
    std::uint64_t bytes;
  };
  std::vector<Kept> all;
  std::uint64_t total = 0;
  for (const fs::path& program : foldersIn(programs))
    for (const fs::path& folder : foldersIn(program)) {
      all.push_back({takenAt(folder), folder, bytesIn(folder)});
      total += all.back().bytes;
    }
  std::ranges::sort(all, {}, &Kept::when);
  for (const Kept& kept : all) {
    if (total <= kMostKeptBytes) return;
    if (kept.folder == last) continue;
    std::error_code none;
    fs::remove_all(kept.folder, none);
    total -= kept.bytes;
  }
}

Result<Json> filesIn(const fs::path& folder) {
  Json files = Json::array();
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const auto file = TRY(MappedFile::open(entry.path()));
    files.push_back({{"name", entry.path().filename().string()},
                     {"bytes", file->bytes().size()},
                     {"hash", hashBytes(file->bytes()).hex()}});
    TRY(file->checkIntact());
  }
  if (failed) return Diagnostic{.message = failed.message(), .where = {.file = folder.string()}};
  return files;
}

}  // namespace

std::int64_t MadeNetwork::nodesWithKnownOrigin() const {
  return std::ranges::count_if(nodes, [](const MadeNode& node) { return !node.from.empty(); });
}

Json toJson(const MadeNetwork& made) {
  Json json = {{kTorchVersion, made.torch},       {"onnx", made.onnx},       {"onnxscript", made.onnxscript},
               {"environment", made.environment}, {"opset", made.opset},     {"names", Json(made.names)},
               {"inputs", made.inputs},           {"outputs", made.outputs}, {"symbols", Json::array()},
               {"nodes", Json::array()}};
  for (const MadeExtent& each : made.extents)
    json["symbols"].push_back(
        {{"symbol", each.symbol}, {"name", each.name}, {"min", boundJson(each.least)}, {"max", boundJson(each.most)}});
  for (const MadeNode& each : made.nodes)
    json["nodes"].push_back({{"node", each.name}, {"from", each.from}, {"module", each.module}, {"trace", each.trace}});
  return json;
}

Result<MadeNetwork> madeNetworkFromJson(const Json& json) {
  MadeNetwork made;
  JsonFields fields(json);
  for (const char* key : {"torch", "onnx", "onnxscript", "opset", "inputs", "outputs", "symbols", "nodes"})
    fields.require(key);
  fields.read("torch", made.torch).read("onnx", made.onnx).read("onnxscript", made.onnxscript);
  fields.read("environment", made.environment).read("opset", made.opset).read("names", made.names);
  fields.read("inputs", made.inputs).read("outputs", made.outputs);
  fields.parseList("symbols", made.extents, extentFromJson).parseList("nodes", made.nodes, nodeFromJson);
  return fields.result(std::move(made));
}

Result<Hash128> programHash(const MappedFile& program) {
  const Hash128 hash = hashBytes(program.bytes());
  TRY(program.checkIntact());
  return hash;
}

void noteUse(const KeptNetwork& kept) {
  touch(kept.network.parent_path());
}

KeptNetworks findKeptNetworks(const Hash128& program, const std::map<std::string, std::string>* names) {
  KeptNetworks found;
  const auto folder = folderOf(program);
  if (!folder.ok()) return found;
  for (const fs::path& each : foldersIn(folder.value())) {
    auto kept = readKept(each);
    if (!kept.ok()) {
      found.unusable.push_back(kept.error().text());
    } else if (names != nullptr && kept.value().made.names != *names) {
      continue;
    } else if (!found.newest || takenAt(each) > takenAt(found.newest->network.parent_path())) {
      found.newest = std::move(kept).value();
    }
  }
  return found;
}

std::optional<KeptNetwork> takeKeptNetwork(const Hash128& program, const Hash128& key) {
  const auto programs = folderOf(program);
  if (!programs.ok()) return {};
  const fs::path folder = programs.value() / key.hex();
  auto kept = readKept(folder);
  if (!kept.ok()) return {};
  touch(folder);
  return std::move(kept).value();
}

Result<TemporaryFolder> folderForNetwork() {
  const fs::path folder = TRY(programsFolder());
  TRY(makeFolder(folder));
  return TemporaryFolder::in(folder, "fusescope-network");
}

Result<KeptNetwork> keepNetwork(const Hash128& program, const Hash128& key, const fs::path& folder,
                                const MadeNetwork& made) {
  const fs::path place = TRY(folderOf(program)) / key.hex();
  TRY(makeFolder(place.parent_path()));
  Json json = {{"format", kMadeFormat}, {"version", kMadeNetworkVersion}};
  json.update(toJson(made));
  json["files"] = TRY(filesIn(folder));
  TRY(writeFileAtomically(folder / kMadeFile, json.dump(1)));
  const fs::path before = fs::path(folder).replace_extension(".before");
  std::error_code failed;
  fs::rename(place, before, failed);  // it may not exist
  fs::rename(folder, place, failed);
  if (failed) {
    if (auto there = readKept(place); there.ok()) return there;  // another process was first
    std::error_code none;
    fs::rename(before, place, none);
    return Diagnostic{.message = failed.message(), .where = {.file = place.string()}};
  }
  touch(place);
  removeOldest(place.parent_path().parent_path(), place);
  return readKept(place);
}

}  // namespace fusescope
