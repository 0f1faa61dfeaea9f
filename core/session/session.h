#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/phase_clock.h"
#include "base/stop.h"
#include "compilers/compiler.h"
#include "diff/common_cover.h"
#include "engine/engine.h"
#include "engine/machine_peaks.h"
#include "planning/plan.h"
#include "verify/compare_tensors.h"
#include "verify/value_sources.h"

namespace fusescope {

struct Samples;
struct Artifact;

/// What a user may specify about inputs: `--input NAME=DIMS[:TYPE]`, `--min/--opt/--max NAME=DIMS`.
struct InputOverride {
  std::string name;
  std::optional<Dims> fixed, min, opt, max;
  std::optional<DataType> dtype;
  bool operator==(const InputOverride&) const = default;
};

/// Opens a model file: import, normalise, infer. Also reads the model in an engine file (.fse). Errors in files are
/// located; a model is returned completely or not at all. Thread-safe, cancellable.
Result<std::shared_ptr<const Model>> openModel(const std::filesystem::path& path,
                                               const std::vector<InputOverride>& inputs = {},
                                               const StopToken& stop = {}, const Progress& progress = {});

/// Returns the extents in `specs` that the user gave, as overrides.
std::vector<InputOverride> givenExtents(const std::vector<InputSpec>& specs);

/// Something that cannot run here, and why: an operator without a kernel, missing weights.
struct CannotRun {
  std::string node;  ///< empty: the whole model
  std::string op;    ///< its operator, preceded by its domain unless that is ONNX's own: "vendor::Odd"
  std::string code;
  std::string message;
};
std::vector<CannotRun> cannotRun(const Model& model);
Json inspectJson(const Model& model);

/// Returns random inputs, seeded by their names, in a sensible range for their type (token ids are below the size of
/// the vocabulary).
std::map<std::string, Tensor> randomInputs(const Plan& plan, const std::map<std::string, Dims>& shapes = {});

/// The smallest and the largest of the measurements in several turns.
struct Range {
  double least = 0, most = 0;
  bool tellsApart(double same) const { return least > same || most < same; }  ///< all turns are on one side of `same`
  bool operator==(const Range&) const = default;
};

/// One group of the smallest common cover of two engines' fused nodes, and its times.
struct CompareGroup : CoverGroup {
  std::optional<double> aMs, bMs, deltaMs;
  std::optional<Range> deltaRangeMs;  ///< B minus A, turn by turn; if it includes 0, the turns do not show which is
                                      ///< faster
};
struct CompareReport {
  std::string a, b;
  std::string compilerOfA, compilerOfB;  ///< with version and options: "onnxruntime 1.32.0, level=basic"
  int threadsOfA = 0, threadsOfB = 0;
  std::vector<CompareGroup> groups;
  std::vector<TensorComparison> outputs;  ///< b compared with a
  std::vector<TensorComparison> values;   ///< inner values that both store in memory
  std::int64_t valuesInBodies = 0;        ///< values in memory in bodies of both, which are not compared
  std::optional<double> aMs, bMs;
  int turns = 0;                    ///< turns in which both were timed, A B A B …
  std::optional<Range> ratioRange;  ///< B's time divided by A's, turn by turn
  std::string notRanked;            ///< why it is not said which is faster; empty: it is said
  std::string timeUnavailable;      ///< why there are no times
  std::string groupsUnavailable;    ///< why some groups have no time although A and B have one; empty: all have a time
};
/// Makes the groups without running anything. It is a pure function. The times of a node include those of its bodies.
std::vector<CompareGroup> compareGroups(const Cover& a, const Cover& b);
/// Runs both engines on the same samples and compares their results; the worst of several samples is reported. Then
/// times them in turns on the first sample, unless `seconds` is 0. The groups are those of Engine::made().
Result<CompareReport> compareEngines(Engine& a, Engine& b, const Samples& samples, double seconds,
                                     const StopToken& stop = {}, const Progress& progress = {});

/// The errors of the network's outputs on one sample.
struct SampleErrors {
  std::string name;  ///< of the sample
  std::vector<TensorComparison> outputs;
  bool operator==(const SampleErrors&) const = default;
};
Json toJson(const SampleErrors& errors);  ///< {name, outputs[…]}
/// The errors that a plan's types cause in values, against the same network in float32. The hardware does not matter:
/// the reference backend rounds where the plan says, so that the errors are the same on every machine.
struct ErrorReport {
  std::vector<TensorComparison> outputs;
  std::vector<TensorComparison> values;  ///< inner values that both store in memory, in the order of the graph
  std::vector<SampleErrors> samples;     ///< the outputs for each sample
  ValueSources madeOf{};                 ///< for outputs and `values`, which of `values` they are calculated from
};
/// Runs `plan` on the reference backend, and the plan of the same model and target without lowered types; reports the
/// worst errors of several samples.
Result<ErrorReport> measureErrors(std::shared_ptr<const Plan> plan, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});
/// Does the same for an artifact; what another compiler compiled is run, and compared with our own engine in float32.
Result<ErrorReport> measureErrors(const Artifact& artifact, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});

