// The kind of TensorRT for RTX, NVIDIA's compiler for RTX cards. It compiles on any machine, and reports the nodes of
// each kernel. Types are those of the network that it receives. Only its documented interface and what it prints about
// the user's network are used.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/tensorrt/family_answers.h"
#include "compilers/tensorrt_rtx/layer_reader.h"

namespace fusescope {
namespace {

constexpr const char* kComputeCapability = "sm";
constexpr const char* kUsualCapability = "89";
constexpr const char* kOfTheCard = "CURRENT";
constexpr const char* kLog = "log.jsonl";

/// Returns the compute capability in the plan's options, otherwise that of its target.
std::string computeCapability(const Plan& plan) {
  constexpr std::string_view kPrefix = "sm";
  const auto& options = plan.options.compilerOptions;
  if (const auto asked = options.find(kComputeCapability); asked != options.end()) return asked->second;
  for (const std::string& capability : plan.target.capabilities)
    if (capability.starts_with(kPrefix)) return capability.substr(kPrefix.size());
  return kUsualCapability;
}

class TensorrtRtxKind final : public ProbedKind {
 public:
  std::string_view name() const override { return "tensorrt-rtx"; }
  std::string_view title() const override { return "TensorRT for RTX"; }
  std::string_view target() const override { return "tensorrt-rtx"; }
  CompilerInputTypes inputTypes() const override { return CompilerInputTypes::AsPlanned; }
  std::string untriedToRun() const override {
    return "Nobody has run on a card yet what TensorRT for RTX compiles through Fusescope: that part was written from "
           "the "
           "documentation. Compiling and reading back are tested.";
  }

  std::vector<CompilerOption> options() const override {
    return {{.name = kComputeCapability,
             .values = {"75", "80", "86", "89", "120", "121", kOfTheCard},
             .initial = kUsualCapability,
             .help = "The compute capability of the card that is compiled for: 75 is Turing, 80 and 86 Ampere, 89 Ada, "
                     "120 and 121 Blackwell; CURRENT is the card of the machine that compiles."}};
  }

  std::string deviceOf(const Json& opened, const CompilerOptions& /*options*/) const override {
    return nameOfCard(opened);
  }

  std::string whyNot(Ability ability, const Json& opened) const override {
    switch (ability) {
      case Ability::Support:
      case Ability::Compile:
      case Ability::ReadBack:
        return {};
      case Ability::Run:
      case Ability::Time:
      case Ability::Profile:
        return whyNoCard(opened);
      case Ability::InnerValues:
        return "TensorRT for RTX does not return values that are inside the network that it compiled.";
      case Ability::Keep:
        return "What TensorRT for RTX compiled is not kept: it can be compiled again from the network.";
    }
    return {};
  }

  std::string whyNoWorkspace() const override { return {}; }
  std::string whyNoRefit() const override {
    return "TensorRT for RTX changes weights only of engines that were built to be refitted, on a machine with a card "
           "of NVIDIA, and Fusescope keeps what was made of a network and not the engine";
  }

  Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options) const override {
    Json json{{kComputeCapability, computeCapability(*network.plan)}};
    if (options.threads > 0) json["threads"] = options.threads;
    if (const std::int64_t bytes = network.plan->options.workspaceBytes; bytes > 0) json["workspace"] = bytes;
    if (Json extents = extentsAsked(network, options); !extents.empty()) json["profile"] = std::move(extents);
    return json;
  }

  Result<CompilerSupport> support(const CompilerInput& network, const ProbeAnswer& answer) const override {
    return parserSupport(network, answer, title());
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    ReadBack readBack = readLayers(network, TRY(readBuildLog(TRY(fileText(compiled, kLog, title())))));
    readBack.compiler.options.emplace(kComputeCapability, computeCapability(*network.plan));
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override { return "medians over all runs"; }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& network,
                                                    const ProbeAnswer& profile) const override {
    return kernelMedians(network, profile, title());
  }

  NodeId failedAt(const CompilerInput& network, const Diagnostic& error) const override {
    return nodeOfFirstLine(network, error);
  }

 private:
  /// Returns why there is no usable card; empty if there is a card for which it has kernels.
  static std::string whyNoCard(const Json& opened) {
    const Json devices = memberOf(opened, "devices"), about = memberOf(opened, "about");
    const Json known = memberOf(about, "sm");
    const std::string only = "TensorRT for RTX runs what it compiled only on an RTX card";
    if (devices.empty()) return joined({only + ", and there is none.", textMember(about, "why_no_device")}, " ");
    for (const Json& device : devices)
      if (std::ranges::count(known, memberOf(device, "sm")) > 0) return {};
    return fmt::format("{}; {} is not an RTX card.", only, textMember(devices.front(), "name"));
  }
};

}  // namespace

const ProbedKind& tensorrtRtxKind() {
  static const TensorrtRtxKind kind;
  return kind;
}

}  // namespace fusescope
