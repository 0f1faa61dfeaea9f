#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/compiler.h"
#include "compilers/probed/compiler_input.h"
#include "probe/probe_job.h"

namespace fusescope {

/// The options of a compiler for omitting steps of its optimisation.
struct OptimiserSwitches {
  std::string level;                ///< the name of the option for the optimisation level; empty: there is none
  std::vector<std::string> levels;  ///< its values, the lowest level first
  std::string disable;              ///< the name of the option with the steps to omit, separated by commas
};

/// A step of a compiler's optimisation, with the compiler's name for it.
struct OptimiserStep {
  std::string name;
  bool changed = false;  ///< whether it changed the network
  bool operator==(const OptimiserStep&) const = default;
};

/// The inputs on which readBackCompared() compares numbers.
struct ComparedOn {
  const std::map<std::string, Tensor>& inputs;  ///< all inputs, by their names in the file that the compiler received
  ProbeJob& job;                                ///< the job that compiled the network and is asked for `values`
  const StopToken& stop;
};

/// Values of a compiler's options by name.
using CompilerOptions = std::map<std::string, std::string>;

/// What differs between the compilers behind a probe: the questions, and how answers are read. Answers are text from
/// another program, so that nothing is used that contradicts the network. A kind is const, has no state, and is
/// thread-safe.
class ProbedKind {
 public:
  virtual ~ProbedKind() = default;
  virtual std::string_view name() const = 0;   ///< "onnxruntime": the name of the compiler and of its file in the probe
  virtual std::string_view title() const = 0;  ///< "ONNX Runtime"
  virtual std::string_view target() const = 0;  ///< the target whose table predicts what it does
  /// Returns whether it compiles plans for `target`: its own target, or that target with a capability.
  virtual bool takesTarget(std::string_view target) const;
  virtual CompilerInputTypes inputTypes() const = 0;
  /// Returns the same for a given plan, if it depends on the plan's target.
  virtual CompilerInputTypes inputTypesFor(const Plan& /*plan*/) const { return inputTypes(); }
  /// Returns a sentence that says which part of it nobody has run yet; empty if all was run.
  virtual std::string untried() const { return {}; }
  /// See Compiler::untriedToRun().
  virtual std::string untriedToRun() const { return {}; }
  /// Returns sentences that say how to get its answers from a machine that cannot be reached.
  virtual std::string elsewhere() const;
  virtual std::vector<CompilerOption> options() const = 0;
  /// Returns why it cannot do this in the environment where it was found, as a sentence; empty if it can. `opened` is
  /// the probe's answer when it was opened there.
  virtual std::string whyNot(Ability ability, const Json& opened) const = 0;

  /// Returns whether it can say before it compiles which nodes it accepts.
  virtual bool saysSupport() const { return true; }
  /// Returns the device on which the compiler's kernels run, as it is named beside their times. `opened` is as for
  /// whyNot(); `options` are the options that the compiler was given.
  virtual std::string deviceOf(const Json& /*opened*/, const CompilerOptions& /*options*/) const { return "cpu"; }
  /// Returns why the scratch memory of its kernels cannot be limited, as a sentence; empty if it can.
  virtual std::string whyNoWorkspace() const;
  /// Returns why Fusescope does not give other weights to a network that it compiled, as a clause that follows
  /// "because".
  virtual std::string whyNoRefit() const;

  /// Returns the options for the requests `compile` and `support`: options of the plan, pins that the network cannot
  /// express, the number of threads. Also sets in `network.pins` which pins it can be asked for, and how.
  virtual Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const = 0;
  /// Returns how to switch off steps of the compiler's optimisation; nothing if that is impossible.
  virtual std::optional<OptimiserSwitches> optimiserSwitches() const { return {}; }
  /// Returns the steps that it ran, in order, each once, from its answer to `optimisers`.
  virtual Result<std::vector<OptimiserStep>> optimiserSteps(const ProbeAnswer& answer) const;

  /// Returns which nodes it accepts, from its answer to `support`.
  virtual Result<CompilerSupport> support(const CompilerInput& network, const ProbeAnswer& answer) const = 0;
  /// Returns what it made of the network, from its answer to `compile`. The names of kernels are unique.
  virtual Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const = 0;
  /// Returns the milliseconds of each kernel of readBack() in one run, by name, from its answer to `profile`.
  virtual Result<std::map<std::string, double>> kernelTimes(const CompilerInput& network,
                                                            const ProbeAnswer& profile) const = 0;
  /// Returns how kernelTimes() summarise the runs of a profile, as the end of "times of kernels are": "medians over all
  /// runs". `options` are those that the compiler was given.
  virtual std::string_view kernelTimesAre(const CompilerOptions& options) const = 0;
  /// Reads back as readBack() does, and also compares the tensors of kernels with the numbers of their nodes if the
  /// compiler returns inner values: nodes whose numbers are equal become Verified. What cannot be compared keeps its
  /// certainty. Errors: those of readBack(), and cancellation. The default compares nothing.
  virtual Result<ReadBack> readBackCompared(const CompilerInput& network, const ProbeAnswer& compiled,
                                            const ComparedOn& on) const;
  /// Returns the node at which a build failed, if the error names it or the kind can search for it; otherwise an
  /// invalid id. The default returns the only node whose name in the file occurs in the error.
  virtual NodeId failedAt(const CompilerInput& network, const Diagnostic& error) const;
};

/// Returns the kinds of compilers behind a probe: probed_kinds.inc lists them, and each has a folder.
std::span<const ProbedKind* const> allProbedKinds();
const ProbedKind* findProbedKind(std::string_view name);  ///< null for an unknown name

}  // namespace fusescope
