#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/stop.h"
#include "engine/program/memory_timeline.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class BuildMemory;
class KernelStore;
struct MeasuredThreads;

struct BuildOptions {
  std::string backend{};               ///< for accelerated segments; empty: the backend that the plan's target names
  int threads = 0;                     ///< 0: as many as the machine has
  bool measureTactics = true;          ///< false: the backend's first tactic is used and nothing is timed
  std::filesystem::path timingCache;   ///< empty: no timing cache is used
  std::map<std::string, Dims> shapes;  ///< concrete extents for dynamic inputs; inputs that are not listed use the opt
                                       ///< extents of their InputSpec
  int shapeCache = 4;  ///< sets of extents that stay prepared, at least 1; the least recently used is dropped first
  KernelStore* kernels = nullptr;         ///< must outlive the engine; null: the store of the process
  std::shared_ptr<BuildMemory> memory{};  ///< what earlier builds of the network found out; null: nothing is taken over
  /// Inputs on which the kernels that another compiler reports are compared with the numbers of their nodes, if the
  /// compiler returns inner values. This needs at least one run. If empty, nothing is compared.
  std::map<std::string, Tensor> verifyOn{};
  /// true: the caller only wants to know which kernels another compiler makes, and will run and time nothing. An answer
  /// that was kept from an earlier, identical question may then be used.
  bool onlyMade = false;
  /// The most seconds that are spent on measuring, where the predicted gain is largest; 0: only what earlier builds
  /// measured is used. If it is absent, the time depends on the network (measuring_effort.h).
  std::optional<double> effortSeconds{};
  /// The clock and the waiting times that measuring uses; must outlive the build. Null: those of this machine.
  const MeasuredThreads* measuredThreads = nullptr;
  /// false: the caller only writes the engine file, which contains weights as they are in the network. They are then
  /// packed at the first run, if there is one, and BuildReport::weightBytes is absent.
  bool packsWeights = true;
  StopToken stop{};
  Progress progress{};
};

struct TacticTime {
  std::string name;
  std::optional<double> ms;  ///< null if it was not measured or is emulated
  bool operator==(const TacticTime&) const = default;
};
/// Why the tactics of a fused node were not compared by measuring them.
enum class LeftUnmeasured {
  No,           ///< they were measured, or there is nothing to compare
  EffortSpent,  ///< BuildOptions::effortSeconds were over
  BelowNoise,   ///< all that was left would have saved less than measurements are off by
  MachineBusy   ///< other programs used the processors; the next build measures them
};
std::string_view name(LeftUnmeasured left);  ///< "no", "effort", "noise", "busy"

struct TacticChoice {
  std::string fusedNode;           ///< its name, for people
  Hash128 identity{};              ///< FusedNode::identity, by which the choice is found again
  std::string chosen;              ///< the name of the chosen tactic
  std::optional<Tactic> tactic{};  ///< the chosen tactic, so that it can be chosen again; none if the node runs without
                                   ///< a tactic
  bool fromCache = false;
  std::vector<TacticTime> candidates;
  LeftUnmeasured left = LeftUnmeasured::No;
  std::optional<double> predictedMs{};  ///< the predicted time of a fused node that was left, if there is a prediction
  bool takenOver = false;  ///< an earlier build with the same BuildOptions::memory built it; nothing was done again
};
/// How the time for measuring was spent. The numbers of regions count equal ones once.
struct MeasuringReport {
  bool wasNeeded = false;    ///< there was a region whose tactics had no times
  double budgetSeconds = 0;  ///< the most that measuring was allowed to take
  bool isAsked = false;      ///< the budget was asked for, and not chosen by the network
  double spentSeconds = 0;
  double noise = 0;           ///< relative: what repeated measurements of one kernel differed by
  std::int64_t measured = 0;  ///< regions whose tactics this build measured
  std::int64_t known = 0;     ///< regions whose tactics earlier builds measured
  std::int64_t effortSpent = 0, belowNoise = 0, machineBusy = 0;  ///< regions that were left, by reason
};
/// How often a run or timing had inputs whose extents were prepared already; the build itself is the first miss.
struct ShapeCacheCount {
  int size = 0;  ///< sets of extents that stay prepared
  std::int64_t hits = 0, misses = 0;
};

