// The kind of ONNX Runtime, with the providers that its package contains.
#include <algorithm>

#include "backends/threads.h"
#include "base/files.h"
#include "compilers/onnxruntime/onnxruntime_options.h"
#include "compilers/onnxruntime/onnxruntime_profile.h"
#include "compilers/onnxruntime/read_optimised.h"
#include "compilers/onnxruntime/reading.h"
#include "compilers/onnxruntime/value_comparison.h"
#include "compilers/probed/handed_names.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/probed/tf32.h"

namespace fusescope {
namespace {

using onnxruntime::Reading;

Result<std::filesystem::path> writtenFile(const ProbeAnswer& answer, const std::string& name) {
  const auto found = answer.files.find(name);
  if (found == answer.files.end())
    return Diagnostic{.message = "the probe for ONNX Runtime did not send the file " + name + "."};
  return found->second;
}

Result<std::unique_ptr<Reading>> readingOf(const CompilerInput& network, const ProbeAnswer& compiled) {
  return onnxruntime::readNetwork(network, TRY(writtenFile(compiled, "optimised.onnx")));
}

/// Kernels have the names of nodes; replaces these by the names in the user's network.
void useNamesOfNetwork(const CompilerInput& network, ReadBack& readBack) {
  for (ReadBackKernel& kernel : readBack.kernels) kernel.name = inNamesOfNetwork(network, kernel.name);
  for (ReadBackConversion& conversion : readBack.conversions)
    conversion.kernel = inNamesOfNetwork(network, conversion.kernel);
}

constexpr const char* kNoSupport =
    "ONNX Runtime reports which nodes it refuses only when it loads a network, so only a build shows this.";

class OnnxRuntimeKind : public ProbedKind {
 public:
  std::string_view name() const override { return "onnxruntime"; }
  std::string_view title() const override { return "ONNX Runtime"; }
  std::string_view target() const override { return "onnxruntime"; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsPlanned; }
  std::vector<CompilerOption> options() const override { return onnxruntime::compilerOptions(); }

  std::string whyNot(Ability ability, const Json&) const override {
    if (ability == Ability::Support) return kNoSupport;
    if (ability == Ability::InnerValues)
      return "ONNX Runtime runs other kernels if an inner value of the network is made an output.";
    if (ability == Ability::Keep) return "What ONNX Runtime compiled is not kept in an engine file.";
    return {};
  }

  bool saysSupport() const override { return false; }

  std::string deviceOf(const Json& opened, const CompilerOptions& options) const override {
    return onnxruntime::runsOnCard(options) ? onnxruntime::cardOf(opened) : "cpu";
  }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    return onnxruntime::requestOptions(network, options);
  }

  std::optional<OptimiserSwitches> optimiserSwitches() const override {
    return OptimiserSwitches{.level = "level", .levels = {"none", "basic", "extended", "all"}, .disable = "disable"};
  }

  Result<std::vector<OptimiserStep>> optimiserSteps(const ProbeAnswer& answer) const override {
    return onnxruntime::optimiserStepsOf(TRY(readTextFile(TRY(writtenFile(answer, "log.txt")))));
  }

  Result<CompilerSupport> support(const CompilerInput& /*network*/, const ProbeAnswer& /*answer*/) const override {
    return Diagnostic{.message = kNoSupport};
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    return readBackOf(network, compiled, *TRY(readingOf(network, compiled)));
  }

  Result<ReadBack> readBackCompared(const CompilerInput& network, const ProbeAnswer& compiled,
                                    const ComparedOn& on) const override {
    const auto reading = TRY(readingOf(network, compiled));
    ReadBack reported = readBackOf(network, compiled, *reading);
    if (network.folder == nullptr) return reported;  // nothing may be written beside files of the user
    const auto refuted = onnxruntime::compareValues(*reading, on.inputs, on.job, on.stop);
    if (!refuted.ok() && refuted.error().cancelled) return refuted.error();
    if (!refuted.ok()) return reported;
    ReadBack proved = readBackOf(network, compiled, *reading);
    append(proved.decisions, refuted.value());
    return proved;
  }

  /// The profile of its published packages does not contain the card's own times.
  std::string_view kernelTimesAre(const CompilerOptions& options) const override {
    return onnxruntime::runsOnCard(options)
               ? "what the host took to start them, while the card may still be at work, as medians over all runs but "
                 "the first"
               : "medians over all runs but the first";
  }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& network,
                                                    const ProbeAnswer& profile) const override {
    const std::string text = TRY(readTextFile(TRY(writtenFile(profile, "profile.json"))));
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return Diagnostic{.message = "The profile of ONNX Runtime is not JSON."};
    std::map<std::string, double> times;
    for (const auto& [kernel, ms] : TRY(onnxruntime::kernelTimesOf(json)))
      times.emplace(inNamesOfNetwork(network, kernel), ms);
    return times;
  }

 private:
  static ReadBack readBackOf(const CompilerInput& network, const ProbeAnswer& compiled, const Reading& reading) {
    ReadBack readBack = onnxruntime::readOptimised(reading.network, reading.optimised, reading.covers);
    useNamesOfNetwork(network, readBack);
    onnxruntime::addProviders(network, compiled.json, readBack);
    onnxruntime::addUnknownOptimisers(*network.plan, readBack);
    addTf32Decision(compiled, "onnxruntime", readBack);
    return readBack;
  }
};

}  // namespace

const ProbedKind& onnxruntimeKind() {
  static const OnnxRuntimeKind kKind;
  return kKind;
}

}  // namespace fusescope
