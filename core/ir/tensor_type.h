#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace fusescope {

/// Concrete extents of a tensor, outermost first. Empty: a scalar.
using Dims = std::vector<std::int64_t>;

/// Product of the extents (1 for a scalar); nothing beyond 2^47, be it without those that are 0.
std::optional<std::int64_t> elementCount(const Dims& dims);
std::string toText(const Dims& dims);  ///< "[1, 3, 224, 224]"

/// One extent of a type: known, or a symbol shared by all extents that must be equal, or unknown (both empty).
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

/// Extents of a type. `ranked` is false when not even their number is known.
struct Shape {
  bool ranked = false;
  std::vector<Dim> dims;

  static Shape unknown() { return {}; }
  static Shape of(std::vector<Dim> dims) { return {.ranked = true, .dims = std::move(dims)}; }
  static Shape of(const Dims& dims) { return {.ranked = true, .dims = {dims.begin(), dims.end()}}; }
  std::size_t rank() const { return dims.size(); }
  /// The extents if every one is known.
  std::optional<Dims> fixed() const;
  bool operator==(const Shape&) const = default;
};

/// `element` as the text of a value that holds it: "sequence(f32[2])", "optional(sequence(f32[2]))".
std::string containerText(Container container, const std::string& element);

/// What a value is: a tensor, or a container of tensors of this element type and shape.
struct TensorType {
  DataType dtype = DataType::Undefined;
  Shape shape;
  Container container = Container::None;
  std::string text() const;  ///< "f32[batch, 3, 64, 64]", "f32[...]" if unranked, "sequence(f32[...])"
  bool operator==(const TensorType&) const = default;
};

}  // namespace fusescope
