#pragma once

#include <optional>
#include <vector>

#include "engine/tactics/measurer.h"

namespace fusescope {

/// Which of two engines runs the calls with certain extents.
enum class ServedBy { General, Specialised };

/// Finds out which of two engines is faster on inputs of the same extents. The user's calls are the samples: the
/// engines run them alternately (G S S G …), so that nobody waits for a measurement and other work on the machine
/// affects both equally. It is a pure function of the times that are passed to ran().
class ServingTrial {
 public:
  enum class Verdict {
    Open,    ///< more calls are needed
    Faster,  ///< the specialised engine is faster by more than the spread of both
    NotFaster
  };

  /// Returns which engine runs the next call.
  ServedBy turn() const;
  /// Records that the engine whose turn it was ran a call in `ms` milliseconds. The first calls of each engine are not
  /// counted, because its memory is cold and it has not yet found its best number of threads (ThreadPolicy).
  /// `disturbed` says that something was being built at the same time; such a call is not counted either, until this
  /// has lasted for kMostDisturbed calls.
  void ran(double ms, bool disturbed);
  Verdict verdict() const;
  /// Return the time of a call; nothing until a call was counted.
  std::optional<KernelTime> general() const { return m_general.time(); }
  std::optional<KernelTime> specialised() const { return m_specialised.time(); }

  /// How long, or how many calls, an engine must have run before its calls are counted: one stretch with all threads
  /// and one with fewer, of at least 40 ms each.
  static constexpr double kSettlingMs = 100;
  static constexpr int kMostSettling = 80;
  /// Counted calls that each engine needs before a verdict. Fewer say too little about the spread.
  static constexpr std::size_t kLeastCalls = 8;
  /// Counted calls of each engine after which two engines whose difference is still unclear are considered equally
  /// fast.
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
