#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/specialised_engine.h"
#include "engine/tactics/serving_trial.h"

namespace fusescope {

/// Limits the specialised engines beside a general one, and says how they are built.
struct SpecialiseOptions {
  std::size_t mostEngines = 4;           ///< at least 1; the least recently used is dropped first
  std::int64_t mostBytes = 512LL << 20;  ///< memory that they may need in addition to the general engine
  Specialise specialise{};               ///< builds them, see specialiserOf()
  std::function<double()> nowMs{};       ///< a clock; empty: the machine's steady clock
};

enum class ServingState {
  Seen,        ///< too few calls for a build, or another build must end first
  Building,    ///< a build is running; the general engine runs the calls
  Trying,      ///< both engines run the calls alternately until it is clear which is faster
  TakenOver,   ///< the specialised engine runs the calls
  GeneralKept  ///< the general engine keeps running the calls: the other one was not faster, or could not be built
};
std::string_view name(ServingState state);  ///< "seen", "building", "trying", "taken_over", "kept_general"
std::string_view name(ServedBy engine);     ///< "general", "specialised"

/// What is known about one set of extents with which the engine was called.
struct ServedExtents {
  std::map<std::string, Dims> extents;
  ServingState state = ServingState::Seen;
  std::int64_t calls = 0, bySpecialised = 0;       ///< `bySpecialised`: the calls of these that the specialised engine
                                                   ///< ran
  ServedBy last = ServedBy::General;               ///< the engine that ran the last call
  std::optional<KernelTime> general, specialised;  ///< the time of a call in the trial
  std::optional<double> buildMs;                   ///< how long the last build took
  std::optional<double> takenOverMs;               ///< from the end of the first call to the take-over
  std::int64_t bytes = 0;                          ///< memory of the specialised engine while it exists
};

/// An engine for open extents that becomes faster for extents that occur repeatedly. A general engine runs calls with
/// new extents at once. When these extents occur again, an engine for exactly them is built in the background
/// (BackgroundBuild), one at a time. Once it is ready, both engines run the calls alternately (ServingTrial), and the
/// new one takes over if it is faster. Each choice is recorded as a Decision with its reason. Only the time of calls
/// differs: a specialised engine calculates and stores in the types of the general one (differenceInContract()).
///
/// Like any Engine it may be used by one caller at a time. Marked values and the report are those of the general
/// engine. The destructor cancels a running build and waits for its end.
class SpecialisingEngine final : public Engine {
 public:
  SpecialisingEngine(std::unique_ptr<Engine> general, SpecialiseOptions options);
  ~SpecialisingEngine() override;

  const Plan& plan() const override { return m_general->plan(); }
  std::shared_ptr<const Cover> made() const override { return m_general->made(); }
  const BuildReport& report() const override { return m_general->report(); }
  const std::string& backend() const override { return m_general->backend(); }
  int threads() const override { return m_general->threads(); }
  Result<RunResult> run(const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& mark = {},
                        const StopToken& stop = {}) override;
  /// Times the engine that runs calls with the extents of `inputs`. This does not count as a call.
  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override;
  Status save(const std::filesystem::path& path) const override { return m_general->save(path); }
  std::shared_ptr<const MemoryTimeline> memory() const override { return m_general->memory(); }

  /// Returns the engine that runs calls with these extents at present. It is valid until the next call.
  Engine& serving(const std::map<std::string, Dims>& extents);
  /// Returns the state of these extents; nothing if they have not occurred, or occurred so long ago that they were
  /// forgotten.
  std::optional<ServedExtents> served(const std::map<std::string, Dims>& extents) const;
  /// Returns the decisions in the order in which they were made; if there are very many, the oldest are deleted.
  const std::vector<Decision>& decisions() const { return m_decisions; }
  bool isBuilding() const { return m_build != nullptr && !m_build->isOver(); }
  /// Waits for the running build, if there is one, and adopts its engine. Callers need not call this: the next call
  /// adopts an engine that is ready.
  void awaitBuild();
  std::size_t engines() const;  ///< number of specialised engines at present
  std::int64_t bytes() const;   ///< bytes of these

  /// A build takes as long as many calls, so it does not pay for extents that occur only once. The second call shows
  /// that they occur again, and waiting for a third one would waste a call.
  static constexpr std::int64_t kCallsBeforeBuild = 2;
  /// Extents whose engine was dropped must occur this many times as often before it is built again. Otherwise, if more
  /// extents alternate than there is room for, each engine is dropped before it was useful; with this factor builds
  /// become rare.
  static constexpr std::int64_t kPatienceAfterDrop = 8;
  /// A specialised engine that was not faster is tried again after this many calls, and after twice as many each
  /// further time, because a machine that was busy during the trial may be quiet by then.
  static constexpr std::int64_t kCallsBetweenTrials = 1000;
  /// The number of sets of extents that are remembered; each needs at most a few hundred bytes.
  static constexpr std::size_t kMostRemembered = 512;
  static constexpr std::size_t kMostDecisions = 2000;

 private:
  struct Entry {
    ServedExtents served;
    std::int64_t callsNeeded = kCallsBeforeBuild;  ///< counted in callsSince; more each time that its engine is dropped
    std::int64_t callsSince = 0;                   ///< since the start, or since its engine was dropped
    bool mayTryAgain = false;                      ///< of one that is Kept: it was not faster
    double metMs = 0;                              ///< when the first call was over
    ServingTrial trial{};
    std::unique_ptr<Engine> engine{};
  };
  using Entries = std::list<Entry>;

  Entry* find(const std::map<std::string, Dims>& extents);
  Entry& entryOf(const std::map<std::string, Dims>& extents);
  ServedBy turnOf(const Entry& entry) const;
  void ran(Entry& entry, ServedBy engine, double ms);
  void judge(Entry& entry);
  void takeBuild();
  void takeIn(Entry& entry, Result<SpecialisedEngine> made);
  void startBuild();
  void makeRoom(const Entry& newest);
  void keepGeneral(Entry& entry);
  void dropEngine(Entry& entry);
  void forgetOldest();
  void decided(std::string_view code, const Entry& entry, DecisionArguments arguments = {});
  double nowMs() const { return m_options.nowMs(); }

  std::unique_ptr<Engine> m_general;
  SpecialiseOptions m_options;
  bool m_isOpen = false;  ///< whether its inputs may have other extents at all
  Entries m_entries;      ///< the latest used first
  std::map<std::map<std::string, Dims>, Entries::iterator> m_byExtents;
  std::vector<Decision> m_decisions;
  double m_buildStartMs = 0;
  std::unique_ptr<BackgroundBuild> m_build;  ///< the last member, so that it ends first
};

}  // namespace fusescope
