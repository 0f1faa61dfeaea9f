#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// What a job file asks a compiler for. Every job also asks what the compiler made of the network.
struct JobQuestions {
  bool run = false;                           ///< the outputs on each sample
  bool time = false;                          ///< the latency on the first sample
  bool profile = false;                       ///< the time of each kernel, also on the first
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
/// order. A job cannot ask back, so `plan` must already say which nodes run on our own engine. The names in `samples`
/// are those of the plan. Errors: those of cutting and writing; a network of several parts is to be run, which a job
/// cannot do, since the tensors between the parts are only known there; cancellation.
Result<JobRequests> jobRequests(const ProbedKind& kind, const std::shared_ptr<const Plan>& plan,
                                const std::map<std::string, Dims>& extents,
                                std::span<const std::map<std::string, Tensor>> samples, const JobQuestions& questions,
                                const StopToken& stop);

}  // namespace fusescope
