#include "compilers/probed/probed_compiler.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "backends/threads.h"
#include "base/elapsed.h"
#include "cache/process_store.h"
#include "compilers/probed/environment_choice.h"
#include "compilers/probed/handed_digest.h"
#include "compilers/probed/known_environment.h"
#include "compilers/probed/next_build.h"
#include "planning/plan_json.h"
#include "probe/frames.h"
#include "probe/job_file.h"
#include "probe/probe_archive.h"
#include "probe/witness.h"

namespace fusescope {
namespace {

/// How often a thread that waits for another one to open the compiler checks whether to stop.
constexpr std::chrono::milliseconds kLookAgain{20};

/// While a compiler is opened: how often the caller checks whether to stop, after how long it reports for the first
/// time that it is waiting, and how often it reports it again.
constexpr std::chrono::milliseconds kImportPause{50};
constexpr std::chrono::seconds kImportPatience{10}, kTellImportAgain{1};

/// The phase in which the network is written for the compiler.
constexpr std::string_view kHandOver = "hand over";

/// Returns the options for starting a listener, which imports this compiler in advance.
ProbeOptions optionsFor(const ProbedKind& kind) {
  const std::string name(kind.name());
  return {.ahead = {.compiler = name, .what = std::string(importedAhead(name))}};
}

/// Returns the error as a sentence. It does not name the option: the error that quotes the sentence does.
std::string inWords(Diagnostic error) {
  error.where.attribute.clear();
  const std::string text = error.text();
  return text.empty() || text.back() == '.' ? text : text + ".";
}

/// All compilers that are behind probes, by name.
struct Interned {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<ProbedCompiler>, std::less<>> compilers;
};

Interned& interned() {
  static Interned all;
  return all;
}

template <class Action>
void forEachInterned(Action action) {
  const std::scoped_lock lock(interned().mutex);
  for (const auto& [name, compiler] : interned().compilers) action(*compiler);
}

/// Returns whether the file of a result that was opened has changed since.
template <class Opened>
bool isOutdated(const Result<Opened>& opened) {
  if (!opened.ok() || !opened.value().recorded) return false;
  const FileIdentity& was = opened.value().recorded->file;
  const auto is = identityOf(was.path);
  return !is.ok() || !(is.value() == was);
}

}  // namespace

ProbedCompiler::ProbedCompiler(const ProbedKind& kind, std::string environment)
    : m_kind(kind),
      m_environment(std::move(environment)),
      m_name(std::string(kind.name()) + (m_environment.empty() ? "" : "@" + m_environment)) {}

Result<Environment> ProbedCompiler::environment(const StopToken& stop) const {
  if (!m_environment.empty()) return environmentNamed(m_environment);
  auto first = firstEnvironmentWith(m_kind.name(), stop, optionsFor(m_kind));
  if (first.ok() || first.error().cancelled) return first;
  Diagnostic nowhere = std::move(first).error();
  nowhere.help += " " + m_kind.elsewhere();
  return nowhere;
}

/// If the caller cancels, nothing is stored, and the next caller tries again.
Result<ProbedCompiler::Opened> ProbedCompiler::opened(const StopToken& stop) const {
  std::unique_lock lock(m_opening, std::defer_lock);
  while (!lock.try_lock_for(kLookAgain)) TRY(checkStop(stop));
  if (m_opened && !isOutdated(*m_opened)) return *m_opened;
  auto result = openNow(stop);
  if (!result.ok() && (result.error().cancelled || isJobResult(m_environment))) return result;
  return *(m_opened = std::move(result));
}

Result<ProbedCompiler::Opened> ProbedCompiler::openNow(const StopToken& stop) const {
  if (isJobResult(m_environment)) {
    RecordedJob recorded = TRY(readRecordedJob(m_environment, m_kind.name()));
    const JobResult result = TRY(openJobResult(m_environment));
    return Opened{.environment = {.name = m_environment, .command = m_environment},
                  .json = result.probe->opened(),
                  .recorded = std::move(recorded)};
  }
  KeptStore* const store = storeOfProcess();
  if (store == nullptr) return openLive(stop);
  if (auto known = TRY(openKnown(*store, stop))) return std::move(*known);
  const auto start = std::chrono::steady_clock::now();
  const Environment where = TRY(environment(stop));
  // The witness is requested before the compiler is opened, so that changes during opening are noticed. If there is no
  // answer, nothing is kept.
  auto asked = askWitness(where, m_kind.name(), stop, optionsFor(m_kind));
  if (!asked.ok() && asked.error().cancelled) return std::move(asked).error();
  Json witness = asked.ok() ? std::move(asked).value() : Json{{"why_not", asked.error().text()}};
  Opened hashing{};
  hashCode(*store, where, witness, hashing);
  Opened opened = TRY(openLive(stop));
  opened.witness = std::move(witness);
  opened.code = std::move(hashing.code);
  TRY(keepWhereItIs(*store, opened, msSince(start), stop));
  return opened;
}

Result<ProbedCompiler::Opened> ProbedCompiler::openLive(const StopToken& stop) const {
  Environment where = TRY(environment(stop));
  auto job = TRY(ProbeJob::start(where, m_kind.name(), stop, optionsFor(m_kind)));
  Opened opened{.environment = std::move(where), .json = job->opened(), .recorded = {}};
  giveBack(std::move(job));
  return opened;
}

Result<std::optional<ProbedCompiler::Opened>> ProbedCompiler::openKnown(KeptStore& store, const StopToken& stop) const {
  const std::vector<Environment> candidates =
      m_environment.empty() ? findEnvironments() : std::vector{TRY(environment(stop))};
  auto known = TRY(knownEnvironment(store, m_kind.name(), candidates, stop));
  if (!known) return std::optional<Opened>();
  Opened opened{.environment = std::move(known->environment),
                .json = std::move(known->opened),
                .recorded = {},
                .witness = std::move(known->witness)};
  hashCode(store, opened.environment, opened.witness, opened);
  return std::optional(std::move(opened));
}

/// Starts to hash the code of the compiler. This happens while the package is imported and the network is written.
void ProbedCompiler::hashCode(KeptStore& store, const Environment& environment, const Json& witness,
                              Opened& opened) const {
  if (fusescope::whyNotKept(witness).empty())
    opened.code = std::make_shared<CodeHashes>(store, environment, std::string(m_kind.name()), witness);
}

/// Stores the environment. If the user did not choose one, also stores that the environments before it do not contain
/// the compiler.
Status ProbedCompiler::keepWhereItIs(KeptStore& store, const Opened& opened, double ms, const StopToken& stop) const {
  keepEnvironment(store, m_kind.name(), opened.environment, opened.witness, opened.json, ms);
  if (!m_environment.empty()) return Done{};
  for (const Environment& before : findEnvironments()) {
    if (before == opened.environment) break;
    const auto witness = askWitness(before, m_kind.name(), stop);
    if (!witness.ok() && witness.error().cancelled) return witness.error();
    if (witness.ok()) keepEnvironment(store, m_kind.name(), before, witness.value(), nullptr, ms);
  }
  return Done{};
}

Result<std::string> ProbedCompiler::whyNotKept(const StopToken& stop) const {
  const Opened where = TRY(opened(stop));
  if (where.recorded) return std::string("Its answers come from the result of a job and are kept in that file.");
  const std::string why = fusescope::whyNotKept(where.witness);
  return why.empty() ? why : fmt::format("The answers of {} are not kept: {}.", m_name, why);
}

Result<std::unique_ptr<KeptJob>> ProbedCompiler::takeKeptJob(std::string_view about, const StopToken& stop) const {
  KeptStore* const store = storeOfProcess();
  if (store == nullptr || !TRY(whyNotKept(stop)).empty()) return std::unique_ptr<KeptJob>();
  return std::make_unique<KeptJob>(*store, TRY(answerContext(about, stop)));
}

Result<AnswerContext> ProbedCompiler::answerContext(std::string_view about, const StopToken& stop) const {
  const Opened where = TRY(opened(stop));
  const std::string version = textOf(where.json, "version");
  return AnswerContext{.about = fmt::format("{} {}, {}", m_name, version, about),
                       .compiler = std::string(m_kind.name()),
                       .version = version,
                       .environment = environmentFields(where.witness, where.json),
                       .opened = where.json,
                       .code = [code = where.code](std::chrono::milliseconds most,
                                                   const StopToken& stopped) { return code->wait(most, stopped); },
                       .start = [this](const StopToken& stopped) { return takeJob(stopped); },
                       .isWitnessValid =
                           [this, environment = where.environment, witness = where.witness] {
                             return fusescope::isWitnessValid(environment, m_kind.name(), witness, {});
                           }};
}

Result<std::optional<RecordedJob>> ProbedCompiler::recorded() const {
  if (!isJobResult(m_environment)) return std::optional<RecordedJob>();
  return TRY(opened({})).recorded;
}

std::string ProbedCompiler::device(const std::map<std::string, std::string>& options) const {
  const auto where = opened({});
  return m_kind.deviceOf(where.ok() ? where.value().json : Json(), options);
}

Status ProbedCompiler::awaitReady(const StopToken& stop, const Progress& progress) const {
  if (progress && !isJobResult(m_environment)) TRY(reportOpening(stop, progress));
  const auto where = opened(stop);
  if (!where.ok() && where.error().cancelled) return where.error();
  return Done{};
}

/// Opens the compiler on another thread, because progress must be reported on the caller's thread.
Status ProbedCompiler::reportOpening(const StopToken& stop, const Progress& progress) const {
  if (const std::unique_lock lock(m_opening, std::try_to_lock); lock.owns_lock() && m_opened) return Done{};
  std::promise<void> promise;
  const std::future<void> isOpened = promise.get_future();
  const std::jthread opening([&](const StopToken& stopped) {
    std::ignore = opened(stopped);
    promise.set_value();
  });
  const auto start = std::chrono::steady_clock::now();
  auto next = start + kImportPatience;
  while (isOpened.wait_for(kImportPause) == std::future_status::timeout) {
    TRY(checkStop(stop));
    const auto now = std::chrono::steady_clock::now();
    if (now < next) continue;
    next = now + kTellImportAgain;
    progress("wait", fmt::format("importing {} has taken {:.0f} s", m_kind.name(),
                                 std::chrono::duration<double>(now - start).count()));
  }
  return Done{};
}

int ProbedCompiler::threads(const BuildOptions& options) const {
  if (const auto there = recorded(); there.ok() && there.value()) return there.value()->threads;
  return options.threads > 0 ? options.threads : hardwareThreads();
}

Result<std::unique_ptr<ProbeJob>> ProbedCompiler::takeJob(const StopToken& stop) const {
  const Opened where = TRY(opened(stop));
  if (where.recorded) return std::move(TRY(openJobResult(m_environment)).probe);
  {
    const std::scoped_lock lock(m_idleMutex);
    if (std::unique_ptr<ProbeJob> job = std::move(m_idle); job != nullptr && job->isThere()) return job;
  }
  return ProbeJob::start(where.environment, m_kind.name(), stop, optionsFor(m_kind));
}

void ProbedCompiler::giveBack(std::unique_ptr<ProbeJob> job) const {
  const std::scoped_lock lock(m_idleMutex);
  if (m_idle == nullptr && !isJobResult(m_environment)) m_idle = std::move(job);
}

void ProbedCompiler::endIdleJob() const {
  {
    const std::scoped_lock lock(m_handedMutex);
    m_handed.reset();
  }
  const std::scoped_lock lock(m_idleMutex);
  m_idle.reset();
}

void ProbedCompiler::forget() const {
  endIdleJob();
  const std::scoped_lock lock(m_opening);
  m_opened.reset();
}

CompilerIdentity ProbedCompiler::identity() const {
  CompilerIdentity identity{.name = std::string(m_kind.name()), .version = {}, .environment = m_environment};
  const auto where = opened({});
  if (!where.ok()) return identity;
  identity.environment = where.value().environment.command;
  const auto version = where.value().json.find("version");
  if (version != where.value().json.end() && version->is_string()) identity.version = version->get<std::string>();
  return identity;
}

/// Keep is always possible, because our own engine file stores the plan and the read-back plan.
std::string ProbedCompiler::whyNot(Ability ability) const {
  const auto where = opened({});
  if (!where.ok()) return inWords(where.error());
  if (ability == Ability::Keep) return {};
  const std::string why = m_kind.whyNot(ability, where.value().json);
  return why.empty() && where.value().recorded ? where.value().recorded->whyNot(ability) : why;
}

std::string ProbedCompiler::writtenBy(const Plan& plan) const {
  return m_kind.inputTypesFor(plan) == CompilerInputTypes::AsInFile ? std::string() : printPlan(plan);
}

/// Returns the network that support() wrote, if it is the same one, since writing large networks takes long. It is
/// removed from this object and belongs to the caller.
Result<CompilerInput> ProbedCompiler::handed(std::shared_ptr<const Plan> plan, const BuildOptions& options) const {
  std::optional<Handed> known;
  {
    const std::scoped_lock lock(m_handedMutex);
    known.swap(m_handed);
  }
  if (!known || known->model.lock() != plan->model || known->plan != writtenBy(*plan)) {
    if (options.progress) options.progress(kHandOver, m_name);
    return makeCompilerInput(plan, m_kind.inputTypesFor(*plan), options.stop);
  }
  known->network.plan = std::move(plan);
  return std::move(known->network);
}

std::shared_ptr<void> ProbedCompiler::getReady() const {
  if (isJobResult(m_environment)) return nullptr;
  return std::make_shared<std::jthread>([this](const StopToken& stop) { std::ignore = opened(stop); });
}

/// Writes the network in advance, as for support(), while the package is imported. Weights that a compiler was asked
/// about before are left out: its answer may be kept, and then nothing reads them.
void ProbedCompiler::lowerAhead(std::shared_ptr<const Plan> plan, const BuildOptions& options) const {
  if (isJobResult(m_environment)) return;
  if (const std::unique_lock lock(m_opening, std::try_to_lock); lock.owns_lock() && m_opened) return;
  auto network = handed(plan, options);
  if (!network.ok()) return;
  KeptStore* const store = storeOfProcess();
  if (const auto& weights = network.value().weights;
      weights != nullptr && (store == nullptr || !isSha256Kept(*store, weights->path())))
    std::ignore = weights->write();
  keepHanded(*plan, std::move(network).value());
}

void ProbedCompiler::keepHanded(const Plan& plan, CompilerInput network) const {
  Handed kept{plan.model, writtenBy(plan), std::move(network)};
  kept.network.plan.reset();
  const std::scoped_lock lock(m_handedMutex);
  m_handed = std::move(kept);
}

Result<CompilerSupport> ProbedCompiler::support(const Plan& plan, const BuildOptions& options) const {
  const StopToken& stop = options.stop;
  // This pointer refers to the caller's plan during this call, without owning it.
  const std::shared_ptr<const Plan> asked(std::shared_ptr<void>(), &plan);
  CompilerInput network = TRY(handed(asked, options));
  if (options.progress) options.progress("ask", m_name);
  CompilerInput kept = network;
  const Json requested = TRY(m_kind.requestOptions(network, {}));
  ProbeRequest request{.json = {{"op", "support"}, {"options", requested}}, .files = filesOf(network)};
  if (const int threads = threadsOfNextBuild(); threads > 0 && !isJobResult(m_environment))
    request.json[kNextThreads] = threads;
  const auto known = TRY(takeKeptJob(plan.model->path, stop));
  auto job = known != nullptr ? std::unique_ptr<ProbeJob>() : TRY(takeJob(stop));
  const ProbeAnswer answer = TRY((known != nullptr ? *known : *job).ask(request, stop, options.progress));
  auto support = m_kind.support(network, answer);
  if (known != nullptr) job = known->takeLive();
  if (job != nullptr) giveBack(std::move(job));
  keepHanded(plan, std::move(kept));
  return support;
}

Result<Lowered> ProbedCompiler::lower(std::shared_ptr<const Plan> plan, const BuildOptions& options) const {
  CompilerInput network = TRY(handed(plan, options));
  BuildOptions withThreads = options;
  withThreads.threads = threads(options);
  Json asked = TRY(m_kind.requestOptions(network, withThreads));
  Lowered lowered{.plan = std::move(plan), .options = std::move(asked)};
  lowered.pins = network.pins;
  lowered.network = std::make_shared<const CompilerInput>(std::move(network));
  return lowered;
}

const ProbedCompiler* findProbedCompiler(std::string_view name) {
  const std::size_t at = name.find('@');
  const ProbedKind* kind = findProbedKind(name.substr(0, at));
  if (kind == nullptr || at + 1 == name.size()) return nullptr;
  const std::scoped_lock lock(interned().mutex);
  std::unique_ptr<ProbedCompiler>& compiler = interned().compilers[std::string(name)];
  if (compiler == nullptr)
    compiler =
        std::make_unique<ProbedCompiler>(*kind, std::string(at == std::string_view::npos ? "" : name.substr(at + 1)));
  return compiler.get();
}

std::optional<RecordedJob> recordedJobOf(const Compiler& compiler) {
  const auto* probed = dynamic_cast<const ProbedCompiler*>(&compiler);
  if (probed == nullptr) return {};
  auto recorded = probed->recorded();
  return recorded.ok() ? std::move(recorded).value() : std::nullopt;
}

void forgetProbedCompilers() {
  forEachInterned([](const ProbedCompiler& compiler) { compiler.forget(); });
  forgetEnvironments();
}

void endIdleJobs() {
  forEachInterned([](const ProbedCompiler& compiler) { compiler.endIdleJob(); });
}

}  // namespace fusescope
