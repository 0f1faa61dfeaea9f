#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/stop.h"
#include "cache/kept_store.h"
#include "probe/environment.h"

namespace fusescope {

/// An environment in which a compiler is as it was when it was opened there before.
struct UnchangedEnvironment {
  Environment environment;
  Json opened;   ///< what the compiler said when it was opened
  Json witness;  ///< what its answers depend on there: probe/witness.h
};

/// The first of `candidates` that has `compiler`, as far as `store` knows it, where nothing changed there since. Where
/// the command is the Python itself, on this machine, nothing is started for that; else its listener is asked, which
/// imports no compiler. Nothing: it has to be looked for. Errors: cancelled.
Result<std::optional<UnchangedEnvironment>> knownEnvironment(KeptStore& store, std::string_view compiler,
                                                             std::span<const Environment> candidates,
                                                             const StopToken& stop);

/// Keeps what was found out about an environment, which `witness` was asked of before. `opened`: null where the
/// compiler is not there.
void keepEnvironment(KeptStore& store, std::string_view compiler, const Environment& environment, const Json& witness,
                     const Json& opened, double ms);

/// What answers depend on in an environment, as fields of a key: packages, a hash of their files, machine, variables.
Json environmentFields(const Json& witness, const Json& opened);

/// Why nothing can be kept of what the compiler answers in an environment, as the end of a sentence; empty: it can.
std::string whyNotKept(const Json& witness);

/// Returns whether the stored witness of an environment is still valid. If its files are on this machine, they are
/// checked; otherwise the listener is asked again.
bool holdsStill(const Environment& environment, std::string_view compiler, const Json& witness, const StopToken& stop);

}  // namespace fusescope
