#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "ops/op_schema.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

using Types = std::vector<TensorType>;
using Ints = std::vector<std::int64_t>;

/// The element type behind ONNX's number in attributes such as `to` and `dtype`.
std::optional<DataType> dataTypeFromOnnx(std::int64_t number);
/// ONNX's number of an element type; 0 for Undefined.
std::int64_t onnxNumber(DataType type);
/// The type an attribute names by ONNX's number; `otherwise` if the attribute is absent.
Result<DataType> typeAttribute(const Node& node, const std::string& key, DataType otherwise);
/// A text attribute that must be one of `allowed`.
Result<std::string> choiceAttribute(const Node& node, const std::string& key, const std::string& otherwise,
                                    std::initializer_list<std::string_view> allowed);
/// Every attribute that ONNX defines has one kind whatever the operator; an error if one has another.
Status checkAttributeKinds(const Node& node);

/// `axis` counted from the front; it may be in [-rank, rank).
Result<std::size_t> normalizedAxis(std::int64_t axis, std::size_t rank, const std::string& attribute = "axis");
/// Each axis counted from the front, in the given order; twice the same is an error.
Result<std::vector<std::size_t>> normalizedAxes(const Ints& axes, std::size_t rank);

/// The value of integer input `i` where it is known.
std::optional<Ints> knownInts(const InferContext& context, std::size_t i);
/// The only element of integer input `i` where it is known. A tensor of another count gives nothing.
std::optional<std::int64_t> knownInt(const InferContext& context, std::size_t i);

/// ONNX's multidirectional broadcasting; a symbol survives where only it can decide the extent.
Result<Shape> broadcast(const Shape& a, const Shape& b);
/// All inputs of the node broadcast together.
Result<Shape> broadcastInputs(const InferContext& context);
/// The element type of the first at these extents.
Result<Types> inferBroadcast(const InferContext& context);
/// Of two extents that must be equal, the one that says more; an error if both are known and differ. Where one is open,
/// that they are equal is demanded.
Result<Dim> unified(const InferContext& context, const Dim& a, const Dim& b, std::string_view what);

/// An extent that is computed: an error if it is negative.
Result<Dim> checkedExtent(std::int64_t extent, std::string_view what);
/// The known product of extents, or nothing.
std::optional<std::int64_t> knownProduct(std::span<const Dim> dims);
/// `rank` extents of which nothing is known.
Shape unknownOfRank(std::size_t rank);
Status requireRank(const InferContext& context, std::size_t input, std::size_t rank);
Status requireRankAtLeast(const InferContext& context, std::size_t input, std::size_t rank);

inline Types one(DataType type, Shape shape) {
  return {TensorType{type, std::move(shape)}};
}
/// The output is of the type and shape of the first input.
Result<Types> inferLikeFirst(const InferContext& context);

}  // namespace fusescope::ops
