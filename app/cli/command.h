#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "compilers/compiler.h"
#include "session/operations.h"
#include "session/samples.h"
#include "session/session.h"

namespace fusescope::cli {

/// Exit status of every verb.
enum ExitStatus { kDone = 0, kDoesNotHold = 1, kBadUse = 2 };

/// A verb: declared on the application, run if the user chose it.
struct Command {
  CLI::App* app = nullptr;
  std::function<Result<int>()> run;  ///< the exit status, or what was bad about use or input
};

// One function a verb, each in a file of its name.
Command inspectCommand(CLI::App& app);
Command planCommand(CLI::App& app);
Command explainCommand(CLI::App& app);
Command buildCommand(CLI::App& app);
Command runCommand(CLI::App& app);
Command timeCommand(CLI::App& app);
Command compareCommand(CLI::App& app);
Command diffCommand(CLI::App& app);
Command errorsCommand(CLI::App& app);
Command verifyCommand(CLI::App& app);
Command tensorCommand(CLI::App& app);
Command calibrateCommand(CLI::App& app);
Command tuneCommand(CLI::App& app);
Command exportCommand(CLI::App& app);
Command migrateCommand(CLI::App& app);
Command compilersCommand(CLI::App& app);
Command probeCommand(CLI::App& app);
Command importCommand(CLI::App& app);
Command importEngineCommand(CLI::App& app);
Command pricesCommand(CLI::App& app);

/// The plan options of a verb, as they stand on the command line.
struct PlanArguments {
  std::string compiler;                              ///< empty: our own
  std::vector<std::string> compilerOptions;          ///< NAME=VALUE
  std::string computeCapability;                     ///< in short for one of them; empty: not given
  std::string target;                                ///< empty: that of the directives file, else cpu
  std::string precision;                             ///< empty: those of the directives file, else f32 alone
  std::vector<std::vector<std::string>> directives;  ///< by DirectiveKind: the arguments of its option
  std::optional<std::int64_t> workspaceBytes;
  std::vector<std::string> inputs, mins, opts, maxs;
  std::string directivesFile;
  std::string rangesFile;
  std::string weightOnly;  ///< "int8" or "int4"; empty: no
  std::int64_t block = 0;  ///< of weightOnly
  std::string session;     ///< a session file in place of a model and all of these

  void declare(CLI::App& app);
  /// These, and behind them `more`, which win where only one can hold.
  PlanArguments with(const PlanArguments& more) const;
  Result<PlanOptions> options() const;  ///< what the directives file says, and over it the other options
  Result<std::vector<InputOverride>> inputOverrides() const;
};

/// Options of the verbs that build or run.
struct EngineArguments {
  std::string backend;  ///< empty: native, or the engine file's own
  int threads = 0;
  int shapeCache = BuildOptions().shapeCache;

  void declare(CLI::App& app);
  void declareShapeCache(CLI::App& app);  ///< for verbs that may meet several sets of extents
};

/// --steps and --feed: the network called again and again, what it gave handed back to it.
struct StepsArguments {
  int count = 0;
  std::vector<std::string> feeds;

  /// Returns the option --steps, for others that it cannot stand beside.
  CLI::Option* declare(CLI::App& app);
  Result<std::optional<Steps>> steps() const;  ///< nothing where --steps is not given
};

/// --inputs and --batch-axis: what a network is run on.
struct InputArguments {
  std::vector<std::string> paths;
  std::optional<std::int64_t> batchAxis;

  void declare(CLI::App& app);
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
/// What people are told where nobody gave inputs, and of inputs that hold NaN or infinities.
void printAboutInputs(const Samples& samples);

/// An option that takes one value each time it is given.
CLI::Option* repeatable(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                        const std::string& description);

/// Checks of numbers that say in words what is wrong; CLI11's own name a bound of 309 digits.
CLI::Validator aboveZero();
CLI::Validator zeroOrMore();
CLI::Validator between(double least, double most);
CLI::Validator wholeNumber();  ///< 0 or more, and no more than 64 bits hold

/// The first positional argument of a verb, and --session in its place. open() asks for one of them.
void declareModel(CLI::App& app, std::string& path, PlanArguments& plan, const std::string& description,
                  const std::string& typeName);
/// Where long work stands, on standard error; silent unless that is a terminal.
Progress progressLine();
void clearProgressLine();

/// Opens what a verb works on. `engine` is null where the verb takes no --backend. With a
/// session, `path` is where its model lies now, or empty.
Result<Artifact> open(const std::string& path, const PlanArguments& plan, const EngineArguments* engine = nullptr,
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
