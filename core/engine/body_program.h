#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_memory.h"
#include "engine/body_observer.h"
#include "engine/body_profile.h"
#include "engine/executor.h"
#include "engine/lowering.h"

namespace fusescope {

/// A value that crosses the border of a body: its bytes and extents. `box`: it has no bytes of its own, but is a tensor
/// (text, a container).
struct BorderValue {
  const std::byte* bytes = nullptr;
  const Dims* dims = nullptr;
  const Tensor* box = nullptr;
};

/// A body lowered for certain extents of its inputs. One caller at a time.
class BodyProgram {
 public:
  /// What the body gives for one of its outputs.
  struct Output {
    DataType type = DataType::Undefined;
    Dims dims;              ///< not of one that is boxed
    std::size_t bytes = 0;  ///< likewise
    bool direct = false;    ///< the body writes it where it is told to; else it lies where at() says once the body ran
    bool boxed = false;     ///< the body makes a tensor, of extents that are known once it ran
    std::optional<std::size_t> input;  ///< the body's input that it passes on as it is
    std::size_t place = 0;             ///< among the program's outputs; two outputs may be one value
  };

  /// `plan`: of the body. `profile` and `observer` may be null.
  BodyProgram(const Plan& plan, std::vector<Dims> extents, Program program, BodyProfile* profile,
              BodyObserver* observer);
  const std::vector<Dims>& extents() const { return m_extents; }
  const std::vector<Output>& outputs() const { return m_outputs; }  ///< as the body's outputs
  const Program& program() const { return m_executor.program(); }
  bool isBoxedInput(std::size_t i) const;

  void setInput(std::size_t i, const BorderValue& value);
  /// Where a direct output goes until it is told otherwise.
  void setOutput(std::size_t i, std::byte* bytes);
  Status run(const StopToken& stop);
  /// After a run, of an output that is neither direct nor boxed.
  const std::byte* at(std::size_t i) const { return m_executor.outputBytes(m_outputs[i].place); }
  /// After a run, of a boxed output, at the type it is handed out at.
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

/// The programs of one body, one for each set of extents that it met lately. All references must outlive it.
class BodyPrograms {
 public:
  /// `request` as for the graph around it, but for plan and extents; `path`: to the body, for errors.
  BodyPrograms(const Plan& plan, const LoweringRequest& request, TacticChooser& chooser, BodyPath path);

  /// The program for these extents of the body's inputs; those of boxed inputs do not matter. Allocates nothing where
  /// there is one. What it gives stays until as many others were asked for as are kept.
  Result<BodyProgram*> at(const std::vector<Dims>& extents, const StopToken& stop);
  /// How many were lowered: a program is the one of before if it is at the same place and none was lowered since.
  std::int64_t lowered() const { return m_lowered; }
  /// Bytes for what the body makes and nobody reads.
  std::byte* unread(std::size_t bytes);
  void addWeights(PackedSet& weights) const;  ///< those of the kernels of all its programs
  const Graph& graph() const { return m_plan.graph(); }
  /// The error, as seen from the graph around the body.
  Diagnostic located(Diagnostic error) const;

 private:
  const Plan& m_plan;
  LoweringRequest m_request;
  TacticChooser& m_chooser;
  BodyPath m_path;
  GrowingMemory m_unread;
  std::int64_t m_lowered = 0;
  std::list<std::unique_ptr<BodyProgram>> m_programs;  ///< the latest used first
};

}  // namespace fusescope
