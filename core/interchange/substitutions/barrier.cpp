// A barrier against fusion is an output: what must lie in memory for the caller is not held inside a kernel. It was
// tried between a Conv and a Relu with ONNX Runtime 1.32 and TensorRT for RTX 1.7, both of which fuse them without it,
// and do not with it. An Identity keeps neither from it, an Add of 0 not ONNX Runtime; a Reshape to its own extents, a
// Slice of everything and a Where keep ONNX Runtime from it and not TensorRT for RTX.
#include <algorithm>

#include "base/name_hints.h"
#include "frontends/onnx/file_tensors.h"
#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

/// The inputs of the file, and `outputs`.
onnxlib::NetworkEdits::Borders withOutputs(const FileMatcher& match, std::vector<onnxlib::FileValue> outputs) {
  onnxlib::NetworkEdits::Borders borders{.inputs = {}, .outputs = std::move(outputs)};
  for (const onnxlib::FileValue& input : match.file().graph.inputs)
    if (match.values().isInput(input.name)) borders.inputs.push_back(input);
  return borders;
}

ReplacedSite siteAt(const FileMatcher& match, const std::string& value, std::vector<onnxlib::FileValue> outputs) {
  ReplacedSite site{.at = value};
  site.borders = withOutputs(match, std::move(outputs));
  const auto& readers = match.values().readers(value);
  site.around = {readers.begin(), readers.end()};
  site.around.insert(static_cast<std::size_t>(match.values().maker(value)));
  return site;
}

Result<std::vector<ReplacedSite>> addOutput(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  const std::string& value = search.argument;
  const bool isMade = match.values().maker(value) >= 0;
  if (!isMade || match.values().isOutput(value))
    return Diagnostic{.message = isMade ? "it is an output of the network already, so nothing is fused across it"
                                        : "no node calculates it",
                      .where = {.value = value},
                      .help = nearestInWords(value, match.values().allNames(), "Name a value between two nodes.")};
  const TensorType type = match.type(value);
  if (type.dtype == DataType::Undefined)
    return Diagnostic{.message = "its type is not known, and an output must declare its type",
                      .where = {.value = value},
                      .help = "Normalisation removes it; name the value that replaces it."};
  std::vector<onnxlib::FileValue> outputs = match.file().graph.outputs;
  outputs.push_back({value, fileType(type)});
  return std::vector{siteAt(match, value, std::move(outputs))};
}

Result<std::vector<ReplacedSite>> removeOutput(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  const std::string& value = search.argument;
  std::vector<onnxlib::FileValue> outputs = match.file().graph.outputs;
  std::erase_if(outputs, [&](const onnxlib::FileValue& output) { return output.name == value; });
  const bool isOutput = outputs.size() < match.file().graph.outputs.size() && match.values().maker(value) >= 0;
  if (!isOutput || outputs.empty() || match.values().readers(value).empty())
    return Diagnostic{.message = isOutput ? "no node reads it: it is a result of the network and not a barrier"
                                          : "it is not an output of the network",
                      .where = {.value = value}};
  return std::vector{siteAt(match, value, std::move(outputs))};
}

}  // namespace

Substitution barrier() {
  return {.name = "barrier",
          .summary =
              "a value becomes an output of the network too, so that the node that calculates it is not fused with the "
              "nodes that read it",
          .inverse = "barrier-removed",
          .argument = RuleArgument::Value,
          .find = &addOutput};
}

Substitution barrierRemoved() {
  return {.name = "barrier-removed",
          .summary = "an output that nodes read too is no longer an output",
          .inverse = "barrier",
          .argument = RuleArgument::Value,
          .find = &removeOutput};
}

}  // namespace fusescope
