#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "base/stop.h"
#include "probe/frames.h"
#include "probe/probe_options.h"
#include "probe/started_process.h"

namespace fusescope {

/// The answer of an environment to the handshake.
struct Greeting {
  Json hello;            ///< see PROTOCOL.md
  FrameReader reader{};  ///< may contain bytes that came after the hello
  LastWords words{};     ///< the last output before the hello
};

/// A Python that was started and answered.
struct GreetedPython {
  StartedProcess process;
  Greeting greeting;
};

/// The arguments that are appended to an environment's command. They contain no character with a special meaning in any
/// shell, so that it does not matter how often they are parsed. With them Python imports nothing from the current
/// folder, ignores environment variables, and reads its first line from standard input.
inline constexpr const char* kPythonArguments = "-ISiq";

/// Starts `command`, which should be Python, sends the probe to it, and waits for its hello. If the command is the path
/// or the name of a Python of this machine, no shell can be in between, and it is started with the first lines of the
/// probe at once. Each error says what to do: there is no such command, the process ends, it is not Python or a too old
/// version, it does not answer within `options.handshake`, it prints something else, another probe answers; cancelled.
Result<GreetedPython> greetPython(const std::string& command, const ProbeOptions& options, const StopToken& stop);

}  // namespace fusescope
