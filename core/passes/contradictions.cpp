#include "passes/contradictions.h"

#include <algorithm>

namespace fusescope {
namespace {

Decision contradiction(const Graph& graph, const Value& value, const TensorType& computed, const BodyPath& path,
                       bool promised) {
  const NetworkPlace place{path, value.name};
  std::vector<Subject> subjects{Subject::value(place)};
  if (value.producer.valid()) subjects.push_back(Subject::node(NetworkPlace{path, graph.node(value.producer).name}));
  return decide(promised ? "infer.output_contradicted" : "infer.value_contradicted", std::move(subjects), "infer_types",
                {{"value", place.text()}, {"declared", value.type.text()}, {"computed", computed.text()}});
}

}  // namespace

bool settleContradictions(PassContext& context, const TypeFlow& flow) {
  const Graph& graph = context.graph;
  for (const ValueId id : flow.contradicted) {
    const TensorType& computed = flow.types[id.index];
    context.decisions.push_back(contradiction(graph, graph.value(id), computed, {}, graph.isOutput(id)));
    context.editor.setType(id, computed);
  }
  return !flow.contradicted.empty();
}

void recordContradictions(const Node& node, const std::string& attribute, const TypeFlow& flow,
                          std::vector<Decision>& decisions) {
  const auto& body = std::get<Subgraph>(node.attributes.at(attribute));
  const Graph& graph = *body.graph;
  const std::size_t own = graph.inputs().size() - body.captures.size();
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    const auto input = std::ranges::find(graph.inputs(), id);
    const bool captured = input != graph.inputs().end() && input - graph.inputs().begin() >= std::ptrdiff_t(own);
    if (captured || value.constant != nullptr || mergedType(value.type, flow.types[id.index])) continue;
    decisions.push_back(contradiction(graph, value, flow.types[id.index], BodyPath().into(node, attribute), false));
  }
}

}  // namespace fusescope
