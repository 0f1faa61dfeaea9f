#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/shared_optional.h"
#include "engine/engine.h"
#include "planning/plan.h"
#include "session/advice.h"
#include "session/documents/engine_reports.h"
#include "session/documents/error_report.h"
#include "session/documents/layer_error_report.h"
#include "session/inputs/sample_source.h"
#include "session/layer_types.h"
#include "session/open_model.h"
#include "session/operations/tune_operation.h"
#include "session/runs/run_comparison.h"
#include "session/runs/run_errors.h"
#include "session/runs/run_serving.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// The settings with which runs are built, timed and judged.
struct RunSettings {
  std::string backend = "native";
  int threads = 0;       ///< 0: all threads of the machine
  double seconds = 1.0;  ///< duration of timing
  SampleSource inputs{};
  Tolerance tolerance = Tolerance::ofLoweredTypes();
  ErrorsAgainst errorsAgainst = ErrorsAgainst::F32;  ///< the reference for errors layer by layer
  TuneSettings tune{};                               ///< the goal of the last search for pins
  bool operator==(const RunSettings&) const = default;
};

struct RunBody;

/// One timed step of a run.
struct RunLayer {
  std::string name;                 ///< for people
  std::string identity;             ///< of the fused node, in hex; empty for a conversion
  std::optional<LayerTypes> types;  ///< types of the fused node: the time is valid for a plan with the same types
  std::string tactic;
  std::optional<double> medianMs;            ///< in one inference; for a step in a body, the time of all its calls
  std::optional<double> rooflineMs;          ///< the shortest possible time for its work at the measured peaks of the
                                             ///< machine
  std::optional<std::int64_t> flops, bytes;  ///< of the fused node, if they are known
  bool emulated = false;                     ///< it ran in software and has no time
  std::vector<RunBody> bodies;               ///< the bodies of the node, if it has any; its own time includes theirs
  std::vector<RunLayer> kernels{};           ///< for a part that another compiler compiled: its kernels
  bool operator==(const RunLayer& other) const;
};

/// The times of a body of If, Loop or Scan while its holder was timed.
struct RunBody {
  std::string attribute;   ///< "then_branch", "else_branch", "body"
  std::int64_t calls = 0;  ///< in one inference; 0: it was not called
  std::vector<RunLayer> layers;
  bool operator==(const RunBody&) const = default;
};

/// What a build did, as the worker reports it.
struct RunBuild {
  std::vector<BuildPhase> phases;          ///< times as the worker measured them
  std::int64_t regions = 0, distinct = 0;  ///< 0: unknown, for an engine file that was built elsewhere
  std::int64_t bytes = 0;                  ///< size of the engine file
  bool operator==(const RunBuild&) const = default;
};

/// Latency, as the worker measured it.
struct RunTime {
  std::optional<double> medianMs, minMs, p95Ms, p99Ms;
  std::int64_t samples = 0;
  int threads = 0;
  bool quiet = true;
  SampleSource inputs;            ///< the first sample of these was run
  std::string unavailableReason;  ///< set if there is no time
  std::string remark{};           ///< what a reader of the times must know; may be empty
  std::vector<RunLayer> layers;
  SharedOptional<MemoryTimeline> memory{};  ///< memory of the engine; nothing: an older file, or the compiler does not
                                            ///< report it
  bool operator==(const RunTime&) const = default;
};

/// The errors of a run's types against float32, on the inputs of the run.
struct Evaluation {
  std::string when;  ///< UTC; empty in older files
  SampleSource inputs;
  Tolerance tolerance;                            ///< the tolerance for TensorComparison::ok and ofBound below
  std::vector<TensorComparison> outputs, values;  ///< see ErrorReport; values are in the order of the graph
  std::vector<SampleErrors> samples;              ///< see ErrorReport; empty in older files
  ValueSources madeOf{};                          ///< see ErrorReport
  std::optional<Advice> advice{};                 ///< if it fails: what to pin where it first becomes wrong
  bool operator==(const Evaluation&) const = default;
};

