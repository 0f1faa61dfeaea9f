#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "engine/program/executor.h"
#include "engine/steps/body_observer.h"
#include "engine/steps/body_profile.h"
#include "engine/steps/lowering_request.h"

namespace fusescope {

class Graph;

/// A value that is passed into a body: its bytes and extents. If `box` is set, the value has no bytes of its own but is
/// a whole tensor (text or a container).
struct BorderValue {
  const std::byte* bytes = nullptr;
  const Dims* dims = nullptr;
  const Tensor* box = nullptr;
};

/// A body that was lowered for certain extents of its inputs. It may be used by one caller at a time.
class BodyProgram {
 public:
  /// How the body returns one of its outputs.
  struct Output {
    DataType type = DataType::Undefined;
    Dims dims;              ///< unset if the output is boxed
    std::size_t bytes = 0;  ///< unset if the output is boxed
    bool direct = false;    ///< the body writes the output to the address given by setOutput(); otherwise at() returns
                            ///< its address after a run
    bool boxed = false;     ///< the body makes a tensor whose extents are known only after it ran
    std::optional<std::size_t> input;  ///< the input of the body that is returned unchanged as this output
    std::size_t place = 0;             ///< the index among the program's outputs; two outputs may be the same value
  };

  /// `plan` is the plan of the body. `profile` and `observer` may be null.
  BodyProgram(const Plan& plan, std::vector<Dims> extents, Program program, BodyProfile* profile,
              BodyObserver* observer);
  const std::vector<Dims>& extents() const { return m_extents; }
  const std::vector<Output>& outputs() const { return m_outputs; }  ///< in the order of the body's outputs
  const Program& program() const { return m_executor.program(); }
  bool isBoxedInput(std::size_t i) const;

  void setInput(std::size_t i, const BorderValue& value);
  /// Sets the address to which a direct output is written, until it is set again.
  void setOutput(std::size_t i, std::byte* bytes);
  Status run(const StopToken& stop);
  /// Returns the bytes of an output that is neither direct nor boxed. Call it after a run.
  const std::byte* at(std::size_t i) const { return m_executor.outputBytes(m_outputs[i].place); }
  /// Returns a boxed output in the type in which it is handed out. Call it after a run.
  Tensor boxedOutput(std::size_t i) const { return m_executor.boxedOutput(m_outputs[i].place); }

 private:
  std::vector<Tensor> copiesOfInputs() const;
  std::map<ValueId, Tensor> copiesOfOutputs() const;
  void placeMarks();
  Status runObserved(const StopToken& stop);

  const Plan& m_plan;
  std::vector<Dims> m_extents;
  Executor m_executor;
  std::vector<Output> m_outputs;
  BodyProfile* m_profile;
  BodyObserver* m_observer;
  std::vector<AlignedMemory> m_marked;  ///< what the observer wants to see besides borders
};

/// The programs of one body, one for each set of extents with which it was called recently. All references must outlive
/// it.
class BodyPrograms {
 public:
  /// `request` is the request for the surrounding graph; its plan and extents are replaced by those of the body. `path`
  /// is the path to the body, for errors.
  BodyPrograms(const Plan& plan, const LoweringRequest& request, LowerPlan lower, TacticChooser& chooser,
               BodyPath path);

  /// Returns the program for these extents of the body's inputs; the extents of boxed inputs are ignored. It allocates
  /// nothing if that program exists already. The returned program stays valid until it is evicted by newer ones.
  Result<BodyProgram*> at(const std::vector<Dims>& extents, const StopToken& stop);
  /// Returns how many programs were lowered so far. A program at the same address is the same program as before only if
  /// this number did not change.
  std::int64_t lowered() const { return m_lowered; }
  /// Returns memory of `bytes` bytes for outputs of the body that nothing reads.
  std::byte* unread(std::size_t bytes);
  void addWeights(PackedSet& weights) const;  ///< Adds the packed weights of the kernels of all its programs.
  const Graph& graph() const { return m_plan.graph(); }
  /// Returns `error` with its location as seen from the graph around the body.
  Diagnostic located(Diagnostic error) const;

 private:
  const Plan& m_plan;
  LoweringRequest m_request;
  LowerPlan m_lower;
  TacticChooser& m_chooser;
  BodyPath m_path;
  GrowingMemory m_unread;
  std::int64_t m_lowered = 0;
  std::list<std::unique_ptr<BodyProgram>> m_programs;  ///< the latest used first
};

}  // namespace fusescope
