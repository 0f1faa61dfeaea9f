#pragma once

#include <optional>
#include <vector>

#include "engine/measurer.h"

namespace fusescope {

/// Which of two engines answers the calls of some extents.
enum class ServedBy { General, Specialised };

/// Finds out which of two engines is faster on inputs of the same extents. The user's calls are the samples: the
/// engines answer them in turns (G S S G …), so that nobody waits for a measurement, and whatever else the machine does
/// bears on both alike. A pure function of the times that it is told.
class ServingTrial {
 public:
  enum class Verdict {
    Open,    ///< more calls are needed
    Faster,  ///< the specialised engine is faster by more than the spread of both
    NotFaster
  };

  /// Which engine answers the next call.
  ServedBy turn() const;
  /// A call was answered by the engine whose turn it was. The first calls of each engine do not count: it finds its
  /// memory cold, and finds out by how many threads it runs best (ThreadPolicy). `disturbed` says that something was
  /// being built meanwhile; such a call does not count either, as long as that has not lasted for kMostDisturbed calls.
  void ran(double ms, bool disturbed);
  Verdict verdict() const;
  /// What a call takes; nothing while no call counted.
  std::optional<KernelTime> general() const { return m_general.time(); }
  std::optional<KernelTime> specialised() const { return m_specialised.time(); }

  /// What an engine must have run for, until its calls count: a stretch by all threads and one by fewer, of at least
  /// 40 ms each, or so many calls.
  static constexpr double kSettlingMs = 100;
  static constexpr int kMostSettling = 80;
  /// Calls of each engine that must count before a verdict. Fewer say too little of the spread.
  static constexpr std::size_t kLeastCalls = 8;
  /// Calls of each engine after which two that are not told apart count as equally fast.
  static constexpr std::size_t kMostCalls = 48;
  static constexpr int kMostDisturbed = 400;

 private:
  struct Side {
    int calls = 0;
    double ms = 0;                ///< of all calls
    std::vector<double> samples;  ///< of those that count
    bool isSettled() const { return calls >= kMostSettling || ms >= kSettlingMs; }
    std::optional<KernelTime> time() const;
  };

  int m_calls = 0;
  int m_disturbed = 0;
  Side m_general, m_specialised;
};

}  // namespace fusescope
