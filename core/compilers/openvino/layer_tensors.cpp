#include "compilers/openvino/layer_tensors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "compilers/openvino/layer_kinds.h"

namespace fusescope {
namespace {

/// Operators of OpenVINO's operation set from which activations are composed.
bool isElementwise(const ImportedOp& op) {
  constexpr std::array<std::string_view, 18> types{
      "Add",         "Subtract", "Multiply", "Divide", "Minimum", "Maximum", "Relu",     "Clamp", "Sigmoid",
      "HardSigmoid", "Tanh",     "Exp",      "Log",    "Erf",     "Power",   "Negative", "Sqrt",  "SoftPlus"};
  return std::ranges::find(types, op.type) != types.end();
}

class LayerReader {
 public:
  LayerReader(const ExecutionGraph& graph, const ImportedNetwork& imported, const OpNodes& ops,
              const FileTensorFacts& facts)
      : m_graph(graph), m_imported(imported), m_ops(ops), m_facts(facts) {}

  LayerTensors run() {
    m_tensors.roles = layerRoles(m_graph);
    m_tensors.isNamed.resize(m_imported.ops.size());
    for (const ExecutionLayer& layer : m_graph.layers) readNames(layer);
    findConsumers();
    findReaders();
    for (std::uint32_t i = 0; i < m_graph.layers.size(); ++i) {
      m_tensors.tensors.emplace_back(m_graph.layers[i].outputs.size(), kNone);
      for (std::uint32_t output = 0; output < m_graph.layers[i].outputs.size(); ++output)
        m_tensors.tensors[i][output] = tensorOf(i, output);
    }
    return std::move(m_tensors);
  }

 private:
  static constexpr std::uint32_t kNone = LayerTensors::kNone;
  struct OpOutput {
    std::uint32_t op = kNone, output = 0;
  };

  /// Returns the operator whose name `name` is or begins with: "#12", "#12/transpose_b", "#12.1".
  std::optional<NamedOp> opOf(const std::string& name) const {
    if (const auto found = m_imported.byName.find(name); found != m_imported.byName.end())
      return NamedOp{.op = found->second};
    for (std::size_t at = name.find_last_of("/._"); at != std::string::npos && at > 0;
         at = name.find_last_of("/._", at - 1))
      if (const auto found = m_imported.byName.find(name.substr(0, at)); found != m_imported.byName.end())
        return NamedOp{.op = found->second, .isWhole = false};
    return std::nullopt;
  }

  void readNames(const ExecutionLayer& layer) {
    auto& named = m_tensors.named.emplace_back();
    auto& madeUp = m_tensors.madeUp.emplace_back();
    for (const std::string& name : layer.originals) {
      const auto op = opOf(name);
      if (!op) {
        madeUp.push_back(name);
        continue;
      }
      named.push_back(*op);
      if (op->isWhole) m_tensors.isNamed[op->op] = true;
    }
  }

  void findConsumers() {
    m_consumers.resize(m_imported.ops.size());
    for (std::uint32_t i = 0; i < m_imported.ops.size(); ++i)
      for (const ImportedOp::Input& input : m_imported.op(i).inputs) m_consumers[input.op].push_back({i, input.output});
  }

  void findReaders() {
    m_readers.resize(m_graph.layers.size());
    for (std::uint32_t i = 0; i < m_graph.layers.size(); ++i)
      for (const auto& source : m_graph.layers[i].sources)
        if (source.layer != ExecutionLayer::kNone) m_readers[source.layer].push_back({i, source.output});
  }

  std::uint32_t tensorOf(std::uint32_t index, std::uint32_t output) const {
    const ExecutionLayer& layer = m_graph.layers[index];
    if (const std::uint32_t passed = passedOn(layer, index); passed != kNone) return passed;
    if (layer.outputs.size() == 1)
      if (const std::uint32_t last = tensorOfLast(index); last != kNone) return last;
    const auto own = m_imported.byName.find(layer.name);
    if (own != m_imported.byName.end() && hasOutputs(own->second, layer))
      return checked(index, output, tensorAfter({own->second, output}));
    if (const auto numbered = numberedOutput(layer.name); numbered && layer.outputs.size() == 1)
      return checked(index, output, tensorAfter(*numbered));
    return tensorThatIsRead(index, output);
  }

