#include "compilers/onnxruntime/read_optimised.h"

#include <algorithm>
#include <set>

#include "compilers/onnxruntime/optimiser_names.h"
#include "compilers/onnxruntime/region_split.h"
#include "planning/kinds.h"

namespace fusescope::onnxruntime {
namespace {

/// Returns the operator of ai.onnx that does the main work of one of ONNX Runtime's own operators.
std::string_view mainOperator(const onnxlib::FileNode& node) {
  static const std::map<std::string_view, std::string_view> operators{
      {"FusedConv", "Conv"},
      {"QLinearConv", "Conv"},
      {"NhwcFusedConv", "Conv"},
      {"FusedMatMul", "MatMul"},
      {"QLinearMatMul", "MatMul"},
      {"MatMulIntegerToFloat", "MatMul"},
      {"DynamicQuantizeMatMul", "MatMul"},
      {"MatMulNBits", "MatMul"},
      {"FusedGemm", "Gemm"},
      {"QGemm", "Gemm"},
      {"SkipLayerNormalization", "LayerNormalization"},
      {"EmbedLayerNormalization", "LayerNormalization"},
      {"SimplifiedLayerNormalization", "RMSNormalization"},
      {"SkipSimplifiedLayerNormalization", "RMSNormalization"},
      {"QLinearSoftmax", "Softmax"},
      {"QLinearConcat", "Concat"},
      {"NhwcMaxPool", "MaxPool"},
      {"QLinearAveragePool", "AveragePool"},
      {"QLinearGlobalAveragePool", "GlobalAveragePool"},
      {"QLinearReduceMean", "ReduceMean"},
      {"QLinearAdd", "Add"},
      {"QLinearMul", "Mul"},
      {"QLinearSigmoid", "Sigmoid"},
      {"QLinearLeakyRelu", "LeakyRelu"},
      {"QLinearWhere", "Where"},
      {"QuickGelu", "Gelu"},
      {"FastGelu", "Gelu"},
      {"BiasGelu", "Gelu"},
      {"BiasSoftmax", "Softmax"}};
  const auto found = operators.find(node.op);
  return found == operators.end() ? std::string_view(node.op) : found->second;
}

std::string kindOf(const onnxlib::FileNode& file) {
  Node node;
  node.op = mainOperator(file);
  const std::string_view kind = kindOfSingle(node);
  return std::string(kind == kinds::kOperator ? std::string_view(file.op) : kind);
}

class Reader {
 public:
  Reader(const Network& network, const Optimised& optimised, const KernelCovers& covers)
      : m_network(network), m_optimised(optimised), m_covers(covers) {}

  ReadBack run() {
    m_readBack.compiler.name = "onnxruntime";
    for (std::uint32_t i = 0; i < m_optimised.graph.nodes().size(); ++i) addKernel(i);
    addFates();
    return std::move(m_readBack);
  }

 private:
  void addKernel(std::uint32_t index) {
    const TensorGraph::Node& node = m_optimised.graph.node(index);
    ReadBackKernel kernel{.name = uniqueName(*node.file, index), .kind = kindOf(*node.file)};
    for (const auto& [origin, certainty] : m_covers.nodes[index]) hold(kernel, origin, certainty);
    for (const std::uint32_t read : node.reads)
      if (read != kNone && !m_optimised.graph.isConstant(read)) addValue(kernel.inputs, read);
    for (const std::uint32_t made : node.makes)
      if (made != kNone) addValue(kernel.outputs, made);
    if (!kernel.outputs.empty()) kernel.compute = kernel.outputs[0].type;
    if (!isOfNetwork(*node.file)) kernel.optimiser = optimiserOf(*node.file, kernel.nodes.size());
    addConversion(kernel, node);
    m_readBack.kernels.push_back(std::move(kernel));
  }

  /// Returns whether no optimiser changed the node: the network that was handed over has it, too.
  bool isOfNetwork(const onnxlib::FileNode& node) const {
    const std::uint32_t own = m_network.graph.findNode(node.name);
    return own != kNone && m_network.graph.node(own).file->op == node.op &&
           m_network.graph.node(own).file->domain == node.domain;
  }

