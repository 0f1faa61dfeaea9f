#pragma once

namespace fusescope {

/// Says that this process compiles what it plans, with so many threads (0: as many as the machine has), and runs
/// nothing: a compiler that is asked what it supports may compile at once, since what compiles is supported, and a
/// process that has told what it made (BuildOptions::onlyMade) is let go. Thread-safe.
void expectBuilds(int threads);

/// With how many threads what a compiler is asked about is compiled next; 0: nothing says that it is.
int threadsOfNextBuild();

}  // namespace fusescope
