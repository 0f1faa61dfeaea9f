#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"

namespace fusescope {

/// What answers of `compiler` depend on in an environment, as its listener tells it (PROTOCOL.md): starts the
/// environment's command, and imports no compiler. Errors: those of the connection; cancelled.
Result<Json> askWitness(const Environment& environment, std::string_view compiler, const StopToken& stop,
                        const ProbeOptions& options = {});

/// Whether all files that a witness names are on this machine as it has them: nothing was installed, removed or written
/// since. Starts nothing. False for what is no witness.
bool isUnchanged(const Json& witness);

/// The program that a command of one word starts, where it was found on PATH, from the root on; links in it stay. Empty: the command has more words, or
/// there is none.
std::filesystem::path programOf(std::string_view command);

/// The variables of this process that bear on which packages a Python finds or on what compilers do, and the processor
/// and cards of this machine: {variables{}, machine{}}. Another value of any of them may make other answers.
Json factsOfThisMachine();

}  // namespace fusescope
