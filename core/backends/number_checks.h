#pragma once

namespace fusescope {

// Kernels of libraries may lose what is not a number: their max(NaN, 0) is 0. IEEE 754 has the processor note each such
// operation, on the thread that does it, as "invalid". A kernel that may lose NaN looks for that note when it has run,
// and where it finds one calculates again in a way that keeps NaN. To look takes a visit to each thread of the team, so
// that whoever runs many kernels in a row may look once for all of them.

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
  bool m_hasRun = false;  ///< a kernel that may lose NaN
};

/// Returns whether another caller checks the flags after this kernel. A kernel that may lose NaN calls this before it
/// runs.
bool isCheckedLater();

/// Clears the flags of all threads of the team and returns whether one was set.
bool takeInvalid();

}  // namespace fusescope
