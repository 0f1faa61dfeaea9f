#include "interchange/typed_network/typed_network.h"

#include <fmt/format.h>

#include "interchange/typed_network/graph_retyper.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileModel;
using onnxlib::FileNode;

void collectNames(const FileGraph& graph, std::set<std::string>& names) {
  for (const auto& input : graph.inputs) names.insert(input.name);
  for (const auto& tensor : graph.initializers) names.insert(tensor.name);
  for (const FileNode& node : graph.nodes) {
    names.insert(node.name);
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const auto& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
        collectNames(**body, names);
  }
}

void noteTruncation(const Plan& plan, TypedNetwork& network) {
  std::size_t doubles = 0;
  for (const auto* list : {&plan.truncation.inputs, &plan.truncation.constants, &plan.truncation.produced})
    for (const TruncatedValue& value : *list) doubles += value.from == DataType::F64;
  if (doubles > 0)
    network.notes.push_back(
        {fmt::format("{} values of float64 stay so in the network: the plan truncates them to "
                     "float32 for {}",
                     doubles, plan.target.name)});
}

}  // namespace

Status checkRaising(const FileGraph& graph, std::int64_t from, std::int64_t to, const std::string& neededBy) {
  for (const FileNode& node : graph.nodes) {
    const std::string why = onnxlib::obstacleToRaising(node, from, to);
    if (!why.empty())
      return Diagnostic{
          .message = fmt::format("the types of the plan need opset {} (for node '{}'), but the file has opset {}, and "
                                 "its {} {}",
                                 to, neededBy, from, node.op, why),
          .where = {.node = node.displayName()},
          .help =
              fmt::format("Convert the file to opset {} first, with onnx.version_converter or by exporting it again, "
                          "or pin '{}' to f32.",
                          to, neededBy)};
    for (const auto& attribute : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value))
        TRY(checkRaising(**body, from, to, neededBy));
  }
  return Done{};
}

Result<TypedNetwork> typedNetwork(const Plan& plan, const FileModel& file, const TypedNetworkOptions& options) {
  const auto found = file.opsets.find("");
  const std::int64_t own = found == file.opsets.end() ? onnxlib::newestOpset() : found->second;
  std::int64_t opset = own;
  for (;;) {
    TypedNetwork network;
    RetypeContext context{.file = file,
                          .options = options,
                          .network = network,
                          .opset = opset,
                          .neededOpset = opset,
                          .neededBy = {},
                          .names = {}};
    collectNames(file.graph, context.names);
    GraphRetyper main(context, file.graph, &plan, {}, nullptr);
    TRY(main.run());
    if (context.neededOpset > opset) {  // what is allowed there may be other operands too
      TRY(checkRaising(file.graph, own, context.neededOpset, context.neededBy));
      opset = context.neededOpset;
      continue;
    }
    TRY(main.finish());
    if (opset > own) {
      network.edits.opset = opset;
      network.notes.push_back(
          {fmt::format("the opset is raised from {} to {}: operators take the types of the plan only "
                       "from there on",
                       own, opset)});
    }
    noteTruncation(plan, network);
    return network;
  }
}

}  // namespace fusescope
