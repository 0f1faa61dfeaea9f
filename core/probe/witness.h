#pragma once

#include <string_view>

#include "base/json_fwd.h"
#include "base/stop.h"
#include "probe/environment.h"
#include "probe/probe_options.h"

namespace fusescope {

/// Asks the listener of an environment which files the answers of `compiler` depend on (PROTOCOL.md). It starts the
/// environment's command but imports no compiler. Errors: those of the connection; cancelled.
Result<Json> askWitness(const Environment& environment, std::string_view compiler, const StopToken& stop,
                        const ProbeOptions& options = {});

/// Returns whether all files that a witness lists are unchanged on this machine, so that nothing was installed, removed
/// or written since. It starts nothing. Returns false if `witness` is not a witness.
bool isUnchanged(const Json& witness);

/// Returns the environment variables that influence which packages a Python finds or what compilers do, and the
/// processor and cards of this machine: {variables{}, machine{}}. If any of them changes, answers may change too.
Json factsOfThisMachine();

}  // namespace fusescope
