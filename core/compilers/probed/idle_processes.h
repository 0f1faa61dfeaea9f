#pragma once

#include <thread>

namespace fusescope {

/// Ends the processes of compilers that nothing uses, on the thread that it returns, while its caller does something
/// else. If a compiler is asked afterwards, it is started again.
[[nodiscard]] std::jthread endIdleProcesses();

}  // namespace fusescope
