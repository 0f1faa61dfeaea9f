#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// What a job file asks for besides what is made of the network, which every job does.
struct JobQuestions {
  bool run = false;                           ///< what it gives on each of the samples
  bool time = false;                          ///< how long it takes on the first
  bool profile = false;                       ///< and each kernel
  int threads = 0;                            ///< 0: as many as the machine has where it runs
  double seconds = 2.0, warmupSeconds = 0.5;  ///< of `time`
  bool operator==(const JobQuestions&) const = default;
};

/// The requests of a job file, and the files that they are of, which go with this.
struct JobRequests {
  std::vector<ProbeRequest> requests{};
  std::vector<HandedNetwork> networks{};
  TemporaryFolder folder;  ///< of inputs
};

/// What a compiler of `kind` is asked in a job file that is packed for `plan`: what a live probe would be asked, in its
/// order. Nobody can be asked meanwhile, so that `plan` says itself which nodes run on our own engine. `samples` are by
/// the names of the plan. Errors: those of cutting and writing; that a network of several parts is to be run, for what
/// stands between the parts would only be known there; cancellation.
Result<JobRequests> jobRequests(const ProbedKind& kind, const std::shared_ptr<const Plan>& plan,
                                const std::map<std::string, Dims>& extents,
                                std::span<const std::map<std::string, Tensor>> samples, const JobQuestions& questions,
                                const StopToken& stop);

}  // namespace fusescope