  /// Profiles name a node without a name by its operator and number.
  std::string uniqueName(const onnxlib::FileNode& node, std::uint32_t index) {
    const std::string name = node.name.empty() ? node.op + "_" + std::to_string(index) : node.name;
    std::string given = name;
    for (int i = 2; !m_names.insert(given).second; ++i) given = name + "#" + std::to_string(i);
    return given;
  }

  /// Adds the nodes of the plan that a node of the file represents. A node of the plan may be represented by several
  /// nodes of the file.
  void hold(ReadBackKernel& kernel, std::uint32_t origin, Certainty certainty) {
    for (const NodeId id : plannedNodes(origin)) {
      const auto held = std::ranges::find(kernel.nodes, id, &std::pair<NodeId, Certainty>::first);
      if (held == kernel.nodes.end()) {
        kernel.nodes.emplace_back(id, certainty);
      } else {
        held->second = std::min(held->second, certainty);
      }
    }
  }

  std::vector<NodeId> plannedNodes(std::uint32_t origin) const {
    const onnxlib::FileNode& file = *m_network.graph.node(origin).file;
    const auto known = m_network.handed.nodes.find(file.name);
    if (!file.name.empty() && known != m_network.handed.nodes.end()) return known->second;
    for (const std::string& output : file.outputs)
      if (const ValueId value = plannedValue(m_network.graph.findTensor(output)); value.valid())
        if (const NodeId producer = m_network.handed.plan->graph().value(value).producer; producer.valid())
          return {producer};
    return {};
  }

  ValueId plannedValue(std::uint32_t tensor) const {
    if (tensor == kNone) return {};
    const auto known = m_network.handed.values.find(m_network.graph.tensor(tensor).name);
    return known == m_network.handed.values.end() ? ValueId() : known->second;
  }

  void addValue(std::vector<KernelValue>& values, std::uint32_t tensor) {
    const TensorBinding& binding = m_optimised.bindings[tensor];
    values.push_back({.value = plannedValue(binding.tensor),
                      .type = m_optimised.types[tensor].type,
                      .format = std::string(name(binding.layout))});
  }

  /// Adds a kernel as a conversion if it contains no node and writes the value that it reads in another layout or type.
  void addConversion(const ReadBackKernel& kernel, const TensorGraph::Node& node) {
    if (!kernel.nodes.empty() || kernel.inputs.empty() || kernel.outputs.empty()) return;
    const KernelValue &from = kernel.inputs.front(), &to = kernel.outputs.front();
    const bool isCast = node.file->op == "Cast";
    if (isCast) {
      m_readBack.conversions.push_back({.value = to.value.valid() ? to.value : from.value,
                                        .from = toText(from.type),
                                        .to = toText(to.type),
                                        .isCast = true,
                                        .kernel = kernel.name});
    } else if (to.value.valid() && from.format != to.format) {
      const auto formatName = [](const KernelValue& value) { return value.format.empty() ? "NCHW" : value.format; };
      m_readBack.conversions.push_back(
          {.value = to.value, .from = formatName(from), .to = formatName(to), .isCast = false, .kernel = kernel.name});
    }
  }

  /// Nodes of the plan that are in no kernel have the fate of the node that represents them in the file. If several do,
  /// the most informative fate is used.
  void addFates() {
    std::set<NodeId> held;
    for (const ReadBackKernel& kernel : m_readBack.kernels)
      for (const auto& [id, certainty] : kernel.nodes) held.insert(id);
    for (std::uint32_t origin = 0; origin < m_covers.fates.size(); ++origin) {
      const Fate fate = m_covers.fates[origin];
      for (const NodeId id : plannedNodes(origin)) {
        if (held.contains(id) || fate == Fate::Kernel) continue;
        const auto [known, isNew] = m_readBack.fates.emplace(id, fate);
        if (!isNew && says(fate) > says(known->second)) known->second = fate;
      }
    }
  }

  static int says(Fate fate) {
    return fate == Fate::NotDisclosed ? 4 : fate == Fate::Merged ? 3 : fate == Fate::Folded ? 2 : fate == Fate::View;
  }

  const Network& m_network;
  const Optimised& m_optimised;
  const KernelCovers& m_covers;
  std::set<std::string> m_names;
  ReadBack m_readBack;
};

}  // namespace

ReadBack readOptimised(const Network& network, const Optimised& optimised, const KernelCovers& covers) {
  return Reader(network, optimised, covers).run();
}

}  // namespace fusescope::onnxruntime
