#include "onnxlib/exporter_notes.h"

#include <string_view>
#include <vector>

#include "base/trimmed.h"

namespace fusescope::onnxlib {
namespace {

std::string_view metadata(const onnx::NodeProto& node, std::string_view key) {
  for (const auto& entry : node.metadata_props())
    if (entry.key() == key) return entry.value();
  return {};
}

/// Returns the texts of a list as Python prints it: "['', 'encoder', 'add']".
std::vector<std::string_view> listed(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t start = text.find('\''); start != std::string_view::npos;) {
    const std::size_t end = text.find('\'', start + 1);
    if (end == std::string_view::npos) break;
    parts.push_back(text.substr(start + 1, end - start - 1));
    start = text.find('\'', end + 1);
  }
  return parts;
}

/// Returns the names in "name: class/name: class/name: class".
std::vector<std::string_view> namesOfScopes(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string_view scope = text.substr(0, end);
    names.push_back(scope.substr(0, scope.find(": ")));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

std::string moduleOf(const onnx::NodeProto& node) {
  // Both forms list the modules from the outermost inwards, each with its full path, and then the traced operation
  // itself.
  std::vector<std::string_view> scopes = listed(metadata(node, "pkg.torch.onnx.name_scopes"));
  if (scopes.empty()) scopes = namesOfScopes(metadata(node, "namespace"));
  return scopes.size() < 2 ? std::string() : std::string(scopes[scopes.size() - 2]);
}

std::string traceOf(const onnx::NodeProto& node) {
  return std::string(trimmed(metadata(node, "pkg.torch.onnx.stack_trace")));
}

std::string programNodeOf(const onnx::NodeProto& node) {
  return std::string(metadata(node, "fusescope.node"));
}

}  // namespace fusescope::onnxlib
