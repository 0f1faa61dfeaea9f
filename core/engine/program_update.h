#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/kernel_store.h"
#include "engine/plan_extents.h"
#include "engine/program.h"

namespace fusescope {

/// Takes programs of one plan from the extents that they were lowered for to others, by changing only what depends on
/// them: steps whose extents stay keep their kernels; formats and tactics are taken over as they are. One caller at a
/// time.
class ProgramUpdate {
 public:
  /// For the programs that were lowered of `plan`; `known` are extents of all inputs that are allowed. Nothing where it
  /// is not proved what follows from extents. All references must outlive this.
  static std::unique_ptr<ProgramUpdate> create(const Plan& plan, const std::map<std::string, Dims>& known, int threads,
                                               KernelStore& kernels);

  const PlanExtents& extents() const { return m_extents; }
  /// Makes `program`, which is for the extents `from`, one for `to`. False where it must be lowered anew, because it
  /// has other devices than the host, a tactic does not run at these extents or a body meets others; the program is of
  /// no use then.
  bool apply(Program& program, const PlanExtents::Numbers& from, const PlanExtents::Numbers& to);

 private:
  /// A fused node that extents bear on.
  struct OpenNode {
    struct OpenValue {
      ValueId value;
      Dims *inRequest = nullptr, *inFrom = nullptr, *inTo = nullptr;
    };
    void addValues(const PlanExtents& known);

    std::vector<std::size_t> numbers;      ///< that it depends on
    std::optional<KernelRequest> request;  ///< at the extents of the last change; none: it does not run by a kernel
    RegionExtents from, to;                ///< of the last change; `to`: those of `request`
    std::vector<OpenValue> values;
    bool changed = false;  ///< in this apply()
  };
  /// A kernel that was made in this apply().
  struct Made {
    const Code* former = nullptr;  ///< what ran it
    const RegionExtents* to = nullptr;
    std::shared_ptr<const Kernel> kernel;
  };

  ProgramUpdate(const Plan& plan, PlanExtents extents, int threads, KernelStore& kernels);
  Status addNodes(const std::map<std::string, Dims>& known);
  void setDims(ValueId value, const PlanExtents::Numbers& numbers, Dims& dims) const;
  void changeNode(OpenNode& node) const;
  bool changeBuffers(Program& program) const;
  bool changeParts(Program& program) const;
  bool isChangedNode(FusedNodeId fused) const;
  bool changeStep(Program& program, Step& step);
  std::shared_ptr<const Kernel> kernelFor(const Step& step, const OpenNode& node);
  std::shared_ptr<const Kernel> conversionFor(const Program& program, const Step& step) const;
  bool isChanged(ValueId value) const;
  bool isWithinWorkspace(const Kernel& kernel) const;

  const Plan& m_plan;
  PlanExtents m_extents;
  int m_threads;
  KernelStore& m_kernels;
  std::vector<std::unique_ptr<OpenNode>> m_nodes;  ///< by fused node; null for those on which no extents bear
  // Of one apply():
  std::vector<bool> m_changed;  ///< by number
  const PlanExtents::Numbers *m_from = nullptr, *m_to = nullptr;
  std::vector<Made> m_made;
};

}  // namespace fusescope
