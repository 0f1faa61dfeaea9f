#pragma once

#include <type_traits>

#include "ops/op_schema.h"
#include "ops/support/diagnostics.h"

namespace fusescope::ops {

using Tensors = std::vector<Tensor>;

/// Makes a tensor of zeros. It is an error if there is not enough memory.
Result<Tensor> allocate(DataType type, const Dims& dims);
/// Makes a tensor of zeros for output `i`, with the inferred type and extents.
inline Result<Tensor> allocateOutput(const KernelContext& context, std::size_t i = 0) {
  return allocate(context.outputType(i), context.outputDims(i));
}

/// Makes a kernel for f32 and f64 accept f16, bf16 and f8: inputs are converted to f32, and results are rounded once.
KernelFunction widened(KernelFunction kernel);
/// Makes a kernel that moves whole bytes accept packed types: inside the kernel, each element is one byte.
KernelFunction unpacked(KernelFunction kernel);

/// Calls `f(std::type_identity<T>)` with the C++ type of f32 or f64.
template <class F>
auto dispatchFloat(DataType type, F&& f) {
  return type == DataType::F64 ? f(std::type_identity<double>{}) : f(std::type_identity<float>{});
}

/// Makes a kernel from a function template over float and double. `function` is an expression of T and `context`, such
/// as layerNormAs<T>(context).
#define FUSESCOPE_FLOAT_KERNEL(function)                                                                     \
  widened([](const KernelContext& context) {                                                                 \
    return dispatchFloat(context.input(0).type(), [&]<class T>(std::type_identity<T>) { return function; }); \
  })

/// Calls `f` like dispatchFloat() for integers of 8 to 64 bits, and for Bool as std::uint8_t.
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

/// An element of 16 bytes that is only copied.
struct Bits128 {
  std::uint64_t words[2];
};

/// Calls `f(std::type_identity<T>)` with a copyable type of the element's size; std::string for strings.
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

/// Returns the elements of a tensor with the type that dispatchStorage() passes.
template <class T>
std::span<const T> elementsOf(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>)
    return tensor.strings();
  else
    return tensor.data<T>();
}

/// A tensor that is being filled; its elements have the type that dispatchStorage() passes.
template <class T>
class Builder {
 public:
  static Result<Builder> create(DataType type, const Dims& dims) {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto count = elementCount(dims);
      if (!count) return problem("the number of elements of the result does not fit into 64 bits");
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

/// Returns `index` counted from the front. If it is outside [-extent, extent), the error names it.
Result<std::int64_t> checkedIndex(std::int64_t index, std::int64_t extent);

/// The products of the extents before an axis and after it, and the extent of the axis.
struct AxisSplit {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
AxisSplit splitAt(const Dims& dims, std::size_t axis);

}  // namespace fusescope::ops
