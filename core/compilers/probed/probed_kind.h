#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/compiler.h"
#include "compilers/probed/handed_network.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Options of a compiler by which steps of its optimisation are left out.
struct OptimiserSwitches {
  std::string level;                ///< an option: how far it optimises; empty: there is none
  std::vector<std::string> levels;  ///< its values, the least first
  std::string disable;              ///< an option: names of steps that are left out, parted by commas
};

/// A step of a compiler's optimisation, as it calls it.
struct OptimiserStep {
  std::string name;
  bool changed = false;  ///< it changed the network
  bool operator==(const OptimiserStep&) const = default;
};

/// What bindings are compared on.
struct ComparedOn {
  const std::map<std::string, Tensor>& inputs;  ///< by their names in the handed file, all of them
  ProbeJob& job;                                ///< that compiled the network, asked for `values`
  const StopToken& stop;
};

/// What a compiler is told besides, by the names of its options.
using CompilerOptions = std::map<std::string, std::string>;

/// What is different between the compilers that a probe reaches: what each is asked for, and how its answers are read.
/// All is text of another program: nothing is believed that does not fit the network. Const, stateless, and safe to use
/// from several threads.
class ProbedKind {
 public:
  virtual ~ProbedKind() = default;
  virtual std::string_view name() const = 0;  ///< "onnxruntime": the compiler's name, and that of its file in the probe
  virtual std::string_view title() const = 0;   ///< "ONNX Runtime"
  virtual std::string_view target() const = 0;  ///< the target whose table predicts what it does
  /// Whether it compiles what was planned for `target`: for its own, and for those of a capability of it.
  virtual bool takesTarget(std::string_view target) const;
  virtual HandedTypes handedTypes() const = 0;
  /// The same for a plan, where that depends on what it was planned for.
  virtual HandedTypes handedTypesFor(const Plan& /*plan*/) const { return handedTypes(); }
  /// What of it nobody has run yet, as a sentence; empty: it was tried.
  virtual std::string untried() const { return {}; }
  /// How its answers come here from a machine that cannot be reached, as sentences.
  virtual std::string elsewhere() const;
  virtual std::vector<CompilerOption> options() const = 0;
  /// Why it cannot do this where it was found, as a sentence; empty: it can. `opened`: what the probe answered when it
  /// was opened there.
  virtual std::string whyNot(Ability ability, const Json& opened) const = 0;

  /// Whether it can say of nodes that it takes them before it compiles.
  virtual bool saysSupport() const { return true; }
  /// Returns the device on which the compiler's kernels run, as it is named beside their times. `opened` is as for
  /// whyNot(); `options` are the options that the compiler was given.
  virtual std::string deviceOf(const Json& /*opened*/, const CompilerOptions& /*options*/) const { return "cpu"; }
  /// Why it cannot be told how much scratch memory a kernel may take, as a sentence; empty: it can.
  virtual std::string whyNoWorkspace() const;

  /// What `compile` and `support` are asked with: options of the plan, pins that the network cannot say, the number of
  /// threads. Also completes `network.pins`: which of them it can be asked for, and how.
  virtual Result<Json> requestOptions(HandedNetwork& network, const BuildOptions& options) const = 0;
  /// Returns how to switch off steps of the compiler's optimisation; nothing if that is impossible.
  virtual std::optional<OptimiserSwitches> optimiserSwitches() const { return {}; }
  /// The steps that it took, in their order, each once: from its answer to `optimisers`.
  virtual Result<std::vector<OptimiserStep>> optimiserSteps(const ProbeAnswer& answer) const;

  /// What it says of the nodes, from its answer to `support`.
  virtual Result<CompilerSupport> support(const HandedNetwork& network, const ProbeAnswer& answer) const = 0;
  /// What it made of the network, from its answer to `compile`. Kernels have names of their own each.
  virtual Result<ReadBack> readBack(const HandedNetwork& network, const ProbeAnswer& compiled) const = 0;
  /// Milliseconds in one run by the name of a kernel of readBack(), from its answer to `profile`.
  virtual Result<std::map<std::string, double>> kernelTimes(const HandedNetwork& network,
                                                            const ProbeAnswer& profile) const = 0;
  /// What kernelTimes() are over the runs of a profile, behind "times of kernels are": "medians over all runs".
  /// `options`: what it was told.
  virtual std::string_view kernelTimesAre(const CompilerOptions& options) const = 0;
  /// Reads back as readBack() does, and also compares the tensors of kernels with the numbers of their nodes if the
  /// compiler returns inner values: nodes whose numbers are equal become Verified. What cannot be compared keeps its
  /// certainty. Errors: those of readBack(), and cancellation. The default compares nothing.
  virtual Result<ReadBack> readBackCompared(const HandedNetwork& network, const ProbeAnswer& compiled,
                                            const ComparedOn& on) const;
  /// The node that a build failed at, where the error says or its kind of search finds one; else invalid. The default:
  /// the only one whose name in the handed file stands in the error.
  virtual NodeId failedAt(const HandedNetwork& network, const Diagnostic& error) const;
};

/// The compilers that a probe reaches: probed_kinds.inc, a folder and a line each.
std::span<const ProbedKind* const> allProbedKinds();
const ProbedKind* findProbedKind(std::string_view name);  ///< null for an unknown name

}  // namespace fusescope
