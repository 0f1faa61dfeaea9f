#pragma once

#include <cstddef>
#include <optional>

namespace fusescope {

/// Decides how many threads the next run of a program uses. Threads that share a kernel wait for each other at its end,
/// so that one thread without a processor delays all of them: if other work uses the machine, fewer threads are faster.
/// The policy is a pure function of the times that are passed to it, and allocates nothing.
///
/// It judges stretches of several runs, which last longer than the scheduler lets one thread wait, because beside other
/// work a single run is fast or slow by chance. A program uses all threads until a stretch takes much longer than
/// expected. Then half as many threads are tried for one stretch, and kept if they are faster on average. While fewer
/// threads than all are used, twice as many are tried from time to time, and kept if they are not slower. The first run
/// of a try is not counted, because threads that slept wake up in it. Each failed try doubles the number of stretches
/// until the next one; a try ends early if it is much slower.
class ThreadPolicy {
 public:
  /// `expectedMs` is how long a run with all `threads` threads should take, if that is known.
  explicit ThreadPolicy(int threads, std::optional<double> expectedMs = {});

  /// Returns the number of threads for the next run.
  int threads() const { return m_tried != 0 ? m_tried : m_kept; }
  /// Returns the number of threads for runs that are not tries.
  int kept() const { return m_kept; }
  /// Records how long the run with threads() threads took.
  void ran(double ms);
  /// Records that the program cannot run with threads() threads, which is a try. From then on only the kept number is
  /// used.
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
