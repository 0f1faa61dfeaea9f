#include "compilers/tensorrt/read_built_engine.h"

#include <set>

#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt/layer_facts.h"
#include "compilers/tensorrt/named_nodes.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

void useNamesOfNetwork(const CompilerInput& network, std::string& text) {
  text = inNamesOfNetwork(network, text);
}

void useNamesOfNetwork(const CompilerInput& network, DecisionArguments& arguments) {
  for (NamedArgument& argument : arguments)
    argument.value.forEachText([&](std::string& text) { useNamesOfNetwork(network, text); });
}

/// Names in metadata are numbers that we assigned, so that a layer contains the nodes that it names, whatever its
/// tensors are.
void takeNamed(const CompilerInput& network, const std::vector<ListedLayer>& layers, ReadBack& readBack) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    ReadBackKernel& kernel = readBack.kernels[i];
    if (!kernel.nodes.empty()) continue;
    std::set<NodeId> named;
    for (const std::string& name : namesInMetadata(layers[i].metadata))
      for (const std::string_view file : fileNodesOf(network, name))
        for (const NodeId node : network.nodes.find(file)->second) named.insert(node);
    for (const NodeId node : named) {
      kernel.nodes.emplace_back(node, Certainty::Named);
      readBack.fates.erase(node);
    }
    if (named.empty()) continue;
    kernel.kind = kindOf(layers[i], kernel.nodes, network.plan->graph());
    kernel.converts = false;
    std::erase_if(readBack.conversions,
                  [&](const ReadBackConversion& conversion) { return conversion.kernel == kernel.name; });
  }
}

}  // namespace

ReadBack readBuiltEngine(const CompilerInput& network, const EngineFiles& files) {
  ReadBack readBack = readEngine(network, files);
  takeNamed(network, files.layers.layers, readBack);
  for (ReadBackKernel& kernel : readBack.kernels) {
    useNamesOfNetwork(network, kernel.name);
    useNamesOfNetwork(network, kernel.region);
  }
  for (ReadBackConversion& conversion : readBack.conversions) useNamesOfNetwork(network, conversion.kernel);
  for (Decision& decision : readBack.decisions) useNamesOfNetwork(network, decision.arguments);
  for (auto& [node, hindrance] : readBack.hindrances) useNamesOfNetwork(network, hindrance.why);
  // Types were written into the network, so that no pin can have been left out of TensorRT's options.
  if (network.plan->target.stronglyTyped)
    std::erase_if(readBack.hindrances, [](const auto& each) { return each.second.cause == PinCause::NotApplied; });
  adviseOnRegions(network, readBack);
  readBack.placement.reset();
  return readBack;
}

}  // namespace fusescope
