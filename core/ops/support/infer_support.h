#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "ops/op_schema.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

using Types = std::vector<TensorType>;
using Ints = std::vector<std::int64_t>;

/// Returns the element type for ONNX's number in attributes such as `to` and `dtype`.
std::optional<DataType> dataTypeFromOnnx(std::int64_t number);
/// Returns ONNX's number of an element type; 0 for Undefined.
std::int64_t onnxNumber(DataType type);
/// Returns the type that an attribute names by ONNX's number, or `otherwise` if the attribute is absent.
Result<DataType> typeAttribute(const Node& node, const std::string& key, DataType otherwise);
/// Returns a text attribute, which must be one of `allowed`.
Result<std::string> choiceAttribute(const Node& node, const std::string& key, const std::string& otherwise,
                                    std::initializer_list<std::string_view> allowed);
/// Checks the kinds of all attributes. An attribute that ONNX defines has the same kind in every operator.
Status checkAttributeKinds(const Node& node);

/// Returns `axis` counted from the front. It must be in [-rank, rank).
Result<std::size_t> normalizedAxis(std::int64_t axis, std::size_t rank, const std::string& attribute = "axis");
/// Returns each axis counted from the front, in the given order. It is an error if an axis occurs twice.
Result<std::vector<std::size_t>> normalizedAxes(const Ints& axes, std::size_t rank);

/// Returns the value of integer input `i` if it is known.
std::optional<Ints> knownInts(const InferContext& context, std::size_t i);
/// Returns the only element of integer input `i` if it is known, or nothing if the tensor does not have exactly one
/// element.
std::optional<std::int64_t> knownInt(const InferContext& context, std::size_t i);

/// Returns the result of ONNX's multidirectional broadcasting. A symbol is kept if it alone determines the extent.
Result<Shape> broadcast(const Shape& a, const Shape& b);
/// Broadcasts the shapes of all inputs of the node.
Result<Shape> broadcastInputs(const InferContext& context);
/// Returns the element type of the first input with the shape of broadcastInputs().
Result<Types> inferBroadcast(const InferContext& context);
/// Returns the more specific of two extents that must be equal. It is an error if both are known and differ. If one of
/// them is open, it demands that they are equal.
Result<Dim> unified(const InferContext& context, const Dim& a, const Dim& b, std::string_view what);

/// Returns a computed extent; it is an error if it is negative.
Result<Dim> checkedExtent(std::int64_t extent, std::string_view what);
/// Returns the product of extents if all are known.
std::optional<std::int64_t> knownProduct(std::span<const Dim> dims);
/// Returns a shape of `rank` unknown extents.
Shape unknownOfRank(std::size_t rank);
Status requireRank(const InferContext& context, std::size_t input, std::size_t rank);
Status requireRankAtLeast(const InferContext& context, std::size_t input, std::size_t rank);

inline Types one(DataType type, Shape shape) {
  return {TensorType{type, std::move(shape)}};
}
/// Returns one type, that of the first input.
Result<Types> inferLikeFirst(const InferContext& context);

}  // namespace fusescope::ops
