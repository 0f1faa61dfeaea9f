#include "engine/program/step_kernels.h"

#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"

namespace fusescope {

Result<StepKernels> stepKernelsFor(int threads, const Program& program, const Plan& plan,
                                   const std::map<std::string, Dims>& extents, KernelStore& kernels) {
  const KernelRequests requests = TRY(KernelRequests::create(plan, extents, threads));
  StepKernels made(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kernel == nullptr || step.device != kHost) continue;
    std::shared_ptr<const Kernel> kernel;
    if (step.compiledBy == nullptr) {
      kernel = TRY(kernels.conversion(acceleratedBackendOf(plan), program.buffers[step.inputs.front()].desc,
                                      program.buffers[step.outputs.front()].desc, threads));
    } else {
      const FusedNode& fused = plan.fusedNodes[step.fused.index];
      kernel = TRY(kernels.kernel(backendOf(plan, fused), TRY(requests.of(fused)), *step.compiledBy));
    }
    TRY(kernel->packWeights());
    if (kernel->workspaceBytes() <= step.kernel->workspaceBytes()) made[i] = std::move(kernel);
  }
  return made;
}

}  // namespace fusescope
