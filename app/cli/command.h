#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "compilers/compiler.h"
#include "session/artifact.h"
#include "session/build_and_run.h"
#include "session/inputs/sample_source.h"
#include "session/inputs/samples.h"
#include "session/open_model.h"
#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fusescope::cli {

/// The exit status of every command.
enum ExitStatus { kDone = 0, kDoesNotHold = 1, kBadUse = 2 };

/// A command: `app` declares it on the command line, and `run` carries it out if the user chose it.
struct Command {
  CLI::App* app = nullptr;
  std::function<Result<int>()> run;  ///< returns the exit status, or an error about the use or the input
};

// Each operation has one function, which is in a file of the operation's name.
#define FUSESCOPE_OPERATION(name) Command name##Command(CLI::App& app);
#include "session/operations/operations.inc"
#undef FUSESCOPE_OPERATION

/// The options of a command that describe a plan.
struct PlanArguments : PlanSettings {
  std::string session;  ///< a session file, which replaces the model and all of these options

  /// Returns these options followed by `more`. Where only one value is possible, the value of `more` is used.
  PlanArguments with(const PlanArguments& more) const;
  /// Returns the contents of the directives file, changed by the other options. Also puts --cache into effect.
  Result<PlanOptions> options() const;
  Result<std::vector<InputOverride>> inputOverrides() const;
};

/// The options --steps and --feed.
struct StepsArguments : StepsSettings {
  Result<std::optional<Steps>> steps() const;  ///< nullopt if --steps is not given
};

/// The options --inputs and --batch-axis, which name the inputs that a network is run on.
struct InputArguments : InputSettings {
  /// Returns the given inputs, or else those of the session, or else the file with the network's own example inputs. It
  /// is empty if there are none of these, and the inputs are random then.
  SampleSource source(const Artifact& artifact) const;
  Result<Samples> samples(const Artifact& artifact) const;

 private:
  SampleSource given(const Artifact& artifact) const;
  /// Returns the example inputs of the network, if the user gave no inputs. They are read once for an artifact, because
  /// a command asks for them several times.
  const std::optional<Samples>& carried(const Artifact& artifact) const;

  mutable std::shared_ptr<const Plan> m_askedFor;
  mutable std::optional<Samples> m_carried;
};

/// The parts of an operation's command line that are not the operation's own options. Only the groups that the
/// operation has are filled.
struct SharedArguments {
  std::string path;  ///< the file that it works on (Operation::source)
  PlanArguments plan;
  InputArguments inputs;
  EngineSettings engine;
  StepsArguments steps;
  bool json = false;
};
/// The whole command line of an operation; `Settings` contains the operation's own options.
template <class Settings>
struct ArgumentsOf : Settings, SharedArguments {};
/// The settings of an operation that has no options of its own.
struct NoSettings {
  std::vector<Option> options() { return {}; }
};

/// The sentence of helps about the patterns by which nodes are named.
inline constexpr std::string_view kPatternHelp =
    "A PATTERN is a node name, a glob, /regex/, op:Type, module:PATH, value:NAME or, in a body, NODE/PATTERN.";

/// Declares an option on the command line.
CLI::Option* declare(CLI::App& app, const Option& option, const std::string& heading = {});
void declare(CLI::App& app, const std::vector<Option>& options, const std::string& heading = {});
/// Declares the command of `operation` as a subcommand of `app`, with `options` and the groups of options that it has.
/// The variables that the options point to must live as long as `app`.
CLI::App* declareOperation(CLI::App& app, const Operation& operation, const std::vector<Option>& options,
                           SharedArguments& shared);

/// Returns the command of an operation, or of a part of one ("cache list"); `run` carries it out.
template <class Settings>
Command commandOf(CLI::App& app, const Operation& operation, Result<int> (*run)(const ArgumentsOf<Settings>&)) {
  auto arguments = std::make_shared<ArgumentsOf<Settings>>();
  CLI::App* verb = declareOperation(app, operation, static_cast<Settings&>(*arguments).options(), *arguments);
  return {verb, [arguments, run] { return run(*arguments); }};
}

/// Returns the command of an operation that has parts. It runs the one of `parts` that the user chose, or else
/// `own.run`, which is null if the operation itself does nothing. The parts must be declared as its subcommands.
Command withParts(Command own, std::vector<Command> parts);
/// Returns the command of `operation`, which has parts and does nothing itself.
Command onlyParts(CLI::App& app, const Operation& operation);
/// Returns the part called `name` ("cache list"), which must exist.
const Operation& partOf(const Operation& operation, std::string_view name);

/// Prints that the inputs are random or the network's own if the user gave none, and which inputs contain NaN or
/// infinities.
void printAboutInputs(const Samples& samples);

/// Returns a function that shows the progress of long work on standard error. It does nothing if that is not a
/// terminal.
Progress progressLine();
void clearProgressLine();

/// Opens the file that a command works on. `engine` is null if the command has no --backend. With a session, `path` is
/// the present place of its model, or empty.
Result<Artifact> open(const std::string& path, const PlanArguments& plan, const EngineSettings* engine = nullptr,
                      const Progress& progress = progressLine());
/// Returns an error if the compiler of the artifact lacks the ability that the command needs.
Status checkAble(const Artifact& artifact, Ability ability, std::string_view verb);
/// Asks another compiler what it makes of the network and stores the answer. Does nothing for our own compiler, whose
/// plan is the answer.
Status readBack(Artifact& artifact);
/// Checks, before anything is written, that the file `path`, the value of `option`, can be written, and that it is none
/// of the files from which the network, its inputs and its options (`also`) are read.
Status checkOutput(const std::string& path, const std::string& option, const Artifact& artifact,
                   const SampleSource& inputs = {}, const std::vector<std::string>& also = {});
/// Prints each pin marked obey that the plan refused on one line of standard error. Returns whether there are any.
bool reportObeyRefusals(const Plan& plan);
/// Prints the same of each pin marked obey that another compiler did not obey in what it made. Returns whether there
/// are any.
bool reportUnobeyedPins(const Cover& made);
/// Prints pinsNotObeyed() before a search begins. Returns whether there are any.
Result<bool> reportUnobeyedPinsBefore(const Artifact& artifact);

/// Prints the document on standard output.
void printJson(const Json& json);

}  // namespace fusescope::cli
