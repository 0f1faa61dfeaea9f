// An optimised network of any bytes is refused in words, or what it tells of the network that was handed over is sound:
// every node has one fate, and nothing is held that the network has not.

#include "compilers/onnxruntime/read_optimised.h"
#include "compilers/onnxruntime/reading.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

/// Grows a graph, and the file that it would be read from: nodes "n0", "n1", …, values "v0", "v1", ….
class Network {
 public:
  ValueId input(Dims dims) {
    const std::string name = nextValue();
    m_file.inputs.push_back({.name = name, .type = {}});
    return m_editor.addInput(name, {DataType::F32, Shape::of(dims)});
  }

  ValueId weight(Dims dims) {
    const std::string name = nextValue();
    onnxlib::FileTensor tensor;
    tensor.name = name;
    tensor.dtype = DataType::F32;
    tensor.dims = dims;
    m_file.initializers.push_back(std::move(tensor));
    return m_editor.addConstant(name, Tensor::zeros(DataType::F32, std::move(dims)));
  }

  ValueId node(const std::string& op, std::vector<ValueId> inputs, Dims dims,
               std::map<std::string, Attribute> attributes = {}) {
    onnxlib::FileNode file;
    file.name = "n" + std::to_string(m_file.nodes.size());
    file.op = op;
    for (const ValueId input : inputs) file.inputs.push_back(m_editor.current().value(input).name);
    file.outputs.push_back(nextValue());
    const ValueId output = m_editor.addValue(file.outputs[0], {DataType::F32, Shape::of(dims)});
    m_model.origins.push_back({file.name, op, ""});
    m_editor.addNode({.op = op,
                      .domain = {},
                      .name = file.name,
                      .inputs = std::move(inputs),
                      .outputs = {output},
                      .attributes = std::move(attributes),
                      .origins = {OriginId(m_model.origins.size() - 1)}});
    m_file.nodes.push_back(std::move(file));
    return output;
  }

  CompilerInput handed(ValueId output) {
    m_editor.addOutput(output);
    m_file.outputs.push_back({.name = m_editor.current().value(output).name, .type = {}});
    m_model.graph = m_editor.publish().value();
    CompilerInput handed{.plan = makePlan(std::make_shared<const Model>(m_model), {}).value(),
                         .path = {},
                         .folder = nullptr,
                         .file = {}};
    handed.file.graph = std::move(m_file);
    const Graph& graph = handed.plan->graph();
    for (const NodeId id : graph.order()) handed.nodes[graph.node(id).name] = {id};
    for (const ValueId id : graph.allValues()) handed.values.emplace(graph.value(id).name, id);
    return handed;
  }

 private:
  std::string nextValue() { return "v" + std::to_string(m_values++); }

  GraphEditor m_editor;
  Model m_model;
  onnxlib::FileGraph m_file;
  std::size_t m_values = 0;
};

/// A convolution with a sum and an activation, a product with a bias, and equal nodes.
CompilerInput network() {
  Network n;
  const ValueId x = n.input({1, 16, 8, 8});
  const std::map<std::string, Attribute> pads{{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};
  const ValueId conv = n.node("Conv", {x, n.weight({16, 16, 3, 3})}, {1, 16, 8, 8}, pads);
  const ValueId relu = n.node("Relu", {n.node("Add", {conv, x}, {1, 16, 8, 8})}, {1, 16, 8, 8});
  const ValueId product = n.node("MatMul", {relu, n.weight({8, 8})}, {1, 16, 8, 8});
  const ValueId sum = n.node("Add", {product, n.weight({8})}, {1, 16, 8, 8});
  const ValueId turned = n.node("Transpose", {sum}, {1, 8, 8, 16}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  const ValueId a = n.node("Exp", {turned}, {1, 8, 8, 16}), b = n.node("Exp", {turned}, {1, 8, 8, 16});
  return n.handed(n.node("Mul", {a, b}, {1, 8, 8, 16}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CompilerInput handed = network();
  const auto reading = onnxruntime::readNetwork(handed, fuzz::asFile({data, size}, ".onnx"));
  if (!reading.ok()) {
    if (reading.error().message.empty()) fuzz::report("a refusal has words", "");
    return 0;
  }
  const auto& read = *reading.value();
  const ReadBack told = onnxruntime::readOptimised(read.network, read.optimised, read.covers);
  const auto plan = readBackPlan(handed.plan, told);
  if (!plan.ok()) fuzz::report("what is told is of the network", plan.error().text());
  for (const NodeId id : handed.plan->graph().order())
    if ((plan.value()->fateOf(id) == Fate::Kernel) == plan.value()->kernelsOf(id).empty())
      fuzz::report("a node has one fate", handed.plan->graph().node(id).name);
  return 0;
}
