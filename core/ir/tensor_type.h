#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope {

/// The known extents of a tensor, outermost first. A scalar has none.
using Dims = std::vector<std::int64_t>;

/// Returns the product of the extents (1 for a scalar). Returns nothing if the product of the extents that are not 0 is
/// more than 2^47.
std::optional<std::int64_t> elementCount(const Dims& dims);
std::string toText(const Dims& dims);  ///< "[1, 3, 224, 224]"

/// One extent of a type. It is known, or it is a symbol that all equal extents share, or it is unknown (both fields
/// empty).
struct Dim {
  std::int64_t size = -1;  ///< >= 0 when known
  std::string symbol;      ///< empty when known or unknown
  Dim() = default;
  Dim(std::int64_t known) : size(known) {}
  static Dim named(std::string name) {
    Dim dim;
    dim.symbol = std::move(name);
    return dim;
  }
  bool known() const { return size >= 0; }
  bool operator==(const Dim&) const = default;
};

/// The extents of a type. `ranked` is false if even their number is unknown.
struct Shape {
  bool ranked = false;
  std::vector<Dim> dims;

  static Shape unknown() { return {}; }
  static Shape of(std::vector<Dim> dims) { return {.ranked = true, .dims = std::move(dims)}; }
  static Shape of(const Dims& dims) { return {.ranked = true, .dims = {dims.begin(), dims.end()}}; }
  std::size_t rank() const { return dims.size(); }
  /// Returns the extents if all are known.
  std::optional<Dims> fixed() const;
  bool operator==(const Shape&) const = default;
};

/// Returns the text of a container type, given that of its tensors: "sequence(f32[2])", "optional(sequence(f32[2]))".
std::string containerText(Container container, const std::string& element);

/// The type of a value: a tensor, or a container of tensors with this element type and shape.
struct TensorType {
  DataType dtype = DataType::Undefined;
  Shape shape;
  Container container = Container::None;
  std::string text() const;  ///< "f32[batch, 3, 64, 64]"; "f32[...]" if unranked; "sequence(f32[...])"
  bool operator==(const TensorType&) const = default;
};

}  // namespace fusescope
