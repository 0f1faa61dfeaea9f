#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "cache/timing_cache.h"
#include "engine/engine.h"
#include "engine/kernel_store.h"
#include "engine/measurer.h"
#include "engine/region_key.h"
#include "engine/tactic_selection.h"

namespace fusescope {

/// The tactic of a fused node that is prepared while it runs.
constexpr std::string_view kDynamicTactic = "dynamic";
/// The tactic of a copy between the host and a device.
constexpr std::string_view kDeviceCopyTactic = "device_copy";
/// The tactic of a node whose bodies run as programs of their own.
constexpr std::string_view kBodiesTactic = "bodies";

/// A tactic with its kernel, ready to run.
struct ChosenTactic {
  Tactic tactic;
  std::shared_ptr<const Kernel> kernel;
};

/// A tactic that was chosen before: as a value, or of an earlier engine file its name alone.
struct FormerTactic {
  std::string name;
  std::optional<Tactic> value;
};
/// By FusedNode::identity. A name would not do: another plan may call other nodes by it.
using TacticsByIdentity = std::map<Hash128, FormerTactic>;
/// What the tactic of a fused node of the body at `path` is kept by: two bodies may have equal nodes.
Hash128 tacticIdentity(const BodyPath& path, const FusedNode& fused);

/// How one fused node may run.
struct TacticWays {
  std::vector<Tactic> tactics;                   ///< that the workspace allows, the backend's best guess first
  std::vector<std::optional<KernelTime>> times;  ///< of each, where it was measured
  /// What each counts for in the plan of formats; nothing: it is not to be taken. At least one is there.
  std::vector<std::optional<TacticCost>> costs;
  std::vector<MeasuredMoment> moments;  ///< at which this build measured; empty: it did not
  std::string region;                   ///< its key
  bool isMeasured = false;              ///< its times decide
  bool measuredHere = false;            ///< in this build; else what was known
  bool isSettled = true;                ///< measuring once more, at another moment, came to the same, or was not needed
};

/// Says how each fused node may run, at what cost: by directive, by what an earlier build chose, else by measured
/// times. Which of the ways is taken is planned for all of them together (plan_tactics.h). Equal regions share
/// measurements; a timing cache is asked first. Writes what it did into the report.
class TacticChooser {
 public:
  /// `replay`: what an earlier build chose; may be empty. All references must outlive this.
  /// Errors: a tactic directive whose pattern matches nothing.
  static Result<TacticChooser> create(const Plan& plan, const BuildOptions& options, BuildReport& report,
                                      TacticsByIdentity replay);

  /// Where kernels come from.
  KernelStore& kernels() const { return *m_kernels; }

  /// Held while bodies are lowered: executors of one program do so beside each other while they run, with this chooser
  /// and its report. Those of bodies share it, and bodies in bodies are lowered under it as well.
  std::recursive_mutex& loweringMutex() const { return *m_loweringMutex; }

  /// The chooser of a body, made when it is first asked for: `step` leads to it.
  Result<TacticChooser*> ofBody(const Plan& body, const HeldBody& step);
  /// The ways to run one fused node. Errors: nothing can run it (located), cancellation.
  Result<TacticWays> ways(const Backend& backend, const KernelRequest& request);
  /// Measures what ways() measured and what is near its fastest once more, at another moment: what disturbs a machine
  /// comes and goes, and of several times of a kernel the least holds. Nothing where the last two agreed, or where all
  /// this takes much longer than measuring once. Errors: cancellation.
  Status measureAgain(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  /// Says what the ways count for, by all that is measured by now.
  void count(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  /// Takes one of them, or where that cannot be prepared the first other one that can, in the backend's order; the
  /// report says so. Errors: none can be prepared (what is wrong with the one that was to be taken, located),
  /// cancellation.
  Result<ChosenTactic> take(const Backend& backend, const KernelRequest& request, const TacticWays& ways,
                            std::size_t way);
  /// From now on measures `times` as long as usual, and lets nothing but times count: what that chooses is the best
  /// there is, though two builds may differ.
  void chooseAtLength(double times);
  /// From now on measures each region once and for a short time, and no conversions: for a build beside runs, where a
  /// quiet moment hardly comes, and whose outcome is timed as a whole before it is used. These times are not kept for
  /// other builds.
  void measureBriefly();
  /// Reports that `fused` is prepared while it runs, and why.
  void noteDynamic(const FusedNode& fused, const std::string& why);
  /// Reports how far other work disturbed what this build measured, if it did.
  void noteDisturbed();
  /// Time of a format or type conversion, measured once for each pair; 0 where it is not known. Without measuring: by
  /// its bytes.
  double conversionMs(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  /// What the choice of ways and formats may cost more than the cheapest, as a share, so that two builds choose alike.
  double mostLoss() const;
  /// Measures a conversion that became a step, so that later plans know its price; and, once, a few between its types
  /// there and back: a plan under pins converts where none did before.
  void noteConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  /// From now on what was chosen for a fused node is taken again where it exists, without measuring or reporting.
  void replayChoices();

 private:
  TacticChooser(const Plan& plan, const BuildOptions& options, BuildReport& report)
      : m_plan(&plan),
        m_options(options),
        m_report(&report),
        m_kernels(options.kernels != nullptr ? options.kernels : &KernelStore::ofProcess()) {}

  /// Without those whose numbers the contract does not allow. Errors: none is left.
  Result<std::vector<Tactic>> withinContract(const Backend& backend, const KernelRequest& request,
                                             const std::vector<Tactic>& tactics);
  /// Without those that need more scratch memory than the plan allows. Errors: none of ours is left.
  Result<std::vector<Tactic>> withinWorkspace(const Backend& backend, const KernelRequest& request,
                                              const std::vector<Tactic>& tactics);
  double measuredConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to);
  std::optional<double> knownConversion(const Backend& backend, const TensorDesc& from, const TensorDesc& to) const;
  void storeConversion(const std::string& key, const TensorDesc& from, const TensorDesc& to,
                       const TimingContext& context, const KernelTime& time);
  const Tactic* asked(const KernelRequest& request, const std::vector<Tactic>& tactics,
                      const std::vector<Tactic>& offered);
  const Tactic* replayed(const KernelRequest& request, const std::vector<Tactic>& tactics);
  const std::vector<Tactic>& offered(const Backend& backend, const KernelRequest& request, const std::string& region);
  std::optional<KernelTime> knownTime(const std::string& key);
  Status measure(const Backend& backend, const KernelRequest& request, TacticWays& ways);
  Result<std::vector<std::optional<KernelTime>>> timesOf(const Backend& backend, const KernelRequest& request,
                                                         const TacticWays& ways, std::span<const std::size_t> which);
  void keepTime(const std::string& key, const KernelTime& time);
  /// Keeps for each way what all moments say of it.
  void tellApart(const TimingContext& context, const TacticWays& ways);
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
  std::map<std::string, std::vector<Tactic>> m_offered;                   ///< by region and formats
  BodyPath m_path;                                                        ///< the body
  std::map<const Plan*, std::unique_ptr<TacticChooser>> m_bodies;
  MeasureBudget m_budget;
  double m_measuringMs = 0, m_againMs = 0;  ///< spent so far: on what had no time, and on measuring that again
  bool m_prefers = true;                    ///< not times alone count
  bool m_isBrief = false;                   ///< measureBriefly() was called
  bool m_quiet = false;                     ///< replaying: nothing is reported
};

}  // namespace fusescope
