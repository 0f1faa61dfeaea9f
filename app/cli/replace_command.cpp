#include "app/cli/command.h"
#include "session/replace.h"

#include <fmt/format.h>

#include <iostream>

#include "app/cli/table.h"
#include "base/text.h"
#include "interchange/substitutions/substitution.h"
#include "session/operations/replace_operation.h"

namespace fusescope::cli {
namespace {

using ReplaceArguments = ArgumentsOf<ReplaceSettings>;

void printList() {
  Table table({{"rule"}, {"what it replaces"}, {"undone by"}});
  for (const Substitution& rule : substitutions()) {
    const bool takesValue = rule.argument == RuleArgument::Value;
    table.add({fmt::format("{}{}", rule.name, takesValue ? "@VALUE" : "[@NODES]"), std::string(rule.summary),
               rule.inverse.empty() ? "-" : std::string(rule.inverse)});
  }
  table.print();
}

std::string namesOf(const std::vector<ListedNode>& nodes) {
  std::vector<std::string> texts;
  for (const ListedNode& node : nodes) texts.push_back(fmt::format("{} {}", node.name, node.op));
  return texts.empty() ? "nothing" : joined(texts);
}

void print(const Replacement& replacement) {
  if (replacement.made.empty() && replacement.gone.empty()) {
    std::cout << fmt::format("{}: the network has other outputs and the same nodes\n", replacement.rule);
  } else {
    std::cout << fmt::format("{}: {} in place of {}\n", replacement.rule, namesOf(replacement.made),
                             namesOf(replacement.gone));
  }
  const auto kernels = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : joined(names, "; ");
  };
  if (!replacement.kernelsBefore.empty() || !replacement.kernelsAfter.empty())
    std::cout << fmt::format("  kernels: {} before, {} now\n", kernels(replacement.kernelsBefore),
                             kernels(replacement.kernelsAfter));
  if (!replacement.undo.empty()) std::cout << fmt::format("  undone by: {}\n", replacement.undo);
}

void printForPeople(const ReplacedNetwork& network, const std::string& output) {
  constexpr std::size_t kMostPrinted = 20;
  std::cout << fmt::format("{}: {}\n", output, counted(std::ssize(network.replacements), "replacement"));
  for (std::size_t i = 0; i < std::min(kMostPrinted, network.replacements.size()); ++i) print(network.replacements[i]);
  if (network.replacements.size() > kMostPrinted)
    std::cout << fmt::format("… and {} more; --json has all\n", network.replacements.size() - kMostPrinted);
  std::cout << fmt::format("kernels in all: {} before, {} now\n", network.before.kernels, network.after.kernels);
  if (network.before.predictedMs && network.after.predictedMs)
    std::cout << fmt::format("predicted: {:.4g} ms before, {:.4g} ms now\n", *network.before.predictedMs,
                             *network.after.predictedMs);
  if (network.before.medianMs && network.after.medianMs)
    std::cout << fmt::format("time: {:.4g} ms before, {:.4g} ms now\n", *network.before.medianMs,
                             *network.after.medianMs);
  for (const TensorComparison& compared : network.outputs)
    if (!compared.isMeaningful()) std::cout << fmt::format("output {}: {}\n", compared.name, compared.problem);
  std::cout << fmt::format(
      "outputs on {}: max|Δ| {:.2g} of rms at most; {:.2g} is allowed\n",
      network.randomInputs ? std::string("random inputs") : counted(std::ssize(network.samples), "sample"),
      worstOverRms(network.outputs), *network.tolerance.rms);
}

Result<int> replace(const ReplaceArguments& arguments) {
  if (arguments.list) {
    arguments.json ? printJson(substitutionsJson()) : printList();
    return kDone;
  }
  if (arguments.rules.empty() || arguments.output.empty())
    return Diagnostic{.message = arguments.rules.empty() ? "the rule to apply is missing"
                                                         : "the file of the network to write is missing",
                      .where = {.attribute = arguments.rules.empty() ? "RULE" : "-o"},
                      .help = "Use fusescope replace MODEL RULE… -o NEW.onnx; replace --list prints the rules."};
  const Artifact artifact = TRY(open(arguments.path, arguments.plan));
  TRY(checkOutput(arguments.output, "--output", artifact, arguments.inputs.source(artifact)));
  if (arguments.seconds > 0) TRY(checkAble(artifact, Ability::Time, "time a network"));
  const Samples samples = TRY(arguments.inputs.samples(artifact));
  const ReplaceOptions options{
      .path = arguments.output,
      .tolerance = {.rms = arguments.rms},
      .seconds = arguments.seconds,
      .readsBack = !artifact.isOurs(),
      .run = {.backend = arguments.engine.backend, .threads = arguments.engine.threads, .progress = progressLine()}};
  auto replaced = replaceIn(artifact, arguments.rules, samples, options);
  clearProgressLine();
  const ReplacedNetwork network = TRY(std::move(replaced));
  for (const std::string& note : network.notes) std::cerr << fmt::format("fusescope: warning: {}\n", note);
  if (network.failedCheck) {
    std::cerr << fmt::format("fusescope: {}\n", network.failedCheck->text());
    if (arguments.json) printJson(toJson(network, arguments.output));
    return kDoesNotHold;
  }
  TRY(network.save());
  arguments.json ? printJson(toJson(network, arguments.output)) : printForPeople(network, arguments.output);
  return kDone;
}

}  // namespace

Command replaceCommand(CLI::App& app) {
  return commandOf<ReplaceSettings>(app, replaceOperation(), replace);
}

}  // namespace fusescope::cli
