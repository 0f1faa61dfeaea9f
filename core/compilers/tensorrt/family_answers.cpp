#include "compilers/tensorrt/family_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt/kernel_names.h"
#include "compilers/tensorrt/named_nodes.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

Diagnostic unreadable(std::string_view title, std::string_view what) {
  return {.message = fmt::format("the answer of {} to \"{}\" cannot be read", title, what)};
}

/// Returns the nodes of the main graph that a refusal concerns; for a node in a body or in a function, the node that
/// contains it.
std::vector<std::string_view> refusedNodes(const CompilerInput& network, const Json& refusal) {
  auto nodes = fileNodesOf(network, textMember(refusal, "node"));
  for (const Json& holder : memberOf(refusal, "stack")) {  // "n1 (If)", the outermost first
    if (!nodes.empty() || !holder.is_string()) break;
    const auto& words = holder.get_ref<const std::string&>();
    nodes = fileNodesOf(network, std::string_view(words).substr(0, words.rfind(" (")));
  }
  return nodes;
}

std::string wordsOf(const Json& refusal) {
  return textMember(refusal, "code") + ": " + textMember(refusal, "text");
}

/// The parser refuses the network without saying because of which node, as where the type of an input is unknown to it.
NodeSupport ofNoNode(const CompilerInput& network, const Json& refusal, std::string_view title) {
  return {.node = {},
          .isAccepted = false,
          .code = "validate.compiler_refused",
          .message =
              fmt::format("{} cannot read a network with it: {}", title, inNamesOfNetwork(network, wordsOf(refusal)))};
}

double medianOf(std::vector<double> ms) {
  const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
  std::ranges::nth_element(ms, middle);
  return *middle;
}

}  // namespace

Json memberOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

std::string textMember(const Json& object, const char* key) {
  const Json text = memberOf(object, key);
  return text.is_string() ? text.get<std::string>() : std::string();
}

std::string nameOfCard(const Json& opened) {
  const Json& devices = memberOf(opened, "devices");
  return devices.is_array() && !devices.empty() ? textMember(devices.front(), "name") : std::string();
}

Result<std::string> fileText(const ProbeAnswer& answer, const char* name, std::string_view title) {
  const auto file = answer.files.find(name);
  if (file == answer.files.end())
    return Diagnostic{.message = fmt::format("the answer of {} does not contain the file {}", title, name),
                      .where = {.attribute = "--compiler"}};
  return readTextFile(file->second);
}

Json extentsAsked(const CompilerInput& network, const BuildOptions& options) {
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

Result<CompilerSupport> parserSupport(const CompilerInput& network, const ProbeAnswer& answer, std::string_view title) {
  std::map<NodeId, NodeSupport> refused;
  const Graph& graph = network.plan->graph();
  CompilerSupport support;
  const Json refusals = memberOf(answer.json, "refusals");
  for (const Json& refusal : refusals) {
    if (!refusal.is_object()) return unreadable(title, "support");
    const auto files = refusedNodes(network, refusal);
    if (files.empty() && support.nodes.empty()) support.nodes.push_back(ofNoNode(network, refusal, title));
    for (const std::string_view file : files)
      for (const NodeId node : network.nodes.find(file)->second)
        refused.emplace(node, NodeSupport{.node = graph.node(node).name,
                                          .isAccepted = false,
                                          .code = "validate.compiler_refused",
                                          .message = inNamesOfNetwork(network, wordsOf(refusal))});
  }
  const bool isWhole = memberOf(answer.json, "is_supported") == true;
  for (const NodeId id : graph.order()) {
    const auto known = refused.find(id);
    if (known != refused.end())
      support.nodes.push_back(known->second);
    else if (isWhole)
      support.nodes.push_back({.node = graph.node(id).name, .isAccepted = true, .code = {}, .message = {}});
  }
  return support;
}

Result<std::map<std::string, double>> kernelMedians(const CompilerInput& network, const ProbeAnswer& profile,
                                                    std::string_view title) {
  const Json runs = Json::parse(TRY(fileText(profile, "profile.json", title)), nullptr, false);
  if (!runs.is_array()) return unreadable(title, "profile");
  std::map<std::string, std::vector<double>> times;
  for (const Json& run : runs) {
    if (!run.is_array()) return unreadable(title, "profile");
    KernelNames names;
    for (const Json& layer : run) {
      if (!layer.is_array() || layer.size() != 2 || !layer[0].is_string() || !layer[1].is_number())
        return unreadable(title, "profile");
      const std::string name = names.next(inNamesOfNetwork(network, layer[0].get_ref<const std::string&>()));
      times[name].push_back(layer[1].get<double>());
    }
  }
  std::map<std::string, double> medians;
  for (auto& [kernel, ms] : times) medians.emplace(kernel, medianOf(std::move(ms)));
  return medians;
}

NodeId nodeOfFirstLine(const CompilerInput& network, const Diagnostic& error) {
  for (const std::string& line : split(error.message, '\n')) {
    std::vector<Mention> nodes = mentionsIn(network, line);
    std::erase_if(nodes, [](const Mention& mention) { return !mention.node.valid(); });
    if (nodes.size() == 1) return nodes.front().node;
  }
  return {};
}

}  // namespace fusescope
