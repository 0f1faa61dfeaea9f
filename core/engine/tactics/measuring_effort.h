#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/tactics/measurer.h"

namespace fusescope {

/// What comparing the tactics of a region may be worth.
struct RegionStake {
  std::string kind;        ///< regions of one kind are expected to gain alike
  double ms = 0;           ///< the predicted time of one kernel
  std::int64_t count = 1;  ///< how many equal regions the network has
};

/// The order in which regions are measured: the largest predicted gain first. The gain of a region is its predicted
/// time, times the number of equal regions, times the share of its time that a better tactic is expected to save. The
/// share is learnt for each kind from the regions that were measured before.
class MeasuringOrder {
 public:
  /// Adds a region, and returns its index: 0, 1, 2 …. All are added before the first call of next().
  std::size_t add(RegionStake stake);
  /// Takes the region with the largest predicted gain; nothing if none is left.
  std::optional<std::size_t> next();
  /// Returns how many milliseconds of a run all regions that were not taken are expected to save together.
  double restMs() const;
  /// Notes that the best tactic of a region of this kind saves this share of the time of the first one.
  void learn(const std::string& kind, double share);
  /// Returns the share that is expected of a region of this kind.
  double shareOf(const std::string& kind) const;

 private:
  struct Kind {
    std::vector<std::size_t> regions;  ///< sorted when the first one is taken; the largest is last
    double restMs = 0;                 ///< their time
    double shares = 0;                 ///< the sum of what was learnt
    std::int64_t learnt = 0;
  };
  double timeOf(std::size_t region) const;
  std::vector<RegionStake> m_stakes;
  std::map<std::string, Kind> m_kinds;
  bool m_isSorted = false;
};

/// Returns the most seconds that measuring may take if nobody says so, for a network with this predicted time of a run:
/// as long as a thousand runs, but at least 5 and at most 60 seconds. A small network is always measured whole, because
/// measuring all of it takes less.
double usualEffortSeconds(double networkMs);

/// How much is spent on measuring in a build, and when it ends. A network and its bodies share one.
class MeasuringEffort {
 public:
  /// If `seconds` is absent, begin() chooses them. `threads` is as BuildOptions::measuredThreads.
  MeasuringEffort(std::optional<double> seconds, const MeasuredThreads* threads);

  /// Returns the time by the clock of the measurements, in milliseconds.
  double nowMs() const;
  /// Must be called before regions are measured; only the first call has an effect.
  void begin(double networkMs);
  /// From now on everything is measured, however long it takes.
  void measureAll();
  void spend(double ms) { m_report.spentSeconds += ms / 1000; }
  bool isSpent() const;
  double leftMs() const;  ///< until then; 0 if it is spent

  /// Notes the relative spread of the repeated runs of a kernel.
  void noteSpread(double spread);
  /// Returns the median of these, but not less than two moments of a quiet machine differ by, and not more than 2 %; a
  /// usual value if there is none.
  double noise() const;
  /// Returns whether saving `restMs` of a run that takes `networkMs` would be less than measurements are off by.
  bool isBelowNoise(double restMs, double networkMs) const;

  /// Notes whether other work disturbed measuring a region, so that it failed or took much longer than it should.
  void noteAttempt(bool wasDisturbed);
  /// Returns whether the last attempt was disturbed: the next one should not wait long.
  bool isDoubtful() const { return m_disturbed > 0; }
  /// Returns whether so many attempts in a row were disturbed that nothing more is tried in this build.
  bool isBusy() const;
  /// Returns why nothing may be measured now; No if something may. If the time went into waiting for other work, the
  /// machine is busy.
  LeftUnmeasured whyNot() const;

  /// Adds regions to the report.
  void count(LeftUnmeasured left, bool measuredHere);
  MeasuringReport report() const;

 private:
  std::optional<double> m_asked;
  bool m_hasBegun = false, m_measuresAll = false;
  std::function<double()> m_nowMs;
  std::vector<double> m_spreads;
  int m_disturbed = 0;  ///< attempts in a row
  MeasuringReport m_report;
};

/// Returns the decisions that say which regions were not measured, and why; none if all were.
std::vector<Decision> leftUnmeasured(const MeasuringReport& report);

}  // namespace fusescope
