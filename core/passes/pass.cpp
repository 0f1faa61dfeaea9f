#include "passes/pass.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace fusescope {

OriginLedger::OriginLedger(const Model& model, std::vector<Decision>& decisions)
    : m_origins(model.origins), m_decisions(decisions), m_nodes(model.origins.size(), 0) {
  for (const NodeId id : model.graph->order())
    for (const OriginId origin : model.graph->node(id).origins) ++m_nodes[origin.index];
}

void OriginLedger::retire(const Node& node, std::string_view code, std::string_view by, DecisionArguments arguments) {
  for (const OriginId origin : node.origins)
    if (--m_nodes[origin.index] == 0)
      m_decisions.push_back(decide(code, {Subject::node(m_origins[origin.index].name)}, std::string(by), arguments));
}

void OriginLedger::add(const Node& node, int count) {
  for (const OriginId origin : node.origins) m_nodes[origin.index] += count;
}

PassManager& PassManager::add(std::unique_ptr<Pass> pass) {
  m_passes.push_back(std::move(pass));
  return *this;
}

std::vector<std::string> PassManager::names() const {
  std::vector<std::string> names;
  for (const auto& pass : m_passes) names.emplace_back(pass->name());
  return names;
}

Result<std::vector<PassRecord>> PassManager::run(Model& model, const PassOptions& options,
                                                 const StopToken& stop) const {
  std::vector<PassRecord> records;
  OriginLedger ledger(model, model.decisions);
  std::optional<GraphEditor> editor;  // a copy of the graph, which passes that change nothing share
  for (const auto& pass : m_passes) {
    TRY(checkStop(stop));
    if (options.skip.contains(pass->name())) continue;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t decisionsBefore = model.decisions.size();
    if (!editor) editor.emplace(*model.graph);
    PassContext context{.graph = *model.graph,
                        .editor = *editor,
                        .ledger = ledger,
                        .inputSpecs = model.inputSpecs,
                        .decisions = model.decisions,
                        .conditions = model.conditions,
                        .declaredInputs = model.declaredInputs,
                        .stop = stop,
                        .model = model};
    const bool changed = TRY(pass->run(context));
    if (changed) {
      model.graph = TRY(std::move(*editor).publish());
      editor.reset();
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    records.push_back({.name = std::string(pass->name()),
                       .changed = changed,
                       .milliseconds = took.count(),
                       .decisions = model.decisions.size() - decisionsBefore});
    if (pass->name() == options.stopAfter) break;
  }
  return records;
}

void applyReplacements(GraphEditor& editor, const Replacements& replacements) {
  if (replacements.empty()) return;
  const auto last = [&](ValueId id) {
    for (auto next = replacements.find(id); next != replacements.end(); next = replacements.find(id)) id = next->second;
    return id;
  };
  const Graph& graph = editor.current();
  for (std::size_t i = 0; i < graph.nodeIdLimit(); ++i) {
    if (!graph.has(NodeId(i))) continue;
    Node& node = editor.mutableNode(NodeId(i));
    for (ValueId& input : node.inputs) input = last(input);
    for (auto& [key, attribute] : node.attributes)
      if (auto* body = std::get_if<Subgraph>(&attribute))
        for (ValueId& capture : body->captures) capture = last(capture);
  }
  std::vector<ValueId> outputs = graph.outputs();
  for (ValueId& output : outputs) output = last(output);
  editor.setOutputs(std::move(outputs));
}

bool bypass(PassContext& context, const Node& node, Replacements& replacements) {
  GraphEditor& editor = context.editor;
  ValueId from = node.outputs.at(0);
  ValueId to = node.inputs.at(0);
  for (auto next = replacements.find(to); next != replacements.end(); next = replacements.find(to)) to = next->second;
  const Graph& graph = editor.current();
  if (!graph.isOutput(from)) {
    editor.removeNode(node.id);
    replacements.emplace(from, to);
    editor.removeValue(from);
    return true;
  }
  // The output's name must be kept, so that the producer of the input writes it instead.
  if (!graph.has(graph.value(to).producer) || graph.isOutput(to)) return false;
  Node& producer = editor.mutableNode(graph.value(to).producer);
  const NodeId producerId = producer.id;
  editor.removeNode(node.id);
  editor.redirectOutput(producerId, to, from);
  replacements.emplace(to, from);
  editor.removeValue(to);
  return true;
}

}  // namespace fusescope
