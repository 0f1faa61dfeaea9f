#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>

#include "app/cli/command.h"
#include "backends/backend.h"
#include "backends/threads.h"
#include "base/text.h"
#include "cache/process_store.h"
#include "calibration/ranges.h"
#include "compilers/probed/environment_choice.h"
#include "compilers/probed/recorded_job.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "session/exported_program.h"
#include "session/options_json.h"
#include "session/session_file.h"

namespace fusescope::cli {
namespace {

constexpr const char* kPlanGroup = "Plan options";
constexpr const char* kInputGroup = "Inputs of the network";

}  // namespace

CLI::Option* repeatable(CLI::App& app, const std::string& names, std::vector<std::string>& into,
                        const std::string& description) {
  return app.add_option(names, into, description + "; may be given several times")
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void PlanArguments::declare(CLI::App& app) {
  std::vector<std::string> compilers;
  for (const Compiler* known : allCompilers()) compilers.emplace_back(known->name());
  app.add_option("--compiler", compiler, "what compiles the network: " + joined(compilers, ", ") + "; see compilers")
      ->type_name("NAME[@ENVIRONMENT|@RESULT.zip]")
      ->default_str(kOwnCompiler)
      ->group(kPlanGroup);
  repeatable(app, "--compiler-option", compilerOptions, "what --compiler is told besides; compilers lists its options")
      ->type_name("NAME=VALUE")
      ->group(kPlanGroup);
  app.add_option_function<std::string>(
         "--cache", [](const std::string& mode) { useStore(*cacheModeFromName(mode)); },
         "what other compilers answered before: off neither uses nor keeps it, read uses it, write keeps more; see "
         "cache")
      ->type_name("off|read|write")
      ->check(CLI::IsMember({"off", "read", "write"}))
      ->default_str("write")
      ->group(kPlanGroup);
  app.add_option("--sm", computeCapability,
                 "the compute capability that --compiler compiles for: --compiler-option sm=N")
      ->type_name("N")
      ->group(kPlanGroup);
  app.add_option("--target", target,
                 joined(targetNames()) + "; cpu:CAPABILITY+… for another machine's, tensorrt-rtx:SM for a card's")
      ->type_name("TARGET")
      ->default_str("cpu")
      ->group(kPlanGroup);
  app.add_option("--precision", precision, "types that may be used where nothing is pinned, besides f32")
      ->type_name("TYPE[,TYPE…]")
      ->group(kPlanGroup);
  const std::vector<const DirectiveForm*>& forms = directiveForms();
  directives.resize(forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i]->option.empty()) continue;
    CLI::Option* option = repeatable(app, std::string(forms[i]->option), directives[i], std::string(forms[i]->help));
    option->type_name(std::string(forms[i]->argument))->group(kPlanGroup);
    if (forms[i]->pattern == PatternUse::None)
      option->description(std::string(forms[i]->help))->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  }
  app.add_option("--workspace", workspaceBytes, "most scratch memory of one kernel; 0: no limit")
      ->type_name("BYTES")
      ->check(wholeNumber())
      ->group(kPlanGroup);
  app.add_option("--ranges", rangesFile, "ranges of values for int8: of calibrate, or TensorRT's calibration cache")
      ->type_name("FILE")
      ->group(kPlanGroup);
  auto* weights =
      app.add_option("--weight-only", weightOnly, "hold weights of products as integers, and calculate in floats")
          ->type_name("int8|int4")
          ->check(CLI::IsMember({"int8", "int4"}))
          ->group(kPlanGroup);
  app.add_option("--block", block, "with --weight-only: so many weights share a scale; 0: all of a channel")
      ->type_name("N")
      ->check(wholeNumber())
      ->needs(weights)
      ->group(kPlanGroup);
  app.add_option("--directives", directivesFile, "a file of directives, with target and precisions; other options win")
      ->type_name("FILE")
      ->group(kPlanGroup);
  repeatable(app, "--input", inputs, "extents and type of an input")->type_name("NAME=DIMS[:TYPE]")->group(kInputGroup);
  repeatable(app, "--min", mins, "smallest extents of an input")->type_name("NAME=DIMS")->group(kInputGroup);
  repeatable(app, "--opt", opts, "extents to optimise for")->type_name("NAME=DIMS")->group(kInputGroup);
  repeatable(app, "--max", maxs, "largest extents of an input")->type_name("NAME=DIMS")->group(kInputGroup);
}

