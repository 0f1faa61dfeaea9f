#include "engine/steps/fused_node_steps.h"

#include "backends/reference/convert_elements.h"
#include "backends/threads.h"
#include "engine/kernels/input_check.h"
#include "engine/steps/body_lowering.h"
#include "engine/steps/lowering.h"

namespace fusescope {

FusedNodeSteps::FusedNodeSteps(std::shared_ptr<const Plan> plan, const BuildOptions& options)
    : m_plan(planRunBy(std::move(plan), options.backend)), m_options(options) {
  if (m_options.threads <= 0) m_options.threads = hardwareThreads();
  m_options.measureTactics = false;
  m_report.dynamicKernels.size = 1;
}

Result<std::unique_ptr<FusedNodeSteps>> FusedNodeSteps::create(std::shared_ptr<const Plan> plan,
                                                               const std::map<std::string, Dims>& extents,
                                                               const BuildOptions& options) {
  std::unique_ptr<FusedNodeSteps> made(new FusedNodeSteps(std::move(plan), options));
  if (const std::string& backend = made->plan().target.acceleratedBackend; findBackend(backend) == nullptr)
    return Diagnostic{.message = "there is no backend '" + backend + "'",
                      .where = {.attribute = "--backend"},
                      .help = "This program cannot run the kernels of the plan's target; give another backend."};
  made->m_chooser = TRY(TacticChooser::create(*made->m_plan, made->m_options, made->m_report, {}));
  made->m_requests = TRY(KernelRequests::create(*made->m_plan, extents, made->m_options.threads));
  made->m_around = {.plan = made->m_plan.get(),
                    .threads = made->m_options.threads,
                    .extents = extents,
                    .dynamicKernels = &made->m_report.dynamicKernels,
                    .bodyProfile = &made->m_bodyProfile,
                    .stop = made->m_options.stop};
  setThreads(made->m_options.threads);
  return made;
}

Result<FusedNodeSteps::Step> FusedNodeSteps::step(const FusedNode& fused) {
  Step step;
  for (const ValueId input : fused.inputs) step.m_types.push_back(m_requests->wantedType(fused, input));
  KernelRequest request{.plan = m_plan.get(), .fused = &fused, .threads = m_options.threads};
  TRY(m_requests->addConstants(request));
  if (!hasPlannedBodies(*m_plan, fused)) {
    step.m_step = TRY(DynamicStep::prepare(backendOf(fused), std::move(request), step.m_types, m_chooser->kernels(),
                                           m_report.dynamicKernels));
    return step;
  }
  std::vector<BorderType> inputs, outputs;
  for (const DataType type : step.m_types) inputs.push_back({type, std::nullopt});
  for (const FusedOutput& output : fused.outputs) outputs.push_back({output.type, std::nullopt});
  step.m_step = TRY(lowerBodies(request, inputs, outputs, m_around, &lower, *m_chooser)).step;
  return step;
}

void FusedNodeSteps::release(Step step) {
  const auto* dynamic = dynamic_cast<const DynamicStep*>(step.m_step.get());
  if (dynamic == nullptr) return;
  if (auto code = dynamic->code()) m_codes.insert(std::move(code));
}

Result<std::vector<Tensor>> FusedNodeSteps::Step::run(std::span<const Tensor> inputs, const StopToken& stop) {
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(convertedTensor(inputs[i], m_types[i]));
  return m_step->run(given, stop);
}

Result<std::vector<std::vector<Tensor>>> FusedNodeSteps::Step::runOnSamples(
    std::span<const std::vector<Tensor>* const> inputs, std::span<const std::string> samples, const StopToken& stop) {
  std::vector<std::vector<Tensor>> outputs;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    std::vector<Tensor> given;
    for (const std::vector<Tensor>* ofSamples : inputs) given.push_back((*ofSamples)[s]);
    std::vector<Tensor> made = TRY(onSample(run(given, stop), samples[s]));
    outputs.resize(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) outputs[i].push_back(std::move(made[i]));
  }
  return outputs;
}

std::size_t FusedNodeSteps::bytesInMemory() const {
  std::size_t bytes = 0;
  for (const FusedNode& fused : plan().fusedNodes)
    for (const FusedOutput& output : fused.outputs)
      if (const auto dims = m_requests->dimsOf(output.value); dims.ok())
        bytes += TensorDesc{output.type, dims.value()}.bytes();
  return bytes;
}

}  // namespace fusescope
