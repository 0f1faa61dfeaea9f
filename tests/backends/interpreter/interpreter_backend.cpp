// Runs a segment operator by operator with the reference kernels, all floats in f32, and tells a plan of its own: trees
// of nodes that hand their only result to one other node, whatever they are.
#include "tests/backends/interpreter/interpreter_backend.h"

#include <cstring>

#include "backends/reference/convert_elements.h"
#include "backends/segment_compiler.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

class Interpretation final : public Code {
 public:
  explicit Interpretation(const SegmentRequest& request)
      : m_graph(request.graph), m_inputs(request.inputs), m_outputs(request.outputs), m_weights(request.weightSlots) {
    for (std::size_t slot = 0; slot < m_weights.size(); ++slot)
      m_packings.push_back({.form = "as it is", .weightSlots = {slot}, .pack = [](std::span<const Tensor> sources) {
                              return Result<Tensor>(sources[0]);
                            }});
    fuse();
  }

  std::span<const Packing> packings() const override { return m_packings; }
  std::span<const ReadBackNode> readBack() const override { return m_made; }

  Status run(Stream&, std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             std::span<const std::byte* const> packed, std::byte*) const override {
    std::vector<Tensor> values(m_graph->valueIdLimit());
    for (std::size_t i = 0; i < m_inputs.size(); ++i) {
      const ValueId input = m_graph->inputs()[i];
      const Tensor given = Tensor::view(m_inputs[i].dtype, m_inputs[i].dims, nullptr, inputs[i]);
      values[input.index] = convertedTensor(given, m_graph->value(input).type.dtype);
    }
    for (std::size_t i = 0; i < m_weights.size(); ++i) {
      const Tensor& constant = *m_graph->value(m_weights[i]).constant;
      values[m_weights[i].index] = Tensor::view(constant.type(), constant.dims(), nullptr, packed[i]);
    }
    for (const NodeId id : m_graph->order()) TRY(runOne(m_graph->node(id), values));
    for (std::size_t i = 0; i < m_outputs.size(); ++i) {
      const Tensor result = convertedTensor(values[m_graph->outputs()[i].index], m_outputs[i].dtype);
      if (result.byteSize() > 0) std::memcpy(outputs[i], result.bytes(), result.byteSize());
    }
    return Done{};
  }

 private:
  static Status runOne(const Node& node, std::vector<Tensor>& values) {
    std::vector<const Tensor*> operands;
    for (const ValueId input : node.inputs) operands.push_back(input.valid() ? &values[input.index] : nullptr);
    const std::vector<Tensor> results = TRY(runNode(node, operands));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) values[node.outputs[i].index] = results[i];
    return Done{};
  }

  /// The node that alone gets what `node` makes; invalid if there is none.
  NodeId onlyReader(const Node& node) const {
    if (node.outputs.size() != 1 || m_graph->isOutput(node.outputs[0])) return {};
    const auto& consumers = m_graph->value(node.outputs[0]).consumers;
    return consumers.size() == 1 ? consumers[0] : NodeId();
  }

  void fuse() {
    std::vector<std::vector<NodeId>> trees(m_graph->nodeIdLimit());  // by the node that is read by others
    for (const NodeId id : m_graph->order()) {
      trees[id.index].push_back(id);
      const NodeId reader = onlyReader(m_graph->node(id));
      if (!reader.valid()) {
        m_made.push_back(describe(trees[id.index]));
        continue;
      }
      auto& into = trees[reader.index];
      into.insert(into.end(), trees[id.index].begin(), trees[id.index].end());
    }
  }

  ReadBackNode describe(const std::vector<NodeId>& tree) const {
    const Node& last = m_graph->node(tree.back());
    ReadBackNode made{.name = "tree of " + last.name, .kind = "tree", .nodes = tree, .compute = DataType::F32};
    for (const ValueId output : last.outputs)
      if (output.valid()) made.outputs.emplace_back(output, storedType(output));
    return made;
  }

  DataType storedType(ValueId value) const {
    for (std::size_t i = 0; i < m_outputs.size(); ++i)
      if (m_graph->outputs()[i] == value) return m_outputs[i].dtype;
    return m_graph->value(value).type.dtype;
  }

  std::shared_ptr<const Graph> m_graph;
  std::vector<TensorDesc> m_inputs, m_outputs;
  std::vector<ValueId> m_weights;
  std::vector<Packing> m_packings;
  std::vector<ReadBackNode> m_made;
};

class Interpreter final : public SegmentCompiler {
 public:
  Result<std::unique_ptr<const Code>> compile(const SegmentRequest& request) const override {
    return std::unique_ptr<const Code>(std::make_unique<const Interpretation>(request));
  }
};

class InterpreterBackend final : public Backend {
 public:
  std::string_view name() const override { return "interpreter"; }
  Fingerprint fingerprint() const override { return hostFingerprint(); }
  const SegmentCompiler* segmentCompiler() const override { return &m_compiler; }

 private:
  Interpreter m_compiler;
};

}  // namespace

const Backend& interpreterBackend() {
  static const InterpreterBackend backend;
  return backend;
}

}  // namespace fusescope
