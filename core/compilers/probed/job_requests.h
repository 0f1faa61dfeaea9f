#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// The questions in a job file. Every job also asks which kernels the compiler made.
struct JobQuestions {
  bool run = false;                           ///< the outputs for each sample
  bool time = false;                          ///< the latency on the first sample
  bool profile = false;                       ///< the time of each kernel on the first sample
  int threads = 0;                            ///< 0: all threads of the machine on which the job runs
  double seconds = 2.0, warmupSeconds = 0.5;  ///< for `time`
  bool operator==(const JobQuestions&) const = default;
};

/// The requests of a job file, and the files that belong to them, which are deleted with this object.
struct JobRequests {
  std::vector<ProbeRequest> requests{};
  std::vector<CompilerInput> networks{};
  TemporaryFolder folder;  ///< contains the inputs
};

/// Returns the requests of a job file for `plan` to a compiler of `kind`: those that a live probe would get, in the
/// same order. A job cannot ask back, so `plan` must already say which nodes run on our own engine. `samples` have the
/// names of the plan. Errors: those of cutting and writing; a network of several parts cannot be run in a job, because
/// the tensors between the parts are only known there; cancellation.
Result<JobRequests> jobRequests(const ProbedKind& kind, const std::shared_ptr<const Plan>& plan,
                                const std::map<std::string, Dims>& extents,
                                std::span<const std::map<std::string, Tensor>> samples, const JobQuestions& questions,
                                const StopToken& stop);

}  // namespace fusescope
