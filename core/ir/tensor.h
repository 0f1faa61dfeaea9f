#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor_type.h"

namespace fusescope {

/// A dense, row-major tensor in memory: a weight, a folded constant, an input or an output. Copies share the data,
/// which is const once shared. Data may be owned, or mapped from a file, or absent (a weightless model).
/// Elements narrower than a byte are packed, lowest bits first. Strings are held apart, and so are the elements of a
/// container.
class Tensor {
 public:
  Tensor() = default;

  /// Owned and zeroed, 64-byte aligned. `dims` must have a valid elementCount().
  static Tensor zeros(DataType type, Dims dims);
  /// Shares `data`, which must hold byteSize(type, count) bytes and live as long as `owner`. It may lie at any address.
  static Tensor view(DataType type, Dims dims, std::shared_ptr<const void> owner, const std::byte* data);
  static Tensor withoutData(DataType type, Dims dims);
  static Tensor ofStrings(Dims dims, std::vector<std::string> strings);
  template <class T>
  static Tensor copyOf(DataType type, Dims dims, std::span<const T> values) {
    Tensor tensor = zeros(type, std::move(dims));
    std::copy(values.begin(), values.end(), tensor.mutableData<T>().begin());
    return tensor;
  }
  /// A sequence, or an optional of one element or none (of an optional sequence: the sequence). `type` is that of the
  /// innermost elements. It has no extents and no bytes; count() is the number of elements.
  static Tensor ofElements(Container container, DataType type, std::vector<Tensor> elements);
  static Tensor scalar(float value);
  static Tensor ofInt64(std::vector<std::int64_t> values);  ///< one-dimensional

  DataType type() const { return m_type; }
  const Dims& dims() const { return m_dims; }
  std::int64_t count() const { return m_count; }
  std::size_t byteSize() const { return m_container == Container::None ? fusescope::byteSize(m_type, m_count) : 0; }
  bool hasData() const { return m_data != nullptr || m_strings != nullptr || m_elements != nullptr || m_count == 0; }
  Container container() const { return m_container; }
  const std::vector<Tensor>& elements() const;  ///< of a container; none for a tensor

  /// Where the elements lie: those of a view at any address.
  const std::byte* bytes() const { return m_data; }
  /// This tensor with its elements at a multiple of their size, or of so many bytes, 64 at the most: itself, or a copy
  /// that nobody else holds.
  Tensor aligned() const;
  Tensor aligned(std::size_t bytes) const;
  /// Only for a tensor made by zeros()/copyOf() whose data nobody else has been given yet.
  std::byte* mutableBytes() { return const_cast<std::byte*>(m_data); }
  /// Where a view lies at no multiple of the elements' size: of a copy that is made when first asked for, and kept as
  /// long as any copy of this tensor. Thread-safe.
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(m_late == nullptr ? m_data : lateCopy()), static_cast<std::size_t>(m_count)};
  }
  template <class T>
  std::span<T> mutableData() {
    return {reinterpret_cast<T*>(mutableBytes()), static_cast<std::size_t>(m_count)};
  }
  const std::vector<std::string>& strings() const;

  /// The same data with other extents of the same count.
  Tensor reshaped(Dims dims) const;
  /// Element `i` of any numeric type or Bool as a double (int64 beyond 2^53 loses low bits; use asInt64 there).
  double asDouble(std::int64_t i) const;
  std::int64_t asInt64(std::int64_t i) const;
  /// All elements converted: floats round to nearest even, float to integer truncates towards zero, as ONNX Cast.
  /// Floats of a byte and less follow ONNX's saturating conversion, F8E8M0 rounds up. Strings are not converted here.
  Tensor converted(DataType to) const;
  /// Same type, extents and bits.
  bool identical(const Tensor& other) const;

 private:
  class LateCopy;
  const std::byte* lateCopy() const;

  DataType m_type = DataType::Undefined;
  Dims m_dims;
  std::int64_t m_count = 0;
  std::shared_ptr<const void> m_owner;
  const std::byte* m_data = nullptr;
  std::shared_ptr<LateCopy> m_late;  ///< of a view that cannot be read in place
  std::shared_ptr<const std::vector<std::string>> m_strings;
  Container m_container = Container::None;
  std::shared_ptr<const std::vector<Tensor>> m_elements;
};

/// The type that `tensor` is of, with its extents; of a container: that of its elements, without extents.
TensorType typeOf(const Tensor& tensor);

/// How many elements of a tensor with data are infinite or NaN; 0 for containers and for what holds no floats.
std::int64_t notFiniteIn(const Tensor& tensor);

/// One-dimensional integer tensors (shapes, axes) as numbers; empty if `tensor` has no data.
std::vector<std::int64_t> int64Values(const Tensor& tensor);

}  // namespace fusescope
