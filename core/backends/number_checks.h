#pragma once

namespace fusescope {

// Kernels of libraries may lose what is not a number: their max(NaN, 0) is 0. IEEE 754 has the processor note each such
// operation, on the thread that does it, as "invalid". A kernel that may lose NaN looks for that note when it has run,
// and where it finds one calculates again in a way that keeps NaN. To look takes a visit to each thread of the team, so
// that whoever runs many kernels in a row may look once for all of them.

/// While it lives, kernels that its thread runs do not look. Inside another one it changes nothing.
class UncheckedNumbers {
 public:
  UncheckedNumbers();
  ~UncheckedNumbers();
  UncheckedNumbers(const UncheckedNumbers&) = delete;
  UncheckedNumbers& operator=(const UncheckedNumbers&) = delete;

  /// Whether NaN may have been lost since it was made. The notes are taken away, and may have been made before: only
  /// where the same kernels then run again, and there are notes again, do those kernels meet something invalid. Never
  /// inside another one, which knows.
  bool takeSuspicion();

 private:
  friend bool isCheckedLater();
  bool m_isOutermost;
  bool m_hasRun = false;  ///< a kernel that may lose NaN
};

/// Asked by a kernel that may lose NaN before it runs: whether somebody else looks afterwards.
bool isCheckedLater();

/// Takes away the notes of all threads of the team, and says whether there were any.
bool takeInvalid();

}  // namespace fusescope
