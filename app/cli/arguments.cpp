#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>

#include "app/cli/command.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "calibration/ranges.h"
#include "compilers/probed/environment_choice.h"
#include "compilers/probed/recorded_job.h"
#include "planning/directive_effects.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "planning/read_back/pins_made.h"
#include "session/exported_program_report.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/options_json.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

/// The placeholder in the help for a number of bytes, which may have a unit on the command line.
constexpr std::string_view kBytesArgument = "BYTES";

/// Returns how CLI11 is told the name of an option: "--max-error", "-o,--output" or "MODEL".
std::string declaredName(const Option& option) {
  if (option.isPositional()) return option.name;
  const std::string name = "--" + option.name;
  return option.letter == 0 ? name : fmt::format("-{},{}", option.letter, name);
}

/// Returns the word that represents the value of the option in the help.
std::string typeName(const Option& option) {
  return option.choices.empty() ? option.argument : joined(option.choices, "|");
}

/// Declares an option that takes one value each time it is given.
CLI::Option* declareList(CLI::App& app, const Option& option, std::vector<std::string>& into) {
  if (option.isPositional()) return app.add_option(option.name, into, option.help);
  const auto policy = option.isOnce ? CLI::MultiOptionPolicy::Throw : CLI::MultiOptionPolicy::TakeAll;
  return app
      .add_option(declaredName(option), into, option.help + (option.isOnce ? "" : " May be given several times."))
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(policy)
      ->allow_extra_args(false);
}

CLI::Option* declareValue(CLI::App& app, const Option& option) {
  const std::string name = declaredName(option);
  if (const auto* flag = std::get_if<bool*>(&option.value)) return app.add_flag(name, **flag, option.help);
  if (const auto* flag = std::get_if<NegatedFlag>(&option.value))
    return app.add_flag_function(
        name, [value = flag->value](std::int64_t) { *value = false; }, option.help);
  if (const auto* list = std::get_if<std::vector<std::string>*>(&option.value)) return declareList(app, option, **list);
  if (const auto* choice = std::get_if<ChoiceValue>(&option.value))
    return app.add_option_function<std::string>(
        name,
        [set = choice->set, choices = option.choices](const std::string& text) {
          set(static_cast<std::size_t>(std::ranges::find(choices, text) - choices.begin()));
        },
        option.help);
  return std::visit(
      [&](auto value) -> CLI::Option* {
        if constexpr (std::is_pointer_v<decltype(value)>)
          return app.add_option(name, *value, option.help);
        else
          return nullptr;  // other kinds of values were declared above
      },
      option.value);
}

bool isFlag(const Option& option) {
  return std::holds_alternative<bool*>(option.value) || std::holds_alternative<NegatedFlag>(option.value);
}

/// Declares which options need or exclude each other. `options` and all options that they name must have been declared.
void relate(CLI::App& app, const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (option.needs.empty() && option.excludes.empty()) continue;
    CLI::Option* declared = app.get_option("--" + option.name);
    if (!option.needs.empty()) declared->needs(app.get_option("--" + option.needs));
    for (const std::string& other : option.excludes) declared->excludes(app.get_option("--" + other));
  }
}

/// Returns what the help of an operation says after its options.
std::string footerOf(const Operation& operation) {
  std::string text;
  if (operation.has(OptionGroup::Plan)) text += std::string(kPatternHelp) + "\n";
  if (!operation.writes.empty()) text += fmt::format("Files that are written: {}.\n", operation.writes);
  if (const std::string phases = phasesInWords(operation); !phases.empty())
    text += fmt::format("Phases that are reported: {}.\n", phases);
  const std::string no =
      operation.doesNotHold.empty() ? std::string() : fmt::format(" 1 if {};", operation.doesNotHold);
  return text + fmt::format("Exit status: 0 done;{} 2 bad use or bad input.", no);
}

/// Replaces the unit of a number of bytes by its factor: "2GiB", "2G" and "2g" are 2147483648. Other texts stay as they
/// are, and are refused afterwards.
std::string replaceUnit(std::string& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  for (char& each : unit) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
  const std::size_t power = unit.size() == 1 ? std::string_view("kmgt").find(unit) : std::string_view::npos;
  if (read.ec != std::errc() || power == std::string_view::npos) return {};
  const std::int64_t factor = std::int64_t{1} << (10 * (power + 1));
  if (number >= 0 && number <= INT64_MAX / factor) text = std::to_string(number * factor);
  return {};
}

}  // namespace

