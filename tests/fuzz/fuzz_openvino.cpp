// What OpenVINO writes, changed in any way, is refused in words or read to something that fits the network. The bytes:
// the network as it was imported, a line "---", the execution graph.

#include "compilers/openvino/openvino_read_back.h"
#include "compilers/openvino/openvino_support.h"
#include "ir/graph.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

onnxlib::FileNode fileNode(const char* name, const char* op, std::vector<std::string> inputs, const char* output) {
  return {.name = name, .op = op, .inputs = std::move(inputs), .outputs = {output}};
}

/// A network of five nodes, as it is handed to OpenVINO: softmax(reshape(relu(v0·w0 + w1))).
CompilerInput network() {
  GraphEditor editor;
  Model model;
  const auto type = [](Dims dims) { return TensorType{DataType::F32, Shape::of(dims)}; };
  std::map<std::string, ValueId, std::less<>> values{{"v0", editor.addInput("v0", type({4, 8}))}};
  values.emplace("w0", editor.addConstant("w0", Tensor::zeros(DataType::F32, {8, 16})));
  values.emplace("w1", editor.addConstant("w1", Tensor::zeros(DataType::F32, {16})));
  values.emplace(
      "s", editor.addConstant("s", Tensor::copyOf<std::int64_t>(DataType::I64, {2}, std::vector<std::int64_t>{2, 32})));
  onnxlib::FileModel file;
  file.graph.inputs = {{.name = "v0", .type = {}}};
  file.graph.outputs = {{.name = "v5", .type = {}}};
  for (const char* constant : {"w0", "w1", "s"}) file.graph.initializers.push_back({.name = constant});
  file.graph.nodes = {fileNode("n0", "MatMul", {"v0", "w0"}, "v1"), fileNode("n1", "Add", {"v1", "w1"}, "v2"),
                      fileNode("n2", "Relu", {"v2"}, "v3"), fileNode("n3", "Reshape", {"v3", "s"}, "v4"),
                      fileNode("n4", "Softmax", {"v4"}, "v5")};
  std::map<std::string, std::vector<NodeId>, std::less<>> nodes;
  for (const onnxlib::FileNode& node : file.graph.nodes) {
    const bool isFlat = node.op == "Reshape" || node.op == "Softmax";
    const ValueId made = editor.addValue(node.outputs[0], type(isFlat ? Dims{2, 32} : Dims{4, 16}));
    values.emplace(node.outputs[0], made);
    std::vector<ValueId> inputs;
    for (const std::string& input : node.inputs) inputs.push_back(values.find(input)->second);
    model.origins.push_back({node.name, node.op, ""});
    nodes[node.name] = {editor.addNode({.op = node.op,
                                        .name = node.name,
                                        .inputs = std::move(inputs),
                                        .outputs = {made},
                                        .origins = {OriginId(model.origins.size() - 1)}})};
  }
  editor.addOutput(values.find("v5")->second);
  model.graph = editor.publish().value();
  return {.plan = makePlan(std::make_shared<const Model>(std::move(model)), {}).value(),
          .path = {},
          .folder = nullptr,
          .file = std::move(file),
          .nodes = std::move(nodes),
          .values = std::move(values)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CompilerInput kNetwork = network();
  const std::string_view text = fuzz::asText({data, size});
  constexpr std::string_view kBetween = "\n---\n";
  const auto between = std::min(text.find(kBetween), text.size());
  const std::string_view xml = text.substr(std::min(between + kBetween.size(), text.size()));
  const auto imported = importedNetwork(text.substr(0, between));
  const auto graph = executionGraph(xml);
  if (imported.ok()) (void)openvinoSupport(kNetwork, imported.value(), {{"words", std::string(xml)}});
  if (graph.ok()) (void)openvinoTimes(graph.value());
  (void)nodeInError(xml);
  if (!imported.ok() || !graph.ok()) return 0;
  const auto made = readBackPlan(kNetwork.plan, openvinoReadBack(kNetwork, graph.value(), imported.value()));
  if (!made.ok()) fuzz::report("what is read back fits the network", made.error().text());
  return 0;
}
