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
#include "planning/read_back_plan.h"

namespace fusescope {

/// What a compiler may be asked to do.
enum class Ability {
  Support,      ///< say which nodes it takes
  Compile,      ///< turn a network into something
  ReadBack,     ///< tell which kernels that has
  Run,          ///< run it here
  Time,         ///< measure its latency here
  Profile,      ///< measure it kernel by kernel
  InnerValues,  ///< hand out values inside the network
  Keep          ///< be kept in an engine file
};
std::string_view name(Ability ability);  ///< "support", "compile", "read_back", "run", "time", "profile", …
const std::vector<Ability>& allAbilities();

/// An option that a compiler has: --compiler-option NAME=VALUE.
struct CompilerOption {
  std::string name;
  std::vector<std::string> values;  ///< that it may have; empty: any
  std::string initial;              ///< what it is where nothing is said
  std::string help;
};

/// How a compiler is asked for a type that a plan wishes of a node.
struct LoweredPin {
  NodeId node;
  DataType type = DataType::Undefined;
  bool isExpressible = true;
  std::string how;  ///< what asks for it, or why nothing can; a sentence
};

struct HandedNetwork;

/// A network, or a part cut out of one, as a compiler is asked to compile it.
struct Lowered {
  std::shared_ptr<const Plan> plan;  ///< of the network or part: what is to be compiled and in which types
  std::shared_ptr<const HandedNetwork> network{};  ///< the file that the compiler is handed; null: it takes the plan
  Json options{};                  ///< Further options for the compiler, in its own terms; null if there are none.
  std::vector<LoweredPin> pins{};  ///< in the order of the graph
};

/// What turns networks into something that runs. Seven questions: support(), lower() and compile() here; what was made,
/// run, time and profile are answered by what compile() gives, an Engine: made(), run(), time(), and time() with
/// TimeOptions::perLayer. What it cannot do whyNot() says, and nobody asks for it then. Const, for the whole process,
/// and safe to use from several threads.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// What --compiler calls it: "fusescope", "onnxruntime", "onnxruntime@gpubox", …
  virtual std::string_view name() const = 0;
  /// Its version, and where it is. May start something the first time.
  virtual CompilerIdentity identity() const = 0;
  /// The target whose table predicts what it does; empty: whichever is asked for.
  virtual std::string target() const = 0;
  /// Returns whether this compiler compiles plans for `target`. A compiler with a target of its own accepts that target
  /// and its capabilities ("tensorrt-rtx:sm120").
  virtual bool takesTarget(std::string_view target) const;
  /// What of it nobody has run yet, as a sentence; empty: it was tried.
  virtual std::string untried() const { return {}; }
  virtual std::vector<CompilerOption> options() const { return {}; }  ///< what it can be told besides
  /// Why it cannot do this on this machine, as a sentence; empty: it can.
  virtual std::string whyNot(Ability ability) const = 0;
  /// Whether it takes every network as a whole and runs itself what it does not accelerate. If not, it is handed the
  /// segments of a plan, and what it refuses runs on our own engine.
  virtual bool takesWholeNetworks() const = 0;

  /// Begins what the first question would wait for, as the import of a package, on a thread of its own. Returns at
  /// once. Whoever drops what is given waits for that thread, and ends it where it is not done yet. Null: nothing needs
  /// to be got ready.
  virtual std::shared_ptr<void> getReady() const { return nullptr; }
  /// Does what lower() of this plan needs not wait for the compiler for, if that is not ready yet. What goes wrong is
  /// told by lower().
  virtual void lowerAhead(std::shared_ptr<const Plan> /*plan*/, const BuildOptions& /*options*/) const {}
  /// Waits until whyNot() can answer at once, so that whoever cancels need not. Errors: cancellation.
  virtual Status awaitReady(const StopToken& /*stop*/) const { return Done{}; }

  /// What it says of the nodes of a plan at their types and extents, in the order of the graph. Of the options it takes
  /// whom to tell of its progress, and what stops it. Errors: it could not be asked; cancellation.
  virtual Result<CompilerSupport> support(const Plan& plan, const BuildOptions& options) const = 0;
  /// The network and the options that ask for what `plan` wishes, for the extents and threads of `options`. Errors: it
  /// cannot be written; cancellation.
  virtual Result<Lowered> lower(std::shared_ptr<const Plan> plan, const BuildOptions& options) const = 0;
  /// Errors that are located at a node say that it does not compile; others are of the network as a whole.
  /// `options` are those that the network was lowered with.
  virtual Result<std::unique_ptr<Engine>> compile(const Lowered& lowered, const BuildOptions& options) const = 0;
};

/// Whether what was planned for `asked` is for the target `own`: that itself, or a capability of it
/// ("tensorrt-rtx:sm120"). An empty `own` is any.
bool isForTarget(std::string_view asked, std::string_view own);

/// The compilers of this build: compilers.inc, then those that a probe reaches (probed/probed_kinds.inc), each where it
/// is found first. Our own is the first.
std::span<const Compiler* const> allCompilers();
/// Finds a compiler by NAME, or by NAME@ENVIRONMENT for a compiler behind a probe, where ENVIRONMENT is the name of an
/// environment or the command that starts Python there. This starts nothing: identity() and whyNot() say whether the
/// compiler exists. Returns null for an unknown NAME. Thread-safe; the compiler lives as long as the process.
const Compiler* findCompiler(std::string_view name);
const Compiler& ownCompiler();

/// The error that `given` has an option that `compiler` has not, or a value that it cannot have; the nearest is named.
Status checkOptions(const Compiler& compiler, const std::map<std::string, std::string>& given);

/// {name, version, environment, target, options[…], can[…], cannot[{ability, why}]}.
Json toJson(const Compiler& compiler);

/// The error that `compiler` cannot do this; `verb`: what was to be done, "time", "errors".
Status checkAble(const Compiler& compiler, Ability ability, std::string_view verb);

}  // namespace fusescope
