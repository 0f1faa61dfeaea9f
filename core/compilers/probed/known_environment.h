#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/stop.h"
#include "cache/kept_store.h"
#include "probe/environment.h"

namespace fusescope {

/// An environment in which a compiler is unchanged since it was last opened there.
struct UnchangedEnvironment {
  Environment environment;
  Json opened;   ///< the compiler's answer when it was opened
  Json witness;  ///< the files that its answers depend on: probe/witness.h
};

/// Returns the first of `candidates` that has `compiler`, according to `store`, and is unchanged since. If its command
/// is the Python itself, on this machine, nothing is started to check this; otherwise its listener is asked, which
/// imports no compiler. Returns nothing if the environments must be examined. Errors: cancelled.
Result<std::optional<UnchangedEnvironment>> knownEnvironment(KeptStore& store, std::string_view compiler,
                                                             std::span<const Environment> candidates,
                                                             const StopToken& stop);

/// Keeps what was found out about an environment; `witness` must have been asked for before that. `opened` is null if
/// the compiler is not there.
void keepEnvironment(KeptStore& store, std::string_view compiler, const Environment& environment, const Json& witness,
                     const Json& opened, double ms);

/// Returns what answers depend on in an environment, as fields of a key, except the content of the code (CodeHashes):
/// the Python, versions of packages, variables, processor, driver and cards. It contains nothing that differs between
/// two machines on which the compiler works alike, such as paths of packages.
Json environmentFields(const Json& witness, const Json& opened);

/// Returns why answers from an environment cannot be kept, as the end of a sentence; empty if they can.
std::string whyNotKept(const Json& witness);

/// Returns whether the stored witness of an environment is still valid. If its files are on this machine, they are
/// checked; otherwise the listener is asked again.
bool isWitnessValid(const Environment& environment, std::string_view compiler, const Json& witness,
                    const StopToken& stop);

}  // namespace fusescope
