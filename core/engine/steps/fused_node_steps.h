#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"
#include "engine/steps/body_profile.h"
#include "engine/steps/dynamic_step.h"
#include "engine/steps/lowering_request.h"
#include "engine/tactics/tactic_chooser.h"

namespace fusescope {

/// Runs the fused nodes of a plan one by one on whole tensors that the caller owns. It is made for inspecting a
/// network, not for speed: each kernel is the backend's best guess, with plain formats at its borders. It may be used
/// by one caller at a time.
class FusedNodeSteps {
 public:
  /// Uses backend, threads and stop of `options`. `extents` contains those of every input of the network, and must be
  /// allowed by the plan's types. Errors: the same as of buildEngine().
  static Result<std::unique_ptr<FusedNodeSteps>> create(std::shared_ptr<const Plan> plan,
                                                        const std::map<std::string, Dims>& extents,
                                                        const BuildOptions& options);
  /// Returns the plan that is run. It names the backend of the build options, so it differs from the plan that was
  /// given if that names another backend.
  const Plan& plan() const { return *m_plan; }
  const KernelRequests& requests() const { return *m_requests; }
  /// Returns the backend that runs `fused`.
  const Backend& backendOf(const FusedNode& fused) const { return fusescope::backendOf(*m_plan, fused); }

  /// Sets the observer of calls of bodies for steps that are made from now on. It must outlive these steps; null
  /// removes it.
  void observeBodies(BodyObserver* observer) { m_around.bodyObserver = observer; }

  /// Returns the bytes of all values that the plan writes to memory, as far as their extents are known.
  std::size_t bytesInMemory() const;

  /// One fused node, ready to run.
  class Step {
   public:
    /// Runs the node on tensors in the order of FusedNode::inputs. They may have any type that converts to the type in
    /// which the node reads them; they are rounded to it. Returns tensors in the order of FusedNode::outputs, which may
    /// share the bytes of inputs.
    Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop);
    /// Runs the node on each of `samples`, whose names are used in errors. `inputs` has one entry for each input of the
    /// node, which contains the tensors of all samples. The result is indexed by output, then by sample.
    Result<std::vector<std::vector<Tensor>>> runOnSamples(std::span<const std::vector<Tensor>* const> inputs,
                                                          std::span<const std::string> samples, const StopToken& stop);

   private:
    friend class FusedNodeSteps;
    std::vector<DataType> m_types;
    std::shared_ptr<TensorStep> m_step;
  };
  /// Prepares one fused node. Its weights stay packed as long as the step exists.
  Result<Step> step(const FusedNode& fused);
  /// Destroys a step but keeps its code, so that equal regions can use it.
  void release(Step step);

 private:
  FusedNodeSteps(std::shared_ptr<const Plan> plan, const BuildOptions& options);

  std::shared_ptr<const Plan> m_plan;
  BuildOptions m_options;
  BuildReport m_report;
  BodyProfile m_bodyProfile;
  std::optional<TacticChooser> m_chooser;
  std::optional<KernelRequests> m_requests;
  LoweringRequest m_around;  ///< what bodies are lowered by
  std::set<std::shared_ptr<const Code>> m_codes;
};

}  // namespace fusescope
