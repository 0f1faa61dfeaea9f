#include "engine/engine_file.h"

#include <array>
#include <cstring>
#include <future>
#include <unordered_map>

#include "base/files.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "base/untrusted_json.h"
#include "base/version.h"
#include "engine/carried_examples.h"
#include "engine/description/described_model.h"
#include "engine/description/graph_io.h"
#include "engine/description/model_io.h"
#include "engine/description/tactic_json.h"
#include "engine/tactics/tactic_chooser.h"
#include "ir/graph.h"
#include "planning/plan_json.h"
#include "planning/plan_options_json.h"

namespace fusescope {
namespace {

constexpr std::array<char, 8> kMagic{'F', 'S', 'E', 'N', 'G', 'I', 'N', 'E'};
constexpr std::uint32_t kFormatVersion = 1;
// The version of the description. In version 1, times may come from the emulator and are not read. Before version 3,
// tactics refer to their fused nodes by name only, and bodies have no names. Before version 4, tactics are names, and
// there is no fingerprint. Before version 5, only decisions say how the nodes of the file were read (model_io.cpp).
constexpr int kDescriptionVersion = 5;
constexpr int kFirstWithTrueTimes = 2;
constexpr const char* kExamples = "example_inputs";
constexpr const char* kTimesOf = "times_with_weights_of";
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::size_t kAlignment = 64;

/// The first 64 bytes of an engine file.
struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kFormatVersion;
  std::uint32_t byteOrder = kByteOrder;
  std::uint64_t metaBytes = 0;  ///< the number of bytes of the description, which begins at byte 64
  std::uint64_t weightsOffset = 0;
  std::uint64_t weightsBytes = 0;
  std::uint64_t reserved = 0;
  std::uint64_t metaHashHigh = 0, metaHashLow = 0;
};
static_assert(sizeof(Header) == kAlignment);

Diagnostic badFile(const std::filesystem::path& path, std::string message) {
  return {.message = std::move(message), .where = {.file = path.string()}};
}

Json tacticsToJson(const std::vector<TacticChoice>& tactics) {
  Json json = Json::array();
  for (const TacticChoice& choice : tactics) {
    Json candidates = Json::array();
    for (const TacticTime& candidate : choice.candidates)
      candidates.push_back({{"name", candidate.name}, {"ms", candidate.ms ? jsonNumber(*candidate.ms) : Json()}});
    json.push_back({{"fused_node", choice.fusedNode},
                    {"identity", choice.identity.hex()},
                    {"chosen", choice.chosen},
                    {"tactic", choice.tactic ? toJson(*choice.tactic) : Json()},
                    {"candidates", candidates}});
  }
  return json;
}

struct KnownNode {
  std::string name;
  Hash128 identity;
};
using KnownNodes = std::unordered_map<std::string, KnownNode>;  ///< by identity, or by name in old files

void addKnown(const Plan& plan, const BodyPath& path, KnownNodes& known) {
  const auto nodeOf = [&](const FusedNode& fused) {
    return KnownNode{path.of(fused.name), tacticIdentity(path, fused)};
  };
  for (const FusedNode& fused : plan.fusedNodes) known[nodeOf(fused).identity.hex()] = nodeOf(fused);
  for (const FusedNode& fused : plan.fusedNodes) known.emplace(path.of(fused.name), nodeOf(fused));
  for (const CoverBody& body : plan.bodies)
    addKnown(plannedBody(body), path.into(plan.graph().node(body.holder).name, body.attribute), known);
}

/// Returns the tactics of the fused nodes that `plan` has. Tactics of other fused nodes cannot be used.
std::vector<TacticChoice> tacticsFromJson(const Json& json, const Plan& plan, bool believeTimes) {
  KnownNodes known;
  addKnown(plan, {}, known);
  std::vector<TacticChoice> tactics;
  for (const Json& entry : json) {
    const auto found = known.find(entry.at(entry.contains("identity") ? "identity" : "fused_node").get<std::string>());
    if (found == known.end()) continue;
    TacticChoice choice{.fusedNode = found->second.name,
                        .identity = found->second.identity,
                        .chosen = entry.at("chosen").get<std::string>()};
    if (entry.contains("tactic") && !entry.at("tactic").is_null()) choice.tactic = tacticFromJson(entry.at("tactic"));
    for (const Json& candidate : entry.at("candidates")) {
      TacticTime time{.name = candidate.at("name").get<std::string>()};
      if (believeTimes && candidate.at("ms").is_number()) time.ms = candidate.at("ms").get<double>();
      choice.candidates.push_back(std::move(time));
    }
    tactics.push_back(std::move(choice));
  }
  return tactics;
}

/// Returns the read-back plan, or null if it does not fit the plan, which was made again by other rules.
std::shared_ptr<const ReadBackPlan> madeOf(const Json& meta, const std::shared_ptr<const Plan>& plan) {
  if (!meta.contains("made")) return nullptr;
  auto made = readBackPlanFromJson(meta.at("made"), plan);
  return made.ok() ? std::move(made).value() : nullptr;
}

/// The JSON of what stands before the model, and behind it.
std::pair<Json, Json> metaAround(const EngineFile& content) {
  const Plan& plan = *content.plan;
  Json before{{"format", "fusescope.engine"}, {"version", kDescriptionVersion},     {"fusescope", kFusescopeVersion},
              {"backend", content.backend},   {"fingerprint", content.fingerprint}, {"extents", content.extents}};
  Json behind{{"options", toJson(plan.options)},
              {"plan_hash", plan.hash.hex()},
              {"plan", toJson(plan)},
              {"tactics", tacticsToJson(content.tactics)}};
  if (content.made != nullptr) behind["made"] = toJson(*content.made);
  if (!content.timesWithWeightsOf.empty()) behind[kTimesOf] = content.timesWithWeightsOf;
  // If the examples cannot be read, the engine is stored without them, because nothing else depends on them.
  if (const auto examples = carriedExamplesText(*unquantized(plan.model)); examples.ok() && !examples.value().empty())
    if (Json parsed = Json::parse(examples.value(), nullptr, false); parsed.is_object())
      behind[kExamples] = std::move(parsed);
  return {std::move(before), std::move(behind)};
}

/// The description of an engine, which is one JSON object, and the weights to which it refers.
struct Description {
  std::string text;
  DescribedModel model;
};

/// The weights are hashed for the description of the model, while everything else is described.
Description described(const EngineFile& content) {
  auto model = std::async(std::launch::async | std::launch::deferred,
                          [&] { return describedModel(unquantized(content.plan->model)); });
  const auto [before, behind] = metaAround(content);
  Description made;
  made.text = before.dump();
  made.text.back() = ',';
  const std::string rest = behind.dump();
  made.model = model.get();
  made.text += "\"model\":" + made.model.text + "," + rest.substr(1);
  return made;
}

Result<Header> readHeader(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return badFile(path, "is not a Fusescope engine file");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.byteOrder != kByteOrder) return badFile(path, "was written on a machine of another byte order");
  if (header.version != kFormatVersion)
    return Diagnostic{.message = "is an engine file of version " + std::to_string(header.version) +
                                 "; this Fusescope reads " + std::to_string(kFormatVersion),
                      .where = {.file = path.string()},
                      .help = "Build the engine again from its model."};
  const std::uint64_t size = bytes.size();
  const bool fits = header.metaBytes <= size - sizeof header && header.weightsOffset % kAlignment == 0 &&
                    header.weightsOffset >= sizeof header + header.metaBytes && header.weightsOffset <= size &&
                    header.weightsBytes == size - header.weightsOffset;
  if (!fits) return badFile(path, "is truncated or damaged: its size is not what its header says");
  const Hash128 hash = hashBytes(bytes.subspan(sizeof header, header.metaBytes));
  if (hash != Hash128{header.metaHashHigh, header.metaHashLow})
    return badFile(path, "is damaged: its description does not match its checksum");
  return header;
}

