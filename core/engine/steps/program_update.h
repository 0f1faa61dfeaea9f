#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/kernels/kernel_store.h"
#include "engine/program/plan_extents.h"
#include "engine/program/program.h"

namespace fusescope {

/// Changes programs of one plan from the extents that they were lowered for to other extents. Only steps that depend on
/// changed extents get new kernels; formats and tactics stay the same. It may be used by one caller at a time.
class ProgramUpdate {
 public:
  /// Creates an update for programs that were lowered from `plan`. `known` are allowed extents of all inputs. Returns
  /// nothing if it cannot be proved which types follow from extents (PlanExtents::prove()). All references must outlive
  /// this.
  static std::unique_ptr<ProgramUpdate> create(const Plan& plan, const std::map<std::string, Dims>& known, int threads,
                                               KernelStore& kernels);

  const PlanExtents& extents() const { return m_extents; }
  /// Changes `program` from the extents `from` to the extents `to`. Returns false if the program must be lowered anew,
  /// because it uses devices other than the host, a tactic does not run at these extents, or a body gets other extents;
  /// the program must not be used after that.
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
