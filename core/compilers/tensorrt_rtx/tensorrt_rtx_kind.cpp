// TensorRT for RTX, NVIDIA's compiler for RTX cards: it compiles on any machine, and says of each kernel which nodes it
// holds. Types are those of the network that it is handed. Only its documented interface is used, and what it prints of
// the user's network.
#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/text.h"
#include "compilers/probed/handed_names.h"
#include "compilers/probed/probed_kind.h"
#include "compilers/tensorrt/named_nodes.h"
#include "compilers/tensorrt_rtx/layer_reader.h"

namespace fusescope {
namespace {

constexpr const char* kComputeCapability = "sm";
constexpr const char* kUsualCapability = "89";
constexpr const char* kOfTheCard = "CURRENT";
constexpr const char* kLog = "log.jsonl";
constexpr const char* kProfile = "profile.json";

Result<std::string> fileOf(const ProbeAnswer& answer, const char* name) {
  const auto file = answer.files.find(name);
  if (file == answer.files.end())
    return Diagnostic{.message = fmt::format("TensorRT for RTX answered without the file {}.", name)};
  return readTextFile(file->second);
}

/// What the plan's options say, else what it was planned for.
std::string computeCapability(const Plan& plan) {
  constexpr std::string_view kPrefix = "sm";
  const auto& options = plan.options.compilerOptions;
  if (const auto asked = options.find(kComputeCapability); asked != options.end()) return asked->second;
  for (const std::string& capability : plan.target.capabilities)
    if (capability.starts_with(kPrefix)) return capability.substr(kPrefix.size());
  return kUsualCapability;
}

/// {"min": …, "opt": …, "max": …} of each input of the file that has open extents.
Json extentsOf(const HandedNetwork& network, const BuildOptions& options) {
  Json all = Json::object();
  const Plan& plan = *network.plan;
  for (const onnxlib::FileValue& input : network.file.graph.inputs) {
    const auto value = network.values.find(input.name);
    const bool isOpen = std::ranges::any_of(input.type.dims, [](const onnxlib::FileDim& dim) { return dim.size < 0; });
    if (!isOpen || value == network.values.end()) continue;
    const std::string& name = plan.graph().value(value->second).name;
    const auto spec = std::ranges::find(plan.inputSpecs, name, &InputSpec::name);
    if (spec == plan.inputSpecs.end()) continue;
    const auto given = options.shapes.find(name);
    all[input.name] = {
        {"min", spec->min}, {"opt", given == options.shapes.end() ? spec->opt : given->second}, {"max", spec->max}};
  }
  return all;
}

class TensorrtRtxKind final : public ProbedKind {
 public:
  std::string_view name() const override { return "tensorrt-rtx"; }
  std::string_view title() const override { return "TensorRT for RTX"; }
  std::string_view target() const override { return "tensorrt-rtx"; }
  HandedTypes handedTypes() const override { return HandedTypes::AsPlanned; }

  std::vector<CompilerOption> options() const override {
    return {{.name = kComputeCapability,
             .values = {"75", "80", "86", "89", "120", "121", kOfTheCard},
             .initial = kUsualCapability,
             .help = "The compute capability of the card that is compiled for: 75 is Turing, 80 and 86 Ampere, 89 Ada, "
                     "120 and 121 Blackwell; CURRENT is the card of the machine that compiles."}};
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
        return "TensorRT for RTX hands out no values inside of what it compiled.";
      case Ability::Keep:
        return "What TensorRT for RTX compiled is not kept: it can be compiled again from the network.";
    }
    return {};
  }

  std::string whyNoWorkspace() const override { return {}; }

  Result<Json> requestOptions(HandedNetwork& network, const BuildOptions& options) const override {
    Json json{{kComputeCapability, computeCapability(*network.plan)}};
    if (options.threads > 0) json["threads"] = options.threads;
    if (const std::int64_t bytes = network.plan->options.workspaceBytes; bytes > 0) json["workspace"] = bytes;
    if (Json extents = extentsOf(network, options); !extents.empty()) json["profile"] = std::move(extents);
    return json;
  }