/// Plans the stored graph again with the options of the stored plan. If the result differs, because rules or
/// capabilities have changed, the new plan is used, and a decision says so, because kernels and casts depend on it.
Result<std::shared_ptr<const Plan>> restorePlan(const Json& meta, const std::shared_ptr<const Model>& model) {
  const auto plan = TRY(remakePlan(model, meta.at("plan")));
  const std::vector<std::string> different = differingParts(meta.at("plan"), toJson(*plan));
  if (different.empty()) return plan;
  Plan replanned = *plan;
  replanned.decisions.push_back(
      decide("build.replanned", {}, "engine_file",
             {{"version", meta.at("fusescope").get<std::string>()}, {"parts", joined(different)}}));
  return std::make_shared<const Plan>(std::move(replanned));
}

/// Returns whether the network in the file is that of `known`.
bool isOfModel(const Json& meta, const Model& known) {
  return meta.at("model").at("content_hash").get<std::string>() == known.contentHash.hex();
}

Result<EngineFile> contentOf(const Json& meta, const WeightBlobReader& weights,
                             const std::shared_ptr<const Model>& known) {
  EngineFile content;
  content.backend = meta.at("backend").get<std::string>();
  content.fusescopeVersion = meta.at("fusescope").get<std::string>();
  content.fingerprint = meta.value("fingerprint", std::string());
  content.extents = meta.at("extents").get<std::map<std::string, Dims>>();
  const bool isKnown = known != nullptr && isOfModel(meta, *known);
  const auto model = isKnown ? known : TRY(modelFromJson(meta.at("model"), weights, meta.at("version").get<int>()));
  content.plan = TRY(restorePlan(meta, model));
  content.made = madeOf(meta, content.plan);
  content.tactics = tacticsFromJson(meta.at("tactics"), *content.plan, meta.at("version") >= kFirstWithTrueTimes);
  content.timesWithWeightsOf = meta.value(kTimesOf, std::string());
  return content;
}

}  // namespace

