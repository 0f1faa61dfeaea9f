#include "verify/value_sources.h"

#include "ir/graph.h"

namespace fusescope {
namespace {

std::vector<std::string> sourcesOf(const Graph& graph, ValueId value, const std::set<std::string>& known) {
  std::vector<std::string> sources;
  std::set<ValueId> seen;
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const NodeId maker = graph.value(open.back()).producer;
    open.pop_back();
    if (!graph.has(maker)) continue;
    for (const ValueId input : operands(graph.node(maker))) {
      if (!input.valid() || !seen.insert(input).second) continue;
      if (known.contains(graph.value(input).name)) {
        sources.push_back(graph.value(input).name);
      } else {
        open.push_back(input);
      }
    }
  }
  return sources;
}

}  // namespace

ValueSources valueSourcesIn(const Graph& graph, const std::set<std::string>& known) {
  ValueSources sources;
  for (const ValueId value : graph.allValues()) {
    const std::string& name = graph.value(value).name;
    if (known.contains(name) || graph.isOutput(value)) sources[name] = sourcesOf(graph, value, known);
  }
  return sources;
}

std::set<std::string> leadingTo(std::vector<std::string> outputs, const ValueSources& sources,
                                const std::set<std::string>& right) {
  std::set<std::string> leading;
  std::vector<std::string> open = std::move(outputs);
  while (!open.empty()) {
    const std::string value = std::move(open.back());
    open.pop_back();
    if (right.contains(value) || !leading.insert(value).second) continue;
    if (const auto of = sources.find(value); of != sources.end())
      open.insert(open.end(), of->second.begin(), of->second.end());
  }
  return leading;
}

}  // namespace fusescope
