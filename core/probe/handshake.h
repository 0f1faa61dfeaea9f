#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "base/stop.h"
#include "probe/frames.h"
#include "probe/started_process.h"

namespace fusescope {

/// The answer of an environment to the handshake.
struct Greeting {
  Json hello;            ///< see PROTOCOL.md
  FrameReader reader{};  ///< may contain bytes that came after the hello
  LastWords words{};     ///< the last output before the hello
};

/// The arguments that are appended to an environment's command. They contain no character with a special meaning in any
/// shell, so that it does not matter how often they are parsed. With them Python imports nothing from the current
/// folder, ignores environment variables, and reads its first line from standard input.
inline constexpr const char* kPythonArguments = "-ISiq";

/// Sends the probe to a process, which was started by `command` and should be Python, and waits for its hello. Each
/// error says what to do: the process ends, it is not Python or a too old version, it does not answer within
/// `patience`, it prints something else, another probe answers; cancelled.
Result<Greeting> shakeHands(StartedProcess& process, const std::string& command, std::chrono::milliseconds patience,
                            const StopToken& stop);

}  // namespace fusescope
