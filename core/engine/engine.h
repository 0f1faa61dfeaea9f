#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/stop.h"
#include "engine/memory_timeline.h"
#include "planning/read_back_plan.h"

namespace fusescope {

class KernelStore;

struct BuildOptions {
  std::string backend{};               ///< of accelerated segments; empty: the one that the plan's target names
  int threads = 0;                     ///< 0: as many as the machine has
  bool measureTactics = true;          ///< false: the backend's first tactic, nothing is timed
  std::filesystem::path timingCache;   ///< empty: none
  std::map<std::string, Dims> shapes;  ///< concrete extents for dynamic inputs; the InputSpecs' opt where missing
  int shapeCache = 4;  ///< sets of extents that stay prepared, at least 1; the one used longest ago goes first
  KernelStore* kernels = nullptr;  ///< outlives the engine; null: that of the process
  /// Inputs on which the kernels that another compiler reports are compared with the numbers of their nodes, if the
  /// compiler returns inner values. This needs at least one run. If empty, nothing is compared.
  std::map<std::string, Tensor> verifyOn{};
  /// Only what another compiler makes of the network is wanted, and nothing will be run or timed: what it answered
  /// before to the very same question, and was kept, will do.
  bool onlyMade = false;
  StopToken stop{};
  Progress progress{};
};

struct TacticTime {
  std::string name;
  std::optional<double> ms;  ///< null: not measured, or emulated
  bool operator==(const TacticTime&) const = default;
};
struct TacticChoice {
  std::string fusedNode;           ///< its name, for people
  Hash128 identity{};              ///< FusedNode::identity: what the choice is taken again by
  std::string chosen;              ///< its name
  std::optional<Tactic> tactic{};  ///< what is called so, to be taken again as it is; nothing is that runs by no tactic
  bool fromCache = false;
  std::vector<TacticTime> candidates;
};
/// How often a run or timing found the extents of its inputs prepared; the build itself is the first miss.
struct ShapeCacheCount {
  int size = 0;  ///< sets of extents that stay prepared
  std::int64_t hits = 0, misses = 0;
};

/// A part of what another compiler did, as it tells.
struct CompilerPhase {
  std::string name;
  double ms = 0;
};

/// What a build did.
struct BuildReport {
  std::int64_t regions = 0;   ///< fused nodes that were built
  std::int64_t distinct = 0;  ///< of them with different structure (up to weights)
  std::vector<TacticChoice> tactics;
  std::vector<Decision> decisions;  ///< tactic.* and cache.*
  std::int64_t arenaBytes = 0;
  std::int64_t weightBytes = 0;
  std::int64_t liveBytes = 0;  ///< of tensors that must be there at once at the least: no arena can be smaller
  ShapeCacheCount shapeCache;
  ShapeCacheCount dynamicKernels;  ///< the same for each node that is prepared while it runs, by its own inputs
  std::vector<CompilerPhase> compilerPhases;  ///< of another compiler, segment by segment; none: ours, or it tells none
  std::int64_t compilerPeakBytes = 0;  ///< most memory that another compiler's process had meanwhile; 0: not told
  std::int64_t segments = 0;           ///< that another compiler was to compile
  std::int64_t equalSegments = 0;      ///< of them equal to one before, weights included: it was not asked again
};

struct StepTime;

/// A body while its holder was timed.
struct BodyTimes {
  std::string attribute;        ///< "then_branch", "else_branch", "body"
  std::int64_t calls = 0;       ///< in one run of the network; 0: it was not taken
  std::vector<StepTime> steps;  ///< that ran; fused nodes are those of the body's plan
};

struct StepTime {
  std::string name;   ///< of the fused node, of the conversion, of the copy, of the part
  FusedNodeId fused;  ///< invalid for the others
  std::string tactic;
  std::string device{};  ///< where it runs: "cpu"; empty: nowhere, it is a view
  /// In one run of the network, as the mean over the runs around the median one, so that layers add up to it; in a
  /// body: of all its calls together.
  std::optional<double> medianMs;
  /// The least time for its work at what this machine was measured to reach (MachinePeaks::leastMs()), in one run of
  /// the network; in a body: nothing.
  std::optional<double> rooflineMs{};
  bool emulated = false;
  std::vector<BodyTimes> bodies{};  ///< of a node that runs by them; its own time includes theirs
  /// For a part that another compiler compiled as a whole: its kernels, with their own times if the compiler reports
  /// them. Their fused nodes are those of TimeReport::made.
  std::vector<StepTime> kernels{};
};

/// An output of one step that is an input of the next: a state, a key/value cache.
struct Feed {
  std::string output, input;
  bool operator==(const Feed&) const = default;
};
/// The network called several times, one after the other.
struct Steps {
  std::int64_t count = 1;  ///< at least 1
  std::vector<Feed> feeds;
};

struct TimeOptions {
  double seconds = 2.0;
  double warmupSeconds = 0.5;
  bool perLayer = false;
  std::optional<Steps> steps{};  ///< each is a sample, of as many as there are: `seconds` and `perLayer` do not count
  StopToken stop{};
  Progress progress{};
};

/// Latency. Absent where a step of the engine is emulated: its time would say nothing.
struct TimeReport {
  std::optional<double> medianMs, minMs, p95Ms, p99Ms, throughput;  ///< throughput in runs a second
  std::int64_t samples = 0;
  int threads = 0;
  std::int64_t byFewerThreads = 0;  ///< samples by fewer than `threads`, because the machine did something else
  bool quiet = true;                ///< the spread of the samples says that nothing else wanted the machine
  std::vector<StepTime> layers;
  std::vector<double> stepMs;         ///< of TimeOptions::steps, in order
  std::string unavailableReason;      ///< set when the times are absent
  std::string remark;                 ///< what a reader of the times must know; empty: nothing
  std::shared_ptr<const Cover> made;  ///< as Engine::made(): what `layers` speak of
};

struct RunResult {
  std::map<std::string, Tensor> outputs;  ///< by name, at the model's declared types
  std::map<std::string, Tensor> marked;   ///< inner values asked for, as they stand in memory, as float32 if lowered
};

/// A network that a compiler compiled. Of our own: a flat list of prepared steps over one arena, specialised per set of
/// input extents (a small LRU). run() and time() may be called from one thread at a time.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const Plan& plan() const = 0;
  /// What the plan became, at the extents of the build: of our own compiler the plan itself, of another a ReadBackPlan.
  virtual std::shared_ptr<const Cover> made() const = 0;
  virtual const BuildReport& report() const = 0;
  virtual const std::string& backend() const = 0;
  virtual int threads() const = 0;
  /// Inputs by name; missing, wrong type, wrong extents or outside an InputSpec that is
  /// more than assumed: an error that says which. `mark`
  /// lists inner values to keep ("all": every value that exists in memory and can be handed out).
  virtual Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark = {},
                                const StopToken& stop = {}) = 0;
  virtual Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) = 0;
  /// Writes the engine file (.fse): versioned header, plan, weights, tactic identities. engine/FORMAT.md.
  virtual Status save(const std::filesystem::path& path) const = 0;
  /// What stands in the arena while it runs, at the extents that it was built for, or was run for last; null: its
  /// compiler does not tell.
  virtual std::shared_ptr<const MemoryTimeline> memory() const { return nullptr; }
};

