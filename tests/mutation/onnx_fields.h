#pragma once
// Field numbers of onnx.proto.

#include <cstdint>

namespace fusescope::mutation {

namespace model_field {
inline constexpr std::uint32_t kGraph = 7, kOpset = 8;
}
namespace graph_field {
inline constexpr std::uint32_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValue = 13;
}
namespace node_field {
inline constexpr std::uint32_t kInput = 1, kOutput = 2, kOp = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute_field {
inline constexpr std::uint32_t kName = 1, kFloat = 2, kInt = 3, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8,
                               kType = 20;
}
namespace tensor_field {
inline constexpr std::uint32_t kDims = 1, kType = 2, kRaw = 9;
}
inline constexpr std::uint32_t kValueType = 2;                    // ValueInfoProto.type
inline constexpr std::uint32_t kTensorType = 1;                   // TypeProto.tensor_type
inline constexpr std::uint32_t kElementType = 1, kShape = 2;      // TypeProto.Tensor
inline constexpr std::uint32_t kDim = 1;                          // TensorShapeProto.dim
inline constexpr std::uint32_t kDimValue = 1, kDimParameter = 2;  // TensorShapeProto.Dimension
inline constexpr std::uint32_t kOpsetVersion = 2;                 // OperatorSetIdProto.version

}  // namespace fusescope::mutation
