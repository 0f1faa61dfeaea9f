#pragma once

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compilers/network_parts.h"

namespace fusescope {

/// A network whose segments were compiled by another compiler, and by our own where that one refuses. Tensors are
/// passed from segment to segment in the types that the network declares. It is prepared for the extents of the build;
/// other extents are compiled when they first occur, and a few sets of them are kept.
class SegmentedEngine final : public Engine {
 public:
  /// Builds the engine. Errors: those of compileParts(), and those of readBackPlan() if the compiler contradicts
  /// itself.
  static Result<std::unique_ptr<SegmentedEngine>> build(const Compiler& compiler, std::shared_ptr<const Plan> plan,
                                                        const BuildOptions& options);

  const Plan& plan() const override { return *m_made.plan; }
  std::shared_ptr<const Cover> made() const override { return m_readBack; }
  const BuildReport& report() const override { return m_report; }
  const std::string& backend() const override { return m_backend; }
  int threads() const override { return m_threads; }
  /// Runs the network. An inner value can be marked if our own engine calculates it, if it is passed between segments,
  /// or if the compiler returns inner values.
  Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                        const StopToken& stop) override;
  /// Times the network. With one segment, this is the measurement of its compiler. With several, it is the sum of the
  /// measurements of all segments without the time for passing tensors between them; there are then no percentiles, and
  /// `remark` says so.
  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override;
  /// Writes the plan and the read-back plan. The compiler compiles the network again when the file is opened.
  Status save(const std::filesystem::path& path) const override;
  /// Returns the engine of the only part if another compiler compiled the whole network; otherwise null.
  const Engine* onlyPart() const;

 private:
  SegmentedEngine(const Compiler& compiler, const BuildOptions& options);
  Status prepare(std::shared_ptr<const Plan> plan);
  Status readBack();
  void addMade(const CompiledPart& part, ReadBack& readBack) const;
  void sumReports();
  /// Returns the engine for inputs of these extents, which is this one or another one that is made for them.
  Result<SegmentedEngine*> engineFor(const std::map<std::string, Dims>& extents, const StopToken& stop);
  Result<RunResult> runParts(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark,
                             const StopToken& stop);
  std::vector<std::string> handedOver() const;
  Status checkMarks(const std::vector<std::string>& mark) const;
  std::vector<std::string> marksOf(const CompiledPart& part, const std::vector<std::string>& mark) const;
  Result<TimeReport> timeParts(const std::map<std::string, Tensor>& inputs, const TimeOptions& options);
  FusedNodeId kernelNamed(const std::string& name, SegmentId segment) const;
  StepTime layerOf(const CompiledPart& part, const TimeReport& report) const;

  const Compiler& m_compiler;
  BuildOptions m_options;
  std::string m_backend;
  int m_threads = 1;
  std::map<std::string, Dims> m_extents;  ///< the extents of the build
  CompiledParts m_made;
  std::shared_ptr<const ReadBackPlan> m_readBack;
  BuildReport m_report;
  struct Other {
    std::map<std::string, Dims> extents;
    std::unique_ptr<SegmentedEngine> engine;
  };
  std::list<Other> m_others;  ///< engines for other extents, the last used one first
};

}  // namespace fusescope