/// Errors: a weightless model, an operator without a kernel (named), cancellation, a tactic directive that names none,
/// a file of the model that changed since it was opened. Running and saving give the last one too.
Result<std::unique_ptr<Engine>> buildEngine(std::shared_ptr<const Plan> plan, const BuildOptions& options);
/// What an engine file holds: read, checked and planned once, then looked at or prepared as often as wanted.
struct EngineFile {
  std::filesystem::path path;
  std::shared_ptr<const Plan> plan;  ///< its weights are views of the mapped file
  /// What another compiler made of it when it was built; null: our own compiler's. Its tactics are empty then.
  std::shared_ptr<const ReadBackPlan> made;
  std::string backend;
  std::string fusescopeVersion;
  std::string fingerprint;  ///< of the backend where it was built; empty: files of earlier versions do not say
  std::map<std::string, Dims> extents;  ///< that it was built for
  std::vector<TacticChoice> tactics;
  std::int64_t bytes = 0;
  /// The network with whose weights the times of `tactics` were measured, where these are not its own: it was refitted.
  std::string timesWithWeightsOf{};
};
/// Errors: not an engine file, of another version, truncated or damaged (located).
Result<EngineFile> openEngineFile(const std::filesystem::path& path);
/// Prepares it; a tactic that this machine lacks is replaced, with a Decision in report().
Result<std::unique_ptr<Engine>> loadEngine(const EngineFile& file, const BuildOptions& options);
Result<std::unique_ptr<Engine>> loadEngine(const std::filesystem::path& path, const BuildOptions& options);
bool isEngineFile(const std::filesystem::path& path);

}  // namespace fusescope