CLI::Option* declare(CLI::App& app, const Option& option, const std::string& heading) {
  CLI::Option* declared = declareValue(app, option);
  if (!heading.empty()) declared->group(heading);
  if (option.isRequired) declared->required();
  if (isFlag(option)) return declared;
  declared->type_name(typeName(option));
  if (const std::string range = inWords(option.range); !range.empty())
    declared->description(fmt::format("{} The number is {}.", declared->get_description(), range));
  if (const std::string usual = option.usualInWords(); !usual.empty()) declared->default_str(usual);
  if (option.argument == kBytesArgument) declared->transform(CLI::Validator(replaceUnit, ""));
  return declared->check(CLI::Validator([option](std::string& text) { return whyNotAccepted(option, text); }, ""));
}

void declare(CLI::App& app, const std::vector<Option>& options, const std::string& heading) {
  for (const Option& option : options) declare(app, option, heading);
  relate(app, options);
}

CLI::App* declareOperation(CLI::App& app, const Operation& operation, const std::vector<Option>& options,
                           SharedArguments& shared) {
  const std::string name(operation.name.substr(operation.name.rfind(' ') + 1));
  CLI::App* verb = app.add_subcommand(name, std::string(operation.summary) + ".");
  verb->footer(footerOf(operation));
  if (!operation.source.argument.empty())
    verb->add_option("MODEL", shared.path, std::string(operation.source.help))
        ->type_name(std::string(operation.source.argument));
  if (operation.source.takesSession)
    verb->add_option("--session", shared.plan.session, std::string(kSessionHelp))->type_name("F.fsession");
  for (const Option& option : options) declare(*verb, option);
  if (operation.has(OptionGroup::Inputs)) declare(*verb, shared.inputs.options());
  if (operation.has(OptionGroup::Json)) verb->add_flag("--json", shared.json, "Print JSON.");
  if (operation.has(OptionGroup::Engine)) declare(*verb, shared.engine.options());
  if (operation.has(OptionGroup::ShapeCache)) declare(*verb, shared.engine.shapeCacheOptions());
  if (operation.has(OptionGroup::Steps)) declare(*verb, shared.steps.options());
  if (operation.has(OptionGroup::Plan)) declare(*verb, shared.plan.planOptions(), kPlanHeading);
  if (operation.has(OptionGroup::Plan) || operation.has(OptionGroup::Extents))
    declare(*verb, shared.plan.extentsOptions(), kExtentsHeading);
  relate(*verb, options);
  return verb;
}

Command withParts(Command own, std::vector<Command> parts) {
  if (!own.run) own.app->require_subcommand(1);
  return {own.app, [run = std::move(own.run), parts = std::move(parts)]() -> Result<int> {
            for (const Command& part : parts)
              if (part.app->parsed()) return part.run();
            return run ? run() : kBadUse;
          }};
}

Command onlyParts(CLI::App& app, const Operation& operation) {
  SharedArguments none;
  return {declareOperation(app, operation, {}, none), nullptr};
}

const Operation& partOf(const Operation& operation, std::string_view name) {
  return *std::ranges::find(operation.parts, name, &Operation::name);
}

PlanArguments PlanArguments::with(const PlanArguments& more) const {
  PlanArguments both = *this;
  const auto replace = [](auto& own, const auto& other) {
    if (other != std::remove_cvref_t<decltype(own)>()) own = other;
  };
  replace(both.compiler, more.compiler);
  replace(both.cache, more.cache);
  replace(both.computeCapability, more.computeCapability);
  replace(both.target, more.target);
  replace(both.precision, more.precision);
  replace(both.workspaceBytes, more.workspaceBytes);
  replace(both.directivesFile, more.directivesFile);
  replace(both.rangesFile, more.rangesFile);
  replace(both.weightOnly, more.weightOnly);
  replace(both.block, more.block);
  replace(both.session, more.session);
  const auto append = [](std::vector<std::string>& own, const std::vector<std::string>& other) {
    own.insert(own.end(), other.begin(), other.end());
  };
  both.directives.resize(std::max(directives.size(), more.directives.size()));
  for (std::size_t i = 0; i < more.directives.size(); ++i) append(both.directives[i], more.directives[i]);
  append(both.compilerOptions, more.compilerOptions);
  append(both.inputs, more.inputs);
  append(both.mins, more.mins);
  append(both.opts, more.opts);
  append(both.maxs, more.maxs);
  return both;
}

