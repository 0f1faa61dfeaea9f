#include "ops/support/graph_evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/run_node.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {
namespace {

constexpr std::size_t kNever = SIZE_MAX;

/// The values that exist while a graph runs, by ValueId.
class Values {
 public:
  explicit Values(const Graph& graph) : m_graph(graph), m_held(graph.valueIdLimit()), m_at(graph.valueIdLimit()) {
    for (const ValueId id : graph.allValues()) m_at[id.index] = graph.value(id).constant.get();
  }
  void lend(ValueId id, const Tensor* tensor) { m_at[id.index] = tensor; }
  void keep(ValueId id, Tensor tensor) {
    m_held[id.index] = std::move(tensor);
    m_at[id.index] = &m_held[id.index];
  }
  void drop(ValueId id) {
    m_held[id.index] = Tensor();
    m_at[id.index] = nullptr;
  }
  Result<const Tensor*> get(ValueId id) const {
    if (m_at[id.index] != nullptr) return m_at[id.index];
    return Diagnostic{.message = "is read before any node calculates it", .where = {.value = m_graph.value(id).name}};
  }

 private:
  const Graph& m_graph;
  std::vector<Tensor> m_held;
  std::vector<const Tensor*> m_at;
};

}  // namespace

GraphEvaluator::GraphEvaluator(const Graph& graph) : m_graph(graph), m_lastUses(graph.order().size()) {
  std::vector<std::size_t> last(graph.valueIdLimit(), kNever);
  for (std::size_t place = 0; place < graph.order().size(); ++place) {
    const Node& node = graph.node(graph.order()[place]);
    for (const ValueId output : node.outputs)
      if (output.valid()) last[output.index] = place;
    for (const ValueId read : operands(node))
      if (read.valid() && graph.has(graph.value(read).producer)) last[read.index] = place;
  }
  for (const ValueId output : graph.outputs()) last[output.index] = kNever;
  for (const ValueId id : graph.allValues())
    if (last[id.index] != kNever) m_lastUses[last[id.index]].push_back(id);
}

Result<std::vector<Tensor>> GraphEvaluator::run(std::span<const Tensor* const> inputs, const StopToken& stop) const {
  if (inputs.size() != m_graph.inputs().size())
    return problem(
        fmt::format("the graph has {} inputs, but {} values were passed", m_graph.inputs().size(), inputs.size()));
  Values values(m_graph);
  for (std::size_t i = 0; i < inputs.size(); ++i) values.lend(m_graph.inputs()[i], inputs[i]);
  for (std::size_t place = 0; place < m_graph.order().size(); ++place) {
    TRY(checkStop(stop));
    const Node& node = m_graph.node(m_graph.order()[place]);
    std::vector<const Tensor*> read;
    for (const ValueId id : operands(node)) read.push_back(id.valid() ? TRY(values.get(id)) : nullptr);
    std::vector<Tensor> results = TRY(runNode(node, read, stop));
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
      if (node.outputs[i].valid()) values.keep(node.outputs[i], std::move(results[i]));
    for (const ValueId id : m_lastUses[place]) values.drop(id);
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : m_graph.outputs()) {
    outputs.push_back(*TRY(values.get(id)));
    if (!outputs.back().hasData())
      return Diagnostic{.message = "has no data", .where = {.value = m_graph.value(id).name}};
  }
  return outputs;
}

}  // namespace fusescope::ops
