#include "onnxlib/onnxlib.h"

namespace fusescope::onnxlib {

const FileAttribute* FileNode::attribute(std::string_view key) const {
  for (const FileAttribute& attribute : attributes)
    if (attribute.name == key) return &attribute;
  return nullptr;
}

std::string FileNode::displayName() const {
  if (!name.empty()) return name;
  for (const std::string& output : outputs)
    if (!output.empty()) return "node_of_" + output;
  return "node_of_" + op;
}

}  // namespace fusescope::onnxlib
