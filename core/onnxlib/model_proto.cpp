#include "onnxlib/model_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include <climits>
#include <cstdint>

namespace fusescope::onnxlib {

Status parseModel(const std::string& wire, onnx::ModelProto& proto) {
  if (wire.size() > INT_MAX)
    return Diagnostic{
        .message = "its structure without the large weights is larger than 2 GiB, which protobuf cannot read",
        .help = "Save the weights as external data or raw data."};
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(wire.data()),
                                                static_cast<int>(wire.size()));
  stream.SetTotalBytesLimit(INT_MAX);
  if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return Diagnostic{.message = "is not an ONNX model, because protobuf cannot read it"};
  if (!proto.has_graph())
    return Diagnostic{.message = "is not an ONNX model, because it contains no graph",
                      .help = "Give an .onnx file that an exporter wrote."};
  return Done{};
}

}  // namespace fusescope::onnxlib
