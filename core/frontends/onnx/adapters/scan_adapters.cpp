// Scan, whose first version had a batch.
#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope::adapting {
namespace {

using onnxlib::FileGraph;

FileNode scanNode(std::string name, std::shared_ptr<const FileGraph> body, std::int64_t scanInputs,
                  std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.name = std::move(name),
          .op = "Scan",
          .domain = {},
          .overload = {},
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = {attribute("body", std::move(body)), attribute("num_scan_inputs", scanInputs)},
          .newest = true};
}

}  // namespace

/// Scan before 9 had the batch as axis 0 of everything, and the sequence as axis 1. It becomes a scan over the samples
/// of the batch, each of which is scanned: Scan(batch){ Scan(sequence){ body } }.
Result<Nodes> scanBatch(FileNode node, AdaptContext& context) {
  if (hasInput(node, 0))
    return cannotAdapt(node, "sequences of different lengths (sequence_lens) have no newer form",
                       "Export it at opset 9 or later.");
  const auto* body = attributeAs<std::shared_ptr<const FileGraph>>(node, "body");
  const auto* count = attributeAs<std::int64_t>(node, "num_scan_inputs");
  if (body == nullptr || count == nullptr || node.inputs.empty())
    return cannotAdapt(node, "needs a body and a number of scanned inputs", "Export it again.");
  const std::vector<std::string> inputs(node.inputs.begin() + 1, node.inputs.end());

  FileGraph sample;
  sample.name = node.displayName() + "/sample";
  std::vector<std::string> slices, results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    slices.push_back(context.freshValue(node.displayName() + "/sample_of_" + inputs[i]));
    sample.inputs.push_back({slices.back(), {}});
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    results.push_back(context.freshValue(node.displayName() + "/sample_result"));
    sample.outputs.push_back({results.back(), {}});
  }
  FileNode inner = scanNode(node.name, *body, *count, slices, results);
  if (const auto* directions = attributeAs<Ints>(node, "directions"))
    setAttribute(inner, "scan_input_directions", *directions);
  sample.nodes.push_back(std::move(inner));
  return only(scanNode(node.name, std::make_shared<const FileGraph>(std::move(sample)),
                       static_cast<std::int64_t>(inputs.size()), inputs, node.outputs));
}

}  // namespace fusescope::adapting
