#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/probed_kind.h"

namespace fusescope::onnxruntime {

/// level, disable, provider, tf32.
std::vector<CompilerOption> compilerOptions();

/// Whether the provider that is asked for runs its nodes on a card.
bool runsOnCard(const CompilerOptions& options);
/// The name of the card that the probe found when it opened the package; "card" where it told none.
std::string cardOf(const Json& opened);

/// {threads, level, disable[], provider, tf32} of the network's plan. Types are asked for by Casts in the network.
/// Errors: an option has none of its values; tf32=off for another provider than CUDA's.
Result<Json> requestOptions(HandedNetwork& network, const BuildOptions& options);

/// Adds to `told` what an answer to `compile` says of providers: a decision for each node that another provider than
/// the first one runs. Names that are not the network's are left out.
void addProviders(const HandedNetwork& network, const Json& answer, ReadBack& told);

/// The steps of its optimisation that its log tells of, in the order in which they are first taken. Lines that say
/// nothing of steps are passed over.
std::vector<OptimiserStep> optimiserStepsOf(std::string_view log);

}  // namespace fusescope::onnxruntime
