#pragma once

#include <string>
#include <vector>

#include "compilers/probed/job_requests.h"
#include "session/operations/option.h"

namespace fusescope {

/// The job file that `probe pack` writes for another machine.
struct ProbePackSettings {
  std::string model, job;
  std::string questions = "plan";  ///< plan[,run][,time][,profile]
  double seconds = JobQuestions().seconds, warmup = JobQuestions().warmupSeconds;
  int threads = 0;  ///< 0: as many as the machine there has

  std::vector<Option> options();
};

/// The result of a job that `probe open` reads.
struct ProbeOpenSettings {
  std::string result;
  std::string model;  ///< where the model is now; empty: where it was when the job was packed

  std::vector<Option> options();
};

}  // namespace fusescope
