#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "base/stop.h"
#include "probe/frames.h"
#include "probe/probe_options.h"
#include "probe/started_process.h"

namespace fusescope {

/// What an environment answered when it was greeted.
struct Greeting {
  Json hello;            ///< PROTOCOL.md
  FrameReader reader{};  ///< may hold what came behind the hello
  LastWords words{};     ///< what was printed until then
};

/// A Python that was started and answered.
struct GreetedPython {
  StartedProcess process;
  Greeting greeting;
};

/// The arguments that are added to an environment's command. They have no character that any shell touches, so that it
/// does not matter how often they are parsed. Python then imports nothing from the current folder, takes no notice of
/// variables, and reads its first line from standard input.
inline constexpr const char* kPythonArguments = "-ISiq";

/// Starts `command`, which should be Python, sends the probe to it, and waits for its hello. Where the command is the
/// path or the name of a Python of this machine, no shell can be in between, and it is started with the probe's first
/// lines at once. Errors, each with what to do: there is no such command, it ends, it is no Python or too old a one, it
/// does not answer within `options.handshake`, it prints something else, another probe answers; cancelled.
Result<GreetedPython> greetPython(const std::string& command, const ProbeOptions& options, const StopToken& stop);

}  // namespace fusescope
