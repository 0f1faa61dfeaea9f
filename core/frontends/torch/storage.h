#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope::torch {

/// The bytes on which tensors are windows. They exist as long as `owner`.
struct Storage {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// A window on a storage. Offset and strides are in elements.
struct StorageWindow {
  DataType type = DataType::Undefined;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};

/// The number of bytes that may still be copied out of storages. It is limited because, with strides of 0, a few bytes
/// of a file can describe a tensor of any size.
class CopyBudget {
 public:
  explicit CopyBudget(std::uint64_t bytes) : m_left(bytes) {}
  bool take(std::uint64_t bytes) {
    if (bytes > m_left) return false;
    m_left -= bytes;
    return true;
  }

 private:
  std::uint64_t m_left;
};

/// Returns the tensor that `window` describes. If the elements are in row-major order, it refers to the bytes of the
/// storage, so that tensors of one storage share them; otherwise it is a copy in that order. It is an error if the
/// window reaches beyond the storage, if its numbers are not valid sizes and strides, or if the copy exceeds `budget`.
Result<Tensor> tensorOf(const Storage& storage, const StorageWindow& window, CopyBudget& budget);

}  // namespace fusescope::torch
