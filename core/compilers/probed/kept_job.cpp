#include "compilers/probed/kept_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <tuple>
#include <utility>

#include "base/deferred_file.h"
#include "base/elapsed.h"
#include "base/version.h"
#include "compilers/probed/handed_digest.h"
#include "compilers/probed/kept_entry.h"
#include "compilers/probed/network_digests.h"
#include "probe/frames.h"
#include "probe/probe_archive.h"
#include "probe/sha256.h"

namespace fusescope {
namespace {

constexpr const char* kCompile = "compile";
/// The field of a request that says that inner values will be asked for.
constexpr const char* kValues = "values";
/// The op in keys of results that were calculated from answers (ProbeJob::evaluated()).
constexpr const char* kEvaluate = "evaluate";
/// The field of a request that names values that become additional outputs.
constexpr const char* kMark = "mark";
/// The member of an entry's first line with the hashes of the parts of the network (networkDigests()).
constexpr const char* kDigests = "network";
constexpr std::array kKeptOps{"support", kCompile, "optimisers"};
/// How long hashing the compiler's code may take after the compiler was opened: before a question is asked without
/// looking for a kept answer, and before an answer is kept.
constexpr std::chrono::milliseconds kShortWait{2000}, kLongWait{10000};

/// Milliseconds of a compilation after which saving what it compiled is a small part of it, so that it is saved
/// although nobody asked to run it.
constexpr double kLongCompilation = 10'000;

/// Returns the member of an entry's first line with the hashes of the parts of the network.
Json digestsOf(const ProbeRequest& request) {
  Json digests = networkDigests(request.files);
  return digests.is_null() ? Json::object() : Json{{kDigests, std::move(digests)}};
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
  const Json head = headOf(bytes);
  return head.is_object() ? head.value(kDigests, Json()) : Json();
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
  const Json key = TRY(keyOf(request, stop));
  if (op == kCompile) forgetFound();
  if (!m_code.is_null())
    if (auto answer = found(request, key)) return std::move(*answer);
  Asked answered = TRY(askedAndKept(request, key, stop, progress));
  if (op == kCompile && answered.answerMs >= kLongCompilation)
    std::ignore = TRY(save(request, key, answered, stop, progress));
  return std::move(answered.answer);
}

Result<ProbeAnswer> KeptJob::askToHold(const ProbeRequest& request, const StopToken& stop, const Progress& progress) {
  m_namesFile = namesFile(request.json);
  if (m_namesFile || request.json.contains(kValues) || request.json.contains(kMark))
    return TRY(asked(request, stop, progress)).answer;
  // The compiler is imported while the network is hashed and looked up.
  auto starting = std::async(std::launch::async, [&] { return m_live ? Status(Done{}) : start(stop); });
  auto hashed = keyOf(request, stop);
  const Status written = writeDeferred(request.files);
  TRY(starting.get());
  TRY(written);
  const Json key = TRY(std::move(hashed));
  forgetFound();
  auto known = m_code.is_null() ? std::nullopt : found(request, key);
  if (known && TRY(load(request, key, stop, progress))) return std::move(*known);
  m_found.reset();
  m_notAsked.clear();
  Asked answered = TRY(known ? asked(request, stop, progress) : askedAndKept(request, key, stop, progress));
  const bool isSaved = TRY(save(request, key, answered, stop, progress));
  // The kept answer has to be about the network that was saved: a compiler may make something else each time.
  if (isSaved && known)
    if (const auto bytes = entryOf(answered.answer, digestsOf(request))) keep(key, *bytes, answered.ms);
  return std::move(answered.answer);
}

/// Returns the key of the answer. The hashes of the code are missing in it if they are not known soon.
Result<Json> KeptJob::keyOf(const ProbeRequest& request, const StopToken& stop) {
  const Json begun = TRY(answerKey(m_store, m_context, request, {}, stop));
  knowsCode(kShortWait, stop);
  TRY(checkStop(stop));
  return complete(begun);
}

/// Asks the live process, and keeps its answer, or lets it wait for the hashes of the code.
Result<KeptJob::Asked> KeptJob::askedAndKept(const ProbeRequest& request, const Json& key, const StopToken& stop,
                                             const Progress& progress) {
  const bool isKnown = !m_code.is_null();
  // The network is hashed while the compiler works on it.
  auto digests = std::async(std::launch::async, [&request] { return digestsOf(request); });
  Asked answered = TRY(asked(request, stop, progress));
  keepNowOrLater(key, isKnown, entryOf(answered.answer, digests.get()), answered.ms);
  return answered;
}

/// Keeps an entry, which is nothing for an answer that cannot be kept. If the hashes of the code were not known when
/// the question was asked, its key lacks them, and the entry waits for them.
void KeptJob::keepNowOrLater(const Json& key, bool isCodeKnown, std::optional<std::string> bytes, double ms) {
  const bool isCompilation = textOf(key, "op") == kCompile;
  if (!isCodeKnown) {
    if (bytes || isCompilation) m_waiting.push_back({key, std::move(bytes), ms});
    return;
  }
  if (bytes) keep(key, *bytes, ms);
  if (isCompilation) m_after = sha256OfText(keyBytes(key));
}

/// Lets the live process load what `request` compiled earlier. Returns whether it did.
Result<bool> KeptJob::load(const ProbeRequest& request, const Json& key, const StopToken& stop,
                           const Progress& progress) {
  m_compiled.emplace(m_store, key, fmt::format("{}: compiled", m_context.about));
  if (!TRY(m_compiled->loadInto(*m_live, request, stop, progress))) return false;
  m_notAsked.clear();
  return true;
}

/// Keeps what the live process has compiled, if that is worth it, and returns whether it did. Nothing is kept without
/// the hashes of the code.
Result<bool> KeptJob::save(const ProbeRequest& request, const Json& key, const Asked& compiled, const StopToken& stop,
                           const Progress& progress) {
  if (m_code.is_null() || !m_context.isWitnessValid()) return false;
  if (!m_compiled) m_compiled.emplace(m_store, key, fmt::format("{}: compiled", m_context.about));
  return m_compiled->saveFrom(*m_live, request, compiled.answerMs, stop, progress);
}

void KeptJob::forgetFound() {
  m_found.reset();
  m_compiled.reset();
}

Status KeptJob::start(const StopToken& stop) {
  m_live = TRY(m_context.start(stop));
  return Done{};
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

/// Returns the key of what is calculated from the answers to these questions.
Result<Json> KeptJob::keyOf(const std::vector<ProbeRequest>& questions, const std::string& what,
                            const StopToken& stop) {
  Json key;
  for (const ProbeRequest& question : questions) {
    Json asked = TRY(keyOf(question, stop));
    if (key.is_null()) key = asked;
    key["questions"].push_back({std::move(asked["request"]), std::move(asked["network"])});
  }
  key["op"] = kEvaluate;
  key["what"] = what;
  return key;
}

Result<Json> KeptJob::evaluated(const std::vector<ProbeRequest>& questions, const AnswerEvaluation& evaluation,
                                const StopToken& stop) {
  const Json key = m_namesFile ? Json() : TRY(keyOf(questions, evaluation.what, stop));
  const bool isKnown = !m_namesFile && !m_code.is_null();
  if (const auto kept = isKnown ? m_store.find(kAnswerKind, keyBytes(key)) : std::nullopt)
    if (Json head = headOf(kept->bytes); head.is_object() && head.contains("json")) return std::move(head["json"]);
  const auto begin = std::chrono::steady_clock::now();
  for (const ProbeRequest& question : questions) TRY(evaluation.take(TRY(asked(question, stop, {})).answer));
  Json result = TRY(evaluation.result());
  if (!m_namesFile)
    keepNowOrLater(key, isKnown, entryOf({.json = result, .files = {}}, Json::object()), msSince(begin));
  return result;
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
  for (Waiting& waiting : std::exchange(m_waiting, {}))
    keepNowOrLater(complete(waiting.key), true, std::move(waiting.bytes), waiting.ms);
  return true;
}

/// Asks the live process. Before that, the process compiles the networks for which kept answers were found, because
/// later questions are about them.
Result<KeptJob::Asked> KeptJob::asked(const ProbeRequest& request, const StopToken& stop, const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  if (m_live == nullptr || !m_live->isThere()) {
    // The compiler is imported while files are written that nothing needed so far.
    auto written = std::async(std::launch::async, [&request] { return writeDeferred(request.files); });
    const Status started = start(stop);
    TRY(written.get());
    TRY(started);
  }
  if (textOf(request.json, "op") != kCompile)
    for (const ProbeRequest& before : m_notAsked) TRY(m_live->ask(before, stop, progress));
  const auto question = std::chrono::steady_clock::now();
  auto answer = TRY(m_live->ask(request, stop, progress));
  m_notAsked.clear();
  return Asked{std::move(answer), msSince(begin), msSince(question)};
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
  RestoredAnswer restored = TRY(restoredAnswer(kept.bytes));
  m_folders.push_back(std::move(restored.folder));
  return std::move(restored.answer);
}

}  // namespace fusescope
