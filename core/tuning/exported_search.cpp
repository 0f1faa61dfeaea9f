#include "tuning/exported_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/temporary_folder.h"
#include "interchange/exports.h"

namespace fusescope {
namespace {

constexpr int kMostSearches = 8;
/// The largest error of a search is at least this factor times that of the previous search.
constexpr double kLeastFactor = 0.5;

class Searches {
 public:
  Searches(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, const OnBetter& onBetter,
           const CheckExported& check)
      : m_oracle(oracle), m_goal(goal), m_memory(memory), m_onBetter(onBetter), m_check(check), m_currentGoal(goal) {}

  Result<ExportedSearch> run() {
    for (int search = 1;; ++search) {
      ExportedSearch found{.result = TRY(tuneSearch(m_oracle, m_currentGoal, m_memory, m_onBetter)),
                           .searchLimit = m_currentGoal.maxError};
      TuneResult& result = found.result;
      if (!isNearEnough(result) || result.end == TuneEnd::Stopped) return found;
      if (!TRY(check(found))) return found;
      if (found.exported->ok) {
        result.ok = result.ok || found.exported->numbers.has_value();
        return found;
      }
      const bool mayGoOn = result.ok && result.end == TuneEnd::Finished && search < kMostSearches;
      result.ok = result.minimal = false;
      if (!mayGoOn || isOverTime(result)) return found;
      holdTighter(found.exported->error());
    }
  }

 private:
  double limit() const { return *m_goal.maxError; }

  /// Returns whether the result meets the original largest error. The search may have had a smaller one, which the
  /// result need not meet.
  bool isNearEnough(const TuneResult& result) const {
    return result.ok || (!m_goal.minSpeedup && result.chosen.error <= limit());
  }

  /// Returns false if it was ended and nothing is known.
  Result<bool> check(ExportedSearch& found) {
    const auto begin = std::chrono::steady_clock::now();
    m_oracle.stopAfter(m_goal.seconds);
    const auto checked = checkAndRemember(found.result.chosen.pins);
    m_oracle.stopAfter(0);
    if (!checked.ok() && checked.error().cancelled) {
      found.result.end = isOver(begin) ? TuneEnd::Seconds : TuneEnd::Stopped;
      return false;
    }
    found.exported = TRY(std::move(checked));
    return true;
  }

  /// If a set fails, its error is remembered as that on the reference, so that no search chooses it again.
  Result<ExportedCheck> checkAndRemember(const PinSet& pins) {
    const Hash128 effect = TRY(m_oracle.plan(pins)).effect;
    ExportedCheck checked = TRY(m_check(pins));
    if (!checked.ok) m_memory.addOnReference(effect, std::max(checked.error(), std::nextafter(limit(), INFINITY)));
    return checked;
  }

  void holdTighter(double error) { *m_currentGoal.maxError *= std::max(limit() / error, kLeastFactor); }

  bool isOver(std::chrono::steady_clock::time_point begin) const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return m_goal.seconds > 0 && passed.count() >= m_goal.seconds;
  }

  /// Returns whether the time is over. If it is not, the next search gets the remaining time.
  bool isOverTime(TuneResult& result) {
    if (m_goal.seconds <= 0) return false;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_begin;
    m_currentGoal.seconds = m_goal.seconds - passed.count();
    if (m_currentGoal.seconds > 0) return false;
    result.end = TuneEnd::Seconds;
    return true;
  }

  TuneOracle& m_oracle;
  const TuneGoal m_goal;
  TuneMemory& m_memory;
  const OnBetter& m_onBetter;
  const CheckExported& m_check;
  TuneGoal m_currentGoal;  ///< the goal of the current search
  const std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

}  // namespace

Result<ExportedSearch> tuneSearchExported(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                                          const OnBetter& onBetter, const CheckExported& check) {
  return Searches(oracle, goal, memory, onBetter, check).run();
}

double ExportedCheck::error() const {
  return numbers ? std::max(numbers->onReference.worst, numbers->onEngine.worst) : NAN;
}

Result<ExportedCheck> checkExported(const Plan& plan, const std::vector<PlanRunner::Inputs>& samples, double most,
                                    const StopToken& stop) {
  const auto folder = TRY(TemporaryFolder::in(std::filesystem::temp_directory_path(), "fusescope-tune"));
  ExportOptions options{.path = folder / "tuned.onnx"};
  options.samples = samples;
  options.tolerance = {.rms = most};
  options.stop = stop;
  const auto made = findExporter("onnx")->write(plan, options);
  if (!made.ok() && made.error().cancelled) return made.error();
  if (!made.ok()) return ExportedCheck{.whyNot = made.error().text()};
  ExportedCheck check{.numbers = made.value().numbers};
  check.ok = !check.numbers || check.error() <= most;
  if (const auto& refused = made.value().failedCheck; refused && check.ok) check.whyNot = refused->text();
  return check;
}

}  // namespace fusescope