  /// Returns the result of the last operator that a layer names. A convolution keeps its name when OpenVINO fuses later
  /// operators with it.
  std::uint32_t tensorOfLast(std::uint32_t index) const {
    std::uint32_t last = kNone;
    for (const NamedOp& named : m_tensors.named[index])
      if (named.isWhole && (last == kNone || named.op > last)) last = named.op;
    if (last == kNone || !hasOutputs(last, m_graph.layers[index])) return kNone;
    if (endsInActivation(m_graph.layers[index]))
      if (const std::uint32_t end = endOfActivation(last); end != kNone)
        return checked(index, 0, tensorAfter({end, 0}));
    return checked(index, 0, tensorAfter({last, 0}));
  }

  /// Returns whether the last name of a layer is that of an activation that OpenVINO recognised in several operators of
  /// the imported network ("HSwish_11516" for x * Clip(x + 3, 0, 6) / 6).
  bool endsInActivation(const ExecutionLayer& layer) const {
    constexpr std::array<std::string_view, 7> activations{"HSwish", "HSigmoid", "Swish", "Gelu",
                                                          "Mish",   "SoftPlus", "Clamp"};
    if (layer.originals.empty() || opOf(layer.originals.back())) return false;
    return std::ranges::any_of(activations,
                               [&](std::string_view of) { return layer.originals.back().starts_with(of); });
  }

  /// Returns the operator that calculates the only result of the operators that no layer names and that depend only on
  /// `start` and constants; kNone if there is none, or if the result of `start` has other readers.
  std::uint32_t endOfActivation(std::uint32_t start) const {
    constexpr std::size_t kMost = 16;
    std::vector<std::uint32_t> inside{start};
    const auto isInside = [&](std::uint32_t op) { return std::ranges::find(inside, op) != inside.end(); };
    const auto isMadeInside = [&](const ImportedOp::Input& input) {
      return isInside(input.op) || m_imported.op(input.op).type == "Constant";
    };
    for (bool grows = true; grows && inside.size() < kMost;) {
      grows = false;
      for (std::size_t i = 0; i < inside.size(); ++i)
        for (const OpOutput& next : m_consumers[inside[i]]) {
          const ImportedOp& op = m_imported.op(next.op);
          if (isInside(next.op) || m_tensors.isNamed[next.op] || !isElementwise(op)) continue;
          if (!std::ranges::all_of(op.inputs, isMadeInside)) continue;
          inside.push_back(next.op);
          grows = true;
        }
    }
    std::uint32_t end = kNone;
    for (const std::uint32_t op : inside) {
      const bool isRead =
          std::ranges::any_of(m_consumers[op], [&](const OpOutput& reader) { return !isInside(reader.op); });
      if (!isRead) continue;
      if (end != kNone) return kNone;
      end = op;
    }
    return end == start ? kNone : end;
  }

  bool hasOutputs(std::uint32_t op, const ExecutionLayer& layer) const {
    return m_imported.op(op).outputs.size() == layer.outputs.size();
  }

  /// Returns the tensor that a layer reads if the layer only writes it in another form.
  std::uint32_t passedOn(const ExecutionLayer& layer, std::uint32_t index) const {
    if (!isConversion(layer) || layer.sources.empty() || !m_tensors.named[index].empty()) return kNone;
    const auto& source = layer.sources.front();
    return source.layer < m_tensors.tensors.size() ? m_tensors.tensors[source.layer][source.output] : kNone;
  }

  /// Reads "#12.1" as output 1 of the operator "#12". This is also true of "#12.1.0", because OpenVINO appends numbers
  /// to what it adds after an output.
  std::optional<OpOutput> numberedOutput(const std::string& name) const {
    const auto op = opOf(name);
    if (!op || op->isWhole) return std::nullopt;
    const std::string_view rest = std::string_view(name).substr(m_imported.op(op->op).name.size());
    std::uint32_t output = 0;
    const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), output);
    const bool isNumber = error == std::errc() && (stop == rest.data() + rest.size() || *stop == '.');
    if (!rest.starts_with('.') || !isNumber || output >= m_imported.op(op->op).outputs.size()) return std::nullopt;
    return OpOutput{op->op, output};
  }

