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

/// What a user may say of the inputs: `--input NAME=DIMS[:TYPE]`, `--min/--opt/--max NAME=DIMS`.
struct InputOverride {
  std::string name;
  std::optional<Dims> fixed, min, opt, max;
  std::optional<DataType> dtype;
  bool operator==(const InputOverride&) const = default;
};

/// Opens a model file: import, normalise, infer. Also reads the model out of an engine file (.fse).
/// Bad files are located errors; nothing is half-opened. Thread-safe, cancellable.
Result<std::shared_ptr<const Model>> openModel(const std::filesystem::path& path,
                                               const std::vector<InputOverride>& inputs = {},
                                               const StopToken& stop = {}, const Progress& progress = {});

/// What of `specs` the user gave, as overrides.
std::vector<InputOverride> givenExtents(const std::vector<InputSpec>& specs);

/// What cannot run here and why: operators without a kernel, missing weights.
struct CannotRun {
  std::string node;  ///< empty: the whole model
  std::string op;    ///< its operator, a domain other than ONNX's own before it: "vendor::Odd"
  std::string code;
  std::string message;
};
std::vector<CannotRun> cannotRun(const Model& model);
Json inspectJson(const Model& model);

/// Random inputs, seeded by their names, in a sensible range for their type (token ids below the vocabulary).
std::map<std::string, Tensor> randomInputs(const Plan& plan, const std::map<std::string, Dims>& shapes = {});

/// The least and the most of what was measured in several turns.
struct Range {
  double least = 0, most = 0;
  bool tellsApart(double same) const { return least > same || most < same; }  ///< all turns are on one side of `same`
  bool operator==(const Range&) const = default;
};

/// One group of the smallest common cover of two engines' fused nodes, and what it takes.
struct CompareGroup : CoverGroup {
  std::optional<double> aMs, bMs, deltaMs;
  std::optional<Range> deltaRangeMs;  ///< B - A, turn by turn; on both sides of 0: the turns do not tell them apart
};
struct CompareReport {
  std::string a, b;
  std::string compilerOfA, compilerOfB;  ///< with version and what it was told: "onnxruntime 1.32.0, level=basic"
  int threadsOfA = 0, threadsOfB = 0;
  std::vector<CompareGroup> groups;
  std::vector<TensorComparison> outputs;  ///< b against a
  std::vector<TensorComparison> values;   ///< inner values that both have in memory
  std::int64_t valuesInBodies = 0;        ///< that both have in memory in bodies: those are not compared
  std::optional<double> aMs, bMs;
  int turns = 0;                    ///< in which both were timed, A B A B …
  std::optional<Range> ratioRange;  ///< B's time over A's, turn by turn
  std::string notRanked;            ///< why nothing is said of which is faster; empty: it is
  std::string timeUnavailable;      ///< why times are absent
  std::string groupsUnavailable;    ///< why some groups have no time where A and B have one; empty: all have
};
/// Groups alone, without running anything: pure. A node's times include those of its bodies behind it.
std::vector<CompareGroup> compareGroups(const Cover& a, const Cover& b);
/// Runs both engines on the same samples and compares what they compute, of several the worst; times them interleaved
/// on the first (unless `seconds` is 0). Groups are of what each became: Engine::made().
Result<CompareReport> compareEngines(Engine& a, Engine& b, const Samples& samples, double seconds,
                                     const StopToken& stop = {}, const Progress& progress = {});

/// Errors of the network's outputs on one sample.
struct SampleErrors {
  std::string name;  ///< of the sample
  std::vector<TensorComparison> outputs;
  bool operator==(const SampleErrors&) const = default;
};
Json toJson(const SampleErrors& errors);  ///< {name, outputs[…]}
/// What a plan's types do to the values, against the same network in float32. The hardware is not asked: the reference
/// backend rounds where the plan says, so the errors are the plan's own on every machine.
struct ErrorReport {
  std::vector<TensorComparison> outputs;
  std::vector<TensorComparison> values;  ///< inner values in memory in both, in the order of the graph
  std::vector<SampleErrors> samples;     ///< the outputs of each
  ValueSources madeOf{};                 ///< what outputs and `values` are made of, of `values`
};
/// Runs `plan` on the reference backend, and the plan of the same model and target without lowered types beside it; of
/// several samples the worst errors.
Result<ErrorReport> measureErrors(std::shared_ptr<const Plan> plan, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});
/// The same of an artifact; what another compiler than ours compiles runs as it is, beside our own engine in float32.
Result<ErrorReport> measureErrors(const Artifact& artifact, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop = {}, const Progress& progress = {});

