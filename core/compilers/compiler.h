#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/stop.h"
#include "engine/engine.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// What a compiler may be able to do.
enum class Ability {
  Support,      ///< say which nodes it accepts
  Compile,      ///< compile a network
  ReadBack,     ///< report the kernels that it made
  Run,          ///< run the result on this machine
  Time,         ///< measure its latency on this machine
  Profile,      ///< measure the time of each kernel
  InnerValues,  ///< return values inside the network
  Keep          ///< be stored in an engine file
};
std::string_view name(Ability ability);  ///< "support", "compile", "read_back", "run", "time", "profile", …
const std::vector<Ability>& allAbilities();

/// An option of a compiler, for --compiler-option NAME=VALUE.
struct CompilerOption {
  std::string name;
  std::vector<std::string> values;  ///< allowed values; empty: any
  std::string initial;              ///< the default value
  std::string help;
};

/// How a compiler is asked for the type that a pin asks for.
struct LoweredPin {
  NodeId node;
  DataType type = DataType::Undefined;
  bool isExpressible = true;
  std::string how;  ///< what asks for it, or why nothing can, as a sentence
};

struct CompilerInput;

/// A network, or a part cut out of one, in the form in which a compiler compiles it.
struct Lowered {
  std::shared_ptr<const Plan> plan;  ///< the plan of the network or part: what to compile and in which types
  std::shared_ptr<const CompilerInput> network{};  ///< the file that the compiler receives; null: the compiler reads
                                                   ///< the plan
  Json options{};                  ///< Further options for the compiler, in its own terms; null if there are none.
  std::vector<LoweredPin> pins{};  ///< in the order of the graph
};

/// Turns networks into something that runs. The contract has seven questions: support(), lower() and compile() are
/// methods of this class; the Engine that compile() returns answers the other four by made(), run(), time(), and time()
/// with TimeOptions::perLayer. whyNot() says what a compiler cannot do, and callers then do not ask for it. A compiler
/// is const, exists until the process ends, and is thread-safe.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Returns the name for --compiler: "fusescope", "onnxruntime", "onnxruntime@gpubox", …
  virtual std::string_view name() const = 0;
  /// Returns its version and where it is. The first call may start a process.
  virtual CompilerIdentity identity() const = 0;
  /// Returns the target whose table predicts what it does; empty: the target that the user asked for.
  virtual std::string target() const = 0;
  /// Returns whether this compiler compiles plans for `target`. A compiler with a target of its own accepts that target
  /// and its capabilities ("tensorrt-rtx:sm120").
  virtual bool takesTarget(std::string_view target) const;
  /// Returns a sentence that says which part of it nobody has run yet; empty if all was run.
  virtual std::string untried() const { return {}; }
  /// Returns a sentence that says that nobody has run yet what it compiles, although compiling was tried; empty if both
  /// were tried, or if untried() says it.
  virtual std::string untriedToRun() const { return {}; }
  virtual std::vector<CompilerOption> options() const { return {}; }  ///< its options besides those of the plan
  /// Returns why it cannot do this on this machine, as a sentence; empty if it can.
  virtual std::string whyNot(Ability ability) const = 0;
  /// Returns whether it compiles every network as a whole and runs itself what it does not accelerate. Otherwise it
  /// receives the segments of a plan, and our own engine runs what it refuses.
  virtual bool takesWholeNetworks() const = 0;

  /// Starts slow preparations, such as the import of a package, on a separate thread and returns at once. Destroying
  /// the result waits for that thread, and cancels it if it is not done. Returns null if nothing needs to be prepared.
  virtual std::shared_ptr<void> getReady() const { return nullptr; }
  /// Does what lower() of this plan can do before the compiler is ready, if it is not ready yet. Errors are reported by
  /// lower().
  virtual void lowerAhead(std::shared_ptr<const Plan> /*plan*/, const BuildOptions& /*options*/) const {}
  /// Waits until whyNot() can answer at once, so that the wait can be cancelled. If it takes long, `progress` says from
  /// time to time what is waited for. Errors: cancellation.
  virtual Status awaitReady(const StopToken& /*stop*/, const Progress& /*progress*/) const { return Done{}; }

  /// Asks which nodes of a plan it accepts in their types and extents; the answer is in the order of the graph. Only
  /// `progress` and `stop` of the options are used. Errors: it could not be asked; cancellation.
  virtual Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const = 0;
  /// Returns the network and the options that ask for the types of `plan`, for the extents and threads of `options`.
  /// Errors: it cannot be written; cancellation.
  virtual Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions& options) const = 0;
  /// Compiles the network. An error that is located at a node says that this node does not compile; other errors
  /// concern the whole network. `options` must be those that were passed to lower().
  virtual Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const = 0;
};

/// Returns whether a plan for the target `asked` is a plan for the target `own`: `asked` is `own` itself, or `own` with
/// a capability ("tensorrt-rtx:sm120"). An empty `own` accepts every target.
bool isForTarget(std::string_view asked, std::string_view own);

/// Returns the compilers of this build: those in compilers.inc, with our own as the first one, then those behind a
/// probe (probed/probed_kinds.inc), each in the first environment that has it.
std::span<const Compiler* const> allCompilers();
/// Finds a compiler by NAME, or by NAME@ENVIRONMENT for a compiler behind a probe, where ENVIRONMENT is the name of an
/// environment or the command that starts Python there. This starts nothing: identity() and whyNot() say whether the
/// compiler exists. Returns null for an unknown NAME. Thread-safe; the compiler lives as long as the process.
const Compiler* findCompiler(std::string_view name);
const Compiler& ownCompiler();

/// Returns an error if `given` contains an option that `compiler` does not have, or a value that it does not allow; the
/// error suggests the nearest one.
Status checkOptions(const Compiler& compiler, const std::map<std::string, std::string>& given);

/// Returns {name, version, environment, target, options[…], can[…], cannot[{ability, why}]}.
Json toJson(const Compiler& compiler);

/// Returns an error if `compiler` cannot do this; `verb` is the command that needs it: "time", "errors".
Status checkAble(const Compiler& compiler, Ability ability, std::string_view verb);

}  // namespace fusescope
