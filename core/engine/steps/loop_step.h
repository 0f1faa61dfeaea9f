#pragma once

#include <limits>
#include <memory>

#include "engine/steps/control_flow_step.h"

namespace fusescope {

/// The axis along which slices are read or results are concatenated. With `fromEnd` it counts from the last axis.
struct SliceAxis {
  std::int64_t axis = 0;
  bool fromEnd = false;
};

/// How a Loop or Scan passes values to its body (number and condition of a Loop, carried …, slices …, captures …), and
/// what the body returns (condition of a Loop, carried …, one element of each collected result).
struct LoopForm {
  bool isLoop = true;
  std::size_t carried = 0;
  std::vector<SliceAxis> scanned, collected;
  std::size_t nodeInputs = 0;  ///< operands with higher indices are captures

  std::size_t firstCarried() const { return isLoop ? 2 : 0; }  ///< among the body's inputs and the node's operands
  std::size_t firstSlice() const { return firstCarried() + carried; }
  std::size_t firstCapture() const { return firstSlice() + scanned.size(); }  ///< among the body's inputs
  std::size_t firstGiven() const { return isLoop ? 1 : 0; }                   ///< among the body's outputs
  std::size_t firstCollected() const { return firstGiven() + carried; }       ///< among the body's outputs
};

/// Runs the body of a Loop or Scan. A carried value alternates between two buffers: an iteration reads it from one and
/// writes it to the other. Values that the body only passes on are not copied, and a slice is read in place if it is
/// aligned. An iteration allocates nothing if its carried values have the same extents as in the iteration before.
class LoopStep final : public ControlFlowStep {
 public:
  LoopStep(ControlFlowParts parts, LoopForm form, std::unique_ptr<BodyPrograms> body);
  void addWeights(PackedSet& weights) const override { m_body->addWeights(weights); }

 protected:
  Status execute(ResultSink& results, const StopToken& stop) override;

 private:
  struct Carried {
    BorderValue now;
    Dims dims;   ///< of `now`
    Tensor box;  ///< what holds `now` where the body made a tensor
    GrowingMemory buffers[2];
    std::byte* next = nullptr;  ///< where this iteration writes it
  };
  struct Scanned {
    std::size_t before = 1, sliceBytes = 0;  ///< slices lie in so many pieces, of so many bytes each
    std::int64_t extent = 0;
    GrowingMemory aligned;
  };
  struct Collected {
    Dims element;
    std::size_t elementBytes = 0;
    DataType type = DataType::Undefined;
    std::vector<std::byte> elements;  ///< one after the other
    GrowingMemory next;
  };

  Result<std::int64_t> start();
  Status startScanned(std::size_t i);
  void readSlice(std::size_t i, std::int64_t trip);
  Diagnostic notSingle(const Dims& dims) const;
  Status checkCondition(const BodyProgram& body) const;
  void bind(BodyProgram& body, std::int64_t trip);
  Status iterate(std::int64_t trip, const StopToken& stop);
  void carryOn(BodyProgram& body, std::size_t i);
  Status collect(BodyProgram& body, std::size_t i);
  Status finish(std::int64_t trips, ResultSink& results, const StopToken& stop);
  Status assemble(std::size_t i, std::int64_t trips, ResultSink& results);

  LoopForm m_form;
  std::unique_ptr<BodyPrograms> m_body;
  std::vector<Dims> m_extents;  ///< of the body's inputs
  std::vector<Carried> m_carried;
  std::vector<Scanned> m_scanned;
  std::vector<Collected> m_collected;
  std::int64_t m_most = 0;         ///< iterations
  BodyProgram* m_bound = nullptr;  ///< whose captures are bound in this run, if none was lowered since
  std::int64_t m_boundAt = 0;      ///< BodyPrograms::lowered()
  alignas(64) std::int64_t m_number = 0;
  alignas(64) std::byte m_condition{1};
  alignas(64) std::byte m_goOn{1};
};

}  // namespace fusescope
