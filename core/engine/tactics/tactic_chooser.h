#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "cache/timing_cache.h"
#include "engine/engine.h"
#include "engine/kernels/kernel_store.h"
#include "engine/kernels/region_key.h"
#include "engine/tactics/build_memory.h"
#include "engine/tactics/measurer.h"
#include "engine/tactics/measuring_effort.h"
#include "engine/tactics/tactic_selection.h"

namespace fusescope {

/// The name that is reported as the tactic of a fused node that is prepared while it runs.
constexpr std::string_view kDynamicTactic = "dynamic";
/// The name that is reported as the tactic of a copy between the host and a device.
constexpr std::string_view kDeviceCopyTactic = "device_copy";
/// The name that is reported as the tactic of a node whose bodies run as separate programs.
constexpr std::string_view kBodiesTactic = "bodies";

/// A tactic with its kernel, ready to run.
struct ChosenTactic {
  Tactic tactic;
  std::shared_ptr<const Kernel> kernel;
};

/// A tactic that an earlier build chose: as a value, or, in old engine files, only as a name.
struct FormerTactic {
  std::string name;
  std::optional<Tactic> value;
};
/// Tactics by FusedNode::identity. Names could not be used, because another plan may give them to other nodes.
using TacticsByIdentity = std::map<Hash128, FormerTactic>;
/// Returns the identity of a fused node in the body at `path`, by which its tactic is stored. It includes the path,
/// because two bodies may contain equal nodes.
Hash128 tacticIdentity(const BodyPath& path, const FusedNode& fused);

/// The ways in which one fused node may run.
struct TacticWays {
  std::vector<Tactic> tactics;                   ///< tactics within the workspace limit, the backend's best guess first
  std::vector<std::optional<KernelTime>> times;  ///< the time of each tactic, if it was measured
  /// The cost of each tactic in the plan of formats; nothing if the tactic must not be chosen. At least one has a cost.
  std::vector<std::optional<TacticCost>> costs;
  std::vector<MeasuredMoment> moments;  ///< the measurements of this build; empty if it measured nothing
  std::string region;                   ///< the key of the region
  std::string request;                  ///< requestKey(), if the build has a memory; otherwise empty
  /// The tactics that can be compared and have no time yet. Their costs follow from compare() or leave().
  std::vector<std::size_t> open;
  bool isComparable = false;                 ///< there is something to compare, and it may be measured
  LeftUnmeasured left = LeftUnmeasured::No;  ///< why it was not measured although it could have been
  double likelyMs = 0;                       ///< a rough time of the region, for weighing regions against each other
  bool isMeasured = false;                   ///< its costs are measured times
  bool measuredHere = false;                 ///< the times were measured in this build, not taken from a cache
  bool isSettled = true;                     ///< a second measurement at another moment agreed, or was not needed
  /// The kernel that was the fastest when it was measured: its weights stay packed until the choice is made.
  std::shared_ptr<const Kernel> fastest;
};

/// Determines how each fused node may run and at what cost: by a directive, by the choice of an earlier build, or else
/// by measured times. Which way is used is then planned for all nodes together (plan_tactics.h). Equal regions share
/// measurements, and a timing cache is read before anything is measured. What was done is added to the report.
class TacticChooser {
 public:
  /// `replay` contains the choices of an earlier build and may be empty. All references must outlive this.
  /// Errors: a tactic directive whose pattern matches nothing.
  static Result<TacticChooser> create(const Plan& plan, const BuildOptions& options, BuildReport& report,
                                      TacticsByIdentity replay);

  /// Returns the store of the kernels.
  KernelStore& kernels() const { return *m_kernels; }

  /// Must be locked while bodies are lowered, because executors of one program may do this concurrently while they run,
  /// with this chooser and its report. The choosers of bodies share the mutex, and it is recursive because bodies
  /// contain bodies.
  std::recursive_mutex& loweringMutex() const { return *m_loweringMutex; }

