#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ops/op_schema.h"
#include "ops/run_node.h"

namespace fusescope::testing {

inline Tensor floats(Dims dims, std::vector<float> values) {
  return Tensor::copyOf<float>(DataType::F32, std::move(dims), values);
}
inline Tensor ints(Dims dims, std::vector<std::int64_t> values) {
  return Tensor::copyOf<std::int64_t>(DataType::I64, std::move(dims), values);
}
inline Tensor ints(std::vector<std::int64_t> values) {
  return Tensor::ofInt64(std::move(values));
}
inline Tensor bools(Dims dims, std::vector<std::uint8_t> values) {
  return Tensor::copyOf<std::uint8_t>(DataType::Bool, std::move(dims), values);
}

using Attributes = std::map<std::string, Attribute>;

/// A node called "n" with `inputs` inputs and `outputs` outputs.
inline Node nodeOf(const std::string& op, std::size_t inputs, Attributes attributes = {}, std::size_t outputs = 1) {
  Node node{.op = op, .name = "n", .attributes = std::move(attributes)};
  for (std::size_t i = 0; i < inputs; ++i) node.inputs.emplace_back(i);
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.emplace_back(inputs + i);
  return node;
}

inline Result<std::vector<Tensor>> run(const std::string& op, const std::vector<Tensor>& inputs,
                                       Attributes attributes = {}, std::size_t outputs = 1) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& tensor : inputs) pointers.push_back(tensor.type() == DataType::Undefined ? nullptr : &tensor);
  return runNode(nodeOf(op, inputs.size(), std::move(attributes), outputs), pointers);
}

/// Input types for inference: known extents, symbols and "?" as in "f32[batch, 3, ?]"; "f32[...]" is unranked.
inline TensorType typeOf(const std::string& text) {
  const std::size_t open = text.find('[');
  TensorType type{dataTypeFromName(text.substr(0, open)).value_or(DataType::Undefined), Shape::of(Dims{})};
  std::string inside = text.substr(open + 1, text.size() - open - 2);
  if (inside == "...") return {type.dtype, Shape::unknown()};
  for (std::size_t at = 0; at < inside.size();) {
    const std::size_t comma = std::min(inside.find(", ", at), inside.size());
    const std::string dim = inside.substr(at, comma - at);
    type.shape.dims.push_back(dim == "?" ? Dim() : std::isdigit(dim[0]) != 0 ? Dim(std::stoll(dim)) : Dim::named(dim));
    at = comma + 2;
  }
  return type;
}

/// The inferred types as text, or "error: …". `constants` are the last inputs, whose values are known.
inline std::string inferred(const std::string& op, const std::vector<std::string>& types,
                            const std::vector<Tensor>& constants = {}, Attributes attributes = {},
                            std::size_t outputs = 1) {
  std::vector<TensorType> held;
  for (const std::string& text : types) held.push_back(typeOf(text));
  for (const Tensor& tensor : constants) held.push_back({tensor.type(), Shape::of(tensor.dims())});
  std::vector<const TensorType*> inputs;
  std::vector<const Tensor*> values(types.size(), nullptr);
  for (const TensorType& type : held) inputs.push_back(&type);
  for (const Tensor& tensor : constants) values.push_back(&tensor);
  const auto result = inferNode(nodeOf(op, held.size(), std::move(attributes), outputs), inputs, values);
  if (!result.ok()) return "error: " + result.error().message;
  std::string text;
  for (const TensorType& type : result.value()) text += (text.empty() ? "" : " ") + type.text();
  return text;
}

inline void expectFloats(const Result<std::vector<Tensor>>& result, const Dims& dims,
                         const std::vector<float>& expected, float tolerance = 1e-5F, std::size_t output = 0) {
  ASSERT_TRUE(result.ok()) << result.error().text();
  const Tensor& tensor = result.value()[output];
  EXPECT_EQ(tensor.dims(), dims);
  ASSERT_EQ(tensor.count(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const auto want = static_cast<double>(expected[static_cast<std::size_t>(i)]);
    if (std::isinf(want) || std::isnan(want))
      EXPECT_EQ(std::to_string(tensor.asDouble(i)), std::to_string(want)) << "element " << i;
    else
      EXPECT_NEAR(tensor.asDouble(i), want, static_cast<double>(tolerance)) << "element " << i;
  }
}

inline void expectInts(const Result<std::vector<Tensor>>& result, const Dims& dims,
                       const std::vector<std::int64_t>& expected, std::size_t output = 0) {
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(result.value()[output].dims(), dims);
  EXPECT_EQ(int64Values(result.value()[output]), expected);
}

inline std::string errorOf(const Result<std::vector<Tensor>>& result) {
  return result.ok() ? "no error" : result.error().text();
}

}  // namespace fusescope::testing
