#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compilers/compiler.h"
#include "compilers/probed/code_hashes.h"
#include "compilers/probed/kept_job.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/probed/recorded_job.h"

namespace fusescope {

/// A compiler that a probe reaches in one environment; its kind defines the questions and how answers are read. If no
/// connection is possible, the result of a job file is used in place of the environment (recorded_job.h).
class ProbedCompiler final : public Compiler {
 public:
  /// `environment` is a name, a command or a result file; empty: the first environment that has the compiler.
  ProbedCompiler(const ProbedKind& kind, std::string environment);

  std::string_view name() const override { return m_name; }
  /// The version is empty if the compiler is not there.
  CompilerIdentity identity() const override;
  std::string target() const override { return std::string(m_kind.target()); }
  bool takesTarget(std::string_view target) const override { return m_kind.takesTarget(target); }
  std::string untried() const override { return m_kind.untried(); }
  std::string untriedToRun() const override { return m_kind.untriedToRun(); }
  std::vector<CompilerOption> options() const override { return m_kind.options(); }
  std::string whyNot(Ability ability) const override;
  /// Returns false: our own engine runs what the user excludes, and what the compiler refuses.
  bool takesWholeNetworks() const override { return false; }

  std::shared_ptr<void> getReady() const override;
  /// Waits until it was opened. The result, or the error, is kept.
  Status awaitReady(const StopToken& stop, const Progress& progress) const override;
  Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const override;
  void lowerAhead(std::shared_ptr<const Plan> plan, const BuildOptions& options) const override;
  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions& options) const override;
  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override;

  const ProbedKind& kind() const { return m_kind; }
  /// Returns where its answers were recorded; nothing if it answers live. Errors: the result file cannot be opened.
  Result<std::optional<RecordedJob>> recorded() const;
  /// Returns the number of threads that a network is compiled for: that of the options, otherwise all of the machine,
  /// or that of the recorded job.
  int threads(const BuildOptions& options) const;
  /// Returns the device that its kernels run on, as it is named beside their times.
  std::string device(const std::map<std::string, std::string>& options) const;
  /// Returns a process in which it is imported: an idle one, otherwise a new one. Errors: those of ProbeJob::start(),
  /// and that no environment has it.
  Result<std::unique_ptr<ProbeJob>> takeJob(const StopToken& stop) const;
  /// Returns the same with answers about the network at `about` that are looked up in the store of this process; null
  /// if there is no store, or if nothing can be kept.
  Result<std::unique_ptr<KeptJob>> takeKeptJob(std::string_view about, const StopToken& stop) const;
  /// Returns what the keys of answers about the network at `about` contain.
  Result<AnswerContext> answerContext(std::string_view about, const StopToken& stop) const;
  /// Returns why its answers are not kept, as a sentence; empty if they are kept, provided that there is a store.
  Result<std::string> whyNotKept(const StopToken& stop) const;
  /// Returns a process that contains no network, so that the next caller can use it.
  void giveBack(std::unique_ptr<ProbeJob> job) const;
  void endIdleJob() const;  ///< ends the idle process
  void forget() const;      ///< also forgets its answer when it was opened

 private:
  /// The environment of a compiler, and what the compiler reported when it was opened there.
  struct Opened {
    Environment environment;
    Json json;
    std::optional<RecordedJob> recorded;
    Json witness{};                      ///< what its answers depend on; null if this was not requested
    std::shared_ptr<CodeHashes> code{};  ///< null if its answers are not kept
  };
  /// A network that support() has written, for the following compilation.
  struct Handed {
    std::weak_ptr<const Model> model;
    std::string plan;  ///< what it was written by, as text; empty if only the file determines it
    CompilerInput network;
  };
  Result<CompilerInput> handed(std::shared_ptr<const Plan> plan, const BuildOptions& options) const;
  /// Keeps the network for who compiles it next.
  void keepHanded(const Plan& plan, CompilerInput network) const;
  /// Returns what determines how a network of `plan` is written, in addition to its model.
  std::string writtenBy(const Plan& plan) const;
  Result<Environment> environment(const StopToken& stop) const;
  Result<Opened> opened(const StopToken& stop) const;
  Result<Opened> openNow(const StopToken& stop) const;
  Status reportOpening(const StopToken& stop, const Progress& progress) const;
  Result<std::optional<Opened>> openKnown(KeptStore& store, const StopToken& stop) const;
  Result<Opened> openLive(const StopToken& stop) const;
  void hashCode(KeptStore& store, const Environment& environment, const Json& witness, Opened& opened) const;
  Status keepWhereItIs(KeptStore& store, const Opened& opened, double ms, const StopToken& stop) const;

  const ProbedKind& m_kind;
  const std::string m_environment, m_name;
  mutable std::timed_mutex m_opening;  ///< locked while the compiler is opened, so that it is opened only once
  mutable std::optional<Result<Opened>> m_opened;
  mutable std::mutex m_idleMutex;
  mutable std::unique_ptr<ProbeJob> m_idle;
  mutable std::mutex m_handedMutex;
  mutable std::optional<Handed> m_handed;
};

/// Finds a compiler of any kind in its first environment, or by NAME@ENVIRONMENT. Returns null if there is no such
/// kind. Thread-safe; the compiler exists until the process ends.
const ProbedCompiler* findProbedCompiler(std::string_view name);
/// Returns the job whose result is used for `compiler`; nothing if the compiler answers live, or if the result cannot
/// be opened.
std::optional<RecordedJob> recordedJobOf(const Compiler& compiler);
/// Ends the processes that were started to ask compilers, and forgets their answers, so that the next question starts
/// anew.
void forgetProbedCompilers();
/// Ends the idle processes of compilers.
void endIdleJobs();

}  // namespace fusescope
