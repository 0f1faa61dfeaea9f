#pragma once

#include "app/cli/command.h"
#include "session/specialise.h"

namespace fusescope::cli {

/// --specialise and what bounds it: engines for the extents that are met, beside a general one.
struct SpecialiseArguments {
  bool specialise = false;
  std::size_t mostEngines = SpecialiseOptions().mostEngines;
  std::int64_t mostMebibytes = SpecialiseOptions().mostBytes >> 20;
  double settleSeconds = SpecialiseRequest().mostSeconds;

  /// Returns the option --specialise, for others that it cannot stand beside.
  CLI::Option* declare(CLI::App& app);
  SpecialiseRequest request() const;
};

/// `time --specialise`: calls the network with all samples until it is settled which engine serves each, and prints who
/// serves, what calls took, the decisions and the times of the engines that serve.
Status timeSpecialised(const Artifact& artifact, const BuildOptions& options, const Samples& samples,
                       const SpecialiseRequest& request, bool asJson);

}  // namespace fusescope::cli
