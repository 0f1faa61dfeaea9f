#include "compilers/probed/handed_values.h"

#include <algorithm>
#include <set>

#include "interchange/npz.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Pairs the names of the plan's inputs or outputs, in their order, with those in the file.
NamesInFile paired(const Graph& graph, const std::vector<ValueId>& values, const std::vector<std::string>& file) {
  NamesInFile pairs;
  for (std::size_t i = 0; i < std::min(values.size(), file.size()); ++i)
    pairs.emplace_back(graph.value(values[i]).name, file[i]);
  return pairs;
}

}  // namespace

/// In older files, initializers are also listed as inputs.
NamesInFile handedInputs(const CompilerInput& network) {
  const onnxlib::FileGraph& file = network.file.graph;
  std::set<std::string_view> initializers;
  for (const auto& tensor : file.initializers) initializers.insert(tensor.name);
  std::vector<std::string> names;
  for (const auto& input : file.inputs)
    if (!initializers.contains(input.name)) names.push_back(input.name);
  std::vector<ValueId> inputs = network.plan->graph().inputs();
  std::erase_if(inputs, [&](ValueId input) { return std::ranges::count(network.leftOut, input) > 0; });
  return paired(network.plan->graph(), inputs, names);
}

NamesInFile handedOutputs(const CompilerInput& network) {
  std::vector<std::string> names;
  for (const auto& output : network.file.graph.outputs) names.push_back(output.name);
  return paired(network.plan->graph(), network.plan->graph().outputs(), names);
}

Result<std::map<std::string, Tensor>> inputsInFile(const NamesInFile& names,
                                                   const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Tensor> named;
  for (const auto& [plan, file] : names) {
    const auto given = inputs.find(plan);
    if (given == inputs.end()) return Diagnostic{.message = "is missing", .where = {.value = plan}};
    named.emplace(file, given->second);
  }
  return named;
}

Status writeHandedInputs(const NamesInFile& names, const std::map<std::string, Tensor>& inputs,
                         const std::filesystem::path& path) {
  return writeNpz(path, TRY(inputsInFile(names, inputs)));
}

}  // namespace fusescope
