#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "base/stop.h"
#include "probe/frames.h"
#include "probe/started_process.h"

namespace fusescope {

/// What an environment answered when it was greeted.
struct Greeting {
  Json hello;            ///< PROTOCOL.md
  FrameReader reader{};  ///< may hold what came behind the hello
  LastWords words{};     ///< what was printed until then
};

/// The arguments that are added to an environment's command. They have no character that any shell touches, so that it
/// does not matter how often they are parsed. Python then imports nothing from the current folder, takes no notice of
/// variables, and reads its first line from standard input.
inline constexpr const char* kPythonArguments = "-ISiq";

/// Sends the probe to a process whose command was `command` and which should be Python, and waits for its hello.
/// Errors, each with what to do: it ends, it is no Python or too old a one, it does not answer within `patience`, it
/// prints something else, another probe answers; cancelled.
Result<Greeting> shakeHands(StartedProcess& process, const std::string& command, std::chrono::milliseconds patience,
                            const StopToken& stop);

}  // namespace fusescope
