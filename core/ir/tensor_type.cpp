#include "ir/tensor_type.h"

namespace fusescope {

std::optional<std::int64_t> elementCount(const Dims& dims) {
  // No address space is larger, and the bytes of this many elements can be counted for every type.
  constexpr std::int64_t kMostElements = std::int64_t{1} << 47;
  std::int64_t count = 1;
  bool isEmpty = false;
  for (const std::int64_t dim : dims) {
    isEmpty = isEmpty || dim == 0;
    if (dim == 0) continue;
    if (dim < 0 || count > kMostElements / dim) return std::nullopt;
    count *= dim;
  }
  return isEmpty ? 0 : count;
}

std::string toText(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

std::optional<Dims> Shape::fixed() const {
  if (!ranked) return std::nullopt;
  Dims sizes;
  sizes.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (!dim.known()) return std::nullopt;
    sizes.push_back(dim.size);
  }
  return sizes;
}

std::string containerText(Container container, const std::string& element) {
  switch (container) {
    case Container::Sequence:
      return "sequence(" + element + ")";
    case Container::Optional:
      return "optional(" + element + ")";
    case Container::OptionalSequence:
      return "optional(sequence(" + element + "))";
    case Container::None:
      break;
  }
  return element;
}

std::string TensorType::text() const {
  std::string text(name(dtype));
  if (!shape.ranked) return containerText(container, text + "[...]");
  text += "[";
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    const Dim& dim = shape.dims[i];
    text += i == 0 ? "" : ", ";
    text += dim.known() ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol;
  }
  return containerText(container, text + "]");
}

}  // namespace fusescope
