#pragma once

namespace fusescope {

/// Starts the process again with OpenMP threads that sleep soon after they run out of work, unless the environment
/// already chooses (OMP_WAIT_POLICY, GOMP_SPINCOUNT): threads that spin at barriers cost milliseconds a kernel as soon
/// as another process wants a core. OpenMP reads its settings when it is loaded, so this is the first thing in main().
void restartWithPatientThreads(char** argv);

}  // namespace fusescope
