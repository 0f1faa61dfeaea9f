#include "compilers/probed/kept_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <utility>

#include "base/elapsed.h"
#include "base/files.h"
#include "base/json_fields.h"
#include "base/version.h"
#include "compilers/probed/handed_digest.h"
#include "compilers/probed/network_digests.h"
#include "probe/answer_folder.h"
#include "probe/file_names.h"
#include "probe/frames.h"
#include "probe/probe_archive.h"
#include "probe/sha256.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCompile = "compile";
/// The field of a request that says that inner values will be asked for.
constexpr const char* kValues = "values";
constexpr std::array kKeptOps{"support", kCompile, kValues, "optimisers"};
/// The most bytes of files that are kept with an answer.
constexpr std::uintmax_t kMostAnswer = std::uintmax_t{1} << 30;

/// How long hashing the compiler's code may take after the compiler was opened: before a question is asked without
/// looking for a kept answer, and before an answer is kept.
constexpr std::chrono::milliseconds kShortWait{2000}, kLongWait{10000};

struct AnswerFile {
  std::string name;
  std::uint64_t size = 0;
};

/// Returns a line of JSON, followed by the bytes of all files; nothing if the files are too large or cannot be read.
std::optional<std::string> bytesOf(const ProbeAnswer& answer, const Json& digests) {
  Json files = Json::array();
  std::string body;
  std::uintmax_t size = 0;
  for (const auto& [name, path] : answer.files) {
    std::error_code failed;
    size += fs::file_size(path, failed);
    if (failed || size > kMostAnswer) return std::nullopt;
    auto text = readTextFile(path);
    if (!text.ok()) return std::nullopt;
    files.push_back({{"name", name}, {"size", text.value().size()}});
    body += text.value();
  }
  Json head{{"json", answer.json}, {"files", std::move(files)}};
  if (!digests.is_null()) head["network"] = digests;
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + body;
}

/// Returns whether an option names a file, such as one of kernel times. The contents of the file are not part of the
/// key, and the compiler may write the file.
bool namesFile(const Json& request) {
  const Json options = request.value("options", Json::object());
  return std::ranges::any_of(options, [](const Json& option) {
    return option.is_string() && option.get_ref<const std::string&>().starts_with('/');
  });
}

}  // namespace

bool isKeptOp(std::string_view op) {
  return std::ranges::find(kKeptOps, op) != kKeptOps.end();
}

