#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "compilers/probed/compiled_network.h"
#include "compilers/probed/handed_values.h"
#include "compilers/probed/marked_values.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/probed/shared_tensors.h"
#include "engine/engine.h"

namespace fusescope {

/// A network that a compiler behind a probe compiled, and the process that contains it. If the process died or was
/// ended, the next question compiles the network again in a new one.
class ProbedEngine final : public Engine {
 public:
  /// Compiles the network. Errors: those of the compiler, located at the node of the plan if that is known; its report
  /// contradicts the network; cancellation, which ends the process.
  static Result<std::unique_ptr<ProbedEngine>> compile(const ProbedCompiler& compiler, const Lowered& lowered,
                                                       const BuildOptions& options);
  /// Returns an engine for `lowered` that uses what `other` compiled, if the compiler would be asked the same: equal
  /// files with numbers for names, weights included, and an equal request. The two then share one process, in which
  /// each is run with its own tensors, and they must be used by one thread at a time. Returns null if the questions
  /// differ. Errors: as compile().
  static Result<std::unique_ptr<ProbedEngine>> equalTo(const ProbedEngine& other, const Lowered& lowered,
                                                       const BuildOptions& options);

  const Plan& plan() const override { return *m_made->requested; }
  std::shared_ptr<const Cover> made() const override { return m_made; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_backend; }
  int threads() const override { return m_threads; }
  /// Runs the network. Marking inner values is refused; use markedValues().
  Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                        const StopToken& stop) override;
  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override;
  /// Returns the values between kernels that the compiler can return without changing its kernels (marked_values.h).
  /// Returns none for a compiler with recorded answers.
  Result<MarkedValues> markedValues(std::span<const std::map<std::string, Tensor>> samples, std::int64_t mostBuilds,
                                    const BuildOptions& options) const;
  /// Is refused, because engine files contain a whole network, and this may be a part of one.
  Status save(const std::filesystem::path& path) const override;

 private:
  ProbedEngine(const ProbedCompiler& compiler, const Lowered& lowered, TemporaryFolder folder,
               const BuildOptions& options);
  static Result<std::unique_ptr<ProbedEngine>> create(const ProbedCompiler& compiler, const Lowered& lowered,
                                                      const BuildOptions& options);
  Status read(const std::map<std::string, Tensor>& inputs, const BuildOptions& options);
  Result<ProbeAnswer> askedOrKept(const Json& request, const BuildOptions& options);
  Result<ProbeAnswer> startProcess(const Json& request, const StopToken& stop, const Progress& progress = {});
  Status ensureProcess(const StopToken& stop);
  void report(const ProbeAnswer& compiled);
  Json compileRequest() const;
  Result<std::map<std::string, Tensor>> comparedOn(const BuildOptions& options) const;
  Result<ReadBack> readBack(const std::map<std::string, Tensor>& inputs, const BuildOptions& options);
  Result<RunResult> runInMemory(const std::map<std::string, Tensor>& inputs, const StopToken& stop);
  Result<std::map<std::string, Tensor>> namedInPlan(std::map<std::string, Tensor> arrays) const;
  Result<std::filesystem::path> writeInputs(const std::map<std::string, Tensor>& inputs) const;
  Result<std::map<std::string, Tensor>> readOutputs(const ProbeAnswer& answer) const;
  Result<std::vector<StepTime>> profile(const std::filesystem::path& inputs, const TimeOptions& options,
                                        TimeReport& report);
  Diagnostic located(Diagnostic error) const;

  const ProbedCompiler& m_compiler;
  std::string m_backend;
  std::shared_ptr<const Plan> m_plan;
  std::shared_ptr<const CompilerInput> m_network;
  TemporaryFolder m_folder;  ///< for the files that the two processes exchange
  int m_threads;
  Json m_options;  ///< the options of its compilation: Lowered::options
  NamesInFile m_inputs, m_outputs;
  std::shared_ptr<CompiledNetwork> m_held;  ///< is never null; engines of equal networks share it
  bool m_asked = true;                      ///< false if it uses the answer that another engine got
  SharedTensors m_shared;
  bool m_isShared = true;  ///< until it turns out that the probe does not see the same memory
  std::shared_ptr<const ReadBackPlan> m_made;
  BuildReport m_report;
};

}  // namespace fusescope
