#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace fusescope::test {

/// A network of each that abacus knows, on x [4, 4]: a product and its bias, in one kernel; a Relu that two products
/// read ("left", "right"), whose sum is "join"; "soft", which abacus refuses; "flip", of which it says nothing;
/// "scale"; "hard", which it cannot compile; "flat", a view; "last".
extern const char* const kEveryFate;

/// The processes of abacus that this process started, also those that ended and that nobody waited for, and those that
/// others started whose TMPDIR is `temporaryFolder`.
std::set<pid_t> abacusProcesses(const std::string& temporaryFolder);

}  // namespace fusescope::test