  /// Returns the tensor of the file that an output is. If it is none, returns the tensor calculated from it by
  /// operators that no layer names, because OpenVINO fused them with the layer or removed them.
  std::uint32_t tensorAfter(OpOutput at) const {
    while (at.output < m_ops.tensors[at.op].size()) {
      if (m_ops.tensors[at.op][at.output] != kNone) return m_ops.tensors[at.op][at.output];
      std::uint32_t next = kNone;
      for (const OpOutput& consumer : m_consumers[at.op]) {
        if (consumer.output != at.output) continue;
        if (next != kNone && next != consumer.op) return kNone;
        next = consumer.op;
      }
      if (next == kNone || m_tensors.isNamed[next] || m_ops.nodes[next] != m_ops.nodes[at.op]) return kNone;
      at = {next, 0};
    }
    return kNone;
  }

  /// Returns the only tensor of this layer's operators that operators of the readers of this output read.
  std::uint32_t tensorThatIsRead(std::uint32_t index, std::uint32_t output) const {
    std::uint32_t found = kNone;
    std::vector<std::uint32_t> readers = readersOf(index, output);
    for (const std::uint32_t reader : readers) {
      for (const NamedOp& by : m_tensors.named[reader]) {
        for (const ImportedOp::Input& input : m_imported.op(by.op).inputs) {
          if (!namesOp(index, input.op)) continue;
          const std::uint32_t tensor = checked(index, output, m_ops.tensors[input.op][input.output]);
          if (tensor == kNone || tensor == found) continue;
          if (found != kNone) return kNone;
          found = tensor;
        }
      }
    }
    return found;
  }

  /// Returns the layers that read an output, directly or in another form.
  std::vector<std::uint32_t> readersOf(std::uint32_t index, std::uint32_t output) const {
    std::vector<std::uint32_t> found;
    for (const OpOutput& reader : m_readers[index]) {
      if (reader.output != output) continue;
      found.push_back(reader.op);
      if (!isConversion(m_graph.layers[reader.op])) continue;
      for (const OpOutput& next : m_readers[reader.op]) found.push_back(next.op);
    }
    return found;
  }

  bool namesOp(std::uint32_t layer, std::uint32_t op) const {
    return std::ranges::find(m_tensors.named[layer], op, &NamedOp::op) != m_tensors.named[layer].end();
  }

  std::uint32_t checked(std::uint32_t layer, std::uint32_t output, std::uint32_t tensor) const {
    if (tensor == kNone) return kNone;
    const LayerRole role = m_tensors.roles[layer];
    if ((role == LayerRole::Once || role == LayerRole::Constant) && m_facts.varies[tensor]) return kNone;
    const auto made = m_graph.layers[layer].outputs[output].elements();
    const std::int64_t elements = m_facts.elements[tensor];
    return !made || elements < 0 || elements == *made ? tensor : kNone;
  }

  const ExecutionGraph& m_graph;
  const ImportedNetwork& m_imported;
  const OpNodes& m_ops;
  const FileTensorFacts& m_facts;
  std::vector<std::vector<OpOutput>> m_consumers;  ///< by operator: its readers, and which of its outputs they read
  std::vector<std::vector<OpOutput>> m_readers;    ///< by layer: its readers, and which of its outputs they read
  LayerTensors m_tensors;
};

}  // namespace

std::vector<LayerRole> layerRoles(const ExecutionGraph& graph) {
  std::vector<LayerRole> roles;
  const auto isConstant = [&](const ExecutionLayer::Source& source) {  // the source of a layer runs before the layer
    return source.layer < roles.size() &&
           (roles[source.layer] == LayerRole::Constant || roles[source.layer] == LayerRole::Once);
  };
  for (const ExecutionLayer& layer : graph.layers) {
    if (layer.type == "Const")
      roles.push_back(LayerRole::Constant);
    else if (workOf(layer) == LayerWork::Nothing)
      roles.push_back(LayerRole::Border);
    else
      roles.push_back(!layer.sources.empty() && std::ranges::all_of(layer.sources, isConstant) ? LayerRole::Once
                                                                                               : LayerRole::Kernel);
  }
  return roles;
}

LayerTensors layerTensors(const ExecutionGraph& graph, const ImportedNetwork& imported, const OpNodes& ops,
                          const FileTensorFacts& facts) {
  return LayerReader(graph, imported, ops, facts).run();
}

}  // namespace fusescope
