#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/body_profile.h"
#include "engine/dynamic_step.h"
#include "engine/engine.h"
#include "engine/kernel_requests.h"
#include "engine/lowering.h"
#include "engine/plan_backend.h"
#include "engine/tactic_chooser.h"

namespace fusescope {

/// The fused nodes of a plan one by one, each run on whole tensors that the caller gives and keeps. For looking into a
/// network, not for speed: kernels are the backend's best guess in plain formats at their borders. One caller at a
/// time.
class FusedNodeSteps {
 public:
  /// `options`: backend, threads, stop. `extents` of every input of the network. Both must be as the plan's types
  /// allow. Errors: as of building.
  static Result<std::unique_ptr<FusedNodeSteps>> create(std::shared_ptr<const Plan> plan,
                                                        const std::map<std::string, Dims>& extents,
                                                        const BuildOptions& options);
  /// Returns the plan that is run. It names the backend of the build options, so it differs from the plan that was
  /// given if that names another backend.
  const Plan& plan() const { return *m_plan; }
  const KernelRequests& requests() const { return *m_requests; }
  /// What runs `fused`.
  const Backend& backendOf(const FusedNode& fused) const { return fusescope::backendOf(*m_plan, fused); }

  /// Who is told of the calls of bodies in steps that are made from here on, and outlives them; null: nobody.
  void observeBodies(BodyObserver* observer) { m_around.bodyObserver = observer; }

  /// What all values take that the plan leaves in memory, where their extents are known.
  std::size_t bytesInMemory() const;

  /// One fused node, ready to run.
  class Step {
   public:
    /// `inputs` as FusedNode::inputs, of any type that converts to what the node reads: they are rounded to that.
    /// Gives tensors as FusedNode::outputs; they may share the bytes of inputs.
    Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop);
    /// The same for each of `samples`, which errors name. `inputs`: as FusedNode::inputs, each of all samples. Gives
    /// tensors by output, then by sample.
    Result<std::vector<std::vector<Tensor>>> runOnSamples(std::span<const std::vector<Tensor>* const> inputs,
                                                          std::span<const std::string> samples, const StopToken& stop);

   private:
    friend class FusedNodeSteps;
    std::vector<DataType> m_types;
    std::shared_ptr<TensorStep> m_step;
  };
  /// Its weights stay packed as long as the step is there.
  Result<Step> step(const FusedNode& fused);
  /// A step goes; its code is kept for the equal regions behind it.
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