enum class RunState { Building, Timing, Evaluating, Comparing, Ready, Failed, Cancelled, Interrupted };
std::string_view name(RunState state);  ///< "building", "timing", …

enum class RunKind {
  Plan,       ///< a plan that was built
  Engine,     ///< an engine file
  Comparison  ///< a comparison of two runs of the other kinds
};
std::string_view name(RunKind kind);  ///< "plan", "engine", "comparison"

/// Anything that was built, timed, evaluated or compared, with everything that it was made from. Runs are kept and
/// never overwritten.
struct Run {
  std::string id;    ///< unique in its session and never used again: "1", "2", …
  std::string name;  ///< for people; may be changed
  RunKind kind = RunKind::Plan;
  RunState state = RunState::Building;
  // What it was made from. For a comparison, see its two runs.
  std::string model;  ///< ModelFile::identity() of its model; empty: it was not made from a plan
  PlanOptions options;
  std::vector<InputOverride> extents;
  std::string backend = "native";
  int threads = 0;      ///< the requested number; 0: all threads of the machine
  std::string machine;  ///< hostMachine()
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  // Its results.
  std::optional<RunBuild> build;
  SharedOptional<Json>
      made;  ///< what another compiler made of the plan, toJson(ReadBackPlan); nothing: our own compiler
  SharedOptional<RunTime> time;
  std::vector<SharedOptional<Evaluation>> evaluations;  ///< in chronological order; each is set
  std::vector<SharedOptional<RunErrors>> errors;        ///< errors layer by layer, in chronological order
  SharedOptional<RunServing> serving{};                 ///< the last result of which engines serve which extents
  SharedOptional<RunComparison> comparison;  ///< for a comparison: its two runs, which are known from the beginning
  std::string enginePath;                    ///< the engine file if it is kept; empty: it would be built again
  std::string problem;                       ///< for people, if the run failed
  std::vector<std::string> log;              ///< at most kMostLogLines

  static constexpr std::size_t kMostLogLines = 2000;
  bool working() const {
    return state == RunState::Building || state == RunState::Timing || state == RunState::Evaluating ||
           state == RunState::Comparing;
  }
  /// Returns whether it has an engine, or could have one.
  bool hasEngine() const { return kind != RunKind::Comparison; }
  /// Returns whether it is a comparison of that run.
  bool compares(const std::string& run) const { return comparison && (comparison->a == run || comparison->b == run); }
  /// Returns whether it is a run of this plan: same model, directives, target, types and extents. Then its numbers are
  /// those of the plan.
  bool madeFrom(const std::string& modelIdentity, const PlanOptions& planOptions,
                const std::vector<InputOverride>& planExtents) const;
  bool operator==(const Run&) const = default;
};

/// Returns a title for options that distinguishes runs: "f16, 2 pins", "baseline".
std::string titleOf(const PlanOptions& options);

/// Returns the current time in the form of Run::started.
std::string timestamp();

// These read the worker's answers. Errors name the field.
Result<RunBuild> runBuildFromJson(const Json& reply);  ///< reads `build --json`
Result<RunTime> runTimeFromJson(const Json& reply);    ///< reads `time --json --per-layer`; the caller sets the inputs
Result<Evaluation> evaluationFromJson(const Json& reply);  ///< reads `measure_error`; the caller sets the rest

// These write and read a run in the form of session files: SESSION_FORMAT.md.
Json toJson(const Run& run);
/// Returns the times of the whole network: {median_ms, min_ms, p95_ms, p99_ms, samples, threads, quiet}.
Json latencyJson(const RunTime& time);
Result<Run> runFromJson(const Json& json);
Json toJson(const Tolerance& tolerance);
Result<Tolerance> toleranceFromJson(const Json& json);

}  // namespace fusescope
