#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor_type.h"

namespace fusescope {

/// A dense, row-major tensor in memory: a weight, a folded constant, an input or an output. Copies share the data,
/// which does not change once it is shared. The data may be owned, mapped from a file, or absent (in a weightless
/// model). Elements narrower than a byte are packed, lowest bits first. Strings, and the elements of a container, are
/// stored separately.
class Tensor {
 public:
  Tensor() = default;

  /// Makes a tensor of zeros that owns its memory, aligned to 64 bytes. `dims` must have a valid elementCount().
  static Tensor zeros(DataType type, Dims dims);
  /// Makes a tensor that uses `data`, which must have byteSize(type, count) bytes and exist as long as `owner`. It may
  /// begin at any address.
  static Tensor view(DataType type, Dims dims, std::shared_ptr<const void> owner, const std::byte* data);
  static Tensor withoutData(DataType type, Dims dims);
  static Tensor ofStrings(Dims dims, std::vector<std::string> strings);
  template <class T>
  static Tensor copyOf(DataType type, Dims dims, std::span<const T> values) {
    Tensor tensor = zeros(type, std::move(dims));
    std::copy(values.begin(), values.end(), tensor.mutableData<T>().begin());
    return tensor;
  }
  /// Makes a sequence, or an optional of one element or none (for an optional sequence, the element is the sequence).
  /// `type` is the type of the innermost elements. The result has no extents and no bytes; count() is the number of
  /// elements.
  static Tensor ofElements(Container container, DataType type, std::vector<Tensor> elements);
  static Tensor scalar(float value);
  static Tensor ofInt64(std::vector<std::int64_t> values);  ///< one-dimensional

  DataType type() const { return m_type; }
  const Dims& dims() const { return m_dims; }
  std::int64_t count() const { return m_count; }
  std::size_t byteSize() const { return m_container == Container::None ? fusescope::byteSize(m_type, m_count) : 0; }
  bool hasData() const { return m_data != nullptr || m_strings != nullptr || m_elements != nullptr || m_count == 0; }
  Container container() const { return m_container; }
  const std::vector<Tensor>& elements() const;  ///< the elements of a container; empty for a tensor

  /// Returns the address of the elements. For a view it may be any address.
  const std::byte* bytes() const { return m_data; }
  /// Returns a tensor whose elements begin at a multiple of their size, or of `bytes` (at most 64): this tensor, or a
  /// copy that nothing else shares.
  Tensor aligned() const;
  Tensor aligned(std::size_t bytes) const;
  /// May be called only for a tensor that zeros() or copyOf() made and whose data is not shared yet.
  std::byte* mutableBytes() { return const_cast<std::byte*>(m_data); }
  /// Returns the elements. If a view does not begin at a multiple of the element size, a copy is made at the first call
  /// and kept as long as any copy of this tensor. Thread-safe.
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(m_alignedCopy == nullptr ? m_data : alignedCopy()),
            static_cast<std::size_t>(m_count)};
  }
  template <class T>
  std::span<T> mutableData() {
    return {reinterpret_cast<T*>(mutableBytes()), static_cast<std::size_t>(m_count)};
  }
  const std::vector<std::string>& strings() const;

  /// Returns a tensor with the same data and other extents, which must have the same product.
  Tensor reshaped(Dims dims) const;
  /// Returns element `i` of a numeric or Bool tensor as a double. An int64 beyond 2^53 loses low bits; asInt64() does
  /// not.
  double asDouble(std::int64_t i) const;
  std::int64_t asInt64(std::int64_t i) const;
  /// Converts all elements like ONNX's Cast: floats round to nearest even, and float to integer truncates towards zero.
  /// Floats of 8 bits and less saturate as in ONNX, and F8E8M0 rounds up. Strings are not converted.
  Tensor converted(DataType to) const;
  /// Returns whether type, extents and all bits are equal.
  bool identical(const Tensor& other) const;

 private:
  class AlignedCopy;
  const std::byte* alignedCopy() const;

  DataType m_type = DataType::Undefined;
  Dims m_dims;
  std::int64_t m_count = 0;
  std::shared_ptr<const void> m_owner;
  const std::byte* m_data = nullptr;
  std::shared_ptr<AlignedCopy> m_alignedCopy;  ///< of a view that cannot be read in place: the aligned copy
  std::shared_ptr<const std::vector<std::string>> m_strings;
  Container m_container = Container::None;
  std::shared_ptr<const std::vector<Tensor>> m_elements;
};

/// Returns the type of `tensor` with its extents; for a container, the type of its elements without extents.
TensorType typeOf(const Tensor& tensor);

/// Returns how many elements are infinite or NaN; 0 for containers and for tensors that are not of floats.
std::int64_t notFiniteIn(const Tensor& tensor);

/// Returns the elements of a one-dimensional integer tensor, such as a shape or axes; empty if `tensor` has no data.
std::vector<std::int64_t> int64Values(const Tensor& tensor);

}  // namespace fusescope
