#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/print_advice.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/bisect.h"
#include "session/documents/layer_error_report.h"
#include "session/operations/errors_operation.h"
#include "session/runs/verdict.h"

namespace fusescope::cli {
namespace {

void printStages(const BisectReport& report) {
  for (const BisectLevel& level : report.levels)
    std::cout << fmt::format("at level {} the error is {}\n", level.level, bisectErrorText(level.error));
  if (report.stages.empty()) return;
  printTitle("What was switched off");
  Table table({{"what"}, {"of", true}, {"builds", true}, {"so that it is"}});
  for (const BisectStage& stage : report.stages)
    table.add({stage.what, std::to_string(stage.switches.size()), std::to_string(stage.found.builds), inWords(stage)});
  table.print();
}

void printForPeople(const BisectReport& report, const BisectOptions& options) {
  printStages(report);
  for (const std::string& line : inWords(report, options.tolerance)) std::cout << line << "\n";
  std::cout << fmt::format("{}, {:.1f} s\n", counted(report.builds, "build"), report.seconds);
}

/// Carries out `errors --bisect`: finds what makes the outputs wrong and prints it. Returns the exit status, which is 1
/// if an output is wrong and the cause was not found.
Result<int> bisectAndPrint(const Artifact& artifact, const Samples& samples, const BisectOptions& options, bool json) {
  const BisectReport report = TRY(bisectErrors(artifact, samples, options));
  clearProgressLine();
  if (json) {
    printJson(toJson(report, artifact, samples, options));
  } else {
    printForPeople(report, options);
    printTypesNotGiven(artifact.cover());
    printAboutInputs(samples);
  }
  return report.end == CulpritEnd::Found || report.end == CulpritEnd::NotWrong ? kDone : kDoesNotHold;
}

/// The number of tensors that are printed for people; those with the largest local errors come first. --all and --json
/// list all of them.
constexpr std::size_t kMostErrorRows = 20;

using ErrorsArguments = ArgumentsOf<ErrorsSettings>;

std::string numberText(const std::optional<TensorError>& error, double TensorError::*number) {
  return error && error->isMeaningful() ? fmt::format("{:.3g}", *error.*number) : "-";
}

/// Returns the nonzero shares of a tensor's numbers that are infinite, at the end of the range or rounded to 0: "∞ 3 %,
/// at the end 1 %, to 0 2 %".
std::string sharesText(const std::optional<TensorError>& error) {
  std::string text;
  const auto add = [&](const char* what, double share) {
    const int digits = share < 0.1 ? 2 : 3;
    if (share > 0) text += fmt::format("{}{} {:.{}g} %", text.empty() ? "" : ", ", what, 100 * share, digits);
  };
  if (!error) return text;
  add("∞", error->nonFinite);
  add("at the end", error->saturated);
  add("to 0", error->underflowed);
  add("not comparable", error->expectedNonFinite);
  return text;
}

/// Returns the key by which tensors are sorted: those that became infinite come first, then the larger local error, and
/// those without an error come last.
double orderOf(const TensorErrors& tensor) {
  const auto& local = tensor.errors.local;
  if (!local || !local->isMeaningful()) return -1;
  return local->nonFinite > 0 ? INFINITY : local->maxOverRms;
}

void printTensors(const LayerErrorReport& report, bool all) {
  std::vector<TensorErrors> tensors = report.tensors;
  std::ranges::stable_sort(tensors, std::ranges::greater(), orderOf);
  const std::size_t rows = all ? tensors.size() : std::min(tensors.size(), kMostErrorRows);
  printTitle("Errors of tensors in memory, the largest local ones first");
  Table table({{"tensor"},
               {"type"},
               {"made by"},
               {"local max|Δ|/rms", true},
               {"rel L2", true},
               {"ulp", true},
               {"of its elements"},
               {"carried max|Δ|/rms", true},
               {"rel L2", true},
               {"cosine", true},
               {"of its elements"}});
  for (std::size_t i = 0; i < rows; ++i) {
    const TensorErrors& tensor = tensors[i];
    const auto& [local, carried] = tensor.errors;
    const std::string type(tensor.stored == DataType::Undefined ? "not disclosed" : name(tensor.stored));
    table.add({shortened(tensor.name, 32), type, shortened(tensor.fusedNode, 32),
               numberText(local, &TensorError::maxOverRms), numberText(local, &TensorError::relL2),
               numberText(local, &TensorError::ulp), sharesText(local), numberText(carried, &TensorError::maxOverRms),
               numberText(carried, &TensorError::relL2), carried ? cosineText(carried->cosine, 6) : "-",
               sharesText(carried)});
  }
  table.print();
  if (rows < tensors.size()) std::cout << fmt::format("{} more: --all prints them\n", tensors.size() - rows);
}

/// Describes the reference: "float32 on 2 samples, both on native", or, if another compiler runs the lowered network,
/// "float32 on 2 samples by native, lowered by the compiler onnxruntime".
std::string againstText(const Samples& samples, const LayerErrorOptions& options, const std::string& compiler,
                        ErrorsAgainst against) {
  const std::string on = counted(std::ssize(samples.list), "sample");
  if (compiler != kOwnCompiler)
    return fmt::format("float32 on {} by {}, lowered by the compiler {}", on, options.backend, compiler);
  if (against == ErrorsAgainst::F32) return fmt::format("float32 on {}, both on {}", on, options.backend);
  return fmt::format("float64 on {}, lowered on {}", on, options.backend);
}

/// Prints how many tensors are wrong, and how many of them matter.
void printCounts(const LayerErrorReport& report, const std::string& against, double bound) {
  using Which = std::optional<TensorError> LocalAndCarried::*;
  const auto wrong = [&](Which which) {
    std::vector<std::string> names;
    for (const TensorErrors& tensor : report.tensors)
      if (const auto& error = tensor.errors.*which; error && fractionOfBound(*error, bound) > 1)
        names.push_back(tensor.name);
    return names;
  };
  std::vector<std::string> local = wrong(&LocalAndCarried::local);
  const std::size_t carried = wrong(&LocalAndCarried::carried).size();
  const bool ofCodes = std::ranges::any_of(report.tensors, &LocalAndCarried::ofCodes, &TensorErrors::errors);
  std::cout << fmt::format(
      "{} in memory, against {}: {} wrong with exact inputs, {} with the inputs of the lowered network (beyond {:.3g} "
      "of rms{})\n",
      counted(std::ssize(report.tensors), "tensor"), against, local.size(), carried, bound,
      ofCodes ? ", codes: in relative L2" : "");
  std::erase_if(local, [&](const std::string& name) { return report.leading.contains(name); });
  if (!local.empty())
    std::cout << fmt::format("{} of those that are wrong with exact inputs {} no output wrong, the first: {}\n",
                             local.size(), local.size() == 1 ? "makes" : "make", shortened(local.front()));
}

std::string outputText(const std::string& name, const TensorError& error) {
  if (!error.isMeaningful())
    return fmt::format(
        "output {}: its error cannot be measured, because all of it is infinite or NaN in the exact network, too\n",
        name);
  std::string text =
      fmt::format("output {}: max|Δ| {:.3g} of rms, cosine {}", name, error.maxOverRms, cosineText(error.cosine, 6));
  if (const std::string shares = sharesText(error); !shares.empty()) text += "; " + shares;
  if (error.expectedNonFinite > 0) text += ": there the exact network is infinite or NaN, too";
  return text + "\n";
}

void printForPeople(const LayerErrorReport& report, const std::optional<Advice>& advice, const Samples& samples,
                    const std::string& against, const LayerErrorOptions& options, bool all) {
  printTensors(report, all);
  printCounts(report, against, options.tolerance.rms.value_or(INFINITY));
  for (const TensorErrors& tensor : report.tensors)
    if (tensor.isOutput && tensor.errors.carried) std::cout << outputText(tensor.name, *tensor.errors.carried);
  if (!report.notMeasured.empty())
    std::cout << fmt::format("not measured: {}, first {}: {}\n", counted(std::ssize(report.notMeasured), "tensor"),
                             report.notMeasured.front().name, report.notMeasured.front().why);
  for (const auto& narrow : report.notInDouble)
    std::cout << fmt::format("not in double precision, because there is no kernel for it: {} ({})\n", narrow.op,
                             counted(narrow.nodes, "node"));
  if (const auto& first = report.firstWrong) {
    std::cout << fmt::format("first wrong: {} ({}): {}\n", shortened(first->node), first->tensor, first->why);
    const auto node = std::ranges::find(report.nodes, first->node, &NodeErrors::name);
    if (node != report.nodes.end())
      for (const LostWeight& weight : node->lostWeights) std::cout << fmt::format("  its {}\n", inWords(weight));
  }
  printAdvice(advice);
  printAboutInputs(samples);
  if (const auto memory = processMemory())
    std::cout << fmt::format("{} of memory at the most\n", bytesText(memory->peakResident));
}

/// Returns whether the tensor is an output of the network whose error cannot be measured.
bool cannotBeDetermined(const TensorErrors& tensor) {
  return tensor.isOutput && tensor.errors.carried && !tensor.errors.carried->isMeaningful();
}

Result<int> errors(const ErrorsArguments& arguments, const Artifact& artifact) {
  const auto samples = TRY(arguments.inputs.samples(artifact));
  LayerErrorOptions options{.threads = arguments.engine.threads, .progress = progressLine()};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  const Tolerance tolerance = arguments.rms ? Tolerance{.rms = arguments.rms} : toleranceOf(artifact);
  if (tolerance.rms) options.tolerance = tolerance;
  if (arguments.bisect) {
    if (TRY(reportUnobeyedPinsBefore(artifact))) return kDoesNotHold;
    const InterruptStop interrupt;
    return bisectAndPrint(artifact, samples,
                          {.tolerance = options.tolerance.rms.value_or(INFINITY),
                           .builds = arguments.builds,
                           .seconds = arguments.seconds,
                           .threads = options.threads,
                           .stop = interrupt.token(),
                           .progress = options.progress},
                          arguments.json);
  }
  const auto report = TRY(layerErrors(artifact, samples, options, arguments.against));
  const auto advice = TRY(adviceAbout(report, artifact.plan, samples, options, arguments.against));
  clearProgressLine();
  if (arguments.json) {
    Json json = toJson(report, *artifact.plan, samples, options, arguments.against);
    addInside(json, artifact.compiler(), report);
    json["advice"] = toJson(advice);
    json["inputs"] = toJson(arguments.inputs.source(artifact));
    printJson(json);
  } else {
    const std::string against = againstText(samples, options, artifact.plan->options.compiler, arguments.against);
    printForPeople(report, advice, samples, against, options, arguments.all);
    const InnerErrorsNote inside = innerErrorsNote(artifact.compiler(), report);
    if (!inside.words.empty()) std::cout << inside.words << "\n";
    printTypesNotGiven(report.made == nullptr ? *artifact.plan : *report.made);
  }
  if (std::ranges::any_of(report.tensors, cannotBeDetermined)) return kBadUse;
  return report.made != nullptr && reportUnobeyedPins(*report.made) ? kDoesNotHold : kDone;
}

Result<int> errors(const ErrorsArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  TRY(checkAble(artifact, Ability::Run, "run a network"));
  if (artifact.made != nullptr && artifact.isOurs())
    return Diagnostic{
        .message = fmt::format("this is what {} {} made, read from files of an engine: it cannot be run here, so its "
                               "errors cannot be measured",
                               artifact.made->compiler.name, artifact.made->compiler.version),
        .where = {.file = artifact.path},
        .help = "fusescope errors MODEL.onnx with the target and the directives measures the errors of the plan."};
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  return underAssumedExtents(errors(arguments, artifact), *artifact.plan, !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command errorsCommand(CLI::App& app) {
  return commandOf<ErrorsSettings>(app, errorsOperation(), errors);
}

}  // namespace fusescope::cli
