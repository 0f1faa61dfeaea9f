#pragma once

namespace fusescope {

// Kernels of libraries may lose NaN, because their max(NaN, 0) is 0. As IEEE 754 requires, the processor sets a flag
// for each such invalid operation, on the thread that performs it. A kernel that may lose NaN checks that flag after it
// ran, and if it is set, calculates again in a way that preserves NaN. The check visits each thread of the team, so
// that a caller that runs many kernels in a row may check once for all of them.

/// While an object of this class exists, kernels that run on its thread do not check the processor's flag for invalid
/// operations. An object inside the lifetime of another one has no effect.
class UncheckedNumbers {
 public:
  UncheckedNumbers();
  ~UncheckedNumbers();
  UncheckedNumbers(const UncheckedNumbers&) = delete;
  UncheckedNumbers& operator=(const UncheckedNumbers&) = delete;

  /// Returns whether a NaN may have been lost since this object was made, and clears the flags of all threads. The
  /// flags may have been set before that. Only if the same kernels run again and the flags are set again did these
  /// kernels meet an invalid operation. Must not be called inside another object, whose owner makes the check.
  bool takeSuspicion();

 private:
  friend bool isCheckedLater();
  bool m_isOutermost;
  bool m_hasRun = false;  ///< whether a kernel that may lose NaN has run
};

/// Returns whether another caller checks the flags after this kernel. A kernel that may lose NaN calls this before it
/// runs.
bool isCheckedLater();

/// Clears the flags of all threads of the team and returns whether one was set.
bool takeInvalid();

}  // namespace fusescope