namespace {

/// Adds options of the form NAME=VALUE. If a name is given twice, the later value is used.
Status addCompilerOptions(const std::vector<std::string>& given, std::map<std::string, std::string>& options) {
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Diagnostic{.message = fmt::format("'{}' is not of the form NAME=VALUE", text),
                        .where = {.attribute = "--compiler-option"}};
    options.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  return Done{};
}

/// Makes the path in `compiler` absolute if it names the result of a job, so that it means the same file from every
/// folder.
std::string withWholePath(const std::string& compiler) {
  const std::size_t at = compiler.find('@');
  if (at == std::string::npos || !isJobResult(compiler.substr(at + 1))) return compiler;
  return compiler.substr(0, at + 1) + std::filesystem::absolute(compiler.substr(at + 1)).string();
}

/// Confirms the command that starts an environment: by typing it, the user has agreed that it is run.
Status confirmCommand(const std::string& compiler) {
  const std::size_t at = compiler.find('@');
  if (at == std::string::npos || findCompiler(compiler) == nullptr || isJobResult(compiler.substr(at + 1)))
    return Done{};
  const auto environment = environmentNamed(compiler.substr(at + 1));
  if (!environment.ok() || isConfirmed(environment.value().command)) return Done{};
  return confirm(environment.value().command);
}

}  // namespace

Result<PlanOptions> PlanArguments::options() const {
  if (!cache.empty()) useStore(*cacheModeFromName(cache));
  PlanOptions options;
  if (!directivesFile.empty()) adopt(TRY(readDirectivesFile(directivesFile)), options);
  if (!compiler.empty()) {
    TRY(confirmCommand(compiler));
    options.compiler = withWholePath(compiler);
  }
  TRY(addCompilerOptions(compilerOptions, options.compilerOptions));
  if (!computeCapability.empty()) options.compilerOptions.insert_or_assign("sm", computeCapability);
  options.target = target.empty() ? usualTarget(options) : target;
  if (workspaceBytes) options.workspaceBytes = *workspaceBytes;
  if (!precision.empty()) options.precisions = TRY(parsePrecisions(precision));
  if (!rangesFile.empty()) options.ranges = std::make_shared<const Ranges>(TRY(readRanges(rangesFile)));
  if (!weightOnly.empty()) options.weightOnly = {*dataTypeFromName(weightOnly), block};
  auto& list = options.directives;
  for (std::size_t i = 0; i < directives.size(); ++i)
    for (const std::string& text : directives[i]) list.push_back(TRY(directiveForms()[i]->parse(text)));
  assignIds(list);
  return options;
}

Result<std::vector<InputOverride>> PlanArguments::inputOverrides() const {
  std::vector<InputOverride> overrides;
  for (const auto& text : inputs) mergeOverride(overrides, TRY(parseInputOption(text)));
  for (const auto& text : mins) TRY(parseInputBound(text, InputBound::Min, overrides));
  for (const auto& text : opts) TRY(parseInputBound(text, InputBound::Opt, overrides));
  for (const auto& text : maxs) TRY(parseInputBound(text, InputBound::Max, overrides));
  return overrides;
}

Result<std::optional<Steps>> StepsArguments::steps() const {
  if (count == 0) return std::optional<Steps>();
  Steps steps{.count = count};
  for (const std::string& text : feeds) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Diagnostic{.message = fmt::format("'{}' is not of the form OUT=IN", text),
                        .where = {.attribute = "--feed"},
                        .help = "Name an output, and the input that gets it in the next step."};
    steps.feeds.push_back({.output = text.substr(0, equals), .input = text.substr(equals + 1)});
  }
  return std::optional(std::move(steps));
}

