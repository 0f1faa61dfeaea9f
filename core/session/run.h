#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/shared_optional.h"
#include "engine/engine.h"
#include "planning/plan.h"
#include "session/advice.h"
#include "session/layer_error_report.h"
#include "session/layer_types.h"
#include "session/operations/tune_operation.h"
#include "session/run_comparison.h"
#include "session/run_errors.h"
#include "session/run_serving.h"
#include "session/sample_source.h"
#include "session/session.h"
#include "verify/compare_tensors.h"

namespace fusescope {

/// What runs are built, timed and judged with.
struct RunSettings {
  std::string backend = "native";
  int threads = 0;       ///< 0: as many as the machine has
  double seconds = 1.0;  ///< of timing
  SampleSource inputs{};
  Tolerance tolerance = Tolerance::ofLoweredTypes();
  ErrorsAgainst errorsAgainst = ErrorsAgainst::F32;  ///< what errors layer by layer are against
  TuneSettings tune{};                               ///< what the last search for pins was to reach
  bool operator==(const RunSettings&) const = default;
};

struct RunBody;

/// One timed step of a run.
struct RunLayer {
  std::string name;                 ///< for people
  std::string identity;             ///< of the fused node, in hex; empty: a conversion
  std::optional<LayerTypes> types;  ///< of the fused node: its time holds for a plan with the same
  std::string tactic;
  std::optional<double> medianMs;            ///< in one inference; in a body: of all its calls together
  std::optional<double> rooflineMs;          ///< the least for its work at the measured peaks of the machine
  std::optional<std::int64_t> flops, bytes;  ///< of the fused node, where they are known
  bool emulated = false;                     ///< has no time, for it ran in software
  std::vector<RunBody> bodies;               ///< of a node that runs by them; its own time includes theirs
  std::vector<RunLayer> kernels{};           ///< of a part that another compiler compiled: its kernels
  bool operator==(const RunLayer& other) const;
};

/// A body of If, Loop or Scan while its holder was timed.
struct RunBody {
  std::string attribute;   ///< "then_branch", "else_branch", "body"
  std::int64_t calls = 0;  ///< in one inference; 0: it was not taken
  std::vector<RunLayer> layers;
  bool operator==(const RunBody&) const = default;
};

/// What a build did, as the worker reports it.
struct RunBuild {
  std::vector<BuildPhase> phases;          ///< the worker's own times
  std::int64_t regions = 0, distinct = 0;  ///< 0: not known, of an engine file that was built elsewhere
  std::int64_t bytes = 0;                  ///< of the engine file
  bool operator==(const RunBuild&) const = default;
};

/// Latency, as the worker measured it.
struct RunTime {
  std::optional<double> medianMs, minMs, p95Ms, p99Ms;
  std::int64_t samples = 0;
  int threads = 0;
  bool quiet = true;
  SampleSource inputs;            ///< the first of its samples was run
  std::string unavailableReason;  ///< set when there is no time
  std::string remark{};           ///< what a reader of the times must know; empty: nothing
  std::vector<RunLayer> layers;
  SharedOptional<MemoryTimeline> memory{};  ///< of the engine; none: an older file or the compiler does not tell
  bool operator==(const RunTime&) const = default;
};

/// How far what a run's types calculate is from float32, on the inputs of the run.
struct Evaluation {
  std::string when;  ///< UTC; empty: an older file did not say
  SampleSource inputs;
  Tolerance tolerance;                            ///< what TensorComparison::ok and ofBound below speak of
  std::vector<TensorComparison> outputs, values;  ///< as in ErrorReport: values in the order of the graph
  std::vector<SampleErrors> samples;              ///< as in ErrorReport; empty: an older file did not say
  ValueSources madeOf{};                          ///< likewise
  std::optional<Advice> advice{};                 ///< of one that fails: what to pin where it first goes wrong
  bool operator==(const Evaluation&) const = default;
};

enum class RunState { Building, Timing, Evaluating, Comparing, Ready, Failed, Cancelled, Interrupted };
std::string_view name(RunState state);  ///< "building", "timing", …

enum class RunKind {
  Plan,       ///< a plan that was built
  Engine,     ///< an engine file, taken as it is
  Comparison  ///< of two runs of the other kinds
};
std::string_view name(RunKind kind);  ///< "plan", "engine", "comparison"

/// Whatever was built, timed, evaluated or compared, with all that it came from. Kept; nothing overwrites it.
struct Run {
  std::string id;    ///< unique in its session, never used again: "1", "2", …
  std::string name;  ///< for people; may be changed
  RunKind kind = RunKind::Plan;
  RunState state = RunState::Building;
  // What it came from. A comparison has its runs' own.
  std::string model;  ///< ModelFile::identity() of the model that it was made of; empty: it is no plan's
  PlanOptions options;
  std::vector<InputOverride> extents;
  std::string backend = "native";
  int threads = 0;      ///< asked for; 0: as many as the machine has
  std::string machine;  ///< hostMachine()
  std::string started;  ///< UTC, "2026-01-31T12:00:00Z"
  // What came of it.
  std::optional<RunBuild> build;
  SharedOptional<Json>
      made;  ///< what another compiler made of the plan: toJson(ReadBackPlan); none: our own compiler's
  SharedOptional<RunTime> time;
  std::vector<SharedOptional<Evaluation>> evaluations;  ///< in the order in which they were made; each there
  std::vector<SharedOptional<RunErrors>> errors;        ///< layer by layer, likewise
  SharedOptional<RunServing> serving{};  ///< which engines served which extents, the last time that this was found out
  SharedOptional<RunComparison> comparison;  ///< of that kind: which runs, from the beginning
  std::string enginePath;                    ///< the engine file, while it is kept; empty: it would be built again
  std::string problem;                       ///< for people, of a run that failed
  std::vector<std::string> log;              ///< at most kMostLogLines

  static constexpr std::size_t kMostLogLines = 2000;
  bool working() const {
    return state == RunState::Building || state == RunState::Timing || state == RunState::Evaluating ||
           state == RunState::Comparing;
  }
  /// Does it have an engine, or could have one?
  bool hasEngine() const { return kind != RunKind::Comparison; }
  /// Is it a comparison of that run?
  bool compares(const std::string& run) const { return comparison && (comparison->a == run || comparison->b == run); }
  /// Is it of this plan: same model, directives, target, types and extents? Then its numbers are the plan's own.
  bool madeFrom(const std::string& modelIdentity, const PlanOptions& planOptions,
                const std::vector<InputOverride>& planExtents) const;
  bool operator==(const Run&) const = default;
};

/// "f16, 2 pins", "baseline": what tells a run's options from those of others.
std::string titleOf(const PlanOptions& options);

/// The time now, as Run::started has it.
std::string timestamp();

// What the worker answers, as values. Errors name the field.
Result<RunBuild> runBuildFromJson(const Json& reply);  ///< of `build --json`
Result<RunTime> runTimeFromJson(const Json& reply);    ///< of `time --json --per-layer`; the caller knows the inputs
Result<Evaluation> evaluationFromJson(const Json& reply);  ///< of `measure_error`; the caller knows the rest

// As they stand in a session file: SESSION_FORMAT.md.
Json toJson(const Run& run);
/// What a time says of the whole network: {median_ms, min_ms, p95_ms, p99_ms, samples, threads, quiet}.
Json latencyJson(const RunTime& time);
Result<Run> runFromJson(const Json& json);
Json toJson(const Tolerance& tolerance);
Result<Tolerance> toleranceFromJson(const Json& json);

}  // namespace fusescope