  /// Returns the chooser of a body, which is created on first use. `step` identifies the body.
  Result<TacticChooser*> ofBody(const Plan& body, const BodyPathStep& step);
  /// Returns the ways to run one fused node, with the times that are known. Nothing is measured. Errors: no tactic can
  /// run it (located), cancellation.
  Result<TacticWays> ways(const Backend& backend, const KernelRequest& request);
  /// Measures the open tactics of a region, unless an equal region was measured meanwhile. If other work disturbed
  /// this, the region is left: `ways.left` says so, and a later build measures it. Errors: cancellation.
  Status compare(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  /// Leaves a region unmeasured: it is predicted.
  static void leave(TacticWays& ways, LeftUnmeasured why) { ways.left = why; }
  /// Returns how much is spent on measuring; it is shared with the choosers of bodies.
  MeasuringEffort& effort() { return *m_effort; }
  /// Measures again, at another moment, the tactics that compare() measured and that are close to the fastest one and
  /// not beaten by it: disturbances of a machine come and go, and the smallest of several times of a kernel is used.
  /// Does nothing if the last two measurements agreed, if all repetitions together have taken much longer than
  /// measuring once, or if the effort is spent. Errors: cancellation.
  Status measureAgain(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  /// Computes the costs of the ways from the times that they have now, or, for a region that was not measured, by
  /// prediction.
  void price(TacticWays& ways) const;
  /// Computes the costs of the ways from all measurements so far, or, for a region that was not measured, by
  /// prediction.
  void count(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  /// Prepares the kernel of one of the ways. If that fails, uses the first other way that can be prepared, in the
  /// backend's order, and notes this in the report. Errors: none can be prepared (the error of the way that was wanted,
  /// located), cancellation.
  Result<ChosenTactic> take(const Backend& backend, const KernelRequest& request, const TacticWays& ways,
                            std::size_t way);
  /// From now on measures `times` times as long as usual and decides by times alone. This finds the best choice,
  /// although two builds may choose differently.
  void chooseAtLength(double times);
  /// From now on measures each region once and briefly, and no conversions. This is for a build beside runs, when the
  /// machine is hardly ever quiet, and whose result is timed as a whole before it is used. These times are not kept for
  /// other builds.
  void measureBriefly();
  /// Reports that `fused` is prepared while it runs, and why.
  void noteDynamic(const FusedNode& fused, const std::string& why);
  /// Reports how the time for measuring was spent, which regions were left and what is predicted for them, and how much
  /// other work disturbed the measurements of this build, if it did. `extents` are those of the build.
  void noteMeasuring(const std::map<std::string, Dims>& extents);
  /// Returns the milliseconds of a format or type conversion, measured once for each pair; 0 if unknown. If nothing is
  /// measured, it is estimated from the bytes.
  double conversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  /// Does the same as conversionMs() without measuring. For a conversion that was never measured, it returns a time
  /// that is rarely too long.
  double leastConversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  /// Returns whether something may still be measured, and conversions count with their measured times.
  bool weighsConversions() const { return m_options.measureTactics && !m_isBrief && !isOver(); }
  /// Returns how much more than the cheapest the choice of ways and formats may cost, as a share, so that two builds
  /// choose alike.
  double mostLoss() const;
  /// Measures a conversion that became a step, so that later plans know its price. Once for each pair of types it also
  /// measures a few conversions in both directions, because a plan with pins converts where no plan did before.
  void noteConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  /// Ends a build that succeeded. The memory, if there is one, learns which regions were built, and keeps `kernels`.
  void endBuild(const std::vector<std::shared_ptr<const Kernel>>& kernels);
  /// From now on repeats the earlier choice for a fused node if there is one, without measuring or reporting.
  void replayChoices();

 private:
  TacticChooser(const Plan& plan, const BuildOptions& options, BuildReport& report)
      : m_plan(&plan),
        m_options(options),
        m_report(&report),
        m_kernels(options.kernels != nullptr ? options.kernels : &KernelStore::ofProcess()),
        m_effort(std::make_shared<MeasuringEffort>(options.effortSeconds, options.measuredThreads)) {}

  /// Returns the tactics whose numbers the contract allows. Errors: none is left.
  Result<std::vector<Tactic>> withinContract(const Backend& backend, const KernelRequest& request,
                                             const std::vector<Tactic>& tactics);
  /// Returns the tactics that need no more scratch memory than the plan allows. Errors: none of ours is left.
  Result<std::vector<Tactic>> withinWorkspace(const Backend& backend, const KernelRequest& request,
                                              const std::vector<Tactic>& tactics);
  double measuredConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to,
                            const MeasureBudget& budget);
  std::optional<double> knownConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to) const;
  void storeConversion(const std::string& key, const TensorDesc& from, const TensorDesc& to,
                       const TimingContext& context, const KernelTime& time);
  const Tactic* asked(const KernelRequest& request, const std::vector<Tactic>& tactics,
                      const std::vector<Tactic>& offered);
  const Tactic* replayed(const KernelRequest& request, const std::vector<Tactic>& tactics);
  const std::vector<Tactic>& offered(const Backend& backend, const KernelRequest& request, const TacticWays& ways);
  void noteOrigin(const TacticWays& ways);
  /// Returns what other builds of this network found out; null: nothing.
  BuildMemory* memory() const { return m_isBrief ? nullptr : m_options.memory.get(); }
  std::optional<KernelTime> knownTime(const std::string& key);
  void noteDisturbed();
  void shareTimes();
  void predictLeft(const std::map<std::string, Dims>& extents);
  /// Returns whether nothing but what is known may be used.
  bool isOver() const { return m_effort->whyNot() != LeftUnmeasured::No; }
  MeasuredThreads threads() const;
  void refresh(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  Result<std::optional<KernelTime>> timeAlone(const MeasuredKernel& kernel, const MeasureBudget& budget);
  Result<std::vector<std::optional<KernelTime>>> timesOf(const Backend& backend, const KernelRequest& request,
                                                         TacticWays& ways, std::span<const std::size_t> which);
  void keepTime(const std::string& key, const KernelTime& time);
  /// Keeps for each way what all moments say of it.
  void keepDistinguishedTimes(const TimingContext& context, const TacticWays& ways);
  Result<std::optional<double>> onlyTime(const Backend& backend, const KernelRequest& request,
                                         const std::string& region, const ChosenTactic& chosen);
  Result<std::size_t> thatCanBePrepared(const Backend& backend, const KernelRequest& request, const TacticWays& ways,
                                        std::size_t wanted, std::shared_ptr<const Kernel>& kernel);
  void noteUnfused(const KernelRequest& request, const TacticWays& ways, std::size_t way);
  void storeRegion(const Backend& backend, const KernelRequest& request, const std::string& region,
                   const TimingContext& context, const KernelTime& time);
  void noteRegion(const KernelRequest& request, const std::string& region);
  Status readDirectives();
  std::string nameOf(const FusedNode& fused) const { return m_path.of(fused.name); }
  Hash128 identityOf(const FusedNode& fused) const { return tacticIdentity(m_path, fused); }
  Subject subjectOf(const FusedNode& fused) const;
  void note(const KernelRequest& request, const TacticWays& ways, std::size_t way, std::optional<double> onlyTime);

  const Plan* m_plan;
  BuildOptions m_options;
  BuildReport* m_report;
  KernelStore* m_kernels;
  std::shared_ptr<std::recursive_mutex> m_loweringMutex = std::make_shared<std::recursive_mutex>();
  std::shared_ptr<TimingCache> m_cache;
  std::map<NodeId, const Directive*> m_directives;  ///< the last tactic directive for each node
  TacticsByIdentity m_replay, m_choices;
  std::map<std::string, KernelTime> m_times;                  ///< by timing key: known to this build
  std::set<std::string> m_measuredHere;                       ///< keys of those that this build measured
  std::map<std::string, std::vector<std::string>> m_regions;  ///< fused nodes by region key
  std::map<std::string, double> m_conversions;
  std::set<std::tuple<const Backend*, DataType, DataType>> m_notedTypes;  ///< that conversions were measured between
  std::map<std::string, BuildMemory::Tactics> m_offered;                  ///< by region and formats
  std::set<std::string> m_built;                                          ///< requestKey() of what is built
  std::set<std::string> m_measuredRegions;                                ///< region keys: this build measured them
  std::set<std::string> m_compiledRegions;                                ///< region keys: this build compiled them
  BodyPath m_path;                                                        ///< the body
  std::map<const Plan*, std::unique_ptr<TacticChooser>> m_bodies;
  MeasureBudget m_budget;
  std::shared_ptr<MeasuringEffort> m_effort;
  double m_measuringMs = 0, m_againMs = 0;  ///< spent so far: on what had no time, and on measuring that again
  bool m_prefers = true;                    ///< whether preferences beside times count
  bool m_isBrief = false;                   ///< measureBriefly() was called
  bool m_quiet = false;                     ///< replaying: nothing is reported
};

}  // namespace fusescope