/// A phase of the work of another compiler, as the compiler reports it.
struct CompilerPhase {
  std::string name;
  double ms = 0;
};

/// A report of what a build did.
struct BuildReport {
  std::int64_t regions = 0;   ///< fused nodes that were built
  std::int64_t distinct = 0;  ///< how many of them differ in structure (weights are ignored)
  /// How many of them an earlier build with the same BuildOptions::memory had built, so that nothing of them was
  /// compiled or measured; for how many code was compiled; and how many were measured. The latter two count equal
  /// regions once.
  std::int64_t takenOver = 0, compiled = 0, measured = 0;
  std::vector<TacticChoice> tactics;
  std::vector<Decision> decisions;  ///< tactic.* and cache.*
  MeasuringReport measuring;
  std::int64_t arenaBytes = 0;
  std::optional<std::int64_t> weightBytes;  ///< of packed weights; absent if they are not packed (BuildOptions)
  std::int64_t liveBytes = 0;  ///< tensors that must be in memory at the same time; no arena can be smaller
  ShapeCacheCount shapeCache;
  ShapeCacheCount dynamicKernels;  ///< the same for nodes that are prepared while they run, by the extents of their own
                                   ///< inputs
  std::vector<CompilerPhase> compilerPhases;  ///< phases of another compiler, for each segment; empty for our own
                                              ///< compiler, or if it reports none
  std::int64_t compilerPeakBytes = 0;         ///< peak memory of the other compiler's process; 0: not reported
};

struct StepTime;

/// The times of one body while its holder was timed.
struct BodyTimes {
  std::string attribute;        ///< "then_branch", "else_branch", "body"
  std::int64_t calls = 0;       ///< calls in one run of the network; 0: the body was not called
  std::vector<StepTime> steps;  ///< the steps that ran; their fused nodes are those of the body's plan
};

struct StepTime {
  std::string name;   ///< the name of the fused node, conversion, copy or part
  FusedNodeId fused;  ///< invalid if the step is not a fused node
  std::string tactic;
  std::string device{};  ///< the device on which it runs, such as "cpu"; empty for a view, which does not run
  /// The time in one run of the network, as the mean over the runs around the median run, so that the times of layers
  /// add up to the time of the network. For a step in a body: the time of all its calls in one run.
  std::optional<double> medianMs;
  /// The shortest possible time of its work at the measured peaks of this machine (MachinePeaks::leastMs()), in one run
  /// of the network. Null for a step in a body.
  std::optional<double> rooflineMs{};
  bool emulated = false;
  std::vector<BodyTimes> bodies{};  ///< the bodies of the node, if it has any; its own time includes theirs
  /// For a part that another compiler compiled as a whole: its kernels, with their own times if the compiler reports
  /// them. Their fused nodes are those of TimeReport::made.
  std::vector<StepTime> kernels{};
};

/// An output of one step that becomes an input of the next step, for example a state or a key/value cache.
struct Feed {
  std::string output, input;
  bool operator==(const Feed&) const = default;
};
/// Asks for several calls of the network, one after the other.
struct Steps {
  std::int64_t count = 1;  ///< at least 1
  std::vector<Feed> feeds;
};

struct TimeOptions {
  double seconds = 2.0;
  double warmupSeconds = 0.5;
  bool perLayer = false;
  std::optional<Steps> steps{};  ///< each step is one sample, and there are exactly so many: `seconds` and `perLayer`
                                 ///< are ignored
  StopToken stop{};
  Progress progress{};
};