/// The kind of an opened file.
enum class ArtifactKind { Model, Plan, Engine };
struct Session;
struct Artifact {
  ArtifactKind kind = ArtifactKind::Model;
  std::string path;
  std::shared_ptr<const Plan> plan;
  /// What another compiler made of the plan: for a plan or engine file that contains it, or after readBack(). Null: our
  /// own compiler, or not known yet.
  std::shared_ptr<const ReadBackPlan> made{};
  std::optional<EngineFile> engine{};  ///< set for an engine file
  std::string backend;                 ///< the backend that the engine was built for; otherwise the requested one
  /// All files that it was made from: the file itself, the model of a plan, external data.
  std::vector<FileIdentity> files;
  std::shared_ptr<const Session> session{};  ///< the session that the model, its directives and inputs come from, if
                                             ///< there is one

  const Compiler& compiler() const;  ///< the compiler in PlanOptions::compiler, whose existence was checked on opening
  bool isOurs() const { return &compiler() == &ownCompiler(); }
  /// Returns the cover to show and compare: what the compiler made if that is known, otherwise the plan.
  const Cover& cover() const { return made != nullptr ? static_cast<const Cover&>(*made) : *plan; }
};
/// Returns the compiler that `options` name. Errors: there is none of this name (the nearest is suggested), or it has a
/// target of its own and the options have another.
Result<const Compiler*> compilerFor(const PlanOptions& options);
/// Returns the kind of the file `path`, by its content.
Result<ArtifactKind> artifactKind(const std::filesystem::path& path);
/// Returns prices from measurements of builds for `backend` on this machine; null if there are none yet. A plan that is
/// made with them has predicted times, and several allowed types are chosen by them.
std::unique_ptr<PriceModel> measuredPrices(const std::string& backend = "native");
/// Opens a file. A model is planned with `options` and measuredPrices(). A plan or engine contains its own options;
/// giving others is an error.
Result<Artifact> openArtifact(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                              const PlanOptions& options, const std::string& backend = "", const StopToken& stop = {},
                              const Progress& progress = {});
/// Opens the model of a session, planned with the options of the session. `path` is the session file. `model` is the
/// present path of the model; empty: the path in the session. An empty `backend` means that of the session. A model
/// that has changed is planned with the options that still apply; the others are reported in `warnings`, for people.
/// Errors: the session or its model cannot be read, or does not exist.
Result<Artifact> openSession(const std::filesystem::path& path, const std::filesystem::path& model,
                             const std::string& backend, std::vector<std::string>& warnings, const StopToken& stop = {},
                             const Progress& progress = {});
/// Returns the engine of an artifact: read from an engine file, or compiled by its compiler. It is an error if a file
/// that the artifact was made from has changed since.
Result<std::unique_ptr<Engine>> openEngine(const Artifact& artifact, const BuildOptions& options);
/// If it is not known yet, lets another compiler compile the network and report what it made, which sets Artifact::made
/// and the plan as it was compiled. Does nothing for our own compiler, because the plan says what it makes.
Status readBack(Artifact& artifact, const BuildOptions& options);

/// Returns the JSON of `explain`: everything about one node, and what another compiler made of it if that is known.
Result<Json> explainJson(const Artifact& artifact, std::string_view nodeName);
Result<Json> explainJson(const Plan& plan, std::string_view nodeName);
/// `phases` are those of the whole build, from the file to the engine.
Json toJson(const BuildReport& report, const std::vector<BuildPhase>& phases, const std::string& enginePath,
            std::int64_t bytes);
/// Runs Engine::time() and adds the shortest possible time of each layer at the measured peaks of this machine, if they
/// were measured (measurePeaks()).
Result<TimeReport> timeEngine(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);
Json toJson(const TimeReport& report);
/// Returns the JSON of `inspect --machine`: which types run on this machine, and how fast.
Json machineJson(const MachinePeaks& peaks);
Json toJson(const CompareReport& report);
Json toJson(const ErrorReport& report);
/// Returns the JSON of `inspect` for an engine: header, layers, tactics, in addition to inspectJson() of its model.
Json inspectJson(const EngineFile& info, const std::string& path);

}  // namespace fusescope
