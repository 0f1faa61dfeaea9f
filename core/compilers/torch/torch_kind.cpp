// The kind of torch: runs the exported program (.pt2) of a network as it is, or compiled by TorchInductor.
#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/probed/tf32.h"
#include "compilers/torch/program_kernels.h"
#include "compilers/torch/program_request.h"
#include "compilers/torch/torch_profile.h"

namespace fusescope {
namespace {

constexpr const char* kNoSupport =
    "torch reports what it cannot run only when it runs an exported program, so only a build shows this.";

Result<std::string> writtenText(const ProbeAnswer& answer, const char* name) {
  const auto found = answer.files.find(name);
  if (found == answer.files.end())
    return Diagnostic{.message = fmt::format("the probe for torch did not send the file {}", name)};
  return readTextFile(found->second);
}

std::string textOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

class TorchKind final : public ProbedKind {
 public:
  std::string_view name() const override { return "torch"; }
  std::string_view title() const override { return "torch"; }
  std::string_view target() const override { return "torch"; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsInFile; }
  std::vector<CompilerOption> options() const override { return torch_compiler::compilerOptions(); }

  std::string whyNot(Ability ability, const Json& /*opened*/) const override {
    if (ability == Ability::Support) return kNoSupport;
    if (ability == Ability::InnerValues)
      return "torch returns only the outputs of the exported program: other kernels run if an inner value is made an "
             "output.";
    if (ability == Ability::Keep)
      return "What torch compiled is not kept: it can be compiled again from the exported program.";
    return {};
  }

  bool saysSupport() const override { return false; }

  /// Cards come before the CPU in the list.
  std::string deviceOf(const Json& opened, const CompilerOptions& options) const override {
    const auto asked = options.find("device");
    const auto devices = opened.find("devices");
    const bool isCpu = asked != options.end() && asked->second == "cpu";
    if (isCpu || devices == opened.end() || !devices->is_array() || devices->empty()) return "cpu";
    return textOf(devices->front(), "name");
  }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    return torch_compiler::requestOptions(network, options);
  }

  Result<CompilerSupport> support(const CompilerInput& /*network*/, const ProbeAnswer& /*answer*/) const override {
    return Diagnostic{.message = kNoSupport};
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    const auto program = TRY(torch_compiler::programFacts(TRY(writtenText(compiled, "program.json"))));
    const auto tied = TRY(torch_compiler::programNetwork(network, program));
    ReadBack readBack;
    if (torch_compiler::isInductor(*network.plan))
      readBack = torch_compiler::inductorKernels(
          network, program, tied, TRY(torch_compiler::inductorGraphs(TRY(writtenText(compiled, "provenance.json")))));
    else
      readBack = torch_compiler::eagerKernels(network, program, tied);
    for (const char* key : {"device", "card"})
      if (std::string text = textOf(compiled.json, key); !text.empty())
        readBack.compiler.options.emplace(std::string("used_") + key, std::move(text));
    if (const DataType half = torch_compiler::halfType(*network.plan); half != DataType::F32)
      readBack.compiler.options.emplace("floats", fusescope::name(half));
    addTf32Decision(compiled, name(), readBack);
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override {
    return "medians over all runs but the first";
  }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& /*network*/,
                                                    const ProbeAnswer& profile) const override {
    return torch_compiler::kernelTimes(TRY(writtenText(profile, "profile.json")));
  }

  /// torch does not know the numbers of nodes.
  NodeId failedAt(const CompilerInput& /*network*/, const Diagnostic& /*error*/) const override { return {}; }
};

}  // namespace

const ProbedKind& torchKind() {
  static const TorchKind kKind;
  return kKind;
}

}  // namespace fusescope
