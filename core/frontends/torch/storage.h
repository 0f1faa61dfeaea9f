#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope::torch {

/// The bytes that tensors are windows on. They live as long as `owner`.
struct Storage {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

/// A window on a storage: offset and strides are in elements.
struct Window {
  DataType type = DataType::Undefined;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;
};

/// How many bytes may still be copied out of storages. A few bytes of a file can ask for a tensor of any size, by
/// strides of 0.
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

/// The tensor that is seen through `window`: the storage's own bytes where the elements lie in row-major order, so that
/// tensors of one storage share them, else a copy in that order. Errors: the window reaches beyond the storage, its
/// numbers are no sizes and strides, or the copy is not within `budget`.
Result<Tensor> tensorOf(const Storage& storage, const Window& window, CopyBudget& budget);

}  // namespace fusescope::torch
