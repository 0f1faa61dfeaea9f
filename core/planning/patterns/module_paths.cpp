#include "planning/patterns/module_paths.h"

#include <algorithm>

#include "base/sort_distinct.h"
#include "base/text.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// Converts '/layer1/layer1.0/conv1/Conv' to layer1.0.conv1.Conv: a container whose children's names repeat its own is
/// written before each of them.
std::string withoutRepeatedContainers(std::string_view name) {
  const std::vector<std::string> parts = split(name, '/');
  std::string path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool repeated = i + 1 < parts.size() && parts[i + 1].starts_with(parts[i] + ".");
    if (parts[i].empty() || repeated) continue;
    path += (path.empty() ? "" : ".") + parts[i];
  }
  return path;
}

/// Removes what an exporter wrote before the scopes of a node that it took from elsewhere: 'StatefulPartitionedCall/'
/// around a function of TensorFlow, 'F2::If_0_then_branch__Inline_0__/' around a model that Spox inlined.
std::string_view withoutWrapper(std::string_view name) {
  const std::size_t end = name.find('/');
  if (end == std::string_view::npos || end == 0) return name;
  const std::string_view first = name.substr(0, end);
  const bool wraps =
      first.ends_with("PartitionedCall") || (first.ends_with("__") && first.find("Inline") != first.npos);
  return wraps ? name.substr(end + 1) : name;
}

void addPaths(std::vector<std::string>& paths, std::string_view name) {
  // TensorFlow Lite names a kernel after all nodes that became it: 'block/Relu;block/BiasAdd;block/Conv2D'.
  for (const std::string& part : split(name, ';')) {
    for (const std::string_view scoped : {std::string_view(part), withoutWrapper(part)}) {
      paths.push_back(dottedPath(scoped));
      paths.push_back(withoutRepeatedContainers(scoped));
    }
  }
}

/// Returns the module in the name of a weight, or of a value of Paddle ('conv2d_3.tmp_0'): everything except the last
/// part.
std::string moduleOfName(std::string_view name) {
  const std::size_t end = name.rfind('.');
  const bool made = name.find("::") != name.npos || name.starts_with("p2o.");  // 'onnx::MatMul_512', 'p2o.helper.…'
  return end == std::string_view::npos || end == 0 || made ? std::string() : dottedPath(name.substr(0, end));
}

/// Returns whether the dot in the name, as in 'Conv.12', is followed only by a number, so that it does not name a
/// module.
bool endsInNumber(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return last.find_first_not_of("0123456789") == last.npos;
}

/// Returns the path in the scopes before the last slash of a name; empty if there are none.
std::string moduleOfScopedName(std::string_view name) {
  name = withoutWrapper(name.substr(0, name.find(';')));
  const std::size_t end = name.rfind('/');
  return end == std::string_view::npos ? std::string() : withoutRepeatedContainers(name.substr(0, end));
}

/// Returns the constant `id`, or the constant that is dequantised to it.
const Value* weightAt(const Graph& graph, ValueId id) {
  if (!id.valid()) return nullptr;
  const Value* value = &graph.value(id);
  if (value->producer.valid() && graph.node(value->producer).is("DequantizeLinear"))
    value = &graph.value(graph.node(value->producer).input(0));
  const bool isWeight = value->constant != nullptr && !value->constant->dims().empty();
  return isWeight ? value : nullptr;
}

/// Exporters that give nodes no scope ('Conv_12') still name weights after their modules ('encoder.conv.weight').
void addPathsOfValues(std::vector<std::string>& paths, const Graph& graph, const Node& node) {
  const auto add = [&](std::string_view name) {
    const std::string module = moduleOfName(name);
    if (!module.empty()) paths.push_back(module + "." + node.name);
  };
  for (const ValueId input : node.inputs)
    if (const Value* weight = weightAt(graph, input)) add(weight->name);
  for (const ValueId output : node.outputs)
    if (output.valid() && graph.value(output).name.find(".tmp_") != std::string::npos) add(graph.value(output).name);
}

}  // namespace

std::string dottedPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string dotted(path);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return dotted;
}

std::string moduleOf(const Model& model, const Node& node) {
  for (const OriginId id : node.origins)
    if (id.index < model.origins.size() && !model.origins[id.index].module.empty())
      return model.origins[id.index].module;
  for (const OriginId id : node.origins) {
    if (id.index >= model.origins.size()) continue;
    if (std::string module = moduleOfScopedName(model.origins[id.index].name); !module.empty()) return module;
  }
  if (std::string module = moduleOfScopedName(node.name); !module.empty()) return module;
  for (const ValueId input : node.inputs) {
    const Value* weight = weightAt(*model.graph, input);
    if (weight == nullptr) continue;
    if (std::string module = moduleOfName(weight->name); !module.empty()) return module;
  }
  return endsInNumber(node.name) ? std::string() : moduleOfName(node.name);
}

std::vector<std::string> modulePaths(const Model& model, const Node& node) {
  std::vector<std::string> paths;
  addPaths(paths, node.name);
  bool hasScope = node.name.find('/') != std::string::npos;
  for (const OriginId id : node.origins) {
    if (id.index >= model.origins.size()) continue;
    const Origin& origin = model.origins[id.index];
    if (origin.name != node.name) addPaths(paths, origin.name);
    hasScope = hasScope || !origin.module.empty() || origin.name.find('/') != std::string::npos;
    if (!origin.module.empty()) paths.push_back(origin.module + "." + origin.name.substr(origin.name.rfind('/') + 1));
  }
  if (!hasScope) addPathsOfValues(paths, *model.graph, node);
  sortDistinct(paths);
  return paths;
}

}  // namespace fusescope
