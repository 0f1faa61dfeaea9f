#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/probed_kind.h"

namespace fusescope::onnxruntime {

/// Returns the options level, disable, provider and tf32.
std::vector<CompilerOption> compilerOptions();

/// Returns whether the selected provider runs its nodes on a card (GPU).
bool runsOnCard(const CompilerOptions& options);
/// Returns the name of the card that the probe found when it opened the package; "card" if it found none.
std::string cardOf(const Json& opened);

/// Returns {threads, level, disable[], provider, tf32} of the network's plan. Types are requested by Casts in the
/// network. Errors: a value that an option does not allow; a misspelt name in `disable`; tf32=off for a provider other
/// than CUDA.
Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options);

/// Adds to `readBack` a decision for each name in the option `disable` that is not a known name of an optimiser.
void addUnknownOptimisers(const Plan& plan, ReadBack& readBack);

/// Adds to `readBack` what an answer to `compile` says about providers: a decision for each node that another provider
/// than the first one runs. Names that are not in the network are ignored.
void addProviders(const CompilerInput& network, const Json& answer, ReadBack& readBack);

/// Returns the steps of its optimisation that its log mentions, in the order in which they first run. Other lines are
/// ignored.
std::vector<OptimiserStep> optimiserStepsOf(std::string_view log);

}  // namespace fusescope::onnxruntime
