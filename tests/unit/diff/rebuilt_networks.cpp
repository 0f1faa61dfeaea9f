#include "tests/unit/diff/rebuilt_networks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace fusescope::test {
namespace {

std::shared_ptr<const Model> published(const Model& like, GraphEditor& editor, const std::string& path) {
  auto graph = editor.publish();
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  Model model = like;
  model.path = path;
  model.contentHash = hashText(path);
  model.graph = graph.value();
  model.bodies.clear();
  return std::make_shared<const Model>(std::move(model));
}

/// A topological order other than the graph's own.
std::vector<NodeId> otherOrder(const Graph& graph, std::mt19937& random) {
  std::map<NodeId, std::size_t> waits;
  std::vector<NodeId> ready, order;
  for (const NodeId id : graph.order()) {
    std::set<NodeId> producers;
    for (const ValueId value : operands(graph.node(id)))
      if (value.valid() && graph.value(value).producer.valid()) producers.insert(graph.value(value).producer);
    waits[id] = producers.size();
    if (producers.empty()) ready.push_back(id);
  }
  while (!ready.empty()) {
    const std::size_t pick = random() % ready.size();
    const NodeId id = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    order.push_back(id);
    std::set<NodeId> readers;
    for (const ValueId value : graph.node(id).outputs)
      if (value.valid()) readers.insert(graph.value(value).consumers.begin(), graph.value(value).consumers.end());
    for (const NodeId reader : readers)
      if (--waits[reader] == 0) ready.push_back(reader);
  }
  return order;
}

/// Removes what no output depends on.
void removeUnread(GraphEditor& editor) {
  const Graph& graph = editor.current();
  std::set<ValueId> read(graph.outputs().begin(), graph.outputs().end());
  std::vector<NodeId> gone;
  for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
    const Node& node = graph.node(*id);
    if (std::ranges::any_of(node.outputs, [&](ValueId value) { return read.contains(value); })) {
      for (const ValueId value : operands(node)) read.insert(value);
    } else {
      gone.push_back(*id);
    }
  }
  for (const NodeId id : gone) {
    const std::vector<ValueId> outputs = graph.node(id).outputs;
    editor.removeNode(id);
    for (const ValueId value : outputs)
      if (value.valid()) editor.removeValue(value);
  }
}

}  // namespace

std::shared_ptr<const Model> renamed(const Model& model, unsigned seed, std::vector<std::string>& before) {
  const Graph& graph = *model.graph;
  std::mt19937 random(seed);
  GraphEditor editor;
  std::map<ValueId, ValueId> values;
  int count = 0;
  const auto newName = [&](const char* what) { return what + std::to_string((count++ * 7919) % 1000003); };
  for (const ValueId id : graph.inputs()) values[id] = editor.addInput(newName("in"), graph.value(id).type);
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    if (graph.isInput(id)) continue;
    values[id] = value.constant != nullptr && !value.producer.valid()
                     ? editor.addConstant(newName("p"), *value.constant)
                     : editor.addValue(newName("t"), value.type);
  }
  const auto mapped = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids)
      if (id.valid()) id = values.at(id);
  };
  for (const NodeId id : otherOrder(graph, random)) {
    Node node = graph.node(id);
    before.resize(before.size() + 1);
    before.back() = node.name;
    node.name = newName("n");
    mapped(node.inputs);
    mapped(node.outputs);
    for (auto& [key, attribute] : node.attributes)
      if (auto* body = std::get_if<Subgraph>(&attribute)) mapped(body->captures);
    const NodeId added = editor.addNode(std::move(node));
    EXPECT_EQ(added.index + 1, before.size());
  }
  for (const ValueId id : graph.outputs()) editor.addOutput(values.at(id));
  return published(model, editor, model.path + " renamed " + std::to_string(seed));
}

std::shared_ptr<const Model> without(const Model& model, const std::string& from, const std::string& to) {
  GraphEditor editor(*model.graph);
  const auto first = model.graph->findValue(from), last = model.graph->findValue(to);
  EXPECT_TRUE(first && last) << from << ", " << to;
  editor.replaceUses(*last, *first);
  removeUnread(editor);
  return published(model, editor, model.path + " without " + from + " to " + to);
}

std::shared_ptr<const Model> withNode(const Model& model, const std::string& value, const std::string& op,
                                      const std::string& name) {
  GraphEditor editor(*model.graph);
  const auto from = model.graph->findValue(value);
  EXPECT_TRUE(from) << value;
  const ValueId made = editor.addValue(name + "_out", model.graph->value(*from).type);
  editor.replaceUses(*from, made);
  editor.addNode({.op = op, .name = name, .inputs = {*from}, .outputs = {made}});
  return published(model, editor, model.path + " with " + name);
}

std::shared_ptr<const Model> scaled(const Model& model, const std::string& constant, float factor) {
  GraphEditor editor(*model.graph);
  const auto value = model.graph->findValue(constant);
  EXPECT_TRUE(value) << constant;
  const Tensor& before = *model.graph->constantData(*value);
  Tensor after = Tensor::copyOf<float>(DataType::F32, before.dims(), before.data<float>());
  for (float& element : after.mutableData<float>()) element *= factor;
  editor.makeConstant(*value, std::move(after));
  return published(model, editor, model.path + " scaled " + constant);
}

std::vector<std::int64_t> widthsInTurn(std::size_t blocks, std::int64_t period) {
  std::vector<std::int64_t> widths;
  for (std::size_t i = 0; i < blocks; ++i) widths.push_back(8 * (1 + static_cast<std::int64_t>(i) % period));
  return widths;
}

std::shared_ptr<const Model> chainOfBlocks(const std::vector<std::int64_t>& widthsInside) {
  GraphEditor editor;
  Model model;
  const auto typeOf = [](std::int64_t width) { return TensorType{DataType::F32, Shape::of(Dims{4, width})}; };
  constexpr std::int64_t kWidth = 8;
  ValueId x = editor.addInput("x", typeOf(kWidth));
  const auto node = [&](const char* op, const std::string& name, std::vector<ValueId> inputs, std::int64_t width) {
    const ValueId made = editor.addValue(name + "_out", typeOf(width));
    model.origins.push_back({name, op, ""});
    editor.addNode({.op = op,
                    .name = name,
                    .inputs = std::move(inputs),
                    .outputs = {made},
                    .origins = {OriginId(model.origins.size() - 1)}});
    return made;
  };
  std::string path = "chain of";
  for (std::size_t i = 0; i < widthsInside.size(); ++i) {
    const std::string at = std::to_string(i);
    const std::int64_t inner = widthsInside[i];
    path += " " + std::to_string(inner);
    const ValueId w = editor.addConstant("w" + at, Tensor::zeros(DataType::F32, {kWidth, inner}));
    const ValueId back = editor.addConstant("v" + at, Tensor::zeros(DataType::F32, {inner, kWidth}));
    const ValueId wide = node("MatMul", "wide" + at, {x, w}, inner);
    const ValueId relu = node("Relu", "relu" + at, {wide}, inner);
    const ValueId narrow = node("MatMul", "narrow" + at, {relu, back}, kWidth);
    x = node("Add", "sum" + at, {narrow, x}, kWidth);
  }
  editor.addOutput(x);
  InputSpec spec{.name = "x", .dtype = DataType::F32, .source = "file"};
  spec.min = spec.opt = spec.max = {4, kWidth};
  model.inputSpecs = {spec};
  return published(model, editor, path);
}

}  // namespace fusescope::test