namespace {

/// Warns of directives that the plan's compiler cannot follow.
void warnOfNoEffect(const Plan& plan) {
  for (const DirectiveWithoutEffect& none : directivesWithoutEffect(plan))
    std::cerr << fmt::format("fusescope: warning: {} has no effect on {}: {}\n", optionText(*none.directive),
                             plan.options.compiler, none.why);
}

Result<Artifact> openSessionOf(const std::string& model, const PlanArguments& plan, const EngineSettings* engine,
                               const Progress& progress) {
  if (!TRY(plan.inputOverrides()).empty() || !(TRY(plan.options()) == PlanOptions())) {
    return Diagnostic{.message = "a session already contains its plan options and inputs; do not give others",
                      .where = {.file = plan.session, .attribute = "--session"},
                      .help = "Leave the options out, or start from the model."};
  }
  std::vector<std::string> warnings;
  auto artifact = openSession(plan.session, model, engine != nullptr ? engine->backend : "", warnings, {}, progress);
  clearProgressLine();
  for (const std::string& warning : warnings) std::cerr << "fusescope: " << warning << "\n";
  if (artifact.ok()) warnOfNoEffect(*artifact.value().plan);
  return artifact;
}

}  // namespace

Result<Artifact> open(const std::string& path, const PlanArguments& plan, const EngineSettings* engine,
                      const Progress& progress) {
  if (!plan.session.empty()) return openSessionOf(path, plan, engine, progress);
  if (path.empty()) {
    return Diagnostic{.message = "the file to work on is missing",
                      .where = {.attribute = "MODEL"},
                      .help = "Give a file, or --session F.fsession."};
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) && isSessionFile(path)) {
    PlanArguments ofSession = plan;
    ofSession.session = path;
    return openSessionOf({}, ofSession, engine, progress);
  }
  const bool backendGiven = engine != nullptr && !engine->backend.empty();
  if (backendGiven && !plan.compiler.empty() && plan.compiler != kOwnCompiler)
    return Diagnostic{.message = fmt::format("--backend says where {} gets its kernels; {} has no backends",
                                             kOwnCompiler, plan.compiler),
                      .where = {.attribute = "--backend"},
                      .help = "Leave --backend or --compiler out."};
  auto artifact = openArtifact(path, TRY(plan.inputOverrides()), TRY(plan.options()),
                               backendGiven ? engine->backend : "", {}, progress);
  clearProgressLine();
  if (artifact.ok() && artifact.value().kind == ArtifactKind::Engine && backendGiven &&
      artifact.value().backend != engine->backend) {
    return Diagnostic{.message = fmt::format("the engine was built for backend {}", artifact.value().backend),
                      .where = {.file = path, .attribute = "--backend"},
                      .help = "Leave --backend out, or build it for the other backend."};
  }
  if (artifact.ok()) warnOfNoEffect(*artifact.value().plan);
  if (artifact.ok() && isExportedProgram(*artifact.value().plan->model))
    std::cerr << fmt::format("fusescope: {}: {}\n", path, needsTorchInWords(path));
  return artifact;
}

Status checkAble(const Artifact& artifact, Ability ability, std::string_view verb) {
  return fusescope::checkAble(artifact.compiler(), ability, verb);
}

Status readBack(Artifact& artifact) {
  const auto options = buildOptions(artifact, 0, {}, progressLine());
  const Status status = fusescope::readBack(artifact, options);
  clearProgressLine();
  return status;
}

bool reportObeyRefusals(const Plan& plan) {
  const auto refusals = obeyRefusals(plan);
  for (const auto* refusal : refusals) {
    const auto node = refusal->subjects.empty() ? std::string() : refusal->subjects.front().text();
    std::cerr << fmt::format("fusescope: node '{}' {} ({}, {})\n", node, message(*refusal), refusal->by.text(),
                             refusal->code);
  }
  return !refusals.empty();
}

namespace {

bool report(const std::vector<UnobeyedPin>& pins) {
  for (const UnobeyedPin& pin : pins)
    std::cerr << fmt::format("fusescope: {} '{}' {} ({}, {})\n",
                             pin.about.kind == SubjectKind::Value ? "value" : "node", pin.about.text(), pin.words,
                             pin.by.text(), name(pin.result));
  return !pins.empty();
}

}  // namespace

bool reportUnobeyedPins(const Cover& made) {
  return report(unobeyedPins(made));
}

Result<bool> reportUnobeyedPinsBefore(const Artifact& artifact) {
  const auto pins = TRY(pinsNotObeyed(artifact, buildOptions(artifact, 0, {}, progressLine())));
  clearProgressLine();
  return report(pins);
}

Progress progressLine() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [](std::string_view phase, std::string_view detail) {
    std::cerr << fmt::format("\r\033[K{}: {}", phase, detail.substr(0, 60)) << std::flush;
  };
}

void clearProgressLine() {
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\033[K" << std::flush;
}

void printJson(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace fusescope::cli
