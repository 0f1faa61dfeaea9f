#pragma once

#include <type_traits>

#include "ops/op_schema.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

using Tensors = std::vector<Tensor>;

/// A zeroed tensor; an error if it could not be held in memory.
Result<Tensor> allocate(DataType type, const Dims& dims);
/// A zeroed tensor for output `i`, of the inferred type and extents.
inline Result<Tensor> allocateOutput(const KernelContext& context, std::size_t i = 0) {
  return allocate(context.outputType(i), context.outputDims(i));
}

/// A kernel that knows f32 and f64 only, made to take f16, bf16 and f8: inputs become f32, results are rounded once.
KernelFunction widened(KernelFunction kernel);
/// A kernel that moves whole bytes, made to take the packed types: they are a byte each inside.
KernelFunction unpacked(KernelFunction kernel);

/// Calls `f(std::type_identity<T>)` with the C++ type of f32 or f64.
template <class F>
auto dispatchFloat(DataType type, F&& f) {
  return type == DataType::F64 ? f(std::type_identity<double>{}) : f(std::type_identity<float>{});
}

/// A kernel from a function template over float and double: `function` is an expression in T and `context`, such as
/// layerNormAs<T>(context).
#define FUSESCOPE_FLOAT_KERNEL(function)                                                                     \
  widened([](const KernelContext& context) {                                                                 \
    return dispatchFloat(context.input(0).type(), [&]<class T>(std::type_identity<T>) { return function; }); \
  })

/// As dispatchFloat, for the 8- to 64-bit integers; Bool as std::uint8_t.
template <class F>
auto dispatchInteger(DataType type, F&& f) {
  switch (type) {
    case DataType::I64:
      return f(std::type_identity<std::int64_t>{});
    case DataType::I32:
      return f(std::type_identity<std::int32_t>{});
    case DataType::I16:
      return f(std::type_identity<std::int16_t>{});
    case DataType::I8:
      return f(std::type_identity<std::int8_t>{});
    case DataType::U64:
      return f(std::type_identity<std::uint64_t>{});
    case DataType::U32:
      return f(std::type_identity<std::uint32_t>{});
    case DataType::U16:
      return f(std::type_identity<std::uint16_t>{});
    default:
      return f(std::type_identity<std::uint8_t>{});
  }
}

template <class F>
auto dispatchNumber(DataType type, F&& f) {
  if (type == DataType::F64 || type == DataType::F32) return dispatchFloat(type, f);
  return dispatchInteger(type, f);
}

/// Sixteen bytes that are only moved.
struct Bits128 {
  std::uint64_t words[2];
};

/// Calls `f(std::type_identity<T>)` with a type of the element's size that can be copied: std::string for strings.
template <class F>
auto dispatchStorage(DataType type, F&& f) {
  if (type == DataType::String) return f(std::type_identity<std::string>{});
  switch (fusescope::byteSize(type, 1)) {
    case 1:
      return f(std::type_identity<std::uint8_t>{});
    case 2:
      return f(std::type_identity<std::uint16_t>{});
    case 4:
      return f(std::type_identity<std::uint32_t>{});
    case 8:
      return f(std::type_identity<std::uint64_t>{});
    default:
      return f(std::type_identity<Bits128>{});
  }
}

/// The elements of a tensor as dispatchStorage() sees them.
template <class T>
std::span<const T> elementsOf(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>)
    return tensor.strings();
  else
    return tensor.data<T>();
}

/// A tensor under construction whose elements are seen as dispatchStorage() does.
template <class T>
class Builder {
 public:
  static Result<Builder> create(DataType type, const Dims& dims) {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto count = elementCount(dims);
      if (!count) return problem("the result would have more elements than can be counted");
      Builder builder;
      builder.m_dims = dims;
      builder.m_strings.resize(static_cast<std::size_t>(*count));
      return builder;
    } else {
      Builder builder;
      builder.m_tensor = TRY(allocate(type, dims));
      return builder;
    }
  }
  std::span<T> elements() {
    if constexpr (std::is_same_v<T, std::string>)
      return m_strings;
    else
      return m_tensor.mutableData<T>();
  }
  Tensor finish() && {
    if constexpr (std::is_same_v<T, std::string>)
      return Tensor::ofStrings(std::move(m_dims), std::move(m_strings));
    else
      return std::move(m_tensor);
  }

 private:
  Tensor m_tensor;
  Dims m_dims;
  std::vector<std::string> m_strings;
};

/// `index` counted from the front; an error that names the index if it is outside [-extent, extent).
Result<std::int64_t> checkedIndex(std::int64_t index, std::int64_t extent);

/// Products of the extents before `axis`, at it, and after it.
struct AxisSplit {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
AxisSplit splitAt(const Dims& dims, std::size_t axis);

}  // namespace fusescope::ops
