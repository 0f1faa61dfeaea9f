#pragma once

#include <cstddef>
#include <optional>

namespace fusescope {

/// Decides by how many threads the next run of a program is to be done. Threads that share a kernel wait for each other
/// behind it, so that one of them without a processor holds up all: where other work wants the machine, fewer threads
/// are faster. The policy is a pure function of the times that it is given, and allocates nothing.
///
/// Runs are judged by stretches of several of them, which last longer than a scheduler lets one thread wait: beside
/// other work a single run is as fast as alone, or slow, by chance. A program runs by all threads until a stretch takes
/// much longer than expected. Then half as many are tried for a stretch, and kept if they are faster on average. While
/// fewer threads than all run it, twice as many are tried from time to time, and kept if they are no slower. The first
/// run of a try does not count: threads that slept wake up in it. A try that fails doubles the number of stretches
/// until the next one, and ends early where it is much slower.
class ThreadPolicy {
 public:
  /// `expectedMs`: what a run by all `threads` should take, as far as that is known.
  explicit ThreadPolicy(int threads, std::optional<double> expectedMs = {});

  /// The threads of the next run.
  int threads() const { return m_tried != 0 ? m_tried : m_kept; }
  /// The threads of runs that are no tries.
  int kept() const { return m_kept; }
  /// Tells what the run by threads() took.
  void ran(double ms);
  /// Says that the program cannot run by threads(), which is a try: nothing else than what is kept is tried any more.
  void cannotTry();

 private:
  /// Consecutive runs by the same threads.
  struct Stretch {
    double ms = 0;
    std::size_t runs = 0;
    double meanMs() const { return ms / static_cast<double>(runs); }
    void add(double runMs);
    bool isWhole() const;
  };
  void ranTry(double ms);
  bool isSlow() const;
  int nextTry();
  void endTry(bool isKept);

  int m_all, m_kept;
  int m_tried = 0;  ///< the threads of a try; 0: none is under way
  std::optional<double> m_expectedMs;
  Stretch m_now;
  double m_recentMs = 0;                   ///< the mean of the last whole stretch by what is kept
  std::size_t m_sinceTry = 0, m_patience;  ///< in whole stretches
  bool m_isAwake = false;                  ///< the first run of the try is done
  bool m_triedMore = false;                ///< the last try was of more threads
  bool m_isFixed = false;
};

}  // namespace fusescope
