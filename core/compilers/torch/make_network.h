#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/stop.h"
#include "frontends/torch/kept_network.h"

namespace fusescope {

/// How an exported program of PyTorch (.pt2) is made a network.
struct MakeNetworkWishes {
  std::string environment;                   ///< its name or command; empty: the first that has torch
  std::map<std::string, std::string> names;  ///< of extents, by their symbols in the program: s77 is "batch"
};

struct NetworkOfProgram {
  KeptNetwork kept;
  bool isNew = false;  ///< torch made it now; else it was kept from before
};

/// Has the user's torch export the program at `path` as an ONNX network, and keeps that: from now on importModel()
/// opens it in place of the program. Where no environment is named, a network that is kept under these names is taken,
/// and nothing is started. Blocks for some seconds, cancellable; safe to use from several threads. Errors: what our own
/// reader refuses is not handed to torch; those of ProbeJob::start() (a command that the user has not confirmed, no
/// torch anywhere); what torch refuses, in its words; an answer that does not fit the program.
Result<NetworkOfProgram> makeNetwork(const std::filesystem::path& path, const MakeNetworkWishes& wishes,
                                     const StopToken& stop = {}, const Progress& progress = {});

}  // namespace fusescope
