#pragma once
// Private to onnxlib: includes protobuf.

#include <onnx/onnx_pb.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "onnxlib/network_edits.h"

namespace fusescope::onnxlib {

/// Applies edits to a model that was parsed without its large payloads. The large payloads of new initializers are
/// added to `payloads`.
class ProtoEditor {
 public:
  ProtoEditor(onnx::ModelProto& model, std::vector<std::span<const std::byte>>& payloads)
      : m_model(model), m_payloads(payloads) {}

  Status apply(const NetworkEdits& edits);

 private:
  Result<onnx::GraphProto*> graphAt(const GraphPath& path);
  Result<onnx::NodeProto*> nodeAt(const NodePlace& place);
  Status placeNodes(const NetworkEdits& edits);
  Status addInitializers(const std::vector<NetworkEdits::NewInitializer>& added);
  onnx::TensorProto held(const FileTensor& tensor);
  Status setType(const NetworkEdits::NewType& type);
  void setMetadata(const NetworkEdits& edits);
  void raiseOpset(std::int64_t opset);
  void setBorders(const NetworkEdits::Borders& borders);

  onnx::ModelProto& m_model;
  std::vector<std::span<const std::byte>>& m_payloads;
};

/// Removes the elements of a repeated field for which `isGone` is true.
template <class List>
void removeWhere(List& list, const auto& isGone) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (isGone(list[i])) continue;
    if (kept != i) list.SwapElements(kept, i);
    ++kept;
  }
  list.DeleteSubrange(kept, list.size() - kept);
}
/// Returns the names that the nodes of `graph` (including bodies) and its outputs read.
std::set<std::string, std::less<>> namesRead(const onnx::GraphProto& graph);
/// Removes from `graph` what was read only in `readBefore`: initializers, and Constants and Casts whose results are all
/// in `readBefore` and are not read any more, together with the types that are declared for them.
void dropUnread(onnx::GraphProto& graph, const std::set<std::string, std::less<>>& readBefore);

}  // namespace fusescope::onnxlib
