#pragma once

#include <array>

namespace fusescope {

/// The variables that make OpenMP's threads sleep soon. Some microseconds of spinning are left to them: the next kernel
/// of a quiet run finds them awake.
inline constexpr std::array kPatientThreads{"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=4000"};

/// Starts the process again with OpenMP threads that sleep soon after they run out of work, unless the environment
/// already chooses (OMP_WAIT_POLICY, GOMP_SPINCOUNT): threads that spin at barriers cost milliseconds a kernel as soon
/// as another process wants a core. OpenMP reads its settings when it is loaded, so this is the first thing in main().
void restartWithPatientThreads(char** argv);

}  // namespace fusescope