std::string keyBytes(const Json& key) {
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> answerKey(KeptStore& store, const AnswerContext& context, const ProbeRequest& request,
                       const KeyParts& parts, const StopToken& stop) {
  Json files = Json::object();
  for (const auto& [name, path] : request.files) files[name] = TRY(handedSha256(store, path, stop));
  Json asked = request.json;
  asked.erase("op");
  asked.erase(kNextThreads);
  Json environment = context.environment;
  environment["code"] = parts.code;
  return Json{{"format", "fusescope.answer.2"}, {"op", textOf(request.json, "op")}, {"compiler", context.compiler},
              {"version", context.version},     {"network", std::move(files)},      {"request", std::move(asked)},
              {"environment", environment},     {"probe", probeVersion()},          {"after", parts.after}};
}

std::vector<Json> keysServing(const Json& key) {
  std::vector<Json> keys{key};
  if (textOf(key, "op") != kCompile || key["request"].contains(kValues)) return keys;
  keys.push_back(key);
  keys.back()["request"][kValues] = true;
  return keys;
}

Json digestsKeptWith(std::string_view bytes) {
  const Json head = Json::parse(bytes.substr(0, bytes.find('\n')), nullptr, false);
  return head.is_object() ? head.value("network", Json()) : Json();
}

KeptJob::~KeptJob() {
  if (!m_waiting.empty()) knowsCode(kLongWait, {});
}

Result<ProbeAnswer> KeptJob::ask(const ProbeRequest& request, const StopToken& stop, const Progress& progress) {
  TRY(checkStop(stop));
  const std::string op = textOf(request.json, "op");
  if (!isKeptOp(op) || m_namesFile || namesFile(request.json)) {
    m_namesFile |= op == kCompile;  // the answers to later questions about this compilation depend on that file as well
    return TRY(asked(request, stop, progress)).answer;
  }
  const Json begun = TRY(answerKey(m_store, m_context, request, {}, stop));
  const bool isKnown = knowsCode(kShortWait, stop);
  TRY(checkStop(stop));
  const Json key = complete(begun);
  if (op == kCompile) m_found.reset();
  if (isKnown)
    if (auto answer = found(request, key)) return std::move(*answer);
  // The network is hashed while the compiler works on it.
  auto digests = std::async(std::launch::async, [&request] { return networkDigests(request.files); });
  auto answered = TRY(asked(request, stop, progress));
  auto bytes = bytesOf(answered.answer, digests.get());
  if (!isKnown) {
    if (bytes || op == kCompile) m_waiting.push_back({begun, bytes ? std::move(*bytes) : std::string(), answered.ms});
    return std::move(answered.answer);
  }
  if (bytes) keep(key, *bytes, answered.ms);
  if (op == kCompile) m_after = sha256OfText(keyBytes(key));
  return std::move(answered.answer);
}

std::optional<ProbeAnswer> KeptJob::found(const ProbeRequest& request, const Json& key) {
  for (const Json& serving : keysServing(key)) {
    const auto kept = m_store.find(kAnswerKind, keyBytes(serving));
    if (!kept) continue;
    auto answer = restored(*kept);
    if (!answer.ok()) continue;
    if (textOf(request.json, "op") == kCompile) {
      m_notAsked = {request};
      if (serving["request"].contains(kValues)) m_notAsked.front().json[kValues] = true;
      m_after = sha256OfText(keyBytes(serving));
      m_found = Kept{.bytes = {}, .facts = kept->facts, .madeAt = kept->madeAt, .where = kept->where};
    }
    return std::move(answer).value();
  }
  return std::nullopt;
}

/// Returns the key with the hashes that are known by now.
Json KeptJob::complete(Json key) const {
  key["environment"]["code"] = m_code;
  key["after"] = m_after;
  return key;
}

/// Returns whether the hashes of the code are known. If they are, the answers that waited for them are kept.
bool KeptJob::knowsCode(std::chrono::milliseconds most, const StopToken& stop) {
  if (m_code.is_null()) m_code = m_context.code(most, stop);
  if (m_code.is_null()) return false;
  for (const Waiting& waiting : std::exchange(m_waiting, {})) {
    const Json key = complete(waiting.key);
    if (!waiting.bytes.empty()) keep(key, waiting.bytes, waiting.ms);
    if (textOf(key, "op") == kCompile) m_after = sha256OfText(keyBytes(key));
  }
  return true;
}

/// Asks the live process. Before that, the process compiles the networks for which kept answers were found, because
/// later questions are about them.
Result<KeptJob::Asked> KeptJob::asked(const ProbeRequest& request, const StopToken& stop, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  if (m_live == nullptr) m_live = TRY(m_context.start(stop));
  if (textOf(request.json, "op") != kCompile)
    for (const ProbeRequest& before : m_notAsked) TRY(m_live->ask(before, stop, progress));
  auto answer = TRY(m_live->ask(request, stop, progress));
  m_notAsked.clear();
  return Asked{std::move(answer), msSince(start)};
}

void KeptJob::keep(const Json& key, std::string_view bytes, double ms) {
  if (!m_context.isWitnessValid()) return;
  m_store.keep({.kind = kAnswerKind,
                .about = fmt::format("{}: {}", m_context.about, textOf(key, "op")),
                .madeBy = std::string(kFusescopeVersion),
                .madeMs = ms},
               keyBytes(key), bytes);
}

Result<ProbeAnswer> KeptJob::restored(const Kept& kept) {
  const std::size_t end = kept.bytes.find('\n');
  const Diagnostic wrong{.message = "the cached entry is not an answer"};
  if (end == std::string::npos) return wrong;
  const Json head = Json::parse(std::string_view(kept.bytes).substr(0, end), nullptr, false);
  std::vector<AnswerFile> files;
  JsonFields fields(head);
  fields.require("json").require("files").parseList("files", files, [](const Json& json) {
    AnswerFile file;
    JsonFields of(json);
    of.require("name").read("name", file.name).require("size").read("size", file.size);
    return of.result(std::move(file));
  });
  if (fields.error()) return *fields.error();
  ProbeAnswer answer{.json = head["json"], .files = {}};
  auto folder = TRY(answerFolder());
  std::string_view body = std::string_view(kept.bytes).substr(end + 1);
  for (const AnswerFile& file : files) {
    if (!isSafeFileName(file.name) || file.size > body.size()) return wrong;
    const fs::path path = folder / file.name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    const std::string_view bytes = body.substr(0, file.size);
    const std::array pieces{std::as_bytes(std::span(bytes.data(), bytes.size()))};
    TRY(writePiecesAtomically(path, pieces));
    answer.files.emplace(file.name, path);
    body.remove_prefix(file.size);
  }
  if (!body.empty()) return wrong;
  m_folders.push_back(std::move(folder));
  return answer;
}

}  // namespace fusescope
