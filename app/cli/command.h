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
#include "session/open_model.h"
#include "session/operations/operation.h"
#include "session/operations/shared_settings.h"
#include "session/samples.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fusescope::cli {

/// Exit status of every verb.
enum ExitStatus { kDone = 0, kDoesNotHold = 1, kBadUse = 2 };

/// A verb: declared on the application, run if the user chose it.
struct Command {
  CLI::App* app = nullptr;
  std::function<Result<int>()> run;  ///< the exit status, or what was bad about use or input
};

// One function for each operation, each in a file of its name.
#define FUSESCOPE_OPERATION(name) Command name##Command(CLI::App& app);
#include "session/operations/operations.inc"
#undef FUSESCOPE_OPERATION

/// The plan options of a command.
struct PlanArguments : PlanSettings {
  std::string session;  ///< a session file in place of a model and all of these

  /// These, and behind them `more`, which win where only one can hold.
  PlanArguments with(const PlanArguments& more) const;
  /// What the directives file says, and over it the other options. Puts --cache into effect.
  Result<PlanOptions> options() const;
  Result<std::vector<InputOverride>> inputOverrides() const;
};

/// --steps and --feed.
struct StepsArguments : StepsSettings {
  Result<std::optional<Steps>> steps() const;  ///< nothing where --steps is not given
};

/// --inputs and --batch-axis: what a network is run on.
struct InputArguments : InputSettings {
  /// As given, else those of the session, else the usual ones of the network.
  SampleSource source(const Artifact& artifact) const;
  Result<Samples> samples(const Artifact& artifact) const;

 private:
  SampleSource given(const Artifact& artifact) const;
  /// The example inputs of the network, if the user gave no inputs. They are read once for an artifact, because a
  /// command asks for them several times.
  const std::optional<Samples>& carried(const Artifact& artifact) const;

  mutable std::shared_ptr<const Plan> m_askedFor;
  mutable std::optional<Samples> m_carried;
};

/// What the command line of an operation says beside the operation's own options: the groups that it has.
struct SharedArguments {
  std::string path;  ///< what it works on (Operation::source)
  PlanArguments plan;
  InputArguments inputs;
  EngineSettings engine;
  StepsArguments steps;
  bool json = false;
};
/// All that the command line of an operation says; `Settings` has the operation's own options.
template <class Settings>
struct ArgumentsOf : Settings, SharedArguments {};
/// Of an operation that has no options of its own.
struct NoSettings {
  std::vector<Option> options() { return {}; }
};

/// Declares an option on the command line.
CLI::Option* declare(CLI::App& app, const Option& option, const std::string& heading = {});
void declare(CLI::App& app, const std::vector<Option>& options, const std::string& heading = {});
/// Declares the command of `operation` below `app`, with its own options and the groups that it has. What the options
/// point into must live as long as `app`.
CLI::App* declareOperation(CLI::App& app, const Operation& operation, const std::vector<Option>& options,
                           SharedArguments& shared);

/// The command of an operation, or of a part of one ("cache list"), that `run` carries out.
template <class Settings>
Command commandOf(CLI::App& app, const Operation& operation, Result<int> (*run)(const ArgumentsOf<Settings>&)) {
  auto arguments = std::make_shared<ArgumentsOf<Settings>>();
  CLI::App* verb = declareOperation(app, operation, static_cast<Settings&>(*arguments).options(), *arguments);
  return {verb, [arguments, run] { return run(*arguments); }};
}

/// The command of an operation that has parts: one of `parts`, which are declared below it, or `own.run`, which is null
/// where the operation itself does nothing.
Command withParts(Command own, std::vector<Command> parts);
/// The command of `operation`, which has parts and does nothing itself.
Command onlyParts(CLI::App& app, const Operation& operation);
/// The part of that name: "cache list". There must be one.
const Operation& partOf(const Operation& operation, std::string_view name);

/// What people are told where nobody gave inputs, and of inputs that hold NaN or infinities.
void printAboutInputs(const Samples& samples);

/// Where long work stands, on standard error; silent unless that is a terminal.
Progress progressLine();
void clearProgressLine();

/// Opens what a verb works on. `engine` is null where the verb takes no --backend. With a
/// session, `path` is where its model lies now, or empty.
Result<Artifact> open(const std::string& path, const PlanArguments& plan, const EngineSettings* engine = nullptr,
                      const Progress& progress = progressLine());
/// Error: the compiler of the artifact cannot do what the verb needs.
Status checkAble(const Artifact& artifact, Ability ability, std::string_view verb);
/// Has another compiler say what it makes of the network; of our own the plan says it.
Status readBack(Artifact& artifact);
/// Before anything is written: whether `path`, which `option` gives, can be written, and is none of the files that the
/// network, its inputs and options (`also`) are read from.
Status checkOutput(const std::string& path, const std::string& option, const Artifact& artifact,
                   const SampleSource& inputs = {}, const std::vector<std::string>& also = {});
/// Pins marked obey that the plan refused, one line each on standard error; true if there are any.
bool reportObeyRefusals(const Plan& plan);

/// Prints the document on standard output.
void printJson(const Json& json);

}  // namespace fusescope::cli
