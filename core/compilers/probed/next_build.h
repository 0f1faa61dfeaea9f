#pragma once

namespace fusescope {

/// Says that this process compiles what it plans, with this many threads (0: as many as the machine has), and runs
/// nothing. A compiler that is asked what it supports may then compile immediately, because what compiles is supported,
/// and a process that has reported what it made (BuildOptions::onlyMade) is ended. Thread-safe.
void expectBuilds(int threads);

/// Returns the number of threads with which the next network that a compiler is asked about is compiled; 0 if
/// expectBuilds() was not called.
int threadsOfNextBuild();

}  // namespace fusescope
