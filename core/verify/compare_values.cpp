#include "verify/compare_values.h"

namespace fusescope {

std::vector<TensorComparison> compareValues(const Graph& graph, const RunResult& actual, const RunResult& expected,
                                            const Tolerance& tolerance) {
  std::vector<TensorComparison> comparisons;
  for (const auto id : graph.order()) {
    for (const auto output : graph.node(id).outputs) {
      if (!output.valid() || graph.isOutput(output)) continue;
      const auto& name = graph.value(output).name;
      const auto of = actual.marked.find(name);
      const auto reference = expected.marked.find(name);
      if (of == actual.marked.end() || reference == expected.marked.end()) continue;
      if (of->second.type() == reference->second.type()) {
        comparisons.push_back(compareTensors(name, of->second, reference->second, tolerance));
        continue;
      }
      comparisons.push_back(
          compareTensors(name, of->second.converted(reference->second.type()), reference->second, tolerance));
    }
  }
  return comparisons;
}

}  // namespace fusescope