/// Measured latency. The times are absent if a step of the engine is emulated, because they would be meaningless.
struct TimeReport {
  std::optional<double> medianMs, minMs, p95Ms, p99Ms, throughput;  ///< throughput in runs per second
  std::int64_t samples = 0;
  int threads = 0;
  std::int64_t byFewerThreads = 0;  ///< samples that used fewer than `threads` threads because the machine was busy
  bool quiet = true;                ///< true if the spread of the samples shows that nothing else used the machine
  std::vector<StepTime> layers;
  std::vector<double> stepMs;         ///< the time of each step of TimeOptions::steps, in order
  std::string unavailableReason;      ///< set when the times are absent
  std::string remark;                 ///< what a reader must know about the times; may be empty
  std::shared_ptr<const Cover> made;  ///< the same as Engine::made(): the fused nodes of `layers` belong to it
};

struct RunResult {
  std::map<std::string, Tensor> outputs;  ///< by name, in the types that the model declares
  std::map<std::string, Tensor> marked;   ///< inner values that were asked for, as they are stored in memory; lowered
                                          ///< ones are converted to float32
};

/// A network that a compiler compiled. An engine of our own compiler is a flat list of prepared steps over one arena,
/// specialised for each set of input extents (the least recently used are dropped). run() and time() may be called from
/// one thread at a time.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Plan& plan() const = 0;
  /// Returns what the plan became at the extents of the build: the plan itself for our own compiler, a ReadBackPlan for
  /// another compiler.
  virtual std::shared_ptr<const Cover> made() const = 0;
  virtual const BuildReport& report() const = 0;
  virtual const std::string& backend() const = 0;
  virtual int threads() const = 0;
  /// Runs the network. `inputs` are given by name; an input that is missing, unknown, of the wrong type or extents, or
  /// outside an InputSpec that is not just assumed, is an error that names it. `mark` lists inner values to return as
  /// well ("all": every value that exists in memory and can be handed out).
  virtual Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark = {},
                                const StopToken& stop = {}) = 0;
  virtual Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) = 0;
  /// Writes the engine file (.fse), which contains a versioned header, the plan, the weights and the tactics. The
  /// format is described in engine/FORMAT.md.
  virtual Status save(const std::filesystem::path& path) const = 0;
  /// Returns the contents of the arena over time, at the extents of the build or of the last run; null if the compiler
  /// does not report this.
  virtual std::shared_ptr<const MemoryTimeline> memory() const { return nullptr; }
};

/// Builds the engine. Errors: a model without weights, an operator without a kernel (the error names it), cancellation,
/// a tactic directive that matches nothing, a file of the model that changed since it was opened. Running and saving
/// check the files too.
Result<std::unique_ptr<Engine>> buildEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options);
/// The contents of an engine file. It is read, checked and planned once, and can then be inspected or prepared any
/// number of times.
struct EngineFile {
  std::filesystem::path path;
  std::shared_ptr<const Plan> plan;  ///< its weights are views of the mapped file
  /// The kernels that another compiler made when the engine was built; null for our own compiler. If set, `tactics` is
  /// empty.
  std::shared_ptr<const ReadBackPlan> made;
  std::string backend;
  std::string fusescopeVersion;
  std::string fingerprint;  ///< the fingerprint of the backend on the machine of the build; empty in files of earlier
                            ///< versions
  std::map<std::string, Dims> extents;  ///< the extents that it was built for
  std::vector<TacticChoice> tactics;
  std::int64_t bytes = 0;
  /// The name of the network with whose weights the times of `tactics` were measured, if that is another network
  /// because this one was refitted.
  std::string timesWithWeightsOf{};
};
/// Opens an engine file. Errors: it is not an engine file, is of another version, or is truncated or damaged (the error
/// names the place).
Result<EngineFile> openEngineFile(const std::filesystem::path& path);
/// Prepares the engine to run. A tactic that does not exist on this machine is replaced, and a Decision in report()
/// says so.
Result<std::unique_ptr<Engine>> loadEngine(const EngineFile& file, const BuildOptions& options);
Result<std::unique_ptr<Engine>> loadEngine(const std::filesystem::path& path, const BuildOptions& options);
bool isEngineFile(const std::filesystem::path& path);

}  // namespace fusescope