  /// What the parser refuses. Of parts of the network that lie behind such a node it says nothing: they are asked for
  /// when they are compiled, cut out.
  Result<CompilerSupport> support(const HandedNetwork& network, const ProbeAnswer& answer) const override {
    std::map<NodeId, NodeSupport> refused;
    const Graph& graph = network.plan->graph();
    const Json refusals = member(answer.json, "refusals");
    for (const Json& refusal : refusals) {
      if (!refusal.is_object()) return unreadable("support");
      for (const std::string_view file : refusedNodes(network, refusal))
        for (const NodeId node : network.nodes.find(file)->second)
          refused.emplace(node, NodeSupport{.node = graph.node(node).name,
                                            .taken = false,
                                            .code = "validate.compiler_refused",
                                            .message = inNamesOfNetwork(network, wordsOf(refusal))});
    }
    if (refused.empty() && !refusals.empty())
      return Diagnostic{.message = "TensorRT for RTX cannot read the network: " +
                                   inNamesOfNetwork(network, wordsOf(refusals.front()))};
    const bool isWhole = member(answer.json, "is_supported") == true;
    CompilerSupport support;
    for (const NodeId id : graph.order()) {
      const auto known = refused.find(id);
      if (known != refused.end())
        support.nodes.push_back(known->second);
      else if (isWhole)
        support.nodes.push_back({.node = graph.node(id).name, .taken = true, .code = {}, .message = {}});
    }
    return support;
  }

  Result<ReadBack> readBack(const HandedNetwork& network, const ProbeAnswer& compiled) const override {
    ReadBack told = readLayers(network, TRY(readBuildLog(TRY(fileOf(compiled, kLog)))));
    told.compiler.options.emplace(kComputeCapability, computeCapability(*network.plan));
    return told;
  }

  /// The median of the runs.
  std::string_view kernelTimesAre() const override { return "medians over all runs"; }
  Result<std::map<std::string, double>> kernelTimes(const HandedNetwork& network,
                                                    const ProbeAnswer& profile) const override {
    const Json runs = Json::parse(TRY(fileOf(profile, kProfile)), nullptr, false);
    if (!runs.is_array()) return unreadable("profile");
    std::map<std::string, std::vector<double>> times;
    for (const Json& run : runs) {
      if (!run.is_array()) return unreadable("profile");
      for (const Json& layer : run) {
        if (!layer.is_array() || layer.size() != 2 || !layer[0].is_string() || !layer[1].is_number())
          return unreadable("profile");
        times[kernelName(network, layer[0].get_ref<const std::string&>())].push_back(layer[1].get<double>());
      }
    }
    std::map<std::string, double> medians;
    for (auto& [kernel, ms] : times) {
      const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
      std::ranges::nth_element(ms, middle);
      medians.emplace(kernel, *middle);
    }
    return medians;
  }

  /// The node that the first line of the error names which names exactly one.
  NodeId failedAt(const HandedNetwork& network, const Diagnostic& error) const override {
    for (const std::string& line : split(error.message, '\n')) {
      std::vector<Spoken> nodes = spokenOf(network, line);
      std::erase_if(nodes, [](const Spoken& spoken) { return !spoken.node.valid(); });
      if (nodes.size() == 1) return nodes.front().node;
    }
    return {};
  }

 private:
  /// The node of the main graph that a refusal is of: of one in a body or in a function the node that holds it.
  static std::vector<std::string_view> refusedNodes(const HandedNetwork& network, const Json& refusal) {
    auto nodes = fileNodesOf(network, textOf(refusal, "node"));
    for (const Json& holder : member(refusal, "stack")) {  // "n1 (If)", the outermost first
      if (!nodes.empty() || !holder.is_string()) break;
      const auto& words = holder.get_ref<const std::string&>();
      nodes = fileNodesOf(network, std::string_view(words).substr(0, words.rfind(" (")));
    }
    return nodes;
  }
  /// Null where there is none.
  static Json member(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? Json() : *found;
  }
  static std::string textOf(const Json& object, const char* key) {
    const Json text = member(object, key);
    return text.is_string() ? text.get<std::string>() : std::string();
  }
  static std::string wordsOf(const Json& refusal) { return textOf(refusal, "code") + ": " + textOf(refusal, "text"); }

  static Diagnostic unreadable(std::string_view what) {
    return {.message = fmt::format("What TensorRT for RTX answered to \"{}\" cannot be read.", what)};
  }

  /// Empty: a card is there that it has kernels for.
  static std::string whyNoCard(const Json& opened) {
    const Json devices = member(opened, "devices"), about = member(opened, "about");
    const Json known = member(about, "sm");
    const std::string only = "TensorRT for RTX runs what it compiled only on an RTX card";
    if (devices.empty()) return joined({only + ", and there is none.", textOf(about, "why_no_device")}, " ");
    for (const Json& device : devices)
      if (std::ranges::count(known, member(device, "sm")) > 0) return {};
    return fmt::format("{}; {} is none.", only, textOf(devices.front(), "name"));
  }
};

}  // namespace

const ProbedKind& tensorrtRtxKind() {
  static const TensorrtRtxKind kind;
  return kind;
}

}  // namespace fusescope
