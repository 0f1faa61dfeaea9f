#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/stop.h"
#include "frontends/torch/kept_network.h"

namespace fusescope {

/// Options for making a network from an exported program of PyTorch (.pt2).
struct MakeNetworkOptions {
  std::string environment;                   ///< its name or command; empty: the first environment that has torch
  std::map<std::string, std::string> names;  ///< names for extents, by their symbols in the program: "batch" for s77
};

struct NetworkOfProgram {
  KeptNetwork kept;
  bool isNew = false;  ///< torch made it now; otherwise it was kept from an earlier call
};

/// Lets the user's torch export the program at `path` as an ONNX network, and keeps that network: from then on
/// importModel() opens it in place of the program. If no environment is named and a network with these names is kept
/// already, that is returned and nothing is started. It blocks for some seconds, can be cancelled, and is thread-safe.
/// Errors: a program that our own reader refuses is not passed to torch; those of ProbeJob::start() (a command that the
/// user has not confirmed, no environment with torch); what torch refuses, in its words; an answer that contradicts the
/// program.
Result<NetworkOfProgram> makeNetwork(const std::filesystem::path& path, const MakeNetworkOptions& options,
                                     const StopToken& stop = {}, const Progress& progress = {});

}  // namespace fusescope
