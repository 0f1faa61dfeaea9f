#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/serving_trial.h"
#include "engine/specialised_engine.h"

namespace fusescope {

/// What bounds the specialised engines beside a general one, and where they come from.
struct SpecialiseOptions {
  std::size_t mostEngines = 4;           ///< at least 1; the one used longest ago goes first
  std::int64_t mostBytes = 512LL << 20;  ///< of memory that the general engine does not have already
  Specialise specialise{};               ///< makes them: specialiserOf()
  std::function<double()> nowMs{};       ///< a clock; the machine's steady one, where it is empty
};

enum class ServingState {
  Seen,       ///< not often enough for a build, or a build waits for another one
  Building,   ///< the general engine serves meanwhile
  Trying,     ///< both engines serve in turns until one is known to be faster
  TakenOver,  ///< the specialised engine serves
  Kept        ///< the general engine serves on: the other one was not faster, or cannot be had
};
std::string_view name(ServingState state);  ///< "seen", "building", "trying", "taken_over", "kept_general"
std::string_view name(ServedBy engine);     ///< "general", "specialised"

/// What is known of the extents that the inputs of some calls had.
struct ServedExtents {
  std::map<std::string, Dims> extents;
  ServingState state = ServingState::Seen;
  std::int64_t calls = 0, bySpecialised = 0;       ///< of all calls: those that the specialised engine answered
  ServedBy last = ServedBy::General;               ///< which engine answered the last call
  std::optional<KernelTime> general, specialised;  ///< of the trial: what a call takes
  std::optional<double> buildMs;                   ///< how long the last build took
  std::optional<double> takenOverMs;               ///< from the end of the first call to the take-over
  std::int64_t bytes = 0;                          ///< of the specialised engine, while it is there
};

/// An engine for open extents that gets faster at those that it meets. A general engine serves new extents at once;
/// where they come again, an engine for just these is built in the background (BackgroundBuild), one at a time. Once it
/// is there, both serve in turns (ServingTrial), and it takes over where it is faster. Whatever is decided is a
/// Decision with its reason. Callers see no difference but in time: a specialised engine calculates and stores in the
/// types of the general one (differenceInContract()).
///
/// One caller at a time, as of any Engine. Marked values and the report are the general engine's. Destroying it cancels
/// a build and waits until that has stopped.
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
  /// Of the engine that serves the extents of `inputs`; counts as no call.
  Result<TimeReport> time(const std::map<std::string, Tensor>& inputs, const TimeOptions& options) override;
  Status save(const std::filesystem::path& path) const override { return m_general->save(path); }
  std::shared_ptr<const MemoryTimeline> memory() const override { return m_general->memory(); }

  /// The engine that serves these extents now, until the next call.
  Engine& serving(const std::map<std::string, Dims>& extents);
  /// Returns the state of these extents; nothing if they have not occurred, or occurred so long ago that they were
  /// forgotten.
  std::optional<ServedExtents> served(const std::map<std::string, Dims>& extents) const;
  /// In the order in which they were taken; the oldest are forgotten where there are very many.
  const std::vector<Decision>& decisions() const { return m_decisions; }
  bool isBuilding() const { return m_build != nullptr && !m_build->isOver(); }
  /// Waits for the build that goes on, if one does, and takes it in. Callers need not: the next call takes in what is
  /// ready.
  void awaitBuild();
  std::size_t engines() const;  ///< specialised ones that are there
  std::int64_t bytes() const;   ///< of these

  /// A call of extents that never come again is not worth a build: that takes as long as many calls. The second call
  /// says that they come again, and what waits for a third one loses a call by it.
  static constexpr std::int64_t kCallsBeforeBuild = 2;
  /// What was dropped for others must be met so many times as often as before. Where more extents take turns than there
  /// is room for, one engine goes for the next before it was of use, until hardly any is built.
  static constexpr std::int64_t kPatienceAfterDrop = 8;
  /// What was not faster is tried again so many calls later, and after twice as many each time: a machine that was busy
  /// during the trial may be quiet by then.
  static constexpr std::int64_t kCallsBetweenTrials = 1000;
  /// So many extents are remembered; what is known of one takes no more than a few hundred bytes.
  static constexpr std::size_t kMostRemembered = 512;
  static constexpr std::size_t kMostDecisions = 2000;

 private:
  struct Entry {
    ServedExtents told;
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
  void decided(std::string_view code, const Entry& entry, Json arguments = Json::object());
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
