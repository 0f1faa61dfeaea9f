#include "compilers/torch/torch_job.h"

#include "compilers/probed/environment_choice.h"

namespace fusescope {

const ProbedCompiler& torchIn(const std::string& environment) {
  return *findProbedCompiler(environment.empty() ? "torch" : "torch@" + environment);
}

Result<Environment> environmentOfTorch(const std::string& environment, const StopToken& stop) {
  return environment.empty() ? firstEnvironmentWith("torch", stop) : environmentNamed(environment);
}

Diagnostic atFile(Diagnostic error, const std::filesystem::path& file) {
  error.where.attribute.clear();
  if (error.where.file.empty() && !error.cancelled) error.where.file = file.string();
  return error;
}

Result<std::unique_ptr<ProbeJob>> torchJobFor(const ProbedCompiler& torch, const std::filesystem::path& file,
                                              const StopToken& stop) {
  auto job = torch.takeJob(stop);
  if (job.ok() || job.error().cancelled) return job;
  torch.forget();
  forgetEnvironments();
  return atFile(std::move(job).error(), file);
}

}  // namespace fusescope