/// A file that holds a model, a plan or an engine, opened as far as planning goes.
enum class ArtifactKind { Model, Plan, Engine };
struct Session;
struct Artifact {
  ArtifactKind kind = ArtifactKind::Model;
  std::string path;
  std::shared_ptr<const Plan> plan;
  /// What another compiler made of the plan: of a plan or engine file that holds it, or after readBack(). Null: of our
  /// own compiler, or not known yet.
  std::shared_ptr<const ReadBackPlan> made{};
  std::optional<EngineFile> engine{};  ///< of an engine file
  std::string backend;                 ///< what the engine was built for; else as asked
  /// All that it was made of: the file itself, the model behind a plan, external data.
  std::vector<FileIdentity> files;
  std::shared_ptr<const Session> session{};  ///< where the model, what is wished of it and its inputs came from, if so

  const Compiler& compiler() const;  ///< PlanOptions::compiler, which was checked when it was opened
  bool isOurs() const { return &compiler() == &ownCompiler(); }
  /// What is to be shown and compared: what the compiler made, if that is known, else the plan.
  const Cover& cover() const { return made != nullptr ? static_cast<const Cover&>(*made) : *plan; }
};
/// The compiler that `options` name, which can be asked for their target. Errors: there is none of this name (the
/// nearest is named), or it has a target of its own and another is asked for.
Result<const Compiler*> compilerFor(const PlanOptions& options);
/// What kind of file `path` is, by its content.
Result<ArtifactKind> artifactKind(const std::filesystem::path& path);
/// Prices by what builds for `backend` measured on this machine; null if there are none yet. A plan made with them is
/// predicted, and several allowed types are chosen among by them.
std::unique_ptr<PriceModel> measuredPrices(const std::string& backend = "native");
/// A model is planned by `options` and measuredPrices(). A plan or an engine holds its own options: giving others is
/// bad use.
Result<Artifact> openArtifact(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                              const PlanOptions& options, const std::string& backend = "", const StopToken& stop = {},
                              const Progress& progress = {});
/// The model of a session, planned as the session wishes. `path`: the session file. `model`: where the model lies now;
/// empty: where the session says. `backend`: empty: the session's. A model that has changed is planned with what still
/// applies; what does not is put into `warnings`, for people. Errors: the session or its model cannot be read, or is
/// missing.
Result<Artifact> openSession(const std::filesystem::path& path, const std::filesystem::path& model,
                             const std::string& backend, std::vector<std::string>& warnings, const StopToken& stop = {},
                             const Progress& progress = {});
/// The engine of an artifact: read from an engine file, else compiled by its compiler. An error if a file that the
/// artifact was made of has changed since.
Result<std::unique_ptr<Engine>> openEngine(const Artifact& artifact, const BuildOptions& options);
/// Has another compiler compile the network and tell what it made, where that is not known yet: Artifact::made, and the
/// plan as it was compiled. Of our own compiler nothing is done: the plan says it.
Status readBack(Artifact& artifact, const BuildOptions& options);

/// `explain`: everything about one node, and what another compiler made of it, where that is known.
Result<Json> explainJson(const Artifact& artifact, std::string_view nodeName);
Result<Json> explainJson(const Plan& plan, std::string_view nodeName);
/// `phases`: of the whole build, from the file to the engine.
Json toJson(const BuildReport& report, const std::vector<BuildPhase>& phases, const std::string& enginePath,
            std::int64_t bytes);
/// Engine::time(), with how little each layer could take at the peaks that were measured on this machine, where they
/// were (measurePeaks()).
Result<TimeReport> timeEngine(Engine& engine, const std::map<std::string, Tensor>& inputs, const TimeOptions& options);
Json toJson(const TimeReport& report);
/// `inspect --machine`: what runs here, how fast, in which types.
Json machineJson(const MachinePeaks& peaks);
Json toJson(const CompareReport& report);
Json toJson(const ErrorReport& report);
/// `inspect` of an engine: header, layers, tactics, besides what inspectJson says of its model.
Json inspectJson(const EngineFile& info, const std::string& path);

}  // namespace fusescope
