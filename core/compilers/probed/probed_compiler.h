#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "compilers/compiler.h"
#include "compilers/probed/kept_job.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/probed/recorded_job.h"

namespace fusescope {

/// A compiler that a probe reaches, in one environment: what its kind says, asked and compiled there. In place of an
/// environment stands the result of a job file where no connection is possible (recorded_job.h).
class ProbedCompiler final : public Compiler {
 public:
  /// `environment`: a name, a command or a result; empty: the first one that has it.
  ProbedCompiler(const ProbedKind& kind, std::string environment);

  std::string_view name() const override { return m_name; }
  /// Its version is empty where it is not there.
  CompilerIdentity identity() const override;
  std::string target() const override { return std::string(m_kind.target()); }
  bool takesTarget(std::string_view target) const override { return m_kind.takesTarget(target); }
  std::string untried() const override { return m_kind.untried(); }
  std::vector<CompilerOption> options() const override { return m_kind.options(); }
  std::string whyNot(Ability ability) const override;
  /// What the user keeps from it, and what it refuses, runs on our own engine.
  bool takesWholeNetworks() const override { return false; }

  std::shared_ptr<void> getReady() const override;
  /// Until it was opened, whatever came of that, which is kept.
  Status awaitReady(const StopToken& stop) const override;
  Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const override;
  void lowerAhead(std::shared_ptr<const Plan> plan, const BuildOptions& options) const override;
  Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions& options) const override;
  Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const override;

  const ProbedKind& kind() const { return m_kind; }
  /// Where its answers were recorded; nothing: it answers live. Errors: the result cannot be opened.
  Result<std::optional<RecordedJob>> recorded() const;
  /// That a network is compiled for: those of the options, else all of the machine, or as the job had it.
  int threads(const BuildOptions& options) const;
  /// What its kernels run on, as times of them say it.
  std::string device(const std::map<std::string, std::string>& options) const;
  /// A process in which it is imported: one that was asked before and does nothing now, else a new one. Errors: those
  /// of ProbeJob::start(), and that it is nowhere.
  Result<std::unique_ptr<ProbeJob>> takeJob(const StopToken& stop) const;
  /// The same, whose answers about the network at `about` are found again in the store of this process; null: nothing
  /// is kept, or nothing can be.
  Result<std::unique_ptr<KeptJob>> takeKeptJob(std::string_view about, const StopToken& stop) const;
  /// What answers about the network at `about` are kept for, where they are kept.
  Result<AnswerContext> answerContext(std::string_view about, const StopToken& stop) const;
  /// Why nothing that it answers is kept, as a sentence; empty: it is kept, as far as there is a store.
  Result<std::string> whyNotKept(const StopToken& stop) const;
  /// Keeps a process that holds no network for who asks next.
  void giveBack(std::unique_ptr<ProbeJob> job) const;
  void endIdleJob() const;  ///< ends the process that is kept
  void forget() const;      ///< what it said when it was opened, too

 private:
  /// Where it is, and what it said when it was opened there.
  struct Opened {
    Environment environment;
    Json json;
    std::optional<RecordedJob> recorded;
    Json witness{};  ///< what its answers depend on there; null: that was not asked
  };
  /// A network that support() was asked with, for who compiles it next.
  struct Handed {
    std::weak_ptr<const Model> model;
    std::string plan;  ///< by what it was written, as text; empty: by the file alone
    HandedNetwork network;
  };
  Result<HandedNetwork> handed(std::shared_ptr<const Plan> plan, const BuildOptions& options) const;
  void keepHanded(const Plan& plan, HandedNetwork network) const;
  /// What a network of `plan` is written by besides its model.
  std::string writtenBy(const Plan& plan) const;
  Result<Environment> environment(const StopToken& stop) const;
  Result<Opened> opened(const StopToken& stop) const;
  Result<Opened> openNow(const StopToken& stop) const;
  Result<std::optional<Opened>> openKnown(KeptStore& store, const StopToken& stop) const;
  Result<Opened> openLive(const StopToken& stop) const;
  Status keepWhereItIs(KeptStore& store, const Opened& opened, double ms, const StopToken& stop) const;

  const ProbedKind& m_kind;
  const std::string m_environment, m_name;
  mutable std::mutex m_opening;  ///< held while it is opened, so that it is opened once
  mutable std::optional<Result<Opened>> m_opened;
  mutable std::mutex m_idleMutex;
  mutable std::unique_ptr<ProbeJob> m_idle;
  mutable std::mutex m_handedMutex;
  mutable std::optional<Handed> m_handed;
};

/// Those of all kinds, each where it is found first, and whatever was asked for by NAME@ENVIRONMENT. Null: there is no
/// such kind. Thread-safe; what is given stays for the life of the process.
const ProbedCompiler* findProbedCompiler(std::string_view name);
/// Ends what was started to ask compilers, and forgets what they said: who asks next starts anew.
void forgetProbedCompilers();
/// Ends processes that were started to ask compilers and do nothing now.
void endIdleJobs();

}  // namespace fusescope