PlanArguments PlanArguments::with(const PlanArguments& more) const {
  PlanArguments both = *this;
  const auto replace = [](auto& own, const auto& other) {
    if (other != std::remove_cvref_t<decltype(own)>()) own = other;
  };
  replace(both.compiler, more.compiler);
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

/// Of a name that is given twice the later value holds.
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

bool isNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// The same from every folder: a result of a job is a file.
std::string withWholePath(const std::string& compiler) {
  const std::size_t at = compiler.find('@');
  if (at == std::string::npos || !isJobResult(compiler.substr(at + 1))) return compiler;
  return compiler.substr(0, at + 1) + std::filesystem::absolute(compiler.substr(at + 1)).string();
}

/// Whoever types the command that starts an environment has confirmed it.
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
  PlanOptions options;
  if (!directivesFile.empty()) adopt(TRY(readDirectivesFile(directivesFile)), options);
  if (!compiler.empty()) {
    TRY(confirmCommand(compiler));
    options.compiler = withWholePath(compiler);
  }
  TRY(addCompilerOptions(compilerOptions, options.compilerOptions));
  if (!computeCapability.empty()) options.compilerOptions.insert_or_assign("sm", computeCapability);
  const Compiler* known = findCompiler(options.compiler);
  if (!target.empty()) {
    options.target = target;
  } else if (known != nullptr && !known->target().empty()) {
    options.target = known->target();
    const auto card = options.compilerOptions.find("sm");
    if (card != options.compilerOptions.end() && isNumber(card->second)) options.target += ":sm" + card->second;
  }
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

void EngineArguments::declare(CLI::App& app) {
  std::vector<std::string> names;
  for (const Backend* known : allBackends()) names.emplace_back(known->name());
  app.add_option("--backend", backend, "what runs it; if not given, what the target names: native for cpu")
      ->type_name(joined(names, "|"))
      ->check(CLI::IsMember(names));
  app.add_option("--threads", threads, "threads to use; as many as the machine has if not given")
      ->type_name("N")
      ->check(between(1, kMostThreads));
}

void EngineArguments::declareShapeCache(CLI::App& app) {
  app.add_option("--shape-cache", shapeCache,
                 "sets of extents that stay prepared: of the inputs, and of each node whose extents depend on data")
      ->type_name("N")
      ->check(aboveZero())
      ->capture_default_str();
}

CLI::Option* StepsArguments::declare(CLI::App& app) {
  auto* option = app.add_option("--steps", count, "call the network N times, one after the other")
                     ->type_name("N")
                     ->check(aboveZero());
  repeatable(app, "--feed", feeds, "with --steps: what this output gives is this input of the next step")
      ->type_name("OUT=IN")
      ->needs(option);
  return option;
}

Result<std::optional<Steps>> StepsArguments::steps() const {
  if (count == 0) return std::optional<Steps>();
  Steps steps{.count = count};
  for (const std::string& text : feeds) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return Diagnostic{.message = fmt::format("'{}' is not of the form OUT=IN", text),
                        .where = {.attribute = "--feed"},
                        .help = "Name an output and the input that it is for in the next step."};
    steps.feeds.push_back({.output = text.substr(0, equals), .input = text.substr(equals + 1)});
  }
  return std::optional(std::move(steps));
}

namespace {

CLI::Validator numberCheck(const std::function<bool(double)>& fits, const std::string& demand) {
  return CLI::Validator(
      [=](std::string& text) {
        double number = 0;
        if (!CLI::detail::lexical_cast(text, number)) return "'" + text + "' is not a number";
        if (!std::isfinite(number)) return text + " must be finite";
        return fits(number) ? std::string() : text + " must be " + demand;
      },
      "");
}

}  // namespace

CLI::Validator aboveZero() {
  return numberCheck([](double number) { return number > 0; }, "more than 0");
}
CLI::Validator zeroOrMore() {
  return numberCheck([](double number) { return number >= 0; }, "0 or more");
}
CLI::Validator between(double least, double most) {
  return numberCheck([=](double number) { return number >= least && number <= most; },
                     fmt::format("between {} and {}", least, most));
}
CLI::Validator wholeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        std::int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        if (read.ec == std::errc::result_out_of_range) return text + " is too large";
        if (read.ec != std::errc() || read.ptr != end) return "'" + text + "' is not a whole number";
        return number >= 0 ? std::string() : text + " must be 0 or more";
      },
      "");
}

void declareModel(CLI::App& app, std::string& path, PlanArguments& plan, const std::string& description,
                  const std::string& typeName) {
  app.add_option("MODEL", path, description)->type_name(typeName);
  app.add_option("--session", plan.session,
                 "a session in place of a model and plan options; its model may lie at MODEL")
      ->type_name("F.fsession");
}

namespace {

Result<Artifact> openSessionOf(const std::string& model, const PlanArguments& plan, const EngineArguments* engine,
                               const Progress& progress) {
  if (!TRY(plan.inputOverrides()).empty() || !(TRY(plan.options()) == PlanOptions())) {
    return Diagnostic{.message = "a session already holds its plan options and inputs; others cannot be given with it",
                      .where = {.file = plan.session, .attribute = "--session"},
                      .help = "Leave the options out, or start from the model."};
  }
  std::vector<std::string> warnings;
  auto artifact = openSession(plan.session, model, engine != nullptr ? engine->backend : "", warnings, {}, progress);
  clearProgressLine();
  for (const std::string& warning : warnings) std::cerr << "fusescope: " << warning << "\n";
  return artifact;
}

}  // namespace

Result<Artifact> open(const std::string& path, const PlanArguments& plan, const EngineArguments* engine,
                      const Progress& progress) {
  if (!plan.session.empty()) return openSessionOf(path, plan, engine, progress);
  if (path.empty()) {
    return Diagnostic{.message = "what to work on is missing",
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
    return Diagnostic{
        .message = fmt::format("a backend is where {} gets its kernels; {} has none", kOwnCompiler, plan.compiler),
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
