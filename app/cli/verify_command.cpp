#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/documents/verify_report.h"
#include "session/operations/verify_operation.h"

namespace fusescope::cli {
namespace {

using VerifyArguments = ArgumentsOf<VerifySettings>;

void printMismatch(const Mismatch& mismatch, const Reproducer* reproducer) {
  const RegionFailure& first = mismatch.failure;
  std::cout << fmt::format("wrong: {} by {}, on {}: {} {}\n", mismatch.fusedNode, first.tactic, first.caseName,
                           first.output, first.what);
  if (mismatch.smallest) {
    const RegionFailure& failure = mismatch.smallest->failure;
    std::cout << fmt::format("the smallest part that goes wrong: {}, by {}: {} {}\n", joined(mismatch.smallest->nodes),
                             failure.tactic, failure.output, failure.what);
  } else {
    std::cout << "its nodes are right as a network of their own";
  }
  if (reproducer != nullptr) std::cout << "to reproduce it: " << reproducer->command << "\n";
}

/// Prints why a region with a large error counts as right.
void printWide(const RegionVerdict& region) {
  if (!region.ok || region.tactics.empty()) return;
  const TacticCheck& worst = *std::ranges::max_element(region.tactics, {}, &TacticCheck::maxOverRms);
  if (!worst.isWide) return;
  std::cout << fmt::format(
      "{}: {:.3g} of rms off on {}, but right: its nodes, run one by one, differ as much there if each rounds as a "
      "kernel may\n",
      shortened(region.fusedNode, 48), worst.maxOverRms, worst.worstCase);
}

void printForPeople(const VerifyReport& report, const Samples& samples, const Reproducer* reproducer) {
  printTitle("Fused regions against their own nodes, one by one");
  Table table({{"region"}, {"right"}, {"max|Δ|/rms", true}, {"tactics", true}, {"remark"}});
  std::int64_t checked = 0, same = 0, wrong = 0;
  for (const RegionVerdict& region : report.regions) {
    const bool own = region.sameAs.empty() && region.notChecked.empty();
    checked += own ? 1 : 0;
    same += region.sameAs.empty() ? 0 : 1;
    wrong += region.ok ? 0 : 1;
    if (!region.sameAs.empty()) continue;
    std::string remark = region.notChecked;
    for (const TacticCheck& tactic : region.tactics)
      if (!tactic.note.empty()) remark += (remark.empty() ? "" : "; ") + tactic.name + ": " + tactic.note;
    table.add({shortened(region.fusedNode, 48), own ? (region.ok ? "yes" : "NO") : "-",
               own ? fmt::format("{:.3g}", region.maxOverRms) : "-", own ? std::to_string(region.tactics.size()) : "-",
               shortened(remark, 72)});
  }
  table.print();
  std::cout << fmt::format(
      "{} verified on {}, {} more share their code with one of these, {} have no kernel to verify; {} wrong\n",
      counted(checked, "region"), counted(std::ssize(samples.list), "sample"), same,
      std::ssize(report.regions) - checked - same, wrong);
  for (const RegionVerdict& region : report.regions) printWide(region);
  if (report.mismatch) printMismatch(*report.mismatch, reproducer);
  printAboutInputs(samples);
}

Result<int> verify(const VerifyArguments& arguments, const Artifact& artifact) {
  const auto samples = TRY(arguments.inputs.samples(artifact));
  VerifyOptions options{.threads = arguments.engine.threads, .seeds = arguments.seeds, .progress = progressLine()};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  options.sampleNames = samples.names();
  const auto report = TRY(verifyRegions(artifact.plan, samples.inputs(), options));
  clearProgressLine();
  std::optional<Reproducer> reproducer;
  if (!arguments.folder.empty() && report.mismatch && report.mismatch->smallest)
    reproducer = TRY(writeReproducer(*report.mismatch, options, arguments.folder));
  const Reproducer* written = reproducer ? &*reproducer : nullptr;
  if (arguments.json) {
    printJson(toJson(report, samples, options, written));
  } else {
    printForPeople(report, samples, written);
  }
  return report.ok() ? kDone : kDoesNotHold;
}

/// Returns an error if another compiler than our own is to make the kernels, or made them. `file` contains the choice
/// of the compiler; it is empty if --compiler does.
Status checkIsOurs(const std::string& compiler, const std::string& file) {
  if (compiler.empty() || compiler == kOwnCompiler) return Done{};
  return Diagnostic{
      .message = fmt::format("{} cannot verify regions here: only the kernels of {} can be run one by one "
                             "and compared with their nodes",
                             compiler, kOwnCompiler),
      .where = {.file = file, .attribute = file.empty() ? "--compiler" : ""},
      .help = "fusescope errors compares the outputs of another compiler with those of float32."};
}

Result<int> verify(const VerifyArguments& arguments) {
  TRY(checkIsOurs(arguments.plan.compiler, {}));
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  TRY(checkIsOurs(artifact.plan->options.compiler, artifact.path));
  if (reportObeyRefusals(*artifact.plan)) return kDoesNotHold;
  return underAssumedExtents(verify(arguments, artifact), *artifact.plan, !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command verifyCommand(CLI::App& app) {
  return commandOf<VerifySettings>(app, verifyOperation(), verify);
}

}  // namespace fusescope::cli
