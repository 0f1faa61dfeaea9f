#include "frontends/torch/storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace fusescope::torch {
namespace {

/// Returns whether the elements are contiguous in row-major order.
bool isContiguous(const StorageWindow& window) {
  std::int64_t expected = 1;
  for (std::size_t axis = window.sizes.size(); axis-- > 0;) {
    if (window.sizes[axis] != 1 && window.strides[axis] != expected) return false;
    expected *= window.sizes[axis];
  }
  return true;
}

/// Returns the index after the last element, in elements of the storage, or nothing if it does not fit into 64 bits.
std::optional<std::int64_t> endOf(const StorageWindow& window) {
  std::int64_t last = window.offset;
  for (std::size_t axis = 0; axis < window.sizes.size(); ++axis) {
    std::int64_t step = 0;
    if (__builtin_mul_overflow(window.sizes[axis] - 1, window.strides[axis], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  std::int64_t end = 0;
  if (__builtin_add_overflow(last, 1, &end)) return std::nullopt;
  return end;
}

Tensor copied(const Storage& storage, const StorageWindow& window, std::size_t elementBytes) {
  Tensor tensor = Tensor::zeros(window.type, window.sizes);
  std::byte* to = tensor.mutableBytes();
  std::vector<std::int64_t> place(window.sizes.size(), 0);
  std::int64_t from = window.offset;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    std::memcpy(to, storage.bytes.data() + static_cast<std::size_t>(from) * elementBytes, elementBytes);
    to += elementBytes;
    for (std::size_t axis = place.size(); axis-- > 0;) {
      from += window.strides[axis];
      if (++place[axis] < window.sizes[axis]) break;
      from -= window.strides[axis] * window.sizes[axis];
      place[axis] = 0;
    }
  }
  return tensor;
}

Status checkWindow(const Storage& storage, const StorageWindow& window, std::size_t elementBytes) {
  const auto isNegative = [](std::int64_t number) { return number < 0; };
  if (window.sizes.size() != window.strides.size() || window.offset < 0 ||
      std::ranges::any_of(window.sizes, isNegative) || std::ranges::any_of(window.strides, isNegative))
    return Diagnostic{.message = "its sizes, strides or offset are not possible for a tensor"};
  const auto count = elementCount(window.sizes);
  if (!count) return Diagnostic{.message = fmt::format("{} is too large", toText(window.sizes))};
  if (*count == 0) return Done{};
  const auto end = endOf(window);
  if (!end || static_cast<std::uint64_t>(*end) > storage.bytes.size() / elementBytes)
    return Diagnostic{.message = fmt::format("{} with strides {} at element {} reaches beyond its storage of {} bytes",
                                             toText(window.sizes), toText(window.strides), window.offset,
                                             storage.bytes.size())};
  return Done{};
}

}  // namespace

Result<Tensor> tensorOf(const Storage& storage, const StorageWindow& window, CopyBudget& budget) {
  const int bits = bitWidth(window.type);
  if (bits < 8) return Diagnostic{.message = fmt::format("{} is not a type of a storage", name(window.type))};
  const auto elementBytes = static_cast<std::size_t>(bits) / 8;
  TRY(checkWindow(storage, window, elementBytes));
  const std::int64_t count = *elementCount(window.sizes);
  if (count == 0) return Tensor::zeros(window.type, window.sizes);
  if (isContiguous(window))
    return Tensor::view(window.type, window.sizes, storage.owner,
                        storage.bytes.data() + static_cast<std::size_t>(window.offset) * elementBytes);
  if (!budget.take(byteSize(window.type, count)))
    return Diagnostic{.message = fmt::format("{} with strides {} would be far larger in memory than its file",
                                             toText(window.sizes), toText(window.strides))};
  return copied(storage, window, elementBytes);
}

}  // namespace fusescope::torch