Status writeEngineFile(const std::filesystem::path& path, const EngineFile& content) {
  Description description;
  try {
    description = described(content);
  } catch (const Json::exception& error) {
    return badFile(path, std::string("cannot be written: a name or attribute of the model is not valid text (") +
                             error.what() + ")");
  }
  const auto& [meta, model] = description;
  Header header{.metaBytes = meta.size(), .weightsBytes = model.weights.bytes()};
  const std::size_t metaEnd = sizeof header + meta.size();
  header.weightsOffset = (metaEnd + kAlignment - 1) / kAlignment * kAlignment;
  const Hash128 hash = hashText(meta);
  header.metaHashHigh = hash.high;
  header.metaHashLow = hash.low;
  const std::array<std::byte, kAlignment> padding{};

  std::vector<std::span<const std::byte>> pieces{std::as_bytes(std::span(&header, 1)),
                                                 std::as_bytes(std::span(meta.data(), meta.size())),
                                                 std::span(padding).first(header.weightsOffset - metaEnd)};
  pieces.insert(pieces.end(), model.weights.pieces().begin(), model.weights.pieces().end());
  const MappedFiles& files = content.plan->model->files;
  return writePiecesAtomically(
      path, pieces, [&] { return checkIntact(files); }, files);
}

/// Maps the file and checks its magic, version, sizes and checksums. The plan is made again from the stored graph and
/// options; if it differs from the stored plan, a decision says so (build.replanned).
Result<EngineFile> openEngineFile(const std::filesystem::path& path) {
  return openEngineFile(path, nullptr);
}

Result<EngineFile> openEngineFile(const std::filesystem::path& path, const std::shared_ptr<const Model>& known,
                                  WeightCheck check) {
  const auto file = TRY(MappedFile::open(path));
  const auto bytes = file->bytes();
  const Header header = TRY(readHeader(path, bytes));
  const WeightBlobReader weights(file, bytes.subspan(header.weightsOffset, header.weightsBytes), check);
  const auto text = bytes.subspan(sizeof header, header.metaBytes);
  try {
    const auto* begin = reinterpret_cast<const char*>(text.data());
    auto content = contentOf(Json::parse(begin, begin + text.size()), weights, known);
    TRY(file->checkIntact());
    if (content.ok()) {
      content.value().path = path;
      content.value().bytes = static_cast<std::int64_t>(bytes.size());
      return content;
    }
    Diagnostic error = content.error();
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  } catch (const Json::exception& error) {
    TRY(file->checkIntact());
    return badFile(path, std::string("is damaged: ") + error.what());
  }
}

bool isEngine(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

bool isEngineFile(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return file.ok() && isEngine(file.value()->bytes());
}

std::string engineExamplesText(std::span<const std::byte> bytes) {
  const auto header = readHeader({}, bytes);
  if (!header.ok()) return {};
  const auto meta = bytes.subspan(sizeof(Header), header.value().metaBytes);
  const std::string_view text(reinterpret_cast<const char*>(meta.data()), meta.size());
  // In JSON, quotes inside a string have a backslash, so that this text can only be found where it is a key.
  if (text.find(std::string("\"") + kExamples + "\":") == std::string_view::npos) return {};
  const Json json = untrustedJson(text);
  return json.is_object() && json.contains(kExamples) ? json.at(kExamples).dump() : std::string();
}

}  // namespace fusescope
