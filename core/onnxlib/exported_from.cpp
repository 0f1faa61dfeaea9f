#include "onnxlib/exported_from.h"

#include <exception>
#include <string_view>

#include "base/mapped_file.h"
#include "onnxlib/exporter_notes.h"
#include "onnxlib/model_proto.h"
#include "onnxlib/wire_strip.h"

namespace fusescope::onnxlib {
namespace {

/// Returns the text between `begin` and `end` in `text`; empty if one of them is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + begin.size());
  const std::size_t to = text.find(end);
  return to == std::string_view::npos ? std::string_view() : text.substr(0, to);
}

/// Reads "%linear_4 : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = …".
ExportedFrom noteOf(const onnx::NodeProto& node) {
  ExportedFrom from{
      .node = {}, .target = {}, .module = moduleOf(node), .trace = traceOf(node), .programNode = programNodeOf(node)};
  for (const auto& entry : node.metadata_props()) {
    if (entry.key() != "pkg.torch.onnx.fx_node" || !entry.value().starts_with('%')) continue;
    from.node = between(entry.value(), "%", " :");
    std::string_view target = between(entry.value(), "call_function[target=", "]");
    constexpr std::string_view kOps = "torch.ops.";
    if (target.starts_with(kOps)) target.remove_prefix(kOps.size());
    from.target = target;
  }
  return from;
}

}  // namespace

Result<std::vector<ExportedFrom>> exportedFrom(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  try {
    const StrippedModel stripped = TRY(stripPayloads(file->bytes()));
    onnx::ModelProto proto;
    TRY(parseModel(stripped.wire, proto));
    TRY(file->checkIntact());
    std::vector<ExportedFrom> nodes;
    for (const auto& node : proto.graph().node()) nodes.push_back(noteOf(node));
    return nodes;
  } catch (const std::exception& error) {
    return Diagnostic{.message = std::string("the ONNX library failed: ") + error.what(),
                      .where = {.file = path.string()}};
  }
}

}  // namespace fusescope::onnxlib
