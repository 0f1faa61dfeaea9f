#include "onnxlib/node_dependence.h"

namespace fusescope::onnxlib {

bool isRandom(const FileNode& node) {
  return node.op.starts_with("Random") || node.op == "Multinomial" || node.op == "Bernoulli";
}

bool readsExtentsOnly(const FileNode& node) {
  return node.domain.empty() && (node.op == "Shape" || node.op == "Size");
}

}  // namespace fusescope::onnxlib
