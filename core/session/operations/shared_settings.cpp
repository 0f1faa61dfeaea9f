#include "session/operations/shared_settings.h"

#include "backends/backend.h"
#include "backends/threads.h"
#include "base/text.h"
#include "compilers/compiler.h"
#include "planning/directives/directive_form.h"
#include "target/target.h"

namespace fusescope {
namespace {

constexpr double kMostAxes = 64;  // no network has tensors with more

std::string compilerNames() {
  std::vector<std::string> names;
  for (const Compiler* known : allCompilers()) names.emplace_back(known->name());
  return joined(names, ", ");
}

/// Adds an option for each kind of directive that has one.
void addDirectives(std::vector<std::vector<std::string>>& given, std::vector<Option>& options) {
  const std::vector<const DirectiveForm*>& forms = directiveForms();
  given.resize(forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (forms[i]->option.empty()) continue;
    options.push_back({.name = std::string(forms[i]->option.substr(2)),
                       .value = &given[i],
                       .argument = std::string(forms[i]->argument),
                       .help = std::string(forms[i]->help),
                       .isOnce = forms[i]->pattern == PatternUse::None});
  }
}

}  // namespace

std::vector<Option> PlanSettings::planOptions() {
  std::vector<Option> options{
      {.name = "compiler",
       .value = &compiler,
       .argument = "NAME[@ENVIRONMENT|@COMMAND|@RESULT.zip]",
       .help = "The compiler that compiles the network: " + compilerNames() + ". See the command compilers.",
       .usual = std::string(kOwnCompiler)},
      {.name = "compiler-option",
       .value = &compilerOptions,
       .argument = "NAME=VALUE",
       .help = "Pass an option to the compiler. The command compilers --options lists the options of each."},
      {.name = "cache",
       .value = &cache,
       .help = "Use what earlier commands kept: what other compilers answered and compiled, and times of kernels. off "
               "neither "
               "uses nor keeps anything, read only uses it, write uses it and keeps more. See the command cache.",
       .choices = {"off", "read", "write"},
       .usual = "write"},
      {.name = "sm",
       .value = &computeCapability,
       .argument = "N",
       .help = "Compile for this compute capability: short for --compiler-option sm=N."},
      {.name = "target",
       .value = &target,
       .argument = "TARGET",
       .help = "Plan for this target: " + joined(targetNames()) +
               "; cpu:CAPABILITY+… for another machine's CPU, tensorrt-rtx:SM for a card.",
       .usual = "cpu"},
      {.name = "precision",
       .value = &precision,
       .argument = "TYPE[,TYPE…]",
       .help = "Types that may be used beside f32 where nothing is pinned."}};
  addDirectives(directives, options);
  const std::vector<Option> more{
      {.name = "workspace",
       .value = &workspaceBytes,
       .argument = "BYTES",
       .help = "The most scratch memory that one kernel may use; 0: no limit.",
       .range = kZeroOrMore},
      {.name = "ranges",
       .value = &rangesFile,
       .argument = "FILE",
       .help = "Ranges of values for int8: a file that calibrate wrote, or a calibration cache of TensorRT.",
       .isPath = true},
      {.name = "weight-only",
       .value = &weightOnly,
       .help = "Keep the weights of products as integers and calculate in floats.",
       .choices = {"int8", "int4"}},
      {.name = "block",
       .value = &block,
       .argument = "N",
       .help = "The number of weights of a channel that share a scale; 0: all of them.",
       .range = {.least = 0, .most = 65536},
       .needs = "weight-only"},
      {.name = "directives",
       .value = &directivesFile,
       .argument = "FILE",
       .help = "A file of directives, with target and precisions. Other options override it.",
       .isPath = true}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

std::vector<Option> PlanSettings::extentsOptions() {
  return {{.name = "input",
           .value = &inputs,
           .argument = "NAME=DIMS[:TYPE]",
           .help = "The extents and the type of an input."},
          {.name = "min", .value = &mins, .argument = "NAME=DIMS", .help = "The smallest extents of an input."},
          {.name = "opt", .value = &opts, .argument = "NAME=DIMS", .help = "The extents of an input to optimise for."},
          {.name = "max", .value = &maxs, .argument = "NAME=DIMS", .help = "The largest extents of an input."}};
}

std::vector<Option> InputSettings::options() {
  return {
      {.name = "inputs",
       .value = &paths,
       .argument = "F",
       .help = "The inputs: .npz, .npy, .pb, Polygraphy's .json, the examples in a .pt2, or a folder of them. Without "
               "this option they are random.",
       .isPath = true},
      {.name = "batch-axis",
       .value = &batchAxis,
       .argument = "AXIS",
       .help = "Cut the inputs along this axis into samples.",
       .range = {.least = 0, .most = kMostAxes - 1}}};
}

Option effortOption(std::optional<double>& seconds, std::vector<std::string> excludes) {
  return {.name = "effort",
          .value = &seconds,
          .argument = "SECONDS",
          .help =
              "Measure tactics for at most this long, those first that are expected to save most; 0: use only what "
              "earlier builds measured. What is not measured keeps its predicted choice.",
          .range = kZeroOrMore,
          .usual = "as long as 1000 runs of the network take, but between 5 and 60 seconds",
          .excludes = std::move(excludes)};
}

std::vector<Option> EngineSettings::options() {
  std::vector<std::string> names;
  for (const Backend* known : allBackends()) names.emplace_back(known->name());
  return {{.name = "backend",
           .value = &backend,
           .help = "The backend that runs the network. Without this option it is the one that the target names: native "
                   "for cpu.",
           .choices = names},
          {.name = "threads",
           .value = &threads,
           .argument = "N",
           .help = "The number of threads. Without this option it is the number of processors of the machine.",
           .range = {.least = 1, .most = kMostThreads}}};
}

std::vector<Option> EngineSettings::shapeCacheOptions() {
  return {
      {.name = "shape-cache",
       .value = &shapeCache,
       .argument = "N",
       .help = "How many sets of extents stay prepared: of the inputs, and of each node whose extents depend on data.",
       .range = kAboveZero}};
}

std::vector<Option> StepsSettings::options() {
  return {{.name = "steps",
           .value = &count,
           .argument = "N",
           .help = "Call the network N times, one after the other.",
           .range = kAboveZero},
          {.name = "feed",
           .value = &feeds,
           .argument = "OUT=IN",
           .help = "This output of a step is this input of the next step.",
           .needs = "steps"}};
}

}  // namespace fusescope
